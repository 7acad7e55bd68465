"""Bounds on small laws that are known: against literal definitions, weak duality, and what draws come to."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fairlimits as fl
from fairlimits._util.types import Floats, Ints
from fairlimits.errors import InfeasibleError
from fairlimits.evaluation.ceilings.bounds import Near, find_bounds
from fairlimits.evaluation.ceilings.curves import find_curve
from fairlimits.evaluation.ceilings.evidence import Evidence
from fairlimits.evaluation.ceilings.forecasts import Forecast
from fairlimits.evaluation.ceilings.pairs import Crowd, Weighted, magnitude
from fairlimits.evaluation.ceilings.questions import Question
from fairlimits.evaluation.ceilings.strengths import find_strength
from fairlimits.evaluation.ceilings.twins import Apart, Sighted
from fairlimits.notions import ACCURACY, read_objective, read_requirements

NOTIONS = ("DP", "EA", "EOp", "PE", "EOd")
MANY = np.full((3, 2), 1000)


def random_law(rng: np.random.Generator, kinds: int, groups: int) -> Floats:
    """P(A, Y, kind), rough."""
    mass = rng.gamma(0.5, size=(kinds, groups, 2)) + 1e-3
    return np.asarray(mass / mass.sum())


def literal_total(sorts: list[int], z: Floats, chances: Floats, strength: float, least: float) -> float:
    """The part of one kind, person by person and pair by pair."""
    if len(sorts) == 1:
        return float(abs(z[sorts[0]]))
    mean, square = float(chances @ z), float(chances @ z**2)
    total, pairs = 0.0, 0
    for i, j in permutations(range(len(sorts)), 2):
        # Everybody but i and j: what tau may depend on.
        others = [z[sort] for at, sort in enumerate(sorts) if at not in (i, j)]
        people = strength + len(others)
        first = (strength * mean + sum(others)) / people
        second = (strength * square + sum(own**2 for own in others)) / people
        tau = max(np.sqrt(first**2 + max(second - first**2, 0) / (people + 1)), least * np.sqrt(square))
        total += z[sorts[i]] * z[sorts[j]] / (2 * tau) + tau / 2
        pairs += 1
    return len(sorts) * total / pairs


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 3), min_size=1, max_size=6), st.integers(0, 10**6))
def test_pairs_of_sorts_are_pairs_of_people(sorts: list[int], seed: int) -> None:
    rng = np.random.default_rng(seed)
    z, chances = rng.normal(size=4), rng.dirichlet(np.ones(4))
    crowd = Crowd(np.bincount(sorts, minlength=4)[None], chances[None], np.array([3.0]))
    found = magnitude(crowd, z.reshape(2, 2), 0.1)
    assert found.total[0] == pytest.approx(literal_total(sorts, z, chances, 3.0, 0.1))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 3), min_size=8, max_size=12), st.booleans(), st.integers(0, 10**6))
def test_drops_are_what_kinds_lose_without_a_person(sorts: list[int], weighted: bool, seed: int) -> None:
    rng = np.random.default_rng(seed)
    z, chances, half = rng.normal(size=4), rng.dirichlet(np.ones(4)), np.arange(len(sorts)) % 2
    weight = rng.gamma(2.0, size=len(sorts)) if weighted else np.ones(len(sorts))

    def total(kept: list[int]) -> float:
        who = [sorts[at] for at in kept]
        if not weighted:
            return literal_total(who, z, chances, 3.0, 0.1)
        return literal_halves(who, weight[kept], half[kept], z, chances, 3.0, 0.1)

    every = list(range(len(sorts)))
    counts = np.bincount(sorts, minlength=4)[None]
    people = Weighted(np.zeros(len(sorts), dtype=np.int64), np.array(sorts), half, weight) if weighted else None
    found = magnitude(Crowd(counts, chances[None], np.array([3.0]), None, people), z.reshape(2, 2), 0.1, 1.3)
    assert found.total[0] == pytest.approx(total(every))
    by = [(sorts[at], total(every) - total([own for own in every if own != at])) for at in every]
    drops = found.drops
    told = [(drops.sort[at], drops.by[at]) for at in range(len(drops.by)) for _ in range(drops.times[at])]
    np.testing.assert_allclose(sorted(told), sorted(by), atol=1e-9)


def literal_halves(
    sorts: list[int], weight: Floats, half: Ints, z: Floats, chances: Floats, strength: float, least: float
) -> float:
    """The part of one kind of people with weights, pair by pair, with tau from the other half."""
    mean, square = float(chances @ z), float(chances @ z**2)
    total = 0.0
    for own in (0, 1):
        value, other = (np.array([w * z[t] for w, t, h in zip(weight, sorts, half, strict=True) if h == which])
                        for which in (own, 1 - own))  # fmt: skip
        people = strength + len(other)
        first = (strength * mean + other.sum()) / people
        second = (strength * 1.3 * square + (other**2).sum()) / people
        tau = max(np.sqrt(first**2 + max(second - first**2, 0) / (people + 1)), least * np.sqrt(square))
        pairs = [a * b / (2 * tau) + tau / 2 for a, b in permutations(value, 2)]
        total += len(value) * np.mean(pairs) if pairs else np.abs(value).sum()
    return float(total)


def test_the_gradient_is_that_of_the_magnitude_with_tau_fixed() -> None:
    crowd = Crowd(np.array([[2, 3, 1, 0], [1, 0, 0, 0], [0, 1, 1, 0]]), np.full((3, 4), 0.25), np.full(3, 5.0))
    z = np.array([[-1.0, 1.2], [-0.9, 0.7]])
    # With a smallest tau this large, tau is fixed but for the scale of Z, which moves with it.
    slope = magnitude(crowd, z, 1.0).gradient
    assert float((slope * z).sum()) == pytest.approx(2 * _products(crowd, z) + np.abs(z[0, 0]))


def _products(crowd: Crowd, z: Floats) -> float:
    """The sum of the products' part of the magnitude, which is quadratic in Z."""
    both = magnitude(crowd, z, 1.0).total
    several = crowd.size > 1
    tau = np.sqrt((crowd.chances * z.reshape(-1) ** 2).sum(axis=1))
    return float((both - crowd.size * tau / 2)[several].sum())


