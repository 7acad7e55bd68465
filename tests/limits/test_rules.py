"""`solve` against the literal program, and everything that must hold whatever the distribution is."""

from __future__ import annotations

import json
import math
from itertools import chain, combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from fairlimits.errors import FileError, InfeasibleError, InputError, SolverError
from fairlimits.law.cells.distributions import CellDistribution
from fairlimits.law.cells.neighbours import Neighbourhood
from fairlimits.limits import CellPolicy, solve
from fairlimits.limits.programs import FairProgram
from fairlimits.limits.rules import Rule
from fairlimits.limits.tracing import frontier
from fairlimits.notions.registry import ALL_NOTIONS
from fairlimits.solvers import pairs, proofs
from literal import GROUP_NOTIONS, Hood, Literal
from strategies import MODES, Case, cases, hoods, masses, neighbourhood, tolerances

EXACT = 1e-7
"""How near two solvers come: each proves its optimum to 1e-8 or better."""

MET = 2e-8
"""How far a gap may pass its tolerance."""

# With "paper", a constant score is not fair, and nothing may be.
ALWAYS_FEASIBLE = ("mean", "each", "all")


def usable(case: Case, asked: dict[str, float]) -> dict[str, float]:
    """Leave individual fairness out where cells cannot be compared."""
    return {name: eps for name, eps in asked.items() if name != "IF" or case.distances is not None}


def same_gap(one: float, other: float) -> bool:
    return (math.isnan(one) and math.isnan(other)) or abs(one - other) <= 1e-12


def check_rule(rule: Rule, literal: Literal, asked: dict[str, float]) -> None:
    """What a rule says of itself, computed again from its scores and the masses."""
    assert ((rule.scores >= 0) & (rule.scores <= 1)).all()
    assert rule.accuracy == pytest.approx(literal.accuracy(rule.scores), abs=1e-12)
    assert rule.bayes_accuracy == pytest.approx(literal.majority(), abs=1e-12)
    assert rule.price == rule.bayes_accuracy - rule.accuracy
    assert abs(rule.optimality_gap) <= proofs.OPTIMALITY
    gaps = literal.gaps(rule.scores)
    assert tuple(rule.gaps) == ALL_NOTIONS
    for name, gap in gaps.items():
        assert same_gap(rule.gaps[name], gap), (name, rule.gaps[name], gap)
    for name, eps in asked.items():
        assert math.isnan(gaps[name]) or gaps[name] <= eps + MET, (name, gaps[name], eps)
    assert dict(rule.tolerances) == asked
    assert set(rule.shadow_prices) == set(asked)
    assert all(price >= -1e-9 for price in rule.shadow_prices.values())


@settings(max_examples=300)
@given(cases(), hoods(), tolerances(), st.booleans())
def test_solve_agrees_with_the_literal_program(case: Case, hood: Hood, asked: dict[str, float], aware: bool) -> None:
    asked = usable(case, asked)
    literal = case.literal(aware, hood)
    best = literal.optimum(asked)
    if best is None:
        assert hood.mode == "paper"
        with pytest.raises(InfeasibleError):
            solve(case.dist(), asked, aware=aware, neighbours=neighbourhood(hood))
        return
    rule = solve(case.dist(), asked, aware=aware, neighbours=neighbourhood(hood))
    assert rule.accuracy == pytest.approx(best, abs=EXACT)
    assert rule.scores.shape == (case.shape if aware else case.shape[:1])
    check_rule(rule, literal, asked)


@settings(max_examples=100)
@given(cases(distances=True), hoods(ALWAYS_FEASIBLE), tolerances(), st.booleans())
def test_neighbours_that_enter_in_rounds_are_all_met(
    case: Case, hood: Hood, asked: dict[str, float], aware: bool
) -> None:
    asked = {"IF": 0.05, **asked}
    literal = case.literal(aware, hood)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pairs, "FEW_PAIRS", 0)
        rule = solve(case.dist(), asked, aware=aware, neighbours=neighbourhood(hood))
    assert rule.accuracy == pytest.approx(literal.optimum(asked), abs=EXACT)
    check_rule(rule, literal, asked)


def instance(groups: int, seed: int, cells: int = 9) -> Case:
    """A distribution without special features."""
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(cells, 2))
    return Case(rng.gamma(0.7, size=(cells, groups, 2)), np.abs(points[:, None] - points[None]).mean(axis=2))


