"""From a table to the law on cells: with rows as they are, and with generated ones."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import fairlimits as fl
from fairlimits.errors import DataError, InputError
from fairlimits.law.cells.building import SamplingWarning, default_cells, discretize
from fairlimits.law.cells.origins import Partition
from fairlimits.law.cells.quantizer.codebook import assign
from fairlimits.law.generators import CartGenerator
from fairlimits.notions.rates import SELECTION_RATE

NEEDED = fl.law.samples_needed(6)


def people(n: int = 1500, rare: int = 0) -> fl.Dataset:
    rng = np.random.default_rng(0)
    sex = rng.choice(["f", "m"], n)
    sex[:rare] = "x"
    age = rng.normal(40 + 6 * (sex == "m"), 10, n)
    paid = (age + rng.normal(0, 8, n) > 44).astype(int)
    frame = pa.table({"sex": sex, "age": age, "job": rng.choice(["a", "b"], n), "paid": paid})
    return fl.Dataset.from_frame(frame, label="paid", positive=1, sensitive="sex")


@pytest.fixture(scope="module")
def data() -> fl.Dataset:
    return people()


def test_rows_as_they_are(data: fl.Dataset) -> None:
    dist = discretize(data, 6, generator=None, partition="features")
    assert dist.counts is not None
    np.testing.assert_allclose(dist.mass, dist.counts / data.n_rows)
    assert dist.origin.generator is None
    assert dist.origin.n_samples is None
    assert dist.origin.rows == 1500


@pytest.mark.parametrize("generator", ["cart", "bootstrap", CartGenerator(min_leaf=50)])
def test_generated_rows_make_the_masses_and_real_rows_the_counts(
    data: fl.Dataset, generator: str | CartGenerator
) -> None:
    dist = discretize(data, 6, generator=generator, n_samples=NEEDED, partition="features")
    assert dist.counts is not None
    assert dist.encoding is not None
    assert dist.centroids is not None
    assert dist.counts.sum() == data.n_rows
    at = assign(dist.encoding.transform_dataset(data), dist.centroids)
    np.testing.assert_array_equal(dist.counts.sum(axis=(1, 2)), np.bincount(at, minlength=6))
    # Masses are multiples of one generated row, and near the real ones.
    np.testing.assert_allclose(dist.mass * NEEDED, np.rint(dist.mass * NEEDED), atol=1e-6)
    assert np.abs(dist.mass - dist.counts / data.n_rows).sum() < 0.15
    assert dist.origin.n_samples == NEEDED
    assert dist.origin.generator == ("bootstrap" if generator == "bootstrap" else "cart")


def test_small_groups_stay_set_aside_however_many_rows_are_generated() -> None:
    data = people(rare=8)
    with pytest.warns(SamplingWarning):
        dist = discretize(data, 6, generator="bootstrap", n_samples=NEEDED, partition="features")
    assert dist.mass[:, 2].sum() * NEEDED > 30
    assert dist.rates.of(SELECTION_RATE).defined.tolist() == [True, True, False]
    assert "x (8 rows)" in str(dist.small_groups_note)


def test_seed_decides(data: fl.Dataset) -> None:
    first, again, other = (
        discretize(data, 6, generator="cart", n_samples=NEEDED, random_state=s, partition="features") for s in (1, 1, 2)
    )
    np.testing.assert_array_equal(first.mass, again.mass)
    assert not np.array_equal(first.mass, other.mass)


def test_too_few_samples_for_the_cells_are_warned_of(data: fl.Dataset) -> None:
    with pytest.warns(SamplingWarning, match=f"{fl.law.samples_needed(6):,}"):
        discretize(data, 6, generator="bootstrap", n_samples=NEEDED - 1, partition="features")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        discretize(data, 6, generator="bootstrap", n_samples=NEEDED, partition="features")
        discretize(data, 6, generator=None, n_samples=10, partition="features")


def test_progress_rises_from_start_to_end(data: fl.Dataset) -> None:
    told = []
    discretize(
        data,
        6,
        generator="cart",
        n_samples=NEEDED,
        progress=lambda done, words: told.append(done),
        partition="features",
    )
    assert told == sorted(told)
    assert 0 <= told[0] < 0.1
    assert told[-1] == 1


def test_generated_distributions_are_saved_and_loaded(data: fl.Dataset, tmp_path: Path) -> None:
    dist = discretize(data, 6, generator="cart", n_samples=NEEDED, partition="features")
    dist.save(tmp_path / "d.npz")
    assert fl.CellDistribution.load(tmp_path / "d.npz").origin == dist.origin


def test_bad_input_is_refused(data: fl.Dataset) -> None:
    with pytest.raises(InputError, match="cart, bootstrap"):
        discretize(data, 6, generator="gan", partition="features")
    with pytest.raises(InputError, match="rows to draw"):
        discretize(data, 6, generator="cart", n_samples=0, partition="features")
    with pytest.raises(InputError, match="partition"):
        discretize(data, 6, partition="other")  # type: ignore[arg-type]


def test_cart_is_the_default_and_makes_no_more_people(data: fl.Dataset) -> None:
    dist = discretize(data, 6, n_samples=NEEDED, partition="features")
    assert dist.origin.generator == "cart"
    np.testing.assert_array_equal(
        dist.mass, discretize(data, 6, generator="cart", n_samples=NEEDED, partition="features").mass
    )
    with pytest.raises(DataError, match="cannot be larger than the rows"):
        discretize(data, data.n_rows + 1, partition="features")


@pytest.mark.parametrize(
    ("partition", "groups", "cells"),
    [("outcome", 2, 256), ("outcome", 3, 576), ("outcome", 4, 1_024), ("outcome", 9, 2_048), ("blend", 4, 256)],
)
def test_more_groups_have_more_outcome_cells(partition: Partition, groups: int, cells: int) -> None:
    rng = np.random.default_rng(0)
    table = pa.table(
        {"x": rng.random(3_000), "g": [f"g{own % groups}" for own in range(3_000)], "y": rng.random(3_000) > 0.5}
    )
    data = fl.Dataset.from_frame(table, label="y", positive=True, sensitive="g")
    assert default_cells(data, partition) == cells
    assert default_cells(data.take(np.arange(100)), partition) == 100


def test_cells_of_features_are_no_more_than_their_points() -> None:
    table = pa.table({"x": np.arange(600) % 7, "g": ["a", "b"] * 300, "y": np.arange(600) % 3 == 0})
    data = fl.Dataset.from_frame(table, label="y", positive=True, sensitive="g")
    assert default_cells(data, "features") == 7
    assert discretize(data, partition="features", generator=None).n_cells == 7
