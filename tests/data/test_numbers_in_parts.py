"""Moments and medians from parts are those of all values at once."""

from __future__ import annotations

from functools import reduce
from operator import add

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairlimits._util.types import Floats
from fairlimits.data.numbers import Moments, Numbers, median_places

FINITE = st.floats(allow_nan=False, allow_infinity=False)


def median(values: Floats, weights: Floats | None = None) -> float:
    share = np.ones(len(values)) if weights is None else weights
    numbers = reduce(
        add,
        [Numbers.of(v, w) for v, w in zip(np.array_split(values, 3), np.array_split(share, 3), strict=True) if len(v)],
    )
    found = []
    for place in median_places(numbers, weights is not None):
        passes = 0
        while place.known < 64:
            place = place.narrowed(place.digits(values, share)).completed(numbers.bits)
            passes += 1
        assert passes <= 3
        found.append(place.value)
    return float(np.mean(found))


@given(st.lists(st.floats(-1e300, 1e300), min_size=1, max_size=60))
def test_median_is_exact(values: list[float]) -> None:
    assert median(np.array(values)) == np.median(values)


@given(st.lists(st.tuples(st.integers(-5, 5), st.integers(1, 4)), min_size=1, max_size=40))
def test_weighted_median_is_the_first_value_with_half_of_the_weight(pairs: list[tuple[int, int]]) -> None:
    values, weights = (np.array(side, dtype=np.float64) for side in zip(*pairs, strict=True))
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(weights[order])
    assert median(values, weights) == values[order][np.searchsorted(reached, reached[-1] / 2)]


def test_small_whole_numbers_need_no_more_than_one_further_pass() -> None:
    values = np.random.default_rng(0).integers(-1000, 1000, 501).astype(np.float64)
    numbers = Numbers.of(values, np.ones(501))
    for place in median_places(numbers, False):
        assert place.narrowed(place.digits(values, np.ones(501))).completed(numbers.bits).value == np.median(values)


@pytest.mark.parametrize("unit", [1e-300, 1e-3, 1.0, 1e150, 1e300])
def test_moments_add_up_in_any_range(unit: float) -> None:
    rng = np.random.default_rng(0)
    values, weights = (rng.normal(3, 1, 1000) * unit), rng.random(1000) + 0.1
    parts = [Moments.of(v, w) for v, w in zip(np.array_split(values, 7), np.array_split(weights, 7), strict=True)]
    total = reduce(add, [Moments(), *parts])
    scaled = values / unit
    mean = np.average(scaled, weights=weights)
    assert total.mean * (total.unit / unit) == pytest.approx(mean, rel=1e-13)
    variance = np.average((scaled - mean) ** 2, weights=weights)
    assert total.squares / total.weight * (total.unit / unit) ** 2 == pytest.approx(variance, rel=1e-12)