SUBSETS = list(chain.from_iterable(combinations(ALL_NOTIONS, k) for k in range(7)))


@pytest.mark.parametrize("aware", [False, True])
@pytest.mark.parametrize("groups", [2, 3])
def test_every_combination_of_notions(groups: int, aware: bool) -> None:
    rng = np.random.default_rng(groups)
    case, hood = instance(groups, seed=groups), Hood(percentile=30)
    literal = case.literal(aware, hood)
    for names in SUBSETS:
        asked = {name: float(rng.choice([0, 0.02, 0.1])) for name in names}
        rule = solve(case.dist(), asked, aware=aware, neighbours=neighbourhood(hood))
        assert rule.accuracy == pytest.approx(literal.optimum(asked), abs=EXACT), asked
        check_rule(rule, literal, asked)


@pytest.mark.parametrize("in_rounds", [False, True])
@pytest.mark.parametrize("aware", [False, True])
@pytest.mark.parametrize("mode", MODES)
def test_many_neighbours_are_all_met(monkeypatch: pytest.MonkeyPatch, mode: str, aware: bool, in_rounds: bool) -> None:
    if in_rounds:
        monkeypatch.setattr(pairs, "FEW_PAIRS", 0)
    case, hood = instance(2, seed=5, cells=40), Hood(percentile=25, mode=mode)
    literal = case.literal(aware, hood)
    for eps in (0.0 if mode != "paper" else 0.001, 0.03, 0.2):
        asked = {"IF": eps, "DP": 0.05}
        rule = solve(case.dist(), asked, aware=aware, neighbours=neighbourhood(hood))
        assert rule.accuracy == pytest.approx(literal.optimum(asked), abs=EXACT)
        check_rule(rule, literal, asked)


# Rounding must not turn into a constraint


@given(
    masses(cells=5, groups=2),
    st.integers(1, 11),
    st.integers(1, 11),
    st.sampled_from(GROUP_NOTIONS),
    st.booleans(),
)
@example(np.array([[[3, 2], [0, 0]], [[1, 3], [0, 0]], [[1, 0], [0, 0]]]), 1, 3, "DP", False)
@example(np.array([[[1, 2], [0, 0]]]), 1, 7, "EA", False)
def test_equal_groups_cost_nothing(mass: np.ndarray, few: int, many: int, name: str, aware: bool) -> None:
    """Groups of one and the same law differ by rounding only, in size and in nothing else."""
    assume(mass[:, 0].sum() > 0)
    dist = CellDistribution.from_mass(np.stack([few * mass[:, 0], many * mass[:, 0]], axis=1))
    rule = solve(dist, {name: 0.0}, aware=aware)
    assert rule.accuracy == pytest.approx(rule.bayes_accuracy, abs=EXACT)
    assert rule.shadow_prices[name] == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize("name", GROUP_NOTIONS)
@pytest.mark.parametrize(
    "mass",
    [
        # Labels nearly even in a cell: its part in the accuracy cancels once before the groups' cancel again.
        [[[3040, 3116], [2920, 2993]], [[4180, 304], [4015, 292]]],
        [[[2635, 2666], [425, 430]], [[1581, 837], [255, 135]]],
        # Many cells: the rounding of a sum, small in each of them, points the same way in all.
        np.random.default_rng(0).gamma(0.5, size=(20_000, 1, 2)) * np.array([[[0.87], [0.35]]]),
        np.random.default_rng(1).gamma(0.5, size=(2_000, 1, 2)) * np.array([[[1.0], [3.0]]]),
    ],
    ids=["even", "even too", "20,000 cells", "2,000 cells"],
)
def test_equal_groups_cost_nothing_in_hard_cases(mass: Any, name: str) -> None:
    rule = solve(CellDistribution.from_mass(mass), {name: 0.0})
    assert rule.price == pytest.approx(0, abs=EXACT)


def test_a_third_group_changes_nothing_for_equal_ones() -> None:
    base = np.array([[3, 2], [1, 3], [1, 0]])
    dist = CellDistribution.from_mass(np.stack([base, 3 * base, 7 * base], axis=1))
    rule = solve(dist, dict.fromkeys(GROUP_NOTIONS, 0.0))
    assert rule.price == pytest.approx(0, abs=EXACT)