@settings(max_examples=80, deadline=None)
@given(
    st.integers(0, 10**6),
    st.sampled_from(NOTIONS),
    st.booleans(),
    st.sampled_from(["accuracy", "balanced accuracy", "costs 1:3"]),
    st.sampled_from([(), ("selection rate <= 0.4",), ("accuracy of 0 >= 0.3",), ("selection rate ratio >= 0.8",)]),
)
def test_any_multipliers_bound_the_optimum(
    seed: int, notion: str, aware: bool, objective: str, required: tuple[str, ...]
) -> None:
    rng = np.random.default_rng(seed)
    groups = int(rng.integers(2, 4))
    mass = random_law(rng, 6, groups)
    tolerance = float(rng.choice([0.0, 0.05, 0.2]))
    law = fl.CellDistribution.from_mass(mass)
    try:
        best = fl.solve(law, {notion: tolerance}, aware=aware, requirements=required, objective=objective).value
    except InfeasibleError:
        return
    question = Question((notion,), read_requirements(required), read_objective(objective), law.groups, MANY[:groups])
    lagrangian = question.at(mass.sum(axis=0))
    for scale in (0.0, 0.3, 2.0):
        duals = scale * rng.normal(size=len(lagrangian.form))
        credit = lagrangian.credit(duals)
        told = (mass * credit).sum(axis=2) if aware else (mass * credit).sum(axis=(1, 2))
        bound = lagrangian.constant(duals, {notion: tolerance}) + np.maximum(told, 0).sum()
        assert bound >= best - 1e-9


@pytest.mark.parametrize("notion", NOTIONS)
@pytest.mark.parametrize("groups", [2, 3])
def test_the_best_multipliers_attain_the_optimum_where_all_is_told_by_chances(notion: str, groups: int) -> None:
    mass = random_law(np.random.default_rng(3), 40, groups)
    law = fl.CellDistribution.from_mass(mass)
    best = fl.solve(law, {notion: 0.03}).accuracy
    question = Question((notion,), (), ACCURACY, law.groups, MANY[:groups])
    # Forty kinds as people who count what the kind does: repeated in proportion.
    times = np.maximum((mass.sum(axis=(1, 2)) * 4000).round().astype(int), 1)
    chances = np.repeat(mass / mass.sum(axis=(1, 2), keepdims=True), times, axis=0)
    apart = Apart(chances, np.full(len(chances), 1e6), np.full(len(chances), 10**9), np.ones(len(chances)))
    crowd = Crowd(np.ones((1, 2 * groups), dtype=np.int64), np.full((1, 2 * groups), 0.5 / groups), np.array([1e6]))
    duals = Forecast.of(question, Sighted(crowd, apart), 0.0).choose([{notion: 0.03}])[0]
    lagrangian = question.at(mass.sum(axis=0))
    told = (mass * lagrangian.credit(duals)).sum(axis=(1, 2))
    bound = lagrangian.constant(duals, {notion: 0.03}) + np.maximum(told, 0).sum()
    assert best - 1e-9 <= bound <= best + 5e-3


