"""The smoothed program: proven optima, the linear program in the limit, and invariants."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairlimits import CellDistribution, solve
from fairlimits.limits.outcome_rules import limits_of, points_of
from fairlimits.notions.registry import NOTIONS
from fairlimits.solvers.entropic import Points, solve_smoothed

TEMPERATURE = 0.005


def program(
    seed: int, notions: tuple[str, ...], aware: bool, groups: int = 2, n: int = 60
) -> tuple[Points, np.ndarray, float]:
    """Random estimates of q as points, the estimates, and the accuracy of deciding 0 always."""
    rng = np.random.default_rng(seed)
    q = rng.dirichlet(np.full(2 * groups, 0.7), n).reshape(n, groups, 2)
    rates = tuple(dict.fromkeys(rate for name in notions for rate in NOTIONS[name].rates))
    share = np.full(n, 1 / n)
    base = np.stack([share @ q[:, :, list(rate.given)].sum(axis=2) for rate in rates])
    return points_of(q, share, rates, base, aware), q, float(share @ q[:, :, 0].sum(axis=1))


def limits(notions: tuple[str, ...], eps: float) -> np.ndarray:
    rates = tuple(dict.fromkeys(rate for name in notions for rate in NOTIONS[name].rates))
    return limits_of(rates, dict.fromkeys(notions, eps))


@given(
    seed=st.integers(0, 10_000),
    notions=st.sampled_from([("DP",), ("EOd",), ("EA",), ("DP", "EA"), ("EOp", "PE", "DP")]),
    aware=st.booleans(),
    groups=st.integers(2, 4),
    eps=st.sampled_from([0.0, 0.01, 0.05, 0.2]),
)
def test_the_optimum_is_near_that_of_the_linear_program(
    seed: int, notions: tuple[str, ...], aware: bool, groups: int, eps: float
) -> None:
    points, q, zero = program(seed, notions, aware, groups)
    found = solve_smoothed(points, limits(notions, eps), TEMPERATURE)
    accuracy = zero + float(points.mass @ (points.gain * found.scores))
    exact = solve(CellDistribution.from_mass(q / len(q)), dict.fromkeys(notions, eps), aware=aware)
    # Randomising ties costs the entropy at most.
    assert exact.accuracy - TEMPERATURE * np.log(2) - 1e-6 <= accuracy <= exact.accuracy + 1e-5
    assert abs(found.gap) <= 1e-6
    assert ((found.scores >= 0) & (found.scores <= 1)).all()
    assert np.abs(found.multipliers.sum(axis=1)).max() < 1e-6


def test_a_start_changes_nothing() -> None:
    points, _, _ = program(0, ("EOd",), False)
    cold = solve_smoothed(points, limits(("EOd",), 0.02), TEMPERATURE)
    start = solve_smoothed(points, limits(("EOd",), 0.05), TEMPERATURE).multipliers
    warm = solve_smoothed(points, limits(("EOd",), 0.02), TEMPERATURE, start)
    assert warm.scores == pytest.approx(cold.scores, abs=1e-4)


def test_wide_limits_leave_the_best_rule() -> None:
    points, _, _ = program(1, ("DP", "EA"), True)
    found = solve_smoothed(points, limits(("DP", "EA"), 1.0), TEMPERATURE)
    assert not found.multipliers.any()
    clear = np.abs(points.gain) > 0.1
    assert ((found.scores > 0.5) == (points.gain > 0))[clear].all()


def test_names_of_groups_do_not_matter() -> None:
    points, _, _ = program(2, ("EOd",), False, groups=3)
    turned = Points(
        points.mass, points.gain, points.rates[:, :, ::-1], points.constant[:, ::-1], points.defined[:, ::-1]
    )
    first = solve_smoothed(points, limits(("EOd",), 0.01), TEMPERATURE)
    second = solve_smoothed(turned, limits(("EOd",), 0.01), TEMPERATURE)
    assert second.scores == pytest.approx(first.scores, abs=1e-4)


@pytest.mark.parametrize(("seed", "n", "groups"), [(2, 2, 5), (52, 3, 5), (58, 3, 3), (127, 3, 5)])
def test_optima_that_one_start_of_the_minimiser_misses(seed: int, n: int, groups: int) -> None:
    points, _, _ = program(seed, ("EOd",), True, groups, n)
    assert abs(solve_smoothed(points, limits(("EOd",), 0.0), TEMPERATURE).gap) <= 1e-6