# Rows that are parallel up to rounding, one of them 1e-7 times as large as the others.
HARD = [
    ([[[1, 20], [2, 50]], [[9, 1e-5], [5, 1e-5]]], {"EA": 0.1, "EOd": 0.0}),
    (
        [
            [[0.0814886256735484, 1.4947068687507474], [1.6929178767958025e-06, 1.22508828834157]],
            [[0.8736397704673399, 9.98295442285456e-07], [2.8013339235237518, 1.2005977078100075e-06]],
        ],
        {"DP": 0.0, "EA": 0.1, "EOp": 0.1, "EOd": 0.0},
    ),
    (
        [[[0.468, 5.73e-11], [0.821, 1.31]], [[2.51e-11, 0.151], [3.56e-11, 1.39e-11]]],
        {"EA": 0.1, "EOd": 0.0},
    ),
    ([[[6.53e-10, 5.44e-12], [5.92e-12, 1.33]], [[2.89, 2.75e-11], [0.00877, 0.0547]]], {"EA": 0.0, "EOd": 0.0}),
]


@pytest.mark.parametrize(("mass", "asked"), HARD)
def test_what_can_be_met_is_never_called_impossible(mass: Any, asked: dict[str, float]) -> None:
    """Deciding by a fair coin meets every tolerance."""
    rule = solve(CellDistribution.from_mass(mass), asked)
    check_rule(rule, Literal(np.array(mass)), asked)
    assert rule.accuracy >= 0.5 - EXACT


@settings(max_examples=150)
@given(cases(tiny=True), hoods(ALWAYS_FEASIBLE), tolerances(), st.booleans())
def test_tiny_masses(case: Case, hood: Hood, asked: dict[str, float], aware: bool) -> None:
    """Masses from 1e-12 to 1 in one distribution: linprog is no judge here, the definitions are."""
    asked = usable(case, asked)
    literal = case.literal(aware, hood)
    rule = solve(case.dist(), asked, aware=aware, neighbours=neighbourhood(hood))
    check_rule(rule, literal, asked)
    assert 0.5 - EXACT <= rule.accuracy <= rule.bayes_accuracy + EXACT


# The unconstrained rule


@given(cases(), st.booleans())
def test_without_constraints_the_majority_decides(case: Case, aware: bool) -> None:
    rule = solve(case.dist(), {}, aware=aware)
    votes = case.mass if aware else case.mass.sum(axis=1)
    clear = votes[..., 0] != votes[..., 1]
    assert (rule.scores[clear] == (votes[..., 1] > votes[..., 0])[clear]).all()
    assert rule.accuracy == pytest.approx(case.literal(aware).majority(), abs=1e-12)
    assert rule.shadow_prices == {}
    assert rule.price == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("aware", [False, True])
def test_the_majority_decides_in_the_smallest_cell_too(aware: bool) -> None:
    mass = np.array([[[2, 1], [1, 3]], [[1e-12, 3e-12], [1e-12, 2e-12]], [[1, 2], [3, 1]]])
    rule = solve(CellDistribution.from_mass(mass), {}, aware=aware)
    assert (rule.scores[1] == 1).all()


@given(cases(), hoods(ALWAYS_FEASIBLE), st.booleans())
def test_tolerances_above_the_gaps_of_the_best_rule_cost_nothing(case: Case, hood: Hood, aware: bool) -> None:
    dist = case.dist()
    best = solve(dist, {}, aware=aware, neighbours=neighbourhood(hood))
    enough = {name: gap + 1e-9 for name, gap in best.gaps.items() if not math.isnan(gap)}
    rule = solve(dist, enough, aware=aware, neighbours=neighbourhood(hood))
    assert rule.accuracy == pytest.approx(best.accuracy, abs=EXACT)


@given(cases(), hoods(), st.booleans(), st.sampled_from([1.0, 2.0, 1e10, math.inf]))
def test_tolerances_of_1_and_more_are_no_constraint(case: Case, hood: Hood, aware: bool, eps: float) -> None:
    # In mode "paper" the scores of a cell add up over the groups, so that differences can pass 1.
    assume(eps > 1 or hood.mode != "paper")
    names = ALL_NOTIONS if case.distances is not None else GROUP_NOTIONS
    eps = max(eps, 5.0) if hood.mode == "paper" else eps
    rule = solve(case.dist(), dict.fromkeys(names, eps), aware=aware, neighbours=neighbourhood(hood))
    assert rule.price == pytest.approx(0, abs=EXACT)
    assert all(price == pytest.approx(0, abs=1e-6) for price in rule.shadow_prices.values())