def drawn(mass: Floats, rows: int, rng: np.random.Generator, aware: bool) -> tuple[Sighted, Ints]:
    """People of a law, with a model that knows half of the truth, and their numbers by kind, group and label."""
    counts = rng.multinomial(rows, mass.reshape(-1)).reshape(mass.shape)
    chances = mass / mass.sum(axis=(1, 2), keepdims=True)
    rough = 0.5 * chances + 0.5 * mass.sum(axis=0)
    apart = rough[rng.choice(len(mass), 400, p=mass.sum(axis=(1, 2)))]
    if not aware:
        by_kind, of_kind, group = counts.reshape(len(mass), -1), rough.reshape(len(mass), -1), None
    else:
        by_kind = counts.reshape(-1, 2)
        of_kind = (rough / rough.sum(axis=2, keepdims=True)).reshape(-1, 2)
        group = np.tile(np.arange(mass.shape[1]), len(mass))
        whose = rng.integers(mass.shape[1], size=len(apart))
        told = np.zeros_like(apart)
        at = np.arange(len(apart))
        told[at, whose] = apart[at, whose] / apart[at, whose].sum(axis=1, keepdims=True)
        apart = told
    there = np.flatnonzero(by_kind.sum(axis=1))
    crowd = Crowd(by_kind, of_kind, np.full(len(by_kind), 6.0), group).take(there)
    return Sighted(crowd, Apart(apart, np.full(len(apart), 6.0), np.full(len(apart), 4), np.ones(len(apart)))), counts


@pytest.mark.parametrize("aware", [False, True])
@pytest.mark.parametrize("asked", [{}, {"DP": 0.05}, {"EA": 0.02}], ids=str)
def test_the_limit_holds_and_its_standard_error_is_what_draws_differ_by(asked: dict[str, float], aware: bool) -> None:
    rng = np.random.default_rng(7)
    mass = random_law(rng, 150, 2)
    truth = fl.solve(fl.CellDistribution.from_mass(mass), asked, aware=aware).accuracy
    question = Question(tuple(asked), (), ACCURACY, ("0", "1"), MANY[:2])
    first, _ = drawn(mass, 1_500, rng, aware)
    duals = np.full(len(asked), 0.3)
    least = Forecast.of(question, first, 1.645).least(duals)
    values, errors, limits, between, apart = [], [], [], [], []
    for _ in range(120):
        people, _ = drawn(mass, 1_500, rng, aware)
        near, both = Near.of(question, people.shares), np.array([duals, -0.3 * duals])
        bounds = find_bounds(near, both, people.evidence([near.lagrangian.credit(own) for own in both], [least] * 2))
        value, other = bounds.values(asked)
        values.append(value)
        errors.append(np.sqrt(bounds.covariance[0, 0]))
        limits.append(values[-1] + 1.645 * errors[-1])
        between.append(value - other)
        apart.append(np.sqrt(np.array([1, -1]) @ bounds.covariance @ [1, -1]))
    assert np.mean(values) >= truth - 3 * np.std(values) / np.sqrt(len(values))
    assert 0.9 <= np.mean(errors) / np.std(values) <= 1.5
    assert np.mean(np.array(limits) >= truth) >= 0.9
    # What two bounds of the same people differ by: a curve's quantile rests on that.
    assert not asked or 0.9 <= np.mean(apart) / np.std(between) <= 1.7


@pytest.mark.parametrize("aware", [False, True])
def test_evidence_of_kinds_adds_up(aware: bool) -> None:
    rng = np.random.default_rng(29)
    people, _ = drawn(random_law(rng, 80, 3), 1_000, rng, aware)
    credits, leasts = [rng.normal(size=(3, 2)) for _ in range(2)], [0.1, 0.3]
    whole = Evidence.of(people.crowd, credits, leasts)
    parts = Evidence.of(people.crowd, credits, leasts, block=7)
    for name in whole.__dataclass_fields__:
        np.testing.assert_allclose(getattr(parts, name), getattr(whole, name), atol=1e-9)


