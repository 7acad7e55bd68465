"""Counts on the same cells add up to those of all rows at once, and nothing else is added."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fairlimits as fl
from fairlimits.errors import InputError
from streams import ROLES, people


def sites(**roles: Any) -> tuple[fl.Dataset, list[fl.CellDistribution]]:
    table = people(1500)
    data = fl.Dataset.from_frame(table, **{**ROLES, **roles})
    base = fl.discretize(data.take(np.arange(500)), 8, generator=None, partition="features")
    others = [fl.discretize(data.take(np.arange(start, start + 500)), like=base) for start in (500, 1000)]
    return data, [base, *others]


def test_counts_of_several_sites_are_those_of_all_rows() -> None:
    data, parts = sites(drop="weight")
    together = fl.merge(parts)
    at_once = fl.discretize(data, like=parts[0])
    np.testing.assert_array_equal(together.counts, at_once.counts)
    np.testing.assert_array_equal(together.mass, at_once.mass)
    assert together.origin.rows == 1500
    assert together.origin.merged == 3
    assert fl.solve(together, {"DP": 0.05}).accuracy == fl.solve(at_once, {"DP": 0.05}).accuracy


def test_weights_of_several_sites_are_those_of_all_rows(tmp_path: Path) -> None:
    data, parts = sites(weight="weight")
    for number, part in enumerate(parts):
        part.save(tmp_path / f"{number}.npz")
    loaded = [fl.CellDistribution.load(tmp_path / f"{number}.npz") for number in range(3)]
    together = fl.merge([fl.merge(loaded[:2]), loaded[2]])
    at_once = fl.discretize(data, like=parts[0])
    np.testing.assert_array_equal(together.counts, at_once.counts)
    np.testing.assert_allclose(together.mass, at_once.mass, rtol=1e-12)
    assert data.weight is not None
    assert together.origin.total_weight == pytest.approx(data.weight.sum(), rel=1e-12)
    assert together.origin.merged == 3


def test_one_is_left_as_it_is() -> None:
    _, parts = sites(drop="weight")
    np.testing.assert_array_equal(fl.merge(parts[:1]).mass, parts[0].mass)


def test_what_was_not_counted_on_the_same_cells_is_refused() -> None:
    data, (first, second, _) = sites(drop="weight")
    assert second.centroids is not None
    moved = replace(second, centroids=np.nextafter(second.centroids, 1, dtype=np.float32))
    renamed = replace(second, groups=("a", "b", "c"))
    other = fl.discretize(fl.Dataset.from_frame(people(500), **ROLES), 8, generator=None, partition="features")
    for wrong, message in [(moved, "other cells"), (renamed, "groups a, b, c"), (other, "another meaning")]:
        with pytest.raises(InputError, match=f"Distribution 2 .*{message}.*like=first"):
            fl.merge([first, wrong])
    generated = fl.discretize(
        data, 8, generator="bootstrap", n_samples=fl.law.samples_needed(8, groups=3), partition="features"
    )
    with pytest.raises(InputError, match="generator bootstrap"):
        fl.merge([generated])
    with pytest.raises(InputError, match="bare numbers"):
        fl.merge([fl.CellDistribution.from_mass(np.ones((8, 3, 2)))])
    with pytest.raises(InputError, match="not counts"):
        fl.merge([replace(first, origin=replace(first.origin, partition="outcome"))])
    with pytest.raises(InputError, match="nothing to merge"):
        fl.merge([])
    with pytest.raises(InputError, match="a dict to merge"):
        fl.merge([first, {}])  # type: ignore[list-item]


def test_weighted_counts_without_their_sum_are_refused() -> None:
    _, (first, *_) = sites(weight="weight")
    with pytest.raises(InputError, match="without the sum of its weights"):
        fl.merge([replace(first, origin=replace(first.origin, total_weight=None))])