# Orders between programs


@given(cases(), hoods(ALWAYS_FEASIBLE), tolerances())
def test_seeing_the_group_never_hurts(case: Case, hood: Hood, asked: dict[str, float]) -> None:
    """An unaware rule is an aware one with equal scores; in these modes it is as fair as before."""
    asked = usable(case, asked)
    blind, seeing = (
        solve(case.dist(), asked, aware=aware, neighbours=neighbourhood(hood)).accuracy for aware in (False, True)
    )
    assert seeing >= blind - EXACT


def test_the_papers_weighting_can_punish_seeing_the_group() -> None:
    """Which is why it is for reproduction only."""
    dist = CellDistribution.from_mass([[[1, 7], [1, 4]], [[1, 3], [4, 3]]], distances=[[0, 1], [1, 0]])
    hood = Neighbourhood(percentile=100, mode="paper")
    blind, seeing = (solve(dist, {"IF": 0}, aware=aware, neighbours=hood).accuracy for aware in (False, True))
    assert blind == pytest.approx(17 / 24)
    assert seeing < blind - 0.01


@given(cases(distances=True), hoods(), tolerances())
def test_comparing_all_groups_is_the_strictest_mode(case: Case, hood: Hood, asked: dict[str, float]) -> None:
    asked = {"IF": 0.05, **asked}
    accuracy = {
        mode: solve(
            case.dist(),
            asked,
            aware=True,
            neighbours=Neighbourhood(percentile=hood.percentile, eta=hood.eta, theta=hood.theta, mode=mode),  # type: ignore[arg-type]
        ).accuracy
        for mode in ALWAYS_FEASIBLE
    }
    assert accuracy["all"] <= accuracy["mean"] + EXACT
    assert accuracy["all"] <= accuracy["each"] + EXACT


@given(cases(distances=True), hoods(("all",)), tolerances())
def test_identical_people_decided_identically_is_unawareness(case: Case, hood: Hood, asked: dict[str, float]) -> None:
    """Mode "all" at tolerance 0 leaves nothing to gain from seeing the group."""
    asked = {**asked, "IF": 0.0}
    blind, seeing = (
        solve(case.dist(), asked, aware=aware, neighbours=neighbourhood(hood)).accuracy for aware in (False, True)
    )
    assert seeing == pytest.approx(blind, abs=EXACT)


@given(cases(), hoods(ALWAYS_FEASIBLE), tolerances(least=1), st.booleans(), st.data())
def test_more_notions_and_smaller_tolerances_never_help(
    case: Case, hood: Hood, asked: dict[str, float], aware: bool, data: st.DataObject
) -> None:
    asked = usable(case, asked)
    assume(asked)
    name = data.draw(st.sampled_from(sorted(asked)))
    fewer = {other: eps for other, eps in asked.items() if other != name}
    stricter = {**asked, name: asked[name] / 2 if math.isfinite(asked[name]) else 0.1}
    low, middle, high = (
        solve(case.dist(), ask, aware=aware, neighbours=neighbourhood(hood)).accuracy
        for ask in (stricter, asked, fewer)
    )
    assert low <= middle + EXACT
    assert middle <= high + EXACT


@given(cases(), hoods(ALWAYS_FEASIBLE), tolerances(), st.booleans())
def test_constant_rules_are_beaten(case: Case, hood: Hood, asked: dict[str, float], aware: bool) -> None:
    asked = usable(case, asked)
    accuracy = solve(case.dist(), asked, aware=aware, neighbours=neighbourhood(hood)).accuracy
    assert accuracy >= 0.5 - EXACT
    if "EA" not in asked:
        # The same decision for all is fair by every other notion.
        assert accuracy >= (case.mass.sum(axis=(0, 1)) / case.mass.sum()).max() - EXACT


@given(cases(distances=False), tolerances(individual=False), st.booleans())
def test_equalized_odds_is_both_of_its_parts(case: Case, asked: dict[str, float], aware: bool) -> None:
    asked = {"EOd": 0.1, **asked}
    apart = {name: eps for name, eps in asked.items() if name != "EOd"}
    for part in ("EOp", "PE"):
        apart[part] = min(asked["EOd"], asked.get(part, math.inf))
    one, other = (solve(case.dist(), ask, aware=aware).accuracy for ask in (asked, apart))
    assert one == pytest.approx(other, abs=EXACT)


