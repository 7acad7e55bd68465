"""On a Dask cluster, of real processes, cells and counts are those of one machine, also if a worker is lost."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.dataset as pads
import pytest

import fairlimits as fl
from fairlimits._util import dask as dask_door
from fairlimits.errors import DataError, InputError, MissingExtraError
from fairlimits.law.cells.quantizer import seeding
from streams import ROLES, Killer, centroids, people, write

dask = pytest.importorskip("dask")
dd = pytest.importorskip("dask.dataframe")
distributed = pytest.importorskip("distributed")

pytestmark = pytest.mark.filterwarnings("default")


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    """Two worker processes of one thread each."""
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
    with distributed.LocalCluster(**options) as nodes, distributed.Client(nodes) as client:
        yield client


@pytest.fixture(autouse=True)
def small_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    """Samples so small that a few thousand rows are many."""
    monkeypatch.setattr(seeding, "_SAMPLE_LEAST", 1000)
    monkeypatch.setattr(seeding, "_SAMPLE_MOST", 1000)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write(people(), tmp_path / "big")


@pytest.fixture
def frame() -> Any:
    return dd.from_pandas(people().to_pandas(), npartitions=5)


def test_a_dask_frame_on_any_scheduler(frame: Any) -> None:
    data = fl.Dataset.from_frame(people(), **ROLES)
    with dask.config.set(scheduler="threads"):
        dist = fl.discretize(frame, 12, partition="features", **ROLES)
    assert dist.schema == data.schema
    np.testing.assert_array_equal(dist.counts, fl.discretize(data, like=dist).counts)
    np.testing.assert_allclose(
        centroids(dist), centroids(fl.discretize(data, 12, generator=None, partition="features")), atol=1e-5
    )


def test_files_that_the_workers_read(client: Any, folder: Path) -> None:
    here = fl.discretize(folder, 12, partition="features", **ROLES, weight="weight")
    there = fl.discretize(folder, 12, partition="features", **ROLES, weight="weight", client=client)
    np.testing.assert_allclose(centroids(there), centroids(here), atol=1e-5)
    again = fl.discretize(folder, like=here, client=client)
    np.testing.assert_array_equal(again.counts, here.counts)
    np.testing.assert_allclose(again.mass, here.mass, rtol=1e-12)


def test_errors_on_workers_are_those_of_one_machine(client: Any, frame: Any) -> None:
    with pytest.raises(DataError, match=r"is missing in .* of 4000 rows"):
        fl.discretize(frame, 12, label="paid", positive="yes", sensitive="job", client=client, partition="features")


def test_frontiers_and_bands_on_workers(client: Any) -> None:
    dist = fl.discretize(fl.Dataset.from_frame(people(), **ROLES), 12, generator=None, partition="features")
    here, there = (fl.limits.trace_frontiers(dist, ["DP", "EOd"], [0.0, 0.1], client=own) for own in (None, client))
    for one, other in zip(here, there, strict=True):
        np.testing.assert_array_equal(one.accuracy, other.accuracy)
        assert other.distribution is dist
    here, there = (one.band(resamples=11, client=own).drawn for own in (None, client))  # type: ignore[assignment]
    np.testing.assert_array_equal(here, there)


@pytest.mark.skipif(sys.platform == "win32", reason="processes cannot be killed by a signal there")
def test_a_lost_worker_does_not_change_the_counts(
    client: Any, frame: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from fairlimits.data.dask_parts import DaskParts

    fold = DaskParts.fold
    flags: list[Path] = []

    def counting(self: DaskParts, *work: Any, **options: Any) -> Any:
        flags.append(tmp_path / f"worker lost in fold {len(flags)}")
        return fold(self, *work, **options)

    monkeypatch.setattr(DaskParts, "fold", counting)
    expected = fl.discretize(frame, 12, partition="features", **ROLES, relative_error=0.05, client=client)
    # In the first pass of Lloyd's iteration, after those over columns, medians and the sample; and in the last pass.
    deadly, seen = {5, len(flags) - 1}, []

    def killing(self: DaskParts, work: Any, *others: Any, **options: Any) -> Any:
        seen.append(work)
        chosen = Killer(work, flags[len(seen) - 1], 3) if len(seen) - 1 in deadly else work
        return fold(self, chosen, *others, **options)

    monkeypatch.setattr(DaskParts, "fold", killing)
    again = fl.discretize(frame, 12, partition="features", **ROLES, relative_error=0.05, client=client)
    assert {number for number, flag in enumerate(flags) if flag.exists()} == deadly
    np.testing.assert_array_equal(again.centroids, expected.centroids)
    np.testing.assert_array_equal(again.counts, expected.counts)
    np.testing.assert_array_equal(again.mass, expected.mass)


def test_bad_input_is_refused(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    with pytest.raises(InputError, match=r"distributed\.Client"):
        fl.discretize(folder, 12, partition="features", **ROLES, client="tcp://somewhere")

    def missing(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(dask_door, "import_module", missing)
    with pytest.raises(MissingExtraError, match=r"fairlimits\[distributed\]"):
        fl.discretize(folder, 12, partition="features", **ROLES, client="tcp://somewhere")


def test_a_filter_cannot_be_dealt_out(client: Any, folder: Path) -> None:
    chosen = pads.dataset(folder).filter(pads.field("age") < 60)
    with pytest.raises(InputError, match="has a filter"):
        fl.discretize(chosen, 8, partition="features", client=client, **ROLES)
