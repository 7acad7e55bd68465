"""Close pairs are those of all distances at once, whatever the blocks, and take no more memory than they need."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from scipy.spatial.distance import pdist, squareform

from fairlimits.law.cells import pairwise
from fairlimits.law.cells.pairwise import CityBlock, Distances, Found, Given, pairs_within, pairs_within_percentile

PERCENTILES = (0, 1e-3, 3.5, 50, 99.9, 100)


def literal(points: np.ndarray, percentile: float | None, radius: float = 0.0) -> Found:
    """All distances at once."""
    distance = pdist(points, "cityblock")
    if percentile is not None:
        radius = float(np.percentile(distance, percentile)) if len(distance) else 0.0
    first, second = np.triu_indices(len(points), 1)
    near = distance <= radius
    return Found(first[near], second[near], distance[near])


def assert_same(found: Found, wanted: Found) -> None:
    for one, other in zip(found, wanted, strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)


def points_of(kind: str, count: int) -> np.ndarray:
    rng = np.random.default_rng(count)
    if kind == "apart":
        return rng.normal(size=(count, 7)) / 3
    if kind == "tied":
        return rng.integers(0, 2, size=(count, 9)) / 9
    return rng.normal(size=(max(1, count // 3), 4))[np.arange(count) % max(1, count // 3)]


def as_given(points: np.ndarray) -> Distances:
    return Given(squareform(pdist(points, "cityblock")))


@pytest.mark.parametrize("block", [1, 64, 1_000, 1 << 20])
@pytest.mark.parametrize("kind", ["apart", "tied", "repeated"])
@pytest.mark.parametrize("count", [1, 2, 3, 40, 150])
@pytest.mark.parametrize("make", [CityBlock, as_given])
def test_pairs_are_those_of_all_distances(
    monkeypatch: pytest.MonkeyPatch, make: type[CityBlock], count: int, kind: str, block: int
) -> None:
    monkeypatch.setattr(pairwise, "_BLOCK", block)
    points = points_of(kind, count)
    for percentile in PERCENTILES:
        assert_same(pairs_within_percentile(make(points), percentile), literal(points, percentile))
    for radius in (0.0, 1 / 9, 4 / 9, 1.3, 1e9):
        assert_same(pairs_within(make(points), radius), literal(points, None, radius))


@pytest.mark.parametrize("kind", ["apart", "tied", "repeated"])
@pytest.mark.parametrize("size", [2, 30, 300])
def test_a_poor_guess_costs_time_only(monkeypatch: pytest.MonkeyPatch, kind: str, size: int) -> None:
    monkeypatch.setattr(pairwise, "_BLOCK", 500)
    monkeypatch.setattr(pairwise, "_SAMPLE", size)
    points = points_of(kind, 120)
    for percentile in (*PERCENTILES, *np.linspace(0, 100, 41)):
        assert_same(pairs_within_percentile(CityBlock(points), percentile), literal(points, percentile))


def test_a_bound_that_proves_too_low_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    points = points_of("apart", 60)
    distance = np.sort(pdist(points, "cityblock"))
    monkeypatch.setattr(pairwise, "_bounds", lambda *_: iter([distance[3], distance[90], distance[1_000]]))
    for percentile in (0, 3.5, 5, 40):
        assert_same(pairs_within_percentile(CityBlock(points), percentile), literal(points, percentile))


@pytest.mark.parametrize(("kind", "percentile"), [("apart", 0.5), ("tied", 0.5), ("tied", 3.5)])
def test_memory_is_that_of_the_pairs_found(kind: str, percentile: float) -> None:
    points = points_of(kind, 3_000)
    dense = 8 * 3_000 * 2_999 // 2
    tracemalloc.start()
    found = pairs_within_percentile(CityBlock(points), percentile)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert_same(found, literal(points, percentile))
    # Blocks and the sample, and a few copies of the pairs; the distances alone of all pairs are 36 MB.
    assert peak < 14e6 + 100 * len(found.distance)
    assert peak < 0.75 * dense