# Changes that change nothing


@given(cases(), hoods(ALWAYS_FEASIBLE), tolerances(), st.booleans(), st.integers(0, 10_000))
def test_order_of_cells_and_groups_does_not_matter(
    case: Case, hood: Hood, asked: dict[str, float], aware: bool, seed: int
) -> None:
    asked = usable(case, asked)
    rng = np.random.default_rng(seed)
    cells, groups = rng.permutation(case.shape[0]), rng.permutation(case.shape[1])
    distances = case.distances
    if isinstance(distances, np.ndarray):
        distances = distances[np.ix_(cells, cells)]
    elif distances is not None:
        at = np.argsort(cells)
        distances = [(int(min(at[i], at[j])), int(max(at[i], at[j])), d) for i, j, d in distances]
    moved = Case(case.mass[cells][:, groups], distances)
    one, other = (solve(c.dist(), asked, aware=aware, neighbours=neighbourhood(hood)) for c in (case, moved))
    assert other.accuracy == pytest.approx(one.accuracy, abs=EXACT)
    # The scores of the one, moved, are a rule of the other with the same gaps.
    scores = one.scores[cells][:, groups] if aware else one.scores[cells]
    for name, gap in moved.literal(aware, hood).gaps(scores).items():
        assert same_gap(one.gaps[name], gap)


@given(cases(), hoods(ALWAYS_FEASIBLE), tolerances(), st.booleans(), st.sampled_from([1e-6, 0.3, 7.0, 1e9]))
def test_the_unit_of_mass_does_not_matter(
    case: Case, hood: Hood, asked: dict[str, float], aware: bool, unit: float
) -> None:
    asked = usable(case, asked)
    one, other = (
        solve(c.dist(), asked, aware=aware, neighbours=neighbourhood(hood)).accuracy
        for c in (case, Case(case.mass * unit, case.distances))
    )
    assert one == pytest.approx(other, abs=EXACT)


@given(
    cases(distances=False),
    tolerances(individual=False),
    st.booleans(),
    st.integers(0, 5),
    st.sampled_from([0.5, 0.25, 0.1]),
)
def test_a_cell_cut_into_proportional_parts_is_the_same_cell(
    case: Case, asked: dict[str, float], aware: bool, which: int, share: float
) -> None:
    k = which % case.shape[0]
    parts = np.concatenate([case.mass, case.mass[k : k + 1] * share])
    parts[k] *= 1 - share
    one, other = (solve(c.dist(), asked, aware=aware).accuracy for c in (case, Case(parts, None)))
    assert one == pytest.approx(other, abs=EXACT)


@given(cases(distances=False), tolerances(individual=False), st.booleans())
def test_cells_without_mass_change_nothing(case: Case, asked: dict[str, float], aware: bool) -> None:
    wider = np.concatenate([case.mass, np.zeros_like(case.mass[:1])])
    one, other = (solve(c.dist(), asked, aware=aware).accuracy for c in (case, Case(wider, None)))
    assert one == pytest.approx(other, abs=EXACT)


# Nearly deterministic


@given(cases(distances=False), tolerances(individual=False), st.booleans())
def test_few_scores_are_fractional(case: Case, asked: dict[str, float], aware: bool) -> None:
    """A basic optimum has at most as many of them as rows that press; only ties with others have more."""
    rule = solve(case.dist(), asked, aware=aware)
    program = FairProgram(case.dist(), tuple(asked), aware, Neighbourhood())
    scores = program.solve(asked).x
    fractional = int(((scores > 1e-7) & (scores < 1 - 1e-7)).sum())
    literal = case.literal(aware)
    limits: dict[str, float] = {}
    for name, eps in asked.items():
        for rate in ("EOp", "PE") if name == "EOd" else (name,):
            limits[rate] = min(eps, limits.get(rate, math.inf))
    pressing = 0
    for name, eps in limits.items():
        values = np.array([c + row @ literal.flat(rule.scores) for c, row in literal.rates(name)[0]])
        if len(values) >= 2 and np.ptp(values) >= eps - 1e-6:
            ends = (values <= values.min() + 1e-6) | (values >= values.max() - 1e-6)
            pressing += 1 if len(values) == 2 else int(ends.sum())
    assert fractional <= pressing


