"""The comparison with the peers on points made by hand."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from benchmarks.peers.compare import compare, difference, frontier_seconds, hull, interval, method_hull


def record(
    method: str, gap: float, accuracy: float, *, seed: int = 0, criterion: str = "DP", eps: float = 0.05
) -> dict[str, Any]:
    return {
        "data": "adult",
        "seed": seed,
        "method": method,
        "base": "ours" if method == "fairlimits" else "boosting",
        "criterion": criterion,
        "eps": eps,
        "aware": True,
        "accuracy": accuracy,
        "gaps": {criterion: gap},
        "constant": 0.7,
        "base_seconds": 2.0,
        "fit_seconds": 0.5,
        "predict_seconds": 0.0,
        "n_learn": 80,
        "n_test": 20,
    }


def test_hull_keeps_the_upper_concave_corners() -> None:
    curve = hull([(0.0, 0.5), (0.1, 0.8), (0.05, 0.6), (0.2, 0.9), (0.3, 0.85), (0.1, 0.7)])
    assert curve.gaps.tolist() == [0.0, 0.1, 0.2]
    assert curve.accuracies.tolist() == [0.5, 0.8, 0.9]


def test_hull_between_and_beyond_its_corners() -> None:
    curve = hull([(0.0, 0.5), (0.1, 0.8), (0.2, 0.9)])
    np.testing.assert_allclose(curve.at([0.0, 0.05, 0.15, 0.2, 1.0]), [0.5, 0.65, 0.85, 0.9, 0.9])


def test_hull_of_points_that_fall_is_the_best_at_no_gap() -> None:
    curve = hull([(0.0, 0.7), (0.1, 0.6), (0.2, 0.65)])
    np.testing.assert_allclose(curve.at([0.0, 0.3]), 0.7)


def test_points_on_a_line_lose_their_middle() -> None:
    assert hull([(0.0, 0.0), (0.5, 0.5), (1.0, 1.0)]).gaps.tolist() == [0.0, 1.0]


def test_hull_lies_above_every_point_and_is_concave() -> None:
    random = np.random.default_rng(0)
    for _ in range(50):
        points = [(0.0, 0.5), *map(tuple, random.uniform(0, 1, size=(8, 2)))]
        curve = hull(points)
        assert all(curve.at(gap) >= accuracy - 1e-12 for gap, accuracy in points)
        slopes = np.diff(curve.accuracies) / np.diff(curve.gaps)
        assert (slopes > 0).all()
        assert (np.diff(slopes) < 1e-9).all()


def test_hull_needs_a_point_at_no_gap() -> None:
    with pytest.raises(ValueError, match="gap of 0"):
        hull([(0.1, 0.5)])


def test_below_the_smallest_gap_a_method_mixes_with_the_constant_rule() -> None:
    curve = method_hull([record("peer", 0.1, 0.9)])
    np.testing.assert_allclose(curve.at([0.0, 0.05, 0.1]), [0.7, 0.8, 0.9])


def test_equal_accuracy_starts_from_a_coin() -> None:
    curve = method_hull([record("peer", 0.1, 0.9, criterion="EA")])
    np.testing.assert_allclose(curve.at(0.0), 0.5)


def test_difference_is_read_at_the_gaps_of_the_peer() -> None:
    ours = [record("fairlimits", 0.1, 0.9)]
    peer = [record("peer", 0.05, 0.78), record("peer", 0.2, 0.91)]
    # At 0.05 ours mixes to 0.8; at 0.2 it stays at 0.9.
    assert difference(ours, peer, met_by_both=False) == pytest.approx(((0.8 - 0.78) + (0.9 - 0.91)) / 2)
    # Both are read at 0.1 instead of 0.05, where the peer mixes to 0.78 + 0.13 / 3.
    assert difference(ours, peer) == pytest.approx(((0.9 - 0.78 - 0.13 / 3) + (0.9 - 0.91)) / 2)


def test_hulls_can_be_read_at_our_gaps() -> None:
    ours = [record("fairlimits", 0.1, 0.9), record("fairlimits", 0.3, 0.95, eps=0.1)]
    peer = [record("peer", 0.05, 0.78), record("peer", 0.2, 0.91, eps=0.02)]
    # Of ours, only what was asked for the peer's tolerances counts; at 0.1 the peer mixes to 0.78 + 0.13 / 3.
    (found,) = compare([*ours, *peer], at_ours=True).values()
    assert found.mean == pytest.approx(0.9 - 0.78 - 0.13 / 3)


def test_tolerances_in_between_shape_the_hull_but_are_not_read_at() -> None:
    ours = [record("fairlimits", 0.1, 0.9)]
    peer = [record("peer", 0.1, 0.85), record("peer", 0.1, 0.86, eps=0.07)]
    assert difference(ours, peer) == pytest.approx(0.9 - 0.86)
    assert difference(peer, ours) == pytest.approx(0.86 - 0.9)


def test_a_method_ties_with_itself() -> None:
    rows = [record("peer", 0.03, 0.8), record("peer", 0.2, 0.91), record("peer", 0.1, 0.82)]
    assert difference(rows, rows) == 0.0


def test_nobody_wins_by_violating() -> None:
    # The peer is more accurate only because its gap is larger.
    ours = [record("fairlimits", 0.0, 0.80), record("fairlimits", 0.1, 0.90)]
    peer = [record("peer", 0.1, 0.90)]
    assert difference(ours, peer) == pytest.approx(0.0)


def test_interval_by_hand() -> None:
    found = interval([0.01, 0.03], test_share=0.25)
    # s = 0.01 sqrt(2), the variance of the mean is s^2 (1/2 + 1/4), t with one degree of freedom is 12.7062.
    reach = 12.706204736 * math.sqrt(0.0002 * 0.75)
    assert found.mean == pytest.approx(0.02)
    assert (found.low, found.high) == (pytest.approx(0.02 - reach), pytest.approx(0.02 + reach))  # type: ignore[comparison-overlap]
    assert found.verdict == "tie"


def test_interval_of_one_split_is_the_whole_line() -> None:
    found = interval([0.01], test_share=0.25)
    assert (found.low, found.high, found.verdict) == (-math.inf, math.inf, "tie")


@pytest.mark.parametrize(("shift", "verdict"), [(0.1, "win"), (-0.1, "loss"), (0.0, "tie")])
def test_verdict(shift: float, verdict: str) -> None:
    assert interval([shift - 0.001, shift + 0.001, shift], test_share=0.25).verdict == verdict


def test_compare_pairs_the_splits_that_both_have() -> None:
    rows = [
        record("fairlimits", 0.1, 0.90, seed=0),
        record("fairlimits", 0.1, 0.91, seed=1),
        record("peer", 0.1, 0.88, seed=1),
        record("peer", 0.1, 0.89, seed=2),
    ]
    ((place, found),) = compare(rows).items()
    assert place == ("adult", "DP", True, "peer", "boosting")
    assert (found.splits, found.mean) == (1, pytest.approx(0.03))  # type: ignore[comparison-overlap]


def test_a_frontier_pays_for_its_estimates_once() -> None:
    rows = [record("peer", gap, 0.9, seed=seed) for gap in (0.1, 0.2, 0.3) for seed in (0, 1)]
    (found,) = frontier_seconds(rows).values()
    assert (found.estimates, found.frontier) == (pytest.approx(2.0), pytest.approx(3 * 0.5))  # type: ignore[comparison-overlap]
