"""On a cluster of real processes people are judged as on one machine, also if workers are lost."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
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


def table(n: int) -> pa.Table:
    """People with decisions."""
    rows = people(n)
    age = rows["age"].to_numpy() + np.random.default_rng(1).normal(0, 15, n)
    return rows.append_column("decided", pa.array(age > 55))


@pytest.fixture
def losing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[], set[str]]:
    """Lose a worker in each kind of pass; say in which kinds one was lost."""
    from fairlimits.data.dask_parts import DaskParts

    fold = DaskParts.fold

    def killing(self: DaskParts, work: Any, *others: Any, **options: Any) -> Any:
        flag = tmp_path / f"worker lost in {work.func.__name__}"
        return fold(self, Killer(work, flag), *others, **options)

    monkeypatch.setattr(DaskParts, "fold", killing)
    return lambda: {flag.name.removeprefix("worker lost in ") for flag in tmp_path.glob("worker lost in *")}


@pytest.mark.skipif(sys.platform == "win32", reason="processes cannot be killed by a signal there")
def test_models_are_audited_with_a_worker_lost_in_each_kind_of_pass(
    client: Any, tmp_path: Path, losing: Callable[[], set[str]]
) -> None:
    folder = write(table(2400), tmp_path / "big", row_group_size=400)

    def answers(**where: Any) -> list[str]:
        found = fl.audit(
            folder, "decided", notions=["DP", "EOd"], estimator=LogisticRegression(), resamples=100, **PLAIN, **where
        )
        rates = fl.group_rates(folder, "decided", **PLAIN, **where)
        return [str(found.to_frame().to_pylist()), str(rates.to_dict())]

    alone = answers()
    assert answers(client=client) == alone
    assert losing() >= {"_reaches", "_decided", "_judged"}


def test_a_frame_that_another_tool_made(client: Any) -> None:
    # No divisions, an empty partition, and a category that only the last partition has.
    rows = table(1800).to_pandas()
    rows["when"] = np.where(np.arange(1800) < 1700, "early", "late")
    found = []
    for own in ([rows[:900], rows[:0], rows[900:1000], rows[1000:]], [rows[1000:], rows[:1000]]):
        frame = dd.from_delayed([dask.delayed(pd.DataFrame.copy)(piece) for piece in own], meta=rows[:0])
        audit = fl.audit(
            frame, "decided", notions="DP", estimator=LogisticRegression(), resamples=100, client=client, **PLAIN
        )
        rates = fl.group_rates(frame, "decided", client=client, **PLAIN)
        found.append((str(audit.to_frame().to_pylist()), str(rates.to_dict())))
    assert found[0] == found[1]
