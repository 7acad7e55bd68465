"""Predictive parity: the proven bound holds against a dense search, and the rule keeps what it promises."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from fairlimits.errors import InfeasibleError, InputError, SolverError
from fairlimits.law.cells.distributions import CellDistribution
from fairlimits.limits import predictive, solve
from fairlimits.limits.predictive import predictive_parity
from strategies import masses


def best_of_many(mass: np.ndarray, tolerance: float, aware: bool) -> float:
    """Best accuracy over a fine grid of the lowest precision: a lower bound of the optimum."""
    mass = mass / mass.sum()
    cells, groups, _ = mass.shape
    size = cells * groups if aware else cells
    at = np.arange(cells)

    def form(values: np.ndarray, g: int) -> np.ndarray:
        row = np.zeros(size)
        row[at * groups + g if aware else at] += values
        return row

    gain = sum(form(mass[:, g, 1] - mass[:, g, 0], g) for g in range(groups))
    best = -math.inf
    for v in np.linspace(0, 1, 201):
        rows = []
        for g in range(groups):
            one, all_people = form(mass[:, g, 1], g), form(mass[:, g].sum(axis=1), g)
            rows += [v * all_people - one, one - (v + tolerance) * all_people]
        answer = linprog(-gain, A_ub=np.array(rows), b_ub=np.zeros(len(rows)), bounds=(0, 1))
        if answer.status == 0:
            best = max(best, float(mass[:, :, 0].sum() - answer.fun))
    return best


@settings(max_examples=15)
@given(masses(cells=4, groups=3), st.sampled_from([0.0, 0.02, 0.1]), st.booleans())
def test_no_rule_is_above_the_bound(mass: np.ndarray, tolerance: float, aware: bool) -> None:
    found = predictive_parity(CellDistribution.from_mass(mass), tolerance, aware=aware)
    assert math.isnan(found.gap) or found.gap <= tolerance + 1e-6
    assert found.rule.value <= found.bound <= found.rule.value + 1e-4 + 1e-8
    assert found.rule.optimality_gap <= 1e-4 + 1e-8
    assert best_of_many(mass, tolerance, aware) <= found.bound + 1e-7
    assert found.bound <= found.rule.bayes_accuracy + 1e-8


def people(seed: int = 0) -> CellDistribution:
    rng = np.random.default_rng(seed)
    return CellDistribution.from_mass(rng.gamma(0.7, size=(30, 3, 2)))


def test_the_bound_is_as_near_as_it_is_asked_for() -> None:
    found = predictive_parity(people(), 0.01, precision=1e-6)
    assert found.bound - found.rule.value <= 1e-6


def test_it_goes_with_everything_else() -> None:
    dist = people(1)
    required = ["selection rate of each group >= 0.2", "selection rate <= 0.5"]
    found = predictive_parity(dist, 0.02, {"DP": 0.05}, requirements=required, objective="balanced accuracy")
    assert found.gap <= 0.02 + 1e-6
    assert found.rule.gaps["DP"] <= 0.05 + 1e-6
    assert min(found.rule.attained.values()) >= 0.2 - 1e-7
    without = solve(dist, {"DP": 0.05}, requirements=required, objective="balanced accuracy")
    assert found.rule.value <= without.value + 1e-8


def test_a_loose_tolerance_costs_nothing() -> None:
    found = predictive_parity(people(), 1.0)
    assert found.rule.accuracy == pytest.approx(found.rule.bayes_accuracy, abs=1e-8)


def test_what_cannot_be() -> None:
    with pytest.raises(InputError, match="0 to 1"):
        predictive_parity(people(), -0.1)
    with pytest.raises(InputError, match="above 0"):
        predictive_parity(people(), 0.1, precision=0)
    with pytest.raises(InfeasibleError, match="whatever its precision"):
        predictive_parity(people(), 0.1, requirements=["accuracy >= 1"])
    unequal = CellDistribution.from_mass([[[1, 3], [3, 1]]])
    with pytest.raises(InfeasibleError, match="predictive parity together with"):
        predictive_parity(unequal, 0.1, requirements=["selection rate >= 0.5"])


def test_a_search_without_end_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(predictive, "_MOST", 1)
    with pytest.raises(SolverError, match="less precision"):
        predictive_parity(people(), 0.0, precision=1e-9)
