"""On a cluster of real processes the law of streamed rows is that of one machine, also if workers are lost."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

import fairlimits as fl
from streams import ROLES, Killer, people, write

dask = pytest.importorskip("dask")
dd = pytest.importorskip("dask.dataframe")
distributed = pytest.importorskip("distributed")

pytestmark = pytest.mark.filterwarnings("default")

PLAIN: dict[str, Any] = {**ROLES, "drop": "weight"}


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    """Two worker processes of one thread each."""
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
    with distributed.LocalCluster(**options) as nodes, distributed.Client(nodes) as client:
        yield client


@pytest.mark.skipif(sys.platform == "win32", reason="processes cannot be killed by a signal there")
def test_files_on_a_cluster_with_a_worker_lost_in_each_kind_of_pass(
    client: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from fairlimits.data.dask_parts import DaskParts

    folder = write(people(3000), tmp_path / "big", row_group_size=600)

    def answers(**where: Any) -> tuple[Any, Any]:
        learn, test = fl.open_data(folder, stream=True, **PLAIN, **where).split(0.3)
        outcome = fl.estimate_outcome(learn, estimator=LogisticRegression())
        rule = fl.solve(outcome, {"DP": 0.05}, aware=True)
        return rule, fl.evaluate(rule, test)

    rule, held = answers()
    fold, seen = DaskParts.fold, []

    def killing(self: DaskParts, work: Any, *others: Any, **options: Any) -> Any:
        kind = work.func.__name__
        flag = tmp_path / f"worker lost in {kind}"
        seen.append(kind)
        return fold(self, Killer(work, flag), *others, **options)

    monkeypatch.setattr(DaskParts, "fold", killing)
    again, judged = answers(client=client)
    lost = {flag.name.removeprefix("worker lost in ") for flag in tmp_path.glob("worker lost in *")}
    assert lost == set(seen) >= {"facts_of", "facts_of_side", "draw_rows", "_drawn", "_summed", "_judged"}
    np.testing.assert_array_equal(again.distribution.mass, rule.distribution.mass)
    np.testing.assert_array_equal(again.distribution.counts, rule.distribution.counts)
    np.testing.assert_array_equal(again.scores, rule.scores)
    assert again.on_labels == rule.on_labels
    assert judged.to_dict() == held.to_dict()


def test_a_frame_that_another_tool_made(client: Any) -> None:
    # No divisions, an empty partition, and a category that only the last partition has.
    table = people(2400).to_pandas()
    table["when"] = np.where(np.arange(2400) < 2300, "early", "late")
    pieces = [table[:900], table[:0], table[900:1000], table[1000:]]
    found = []
    for own in (pieces, [table[1200:], table[:1200]]):
        frame = dd.from_delayed([dask_delayed(piece) for piece in own], meta=table[:0])
        outcome = fl.estimate_outcome(frame, estimator=LogisticRegression(), client=client, **PLAIN)
        found.append(fl.solve(outcome, {"DP": 0.05}))
    one, other = found
    np.testing.assert_array_equal(one.distribution.counts, other.distribution.counts)
    np.testing.assert_array_equal(one.distribution.mass, other.distribution.mass)
    np.testing.assert_array_equal(one.scores, other.scores)


def dask_delayed(piece: pd.DataFrame) -> Any:
    return dask.delayed(pd.DataFrame.copy)(piece)
