"""The sampling bound (Observation 1), in both directions and cell by cell."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairlimits.errors import InputError
from fairlimits.law.cells.distributions import CellDistribution
from fairlimits.law.cells.sampling import cells_supported, samples_needed, share_errors
from fairlimits.notions import Differences, rows_to_certify


def test_the_four_numbers_of_the_paper() -> None:
    assert samples_needed(256, confidence=0.95, error=0.05) == 259_849
    assert cells_supported(48_842) == 48
    assert cells_supported(20_798) == 20
    assert cells_supported(60_420) == 59


def test_the_formula() -> None:
    # M = -N / (2 Delta^2) ln((1 - delta) / 8) for two groups, and 4G in place of 8.
    assert samples_needed(10, confidence=0.9, error=0.1) == math.ceil(-10 / 0.02 * math.log(0.1 / 8))
    assert samples_needed(10, confidence=0.9, error=0.1, groups=5) == math.ceil(-10 / 0.02 * math.log(0.1 / 20))


@pytest.mark.parametrize("true_gap", [0.0, 0.02, 0.04])
def test_rows_certify_a_gap_as_often_as_promised(true_gap: float) -> None:
    """What is found is judged as rules are, both ends together, which matters most for a true gap of 0."""
    rows = rows_to_certify(0.05, shares=(0.2, 0.6), rate=0.3, true_gap=true_gap, confidence=0.9, power=0.7)
    error = math.sqrt(0.3 * 0.7 * (1 / (0.2 * rows) + 1 / (0.6 * rows)))
    found = np.random.default_rng(0).normal(true_gap, error, 20_000)
    certified = [
        Differences(("DP",), (np.array([own, 0.0]),), (np.array([error, 0.0]),)).chance({"DP": 0.05}) <= 0.1
        for own in found
    ]
    assert np.mean(certified) == pytest.approx(0.7, abs=0.01)


@pytest.mark.parametrize(
    "wrong", [{"gap": 0}, {"gap": "small"}, {"power": 1}, {"true_gap": 0.05}, {"true_gap": None}, {"shares": (0.5,)}]
)
def test_what_no_rows_can_certify_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        rows_to_certify(**{"gap": 0.05, **wrong})


options = st.fixed_dictionaries(
    {"confidence": st.floats(0.01, 0.999), "error": st.floats(0.01, 1), "groups": st.integers(1, 9)}
)


@given(st.integers(1, 5000), options)
def test_one_direction_inverts_the_other(cells: int, given_: dict[str, Any]) -> None:
    rows = samples_needed(cells, **given_)
    # One row to either side, so that rounding cannot decide.
    assert cells_supported(rows + 1, **given_) >= cells
    assert cells_supported(rows - 2, **given_) < cells
    assert samples_needed(cells_supported(rows, **given_), **given_) <= rows


@given(st.integers(1, 100_000), options)
def test_the_error_of_a_count_is_the_one_that_the_bound_promises(count: int, given_: dict[str, Any]) -> None:
    error = float(share_errors([count], confidence=given_["confidence"], groups=given_["groups"])[0])
    if error < 1:
        promise = 4 * given_["groups"] * math.exp(-2 * error**2 * count)
        assert promise == pytest.approx(1 - given_["confidence"], rel=1e-9)
    else:
        assert 4 * given_["groups"] * math.exp(-2 * count) >= (1 - given_["confidence"]) * (1 - 1e-9)


def test_empty_cells_promise_nothing() -> None:
    found = share_errors([0, 1, 10**9])
    assert found[0] == 1
    assert found[1] == 1
    assert found[2] < 1e-4


def test_a_distribution_knows_the_errors_of_its_cells() -> None:
    counts = np.array([[[100, 50], [200, 150]], [[0, 0], [0, 0]]])
    dist = CellDistribution(counts / counts.sum(), ("a", "b"), counts=counts)
    np.testing.assert_allclose(dist.share_errors(0.9), share_errors([500, 0], confidence=0.9, groups=2))
    with pytest.raises(InputError, match="without counts"):
        CellDistribution.from_mass(counts).share_errors()


@pytest.mark.parametrize(
    "wrong",
    [
        {"confidence": 0},
        {"confidence": 1},
        {"confidence": math.nan},
        {"confidence": "high"},
        {"error": 0},
        {"error": math.nan},
        {"error": None},
        {"groups": 0},
        {"groups": "two"},
    ],
)
def test_what_makes_no_sense_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        samples_needed(10, **wrong)
    with pytest.raises(InputError):
        cells_supported(10, **wrong)


@pytest.mark.parametrize("count", [-3, math.nan, math.inf, "many", None])
def test_counts_that_are_none_are_refused(count: Any) -> None:
    with pytest.raises(InputError, match=r"number of cells is .*at least 0"):
        samples_needed(count)
    with pytest.raises(InputError, match=r"number of rows is .*at least 0"):
        cells_supported(count)
