"""The collapsed program against the literal one over every entry of T, and what follows from the theorem."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from literal_maps import LiteralMaps
from map_samples import some_distribution, weighed

from fairlimits.decorrelation import decorrelate
from fairlimits.errors import InfeasibleError
from fairlimits.law.cells.distributions import CellDistribution
from fairlimits.limits import CellPolicy, solve
from fairlimits.limits.rules import Rule
from strategies import Case, cases, hoods, neighbourhood, tolerances

WEIGHTS = st.sampled_from([(15.0, 25.0), (15.0, 2.0), (15.0, 0.5), (1.0, 0.05), (0.0, 1.0), (1.0, 0.0), (0.0, 0.0)])


def literal_maps(case: Case, rule: Rule, aware: bool, hood: Any, asked: dict[str, float]) -> LiteralMaps:
    dense = case.distances if isinstance(case.distances, np.ndarray) else None
    return LiteralMaps(case.literal(aware, hood), rule.scores, asked, dense)


@given(
    case=cases(distances=True, cells=5, groups=4),
    hood=hoods(modes=("mean", "each", "all")),
    asked=tolerances(),
    aware=st.booleans(),
    weights=WEIGHTS,
)
@settings(max_examples=120)
def test_the_optimum_is_that_of_the_program_over_every_entry(
    case: Case, hood: Any, asked: dict[str, float], aware: bool, weights: tuple[float, float]
) -> None:
    dist = case.dist()
    rule = solve(dist, asked, aware=aware, neighbours=neighbourhood(hood))
    plan = decorrelate(dist, rule, **weighed(*weights), distortion=None)
    literal = literal_maps(case, rule, aware, hood, asked).optimum(*weights)
    assert literal is not None
    assert plan.optimum == pytest.approx(literal, abs=1e-7)
    # What is read off the map agrees, so the map attains it.
    if weights[1] > 0:
        assert plan.objective == pytest.approx(literal, abs=1e-7)
    assert weights[0] * plan.accuracy >= plan.optimum - 1e-7
    for name, eps in asked.items():
        assert not plan.gaps[name] > eps + 1e-7


@given(
    case=cases(distances=True, cells=5, groups=3),
    hood=hoods(modes=("mean", "all")),
    asked=tolerances(),
    override=tolerances(least=1),
    aware=st.booleans(),
    weights=WEIGHTS,
)
@settings(max_examples=80)
def test_overridden_tolerances_are_kept_or_refused(
    case: Case,
    hood: Any,
    asked: dict[str, float],
    override: dict[str, float],
    aware: bool,
    weights: tuple[float, float],
) -> None:
    dist = case.dist()
    rule = solve(dist, asked, aware=aware, neighbours=neighbourhood(hood))
    literal = literal_maps(case, rule, aware, hood, override).optimum(*weights)
    try:
        plan = decorrelate(dist, rule, **weighed(*weights), tolerances=override)
    except InfeasibleError:
        assert literal is None
        return
    assert literal is not None
    assert plan.optimum == pytest.approx(literal, abs=1e-7)
    assert plan.objective == pytest.approx(literal, abs=1e-7)
    for name, eps in override.items():
        assert not plan.gaps[name] > eps + 1e-7


@pytest.mark.parametrize("aware", [False, True])
@pytest.mark.parametrize("groups", [2, 3])
def test_correlation_kappa_is_attainable_exactly_where_half_of_it_is_as_a_parity_gap(aware: bool, groups: int) -> None:
    dist = some_distribution(groups, groups=groups)
    rule = solve(dist, {"EA": 0.2}, aware=aware)
    assert np.ptp(rule.scores) == 1
    for weight in (0.1, 0.5, 1.0, 3.0):
        plan = decorrelate(dist, rule, **weighed(15.0, weight), distortion=None)
        limit = solve(dist, {"EA": 0.2, "DP": plan.correlation / 2}, aware=aware)
        assert plan.accuracy == pytest.approx(limit.accuracy, abs=1e-8)
        assert plan.gaps["DP"] == pytest.approx(plan.correlation / 2, abs=1e-9)


def test_a_constant_rule_loses_nothing() -> None:
    dist = some_distribution(0)
    free = solve(dist, {})
    policy = CellPolicy(dist, np.full(dist.n_cells, 0.4), aware=False)
    constant = Rule(policy=policy, tolerances={}, accuracy=np.nan, bayes_accuracy=free.bayes_accuracy)
    for options in ({}, {"distortion": None}, {"distortion_weight": 0.1}):
        plan = decorrelate(dist, constant, **options)
        assert plan.accuracy == pytest.approx(plan.rule_accuracy, abs=1e-12)
        if "distortion_weight" not in options:
            assert plan.correlation == pytest.approx(0, abs=1e-12)
    with pytest.raises(InfeasibleError, match=r"EA <= 0 with this rule, whose scores lie between 0\.4 and 0\.4"):
        decorrelate(dist, constant, tolerances={"EA": 0.0})


def test_scores_that_only_rounding_tells_apart_are_one() -> None:
    dist = some_distribution(1)
    rule = solve(dist, {})
    scores = np.full(dist.n_cells, 0.5)
    scores[::2] += 2e-16
    nearly = replace(rule, policy=CellPolicy(dist, scores, aware=False))
    for distortion in ("least", None):
        assert decorrelate(dist, nearly, distortion=distortion).correlation == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("aware", [False, True])
def test_the_paper_weights_prefer_full_decorrelation(aware: bool) -> None:
    dist = some_distribution(2)
    rule = solve(dist, {"EA": 0.05, "EOd": 0.05}, aware=aware)
    plan = decorrelate(dist, rule)
    assert plan.correlation == pytest.approx(0, abs=1e-12)
    assert plan.baseline_correlation == (2.0 if aware else pytest.approx(0.8, abs=0.4))
    assert plan.accuracy <= plan.rule_accuracy + 1e-12


def test_one_group_with_mass_has_nothing_to_hide() -> None:
    mass = np.random.default_rng(0).random((4, 2, 2))
    mass[:, 1] = 0
    dist = CellDistribution.from_mass(mass)
    for aware in (False, True):
        plan = decorrelate(dist, solve(dist, {"DP": 0.0}, aware=aware))
        assert plan.correlation == plan.baseline_correlation == 0
        assert plan.distortion == 0