# Scores of cells and groups without mass


def test_a_group_without_mass_takes_the_mean_score_of_its_cell() -> None:
    mass = np.array([[[4, 1], [1, 2], [0, 0]], [[1, 9], [1, 1], [3, 4]]])
    rule = solve(CellDistribution.from_mass(mass), {}, aware=True)
    assert rule.scores[0].tolist() == [0, 1, pytest.approx(3 / 8)]


@pytest.mark.parametrize("seed", range(20))
def test_mean_scores_are_probabilities(seed: int) -> None:
    """The mean of ones is 1, not 1 and a bit."""
    mass = np.random.default_rng(seed).gamma(0.7, size=(8, 6, 2))
    mass[:, 5] = 0
    mass[0] = 0
    mass[:, :, 0] = 0
    for aware in (False, True):
        assert solve(CellDistribution.from_mass(mass), {}, aware=aware).scores.max() == 1


def test_a_cell_without_mass_takes_the_scores_of_the_nearest() -> None:
    mass = np.array([[[4, 1], [1, 4]], [[0, 0], [0, 0]], [[1, 4], [4, 1]]])
    distances = np.array([[0, 2, 3], [2, 0, 1], [3, 1, 0]])
    dist = CellDistribution.from_mass(mass, distances)
    assert solve(dist, {}, aware=True).scores.tolist() == [[0, 1], [1, 0], [1, 0]]
    # The empty cell is nobody's neighbour.
    hood = Neighbourhood(eta=2.5)
    rule = solve(dist, {"IF": 0}, aware=True, neighbours=hood)
    assert rule.price == pytest.approx(0, abs=EXACT)
    assert rule.gaps["IF"] == 0


@pytest.mark.parametrize("graph", [None, sp.coo_array(([1.0], ([0], [1])), shape=(3, 3))])
def test_a_cell_without_mass_takes_the_mean_where_distances_are_not_known(graph: Any) -> None:
    mass = np.array([[[4, 1], [4, 1]], [[0, 0], [0, 0]], [[1, 4], [1, 14]]])
    rule = solve(CellDistribution.from_mass(mass, graph), {})
    assert rule.scores.tolist() == [0, pytest.approx(20 / 30), 1]
    aware = solve(CellDistribution.from_mass(mass, graph), {}, aware=True)
    np.testing.assert_allclose(aware.scores[1], 20 / 30)


@pytest.mark.parametrize("aware", [False, True])
@pytest.mark.parametrize("mode", MODES)
def test_one_group_alone_is_never_treated_unfairly(mode: str, aware: bool) -> None:
    dist = CellDistribution.from_mass([[[1, 2]], [[3, 1]]], distances=[[0, 1], [1, 0]])
    rule = solve(dist, dict.fromkeys(GROUP_NOTIONS, 0.0), aware=aware)
    assert rule.accuracy == pytest.approx(5 / 7)
    assert all(math.isnan(rule.gaps[name]) for name in GROUP_NOTIONS)
    assert set(rule.shadow_prices.values()) == {0.0}
    hood = Neighbourhood(percentile=100, mode=mode)  # type: ignore[arg-type]
    individual = solve(dist, {"IF": 0}, aware=aware, neighbours=hood)
    assert individual.gaps["IF"] == pytest.approx(0, abs=MET)


def test_groups_that_share_no_condition_are_not_compared() -> None:
    """Group 0 has label 0 only, group 1 label 1 only: neither odds can be compared."""
    dist = CellDistribution.from_mass([[[2, 0], [0, 1]], [[1, 0], [0, 4]]])
    rule = solve(dist, {"EOd": 0.0})
    assert rule.price == pytest.approx(0, abs=EXACT)
    assert math.isnan(rule.gaps["EOd"])
    assert solve(dist, {"DP": 0.0}).price > 0.1


# Shadow prices


def coarse(asked: dict[str, float]) -> dict[str, float]:
    """Tolerances on a grid of 1/1000, so that no two of them are closer than the step of a derivative."""
    return {name: round(eps, 3) if eps < 9 else eps for name, eps in asked.items()}


