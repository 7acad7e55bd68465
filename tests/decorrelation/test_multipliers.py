"""The paper's own solvers: near the optimum at best, never better at equal violation, and honest about their end."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from map_samples import some_distribution, weighed
from scipy.optimize import minimize_scalar

from fairlimits.decorrelation import Decorrelation, Multipliers, decorrelate
from fairlimits.decorrelation.multipliers import project_to_simplex
from fairlimits.errors import InputError
from fairlimits.law.cells.distributions import CellDistribution
from fairlimits.limits import solve
from fairlimits.limits.rules import Rule

QUICK = Multipliers(tau=100.0, inner_steps=100, max_iterations=4)


@given(st.integers(0, 1_000), st.integers(1, 8))
def test_projection_onto_the_simplex(seed: int, width: int) -> None:
    points = np.random.default_rng(seed).normal(scale=3, size=(4, width))
    found = project_to_simplex(points)
    assert (found >= 0).all()
    assert found.sum(axis=1) == pytest.approx(1)
    for point, projected in zip(points, found, strict=True):
        # The projection is max(point - threshold, 0) for the one threshold at which it sums to 1.
        def miss(threshold: float, point: np.ndarray = point) -> float:
            return float((np.maximum(point - threshold, 0).sum() - 1) ** 2)

        best = minimize_scalar(miss, bounds=(point.min() - 1, point.max()), method="bounded", options={"xatol": 1e-12})
        assert projected == pytest.approx(np.maximum(point - best.x, 0), abs=1e-4)


def at_equal_violation(dist: CellDistribution, rule: Rule, plan: Decorrelation) -> Decorrelation:
    """The exact optimum with tolerances wide enough to allow what the plan violates."""
    wider = {name: max(eps, plan.gaps[name]) for name, eps in plan.tolerances.items()}
    weights = weighed(plan.accuracy_weight, plan.correlation_weight)
    return decorrelate(dist, rule, **weights, tolerances=wider, distortion=None)


@pytest.mark.parametrize("aware", [False, True])
@pytest.mark.parametrize("asked", [{"DP": 0.05, "EA": 0.05}, {"EOd": 0.1, "IF": 0.2}, {}])
@pytest.mark.parametrize("schedule", ["geometric", "linear"])
def test_never_better_than_the_optimum_at_equal_violation(aware: bool, asked: dict[str, float], schedule: Any) -> None:
    dist = some_distribution(1, cells=8, holes=0.1)
    rule = solve(dist, asked, aware=aware)
    plan = decorrelate(dist, rule, method="multipliers", multipliers=replace(QUICK, schedule=schedule))
    assert plan.objective <= at_equal_violation(dist, rule, plan).optimum + 1e-9
    assert plan.method == "multipliers"
    assert plan.choice == "last iterate"
    assert np.isnan(plan.optimality_gap)


def test_comes_near_the_optimum_on_a_small_instance() -> None:
    dist = some_distribution(2, cells=5)
    rule = solve(dist, {"DP": 0.1, "EA": 0.1})
    settings = Multipliers(tau=100.0, inner_steps=2_000, max_iterations=5)
    plan = decorrelate(dist, rule, method="multipliers", multipliers=settings)
    assert plan.objective == pytest.approx(plan.optimum, rel=0.01)
    assert plan.correlation < 0.01
    assert all(plan.gaps[name] <= eps + 2e-3 for name, eps in plan.tolerances.items())
    assert plan.objective <= at_equal_violation(dist, rule, plan).optimum + 1e-9


def test_the_alternating_version_can_end_short_of_the_optimum() -> None:
    # Once both groups are sent to the same law, neither map can be improved alone, however far from the best
    # pair they are: alternating minimisation needs a smooth or separable objective, and this is neither.
    dist = some_distribution(2, cells=5)
    rule = solve(dist, {"DP": 0.1, "EA": 0.1}, aware=True)
    settings = Multipliers(tau=100.0, inner_steps=2_000, max_iterations=40)
    plan = decorrelate(dist, rule, method="multipliers", multipliers=settings)
    assert plan.converged
    assert plan.correlation < 1e-6
    assert 0.9 * plan.optimum < plan.objective < 0.98 * plan.optimum
    assert plan.objective <= at_equal_violation(dist, rule, plan).optimum + 1e-9


def test_the_limit_of_iterations_is_reported() -> None:
    dist = some_distribution(3, cells=8)
    rule = solve(dist, {"DP": 0.0})
    told: list[tuple[float, str]] = []
    stopped = decorrelate(
        dist,
        rule,
        method="multipliers",
        multipliers=replace(QUICK, max_iterations=2),
        progress=lambda fraction, words: told.append((fraction, words)),
    )
    assert (stopped.converged, stopped.iterations) == (False, 2)
    assert "stopped at the limit of 2 iterations" in repr(stopped)
    assert [fraction for fraction, _ in told] == [0.5, 1.0, 1.0]
    assert "iteration 2, squared change" in told[1][1]
    # With hardly any step to take, nothing changes, and that is the paper's end.
    at_once = replace(QUICK, first_rate=1e-9)
    ended = decorrelate(dist, rule, method="multipliers", multipliers=at_once)
    assert (ended.converged, ended.iterations) == (True, 1)
    assert "stopped" not in repr(ended)


def test_repeats_exactly() -> None:
    dist = some_distribution(4, cells=6)
    rule = solve(dist, {"EA": 0.1}, aware=True)
    one, two = (decorrelate(dist, rule, method="multipliers", multipliers=QUICK) for _ in range(2))
    assert all(np.array_equal(a, b) for a, b in zip(one.maps, two.maps, strict=True))


def test_more_than_two_groups_are_refused() -> None:
    dist = some_distribution(5, groups=3)
    with pytest.raises(InputError, match=r"is for two groups.*3 have mass.*method=\"exact\""):
        decorrelate(dist, solve(dist, {"DP": 0.1}), method="multipliers")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tau": 0.0}, "tau is 0.0"),
        ({"tau": float("inf")}, "tau is inf"),
        ({"inner_steps": 0}, "inner_steps is 0"),
        ({"inner_steps": 1.5}, "inner_steps is 1.5"),
        ({"max_iterations": -1}, "max_iterations is -1"),
        ({"first_rate": -1.0}, "first_rate is -1.0"),
        ({"first_rate": 1e-13}, "The rate rises"),
        ({"tolerance": float("nan")}, "tolerance is nan"),
        ({"momentum": 1.0}, "The momentum is 1.0"),
        ({"momentum": "some"}, "The momentum is 'some'"),
        ({"tau": "large"}, "tau is 'large'"),
        ({"schedule": "steps"}, "use geometric or linear"),
    ],
)
def test_settings_that_cannot_be_used(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Multipliers(**options)