def test_on_twins_the_limit_is_about_these_people() -> None:
    rng = np.random.default_rng(11)
    mass = random_law(rng, 400, 2)
    held = 0
    for _ in range(60):
        people, counts = drawn(mass, 800, rng, False)
        twins = people.on_twins
        assert twins is not None
        assert (twins.crowd.size > 1).all()
        size = counts.sum(axis=(1, 2))
        kept = size > 1
        law = size[kept, None, None] * (mass / mass.sum(axis=(1, 2), keepdims=True))[kept]
        truth = fl.solve(fl.CellDistribution.from_mass(law), {"DP": 0.1}).accuracy
        question = Question(("DP",), (), ACCURACY, ("0", "1"), twins.crowd.rows(2))
        held += find_curve(question, twins, [{"DP": 0.1}], 0.95, given_kinds=True).upper[0] >= truth
    assert held >= 54


def test_weights_are_part_of_the_law() -> None:
    rng = np.random.default_rng(13)
    mass = random_law(rng, 120, 2)
    weight = np.array([[0.5, 2.0], [1.0, 0.7]])
    heavy = mass * weight
    truth = fl.solve(fl.CellDistribution.from_mass(heavy / heavy.sum()), {"DP": 0.05}).accuracy
    question = Question(("DP",), (), ACCURACY, ("0", "1"), MANY[:2])
    held = []
    for _ in range(60):
        people, _ = drawn(mass, 2_000, rng, False)
        kind, sort = np.nonzero(people.crowd.counts)
        times = people.crowd.counts[kind, sort]
        kind, sort = np.repeat(kind, times), np.repeat(sort, times)
        own = weight.reshape(-1)[sort]
        half = np.where(people.crowd.size[kind] >= 4, rng.integers(2, size=len(kind)), 0)
        # Halves of one person have no pair; give them to the other half.
        lonely = np.bincount(kind * 2 + half, minlength=2 * len(people.crowd.counts))[kind * 2 + half] == 1
        half = np.where(lonely & (people.crowd.size[kind] >= 4), 1 - half, half)
        crowd = Crowd(
            people.crowd.counts,
            people.crowd.chances,
            people.crowd.strength,
            None,
            Weighted(kind, sort, half, own / own.mean()),
        )
        weighted = Sighted(crowd, people.apart)
        held.append(find_curve(question, weighted, [{"DP": 0.05}], 0.95).upper[0] >= truth)
    assert np.mean(held) >= 0.9


@pytest.mark.parametrize("asked", [{"DP": 0.05}, {"EA": 0.0}, {"EOd": 0.02}], ids=str)
def test_multipliers_lead_to_expect_the_lowest_limit(asked: dict[str, float]) -> None:
    rng = np.random.default_rng(23)
    people, _ = drawn(random_law(rng, 200, 3), 2_000, rng, False)
    question = Question(tuple(asked), (), ACCURACY, ("0", "1", "2"), MANY)
    forecast = Forecast.of(question, people, 1.645)
    chosen = forecast.choose([asked])[0]
    limit = forecast.limit(chosen, asked)
    assert limit <= forecast.limit(forecast.optimum([asked])[0], asked) + 1e-9
    for scale in (0.0, 0.5, 0.8, 1.1):
        assert limit <= forecast.limit(scale * chosen, asked) + 2e-3
    # One bound needs no more than its own standard error.
    curve = find_curve(question, people, [asked], 0.95)
    np.testing.assert_array_equal(curve.duals[0], chosen)
    assert curve.upper[0] == pytest.approx(curve.value[0] + 1.6449 * curve.standard_error[0], abs=1e-4)


def test_a_curve_is_the_lowest_of_its_lines_and_its_limit_holds_for_all() -> None:
    rng = np.random.default_rng(17)
    people, _ = drawn(random_law(rng, 100, 2), 3_000, rng, False)
    question = Question(("DP",), (), ACCURACY, ("0", "1"), MANY[:2])
    grid = [{"DP": eps} for eps in (0.0, 0.05, 0.1, 0.3)]
    curve = find_curve(question, people, grid, 0.95)
    assert (np.diff(curve.upper) >= -1e-12).all()
    single = [find_curve(question, people, [at], 0.95) for at in grid]
    assert all(curve.value[at] <= own.value[0] + 1e-9 for at, own in enumerate(single))
    assert all(curve.upper[at] - curve.value[at] >= 1.6 * curve.standard_error[at] for at in range(4))


@pytest.mark.parametrize("true", [4.0, 64.0])
def test_the_strength_of_a_model_is_found(true: float) -> None:
    rng = np.random.default_rng(19)
    chances = rng.dirichlet(np.ones(4) * 3, size=1_500)
    law = np.array([rng.dirichlet(true * own + 1e-9) for own in chances])
    counts = np.array([rng.multinomial(4, own) for own in law])
    assert true / 2 <= find_strength(counts, chances) <= 2 * true