@settings(max_examples=150)
@given(cases(), hoods(ALWAYS_FEASIBLE), tolerances(least=1), st.booleans())
@example(instance(2, 0), Hood(percentile=50), {"EOp": 0.0, "EOd": 0.0, "IF": 0.0}, True)
@example(instance(2, 1), Hood(percentile=50), {"EOp": 0.05, "EOd": 0.05}, False)
@example(instance(3, 2), Hood(percentile=50), {"EOp": 0.01, "EOd": 0.05, "PE": 0.02}, True)
def test_shadow_prices_are_right_derivatives(case: Case, hood: Hood, asked: dict[str, float], aware: bool) -> None:
    asked = coarse(usable(case, asked))
    literal = case.literal(aware, hood)
    prices = solve(case.dist(), asked, aware=aware, neighbours=neighbourhood(hood)).shadow_prices
    here = literal.optimum(asked)
    step = 1e-4
    for name, eps in asked.items():
        if math.isinf(eps):
            assert prices[name] == 0
            continue
        near = (literal.optimum({**asked, name: eps + step}) - here) / step  # type: ignore[operator]
        far = (literal.optimum({**asked, name: eps + 2 * step}) - here) / (2 * step)  # type: ignore[operator]
        # The curve is concave: no chord to the right is steeper, and one on the same piece is as steep.
        assert prices[name] >= near - 1e-5 * (1 + near)
        if abs(near - far) < 1e-6 * (1 + near):
            assert prices[name] == pytest.approx(near, abs=1e-4 * (1 + near))


@pytest.mark.parametrize("aware", [False, True])
@pytest.mark.parametrize("name", ALL_NOTIONS)
@pytest.mark.parametrize("groups", [2, 3])
def test_at_a_breakpoint_the_price_is_the_slope_to_the_right(groups: int, name: str, aware: bool) -> None:
    dist, hood = instance(groups, 7, cells=12).dist(), Neighbourhood(percentile=20)
    curve = frontier(dist, [name], exact=True, aware=aware, neighbours=hood)
    at = curve.grid[name]
    assert len(at) >= 2
    slopes = [*(np.diff(curve.accuracy) / np.diff(at)), 0.0]
    for eps, width, slope in zip(at, [*np.diff(at), 1.0], slopes, strict=True):
        if width > 1e-5:
            price = solve(dist, {name: float(eps)}, aware=aware, neighbours=hood).shadow_prices[name]
            assert price == pytest.approx(slope, abs=1e-5 * (1 + slope))


def test_the_price_of_a_shared_rate_is_paid_by_the_stricter_notion() -> None:
    dist = instance(2, 3).dist()
    alone = solve(dist, {"EOp": 0.01}).shadow_prices["EOp"]
    assert alone > 0
    both = solve(dist, {"EOp": 0.01, "EOd": 0.9}).shadow_prices
    assert both["EOp"] == pytest.approx(alone)
    assert both["EOd"] == pytest.approx(0, abs=1e-9)
    # At one and the same tolerance neither moves the true positive rates alone.
    tied = solve(dist, {"EOp": 0.01, "EOd": 0.01}).shadow_prices
    assert tied["EOp"] == 0
    apart = solve(dist, {"EOp": 0.01, "PE": 0.01}).shadow_prices
    assert tied["EOd"] == pytest.approx(apart["PE"])


# Asking and keeping


def test_infeasible_asks_are_named() -> None:
    """Only the paper's weighting can contradict the group notions."""
    case = Case(
        np.array([[[0.68, 1.34], [0.60, 0.48]], [[1.64, 0.95], [1.69, 0.18]]]), np.array([[0.0, 1.0], [1.0, 0.0]])
    )
    asked = dict.fromkeys(ALL_NOTIONS, 0.0)
    hood = Hood(percentile=100, mode="paper")
    assert case.literal(True, hood).optimum(asked) is None
    with pytest.raises(InfeasibleError, match="Relaxing one is enough: DP"):
        solve(case.dist(), asked, aware=True, neighbours=neighbourhood(hood))


def test_an_unproven_optimum_is_not_returned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proofs, "OPTIMALITY", -1.0)
    with pytest.raises(SolverError, match="below the optimum"):
        solve(instance(2, 0).dist(), {"DP": 0.01})


