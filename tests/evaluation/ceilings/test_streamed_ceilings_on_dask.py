"""On a cluster of real processes ceilings are those of one machine, also if workers are lost."""

from __future__ import annotations

import os
import pickle
import signal
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import fairlimits as fl
from fairlimits.data import Dataset, Entries
from fairlimits.evaluation.ceilings import streamed
from fairlimits.evaluation.ceilings.kind_learning import Learnt
from streams import ROLES, Killer, people, wait_for_workers, write

dask = pytest.importorskip("dask")
dd = pytest.importorskip("dask.dataframe")
distributed = pytest.importorskip("distributed")

pytestmark = pytest.mark.filterwarnings("default")

PLAIN: dict[str, Any] = {**ROLES, "features": ["age", "flag"]}
ASKED: dict[str, Any] = {"DP": [0.02, 0.1]}


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    """Two worker processes of one thread each."""
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
    with distributed.LocalCluster(**options) as nodes, distributed.Client(nodes) as client:
        yield client


class BucketKiller:
    """Ends the worker that works on a certain bucket, once."""

    def __init__(self, work: Any, flag: Path) -> None:
        wait_for_workers()
        self.work, self.flag = work, flag

    def __call__(self, number: int, entries: Entries) -> Any:
        if number == 1 and not self.flag.exists():
            self.flag.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return self.work(number, entries)


def name_of(work: Any) -> str:
    return str(work.func.__name__ if isinstance(work, partial) else type(work).__name__)


@pytest.fixture
def losing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[], set[str]]:
    """Lose a worker in each kind of pass; say in which kinds one was lost."""
    from fairlimits.data.dask_parts import DaskBuckets, DaskParts

    fold, deal, each = DaskParts.fold, DaskParts.deal, DaskBuckets.each

    def flag(work: Any) -> Path:
        return tmp_path / f"worker lost in {name_of(work)}"

    monkeypatch.setattr(DaskParts, "fold", lambda self, work, *a, **k: fold(self, Killer(work, flag(work)), *a, **k))
    monkeypatch.setattr(DaskParts, "deal", lambda self, work, *a, **k: deal(self, Killer(work, flag(work)), *a, **k))
    monkeypatch.setattr(DaskBuckets, "each", lambda self, work: each(self, BucketKiller(work, flag(work))))
    return lambda: {path.name.removeprefix("worker lost in ") for path in tmp_path.glob("worker lost in *")}


@pytest.mark.skipif(sys.platform == "win32", reason="processes cannot be killed by a signal there")
def test_ceilings_with_a_worker_lost_in_each_kind_of_pass(
    client: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, losing: Callable[[], set[str]]
) -> None:
    monkeypatch.setattr(streamed, "_BUCKET", 200)
    folder = write(people(800), tmp_path / "big", row_group_size=150)
    alone = fl.ceiling(folder, ASKED, **PLAIN)
    assert fl.ceiling(folder, ASKED, **PLAIN, client=client).to_dict() == alone.to_dict()
    assert losing() == {"facts_of", "_digits", "CountKinds", "to_learn_from", "features_of", "_summed", "_evidence"}


def test_a_frame_that_another_tool_made(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    # No divisions, an empty partition, and a category that only the last partition has.
    monkeypatch.setattr(streamed, "_BUCKET", 200)
    rows = people(600).to_pandas()
    rows["when"] = np.where(np.arange(600) < 560, "early", "late")
    roles = {**ROLES, "features": ["flag", "job", "when"]}
    found = []
    for own in ([rows[:250], rows[:0], rows[250:300], rows[300:]], [rows[300:], rows[:300]]):
        frame = dd.from_delayed([dask.delayed(pd.DataFrame.copy)(piece) for piece in own], meta=rows[:0])
        found.append(fl.ceiling(frame, ASKED, client=client, **roles).to_dict())
    assert found[0] == found[1]
    assert found[0]["rows"] == 600


def test_no_row_comes_back(client: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Values of features that would be found again in whatever holds them.
    table = people(400)
    marked = 0.123456789 + np.arange(400) % 40
    table = table.set_column(1, "age", [marked])
    folder = write(table, tmp_path / "big", row_group_size=100)
    came: list[Any] = []
    from fairlimits.data.dask_parts import DaskBuckets, DaskParts

    def kept(call: Any) -> Any:
        def keeping(*given: Any, **options: Any) -> Any:
            came.append(call(*given, **options))
            return came[-1]

        return keeping

    monkeypatch.setattr(DaskParts, "fold", kept(DaskParts.fold))
    monkeypatch.setattr(DaskBuckets, "each", kept(DaskBuckets.each))
    fl.ceiling(folder, ASKED, client=client, **{**ROLES, "features": ["age"]})
    # Facts of columns hold some numbers, and codes of models hold where trees cut: of entries there are none.
    counts = [pickle.dumps(own) for own in came if isinstance(own, list)]
    assert len(counts) >= 3
    for own in counts:
        assert marked[7].tobytes() not in own
    (learnt,) = (own for own in came if isinstance(own, Learnt))
    assert not any(isinstance(own, Dataset) for own in vars(learnt).values())
    assert not any(isinstance(own, Dataset) for own in vars(learnt.witnesses).values())