@pytest.mark.parametrize(
    "asked",
    [
        {"XX": 0.1},
        {"DP": -0.1},
        {"DP": math.nan},
        {"DP": None},
        {"DP": "much"},
        {"DP": 10**400},
        {"DP": [0.1, 0.2]},
        {3: 0.1},
        ["DP"],
        [("DP", 0.1)],
        None,
        0.1,
    ],
)
def test_impossible_tolerances_are_refused(asked: Any) -> None:
    with pytest.raises(InputError):
        solve(instance(2, 0).dist(), asked)


def test_numbers_of_any_kind_are_tolerances() -> None:
    dist = instance(2, 0).dist()
    plain = solve(dist, {"DP": 0.0, "EA": 1.0}).accuracy
    assert solve(dist, {"DP": 0, "EA": np.float32(1)}).accuracy == plain  # type: ignore[dict-item]
    assert solve(dist, {"DP": np.array(0.0), "EA": "1"}).accuracy == plain  # type: ignore[dict-item]


@pytest.mark.parametrize("aware", [False, True])
def test_a_rule_repeats_and_describes_itself(aware: bool) -> None:
    dist = instance(2, 0).dist()
    rules = [solve(dist, {"DP": 0.02, "IF": 0.1}, aware=aware) for _ in range(2)]
    np.testing.assert_array_equal(rules[0].scores, rules[1].scores)
    assert rules[0].aware is aware
    assert rules[0].neighbours == Neighbourhood()
    assert rules[0].group_scores.shape == (9, 2)
    assert "DP <= 0.02" in repr(rules[0])
    assert ("unaware" in repr(rules[0])) is not aware
    assert "no constraint" in repr(solve(dist, {}))


@pytest.mark.parametrize("aware", [False, True])
@pytest.mark.parametrize("sparse", [False, True])
def test_what_is_saved_is_loaded(tmp_path: Path, aware: bool, sparse: bool) -> None:
    case = instance(3, 1)
    if sparse:
        case = Case(case.mass, [(0, 1, 0.0), (2, 5, 0.3)])
    hood = Neighbourhood(percentile=10, theta=2, mode="each")
    rule = solve(case.dist(), {"DP": 0.02, "EA": math.inf, "IF": 0.05}, aware=aware, neighbours=hood)
    rule.save(tmp_path / "rule.npz")
    loaded = Rule.load(tmp_path / "rule.npz")
    np.testing.assert_array_equal(loaded.scores, rule.scores)
    np.testing.assert_array_equal(loaded.distribution.mass, rule.distribution.mass)
    for name in ("accuracy", "bayes_accuracy", "tolerances", "shadow_prices", "aware", "neighbours", "optimality_gap"):
        assert getattr(loaded, name) == getattr(rule, name), name
    assert loaded.gaps == rule.gaps
    with pytest.raises(FileError, match="holds a rule, not a distribution"):
        CellDistribution.load(tmp_path / "rule.npz")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("accuracy", "high"),
        ("accuracy", None),
        ("tolerances", {"DP": -1}),
        ("tolerances", {"XX": 1}),
        ("tolerances", 3),
        ("neighbours", {"mode": "none"}),
        ("neighbours", {"radius": 3}),
        ("optimality_gap", "high"),
        ("requirements", 3),
        ("distribution", {}),
        ("scores", np.zeros(4)),
        ("scores", np.array(["a"] * 9)),
        ("scores", np.full(9, np.nan)),
        ("scores", np.full(9, 7.0)),
        ("scores", None),
    ],
)
def test_a_damaged_file_is_named_so(tmp_path: Path, field: str, value: Any) -> None:
    path = tmp_path / "rule.npz"
    solve(instance(2, 0).dist(), {"DP": 0.1}).save(path)
    with np.load(path) as content:
        parts = {name: content[name] for name in content.files}
    header = json.loads(str(parts.pop("header")))
    if field == "scores":
        parts.pop("scores")
        parts |= {} if value is None else {"scores": value}
    else:
        header["content"][field] = value
    with path.open("wb") as stream:
        np.savez(stream, header=np.array(json.dumps(header)), **parts)
    with pytest.raises(FileError):
        Rule.load(path)


def test_truth_values_are_no_scores() -> None:
    """A classifier's file may hold an array of any type; scores are subtracted."""
    dist = instance(2, 0).dist()
    state = CellPolicy(dist, np.ones(dist.n_cells), False).__getstate__()
    with pytest.raises(InputError, match="not probabilities"):
        CellPolicy.__new__(CellPolicy).__setstate__(state | {"scores": state["scores"].astype(bool)})
