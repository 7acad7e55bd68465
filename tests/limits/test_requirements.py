"""Requirements and objectives beyond the paper: against a literal program, and in what they say."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations, permutations
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from fairlimits.data import Dataset
from fairlimits.decorrelation import decorrelate
from fairlimits.errors import InfeasibleError, InputError
from fairlimits.evaluation.evaluations import evaluate
from fairlimits.law.cells.building import discretize
from fairlimits.law.cells.distributions import CellDistribution
from fairlimits.limits import ratio_frontier, solve
from fairlimits.limits.frontiers import Frontier
from fairlimits.limits.rules import Rule
from fairlimits.limits.tracing import frontier
from fairlimits.notions.objectives import Costs
from fairlimits.notions.parsing import read_objective, read_requirements
from fairlimits.notions.rates import RATES
from fairlimits.notions.requirements import FOUR_FIFTHS, Difference, Limit, Ratio
from fairlimits.notions.rows import Requirement
from strategies import masses

EXACT = 1e-7

# P(decided d | Y in labels): the decision that counts, which may be the label itself, and the labels.
DEFINITIONS = {
    "selection rate": ("one", (0, 1)),
    "accuracy": ("right", (0, 1)),
    "error rate": ("wrong", (0, 1)),
    "true positive rate": ("one", (1,)),
    "false negative rate": ("zero", (1,)),
    "false positive rate": ("one", (0,)),
    "true negative rate": ("zero", (0,)),
}

Form = tuple[float, np.ndarray]


class Literal:
    """Every rate an explicit sum over people, every pair of groups its own inequality."""

    def __init__(self, mass: np.ndarray, aware: bool) -> None:
        self.mass, self.aware = mass / mass.sum(), aware
        self.N, self.G, _ = mass.shape
        self.size = self.N * self.G if aware else self.N

    def form(self, name: str, groups: list[int]) -> Form | None:
        counts, labels = DEFINITIONS[name]
        total = sum(self.mass[i, g, y] for i in range(self.N) for g in groups for y in labels)
        if total == 0:
            return None
        constant, row = 0.0, np.zeros(self.size)
        for i in range(self.N):
            for g in groups:
                for y in labels:
                    at = i * self.G + g if self.aware else i
                    share = self.mass[i, g, y] / total
                    if counts == "one" or (counts == "right" and y == 1) or (counts == "wrong" and y == 0):
                        row[at] += share
                    else:
                        constant, row[at] = constant + share, row[at] - share
        return constant, row

    def inequalities(self, own: Requirement, groups: tuple[str, ...]) -> list[Form]:
        """Forms that must not be positive."""
        each = [self.form(own.rate, [g]) for g in range(self.G)]  # type: ignore[attr-defined]
        there = [f for f in each if f is not None]
        found = []
        if isinstance(own, Limit):
            everybody = self.form(own.rate, list(range(self.G)))
            several: dict[str | None, Sequence[Form | None]] = {None: [everybody], "each group": there}
            for form in several.get(own.group) or [each[groups.index(str(own.group))]]:
                assert form is not None
                c, row = form
                if own.at_least is not None:
                    found.append((own.at_least - c, -row))
                else:
                    assert own.at_most is not None
                    found.append((c - own.at_most, row))
        elif isinstance(own, Ratio):
            for (c, row), (other, other_row) in permutations(there, 2):
                found.append((own.at_least * other - c, own.at_least * other_row - row))
        elif isinstance(own, Difference) and own.against == "each other":
            for (c, row), (other, other_row) in combinations(there, 2):
                found += [(c - other - own.at_most, row - other_row), (other - c - own.at_most, other_row - row)]
        elif isinstance(own, Difference):
            for g, form in enumerate(each):
                others = [h for h in range(self.G) if h != g or own.against == "the average"]
                whole = self.form(own.rate, others)
                if form is not None and whole is not None:
                    c, row = form[0] - whole[0], form[1] - whole[1]
                    found += [(c - own.at_most, row), (-c - own.at_most, -row)]
        return found

    def optimum(
        self, required: list[Requirement], groups: tuple[str, ...], credit: tuple[float, float]
    ) -> float | None:
        rows = [form for own in required for form in self.inequalities(own, groups)]
        zero = credit[0] * self.mass[:, :, 0].sum()
        gain = np.zeros(self.size)
        for i in range(self.N):
            for g in range(self.G):
                gain[i * self.G + g if self.aware else i] += (
                    credit[1] * self.mass[i, g, 1] - credit[0] * self.mass[i, g, 0]
                )
        answer = linprog(
            -gain,
            A_ub=np.array([row for _, row in rows]) if rows else None,
            b_ub=np.array([-c for c, _ in rows]) if rows else None,
            bounds=(0, 1),
            options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
        )
        return None if answer.status == 2 else float(zero - answer.fun)


def names(mass: np.ndarray) -> tuple[str, ...]:
    return tuple(f"group {g}" for g in range(mass.shape[1]))


@st.composite
def requirement(draw: st.DrawFn) -> Requirement:
    rate = draw(st.sampled_from(list(RATES)))
    bound = draw(st.sampled_from([0.0, 0.1, 0.3, 0.5, 0.8, 1.0]))
    kind = draw(st.sampled_from(["limit", "ratio", "difference"]))
    if kind == "ratio":
        return Ratio(rate, bound)
    if kind == "difference":
        return Difference(rate, bound, draw(st.sampled_from(["each other", "the rest", "the average"])))
    group = draw(st.sampled_from([None, "each group", "group 1"]))
    return Limit(rate, bound, None, group) if draw(st.booleans()) else Limit(rate, None, bound, group)


def meaningless(mass: np.ndarray, own: Requirement) -> bool:
    """Whether a limit speaks of nobody."""
    looked_at = mass[:, :, list(own.needed.given)].sum(axis=(0, 2))
    if not isinstance(own, Limit):
        return False
    return looked_at.sum() == 0 or (own.group == "group 1" and looked_at[1] == 0)


@settings(max_examples=300)
@given(masses(cells=5, groups=4), st.lists(requirement(), min_size=1, max_size=3), st.booleans())
def test_requirements_agree_with_the_literal_program(
    mass: np.ndarray, required: list[Requirement], aware: bool
) -> None:
    dist = CellDistribution.from_mass(mass, groups=names(mass))
    if any(meaningless(mass, own) for own in required):
        with pytest.raises(InputError, match="nobody"):
            solve(dist, {}, aware=aware, requirements=required)
        return
    best = Literal(mass, aware).optimum(required, dist.groups, (1.0, 1.0))
    if best is None:
        with pytest.raises(InfeasibleError, match=r"[Rr]elaxing"):
            solve(dist, {}, aware=aware, requirements=required)
        return
    rule = solve(dist, {}, aware=aware, requirements=required)
    assert rule.accuracy == pytest.approx(best, abs=EXACT)
    for own in required:
        value = rule.attained[str(own)]
        if math.isnan(value):
            continue
        if isinstance(own, Ratio):
            rates = [
                f[0] + f[1] @ rule.scores.ravel() for g in range(mass.shape[1]) if (f := _group(mass, aware, own, g))
            ]
            assert min(rates) >= own.at_least * max(rates) - 2e-8
        elif isinstance(own, Limit) and own.at_least is not None:
            assert value >= own.at_least - 2e-8
        else:
            assert value <= own.at_most + 2e-8  # type: ignore[attr-defined]


def _group(mass: np.ndarray, aware: bool, own: Ratio, g: int) -> Form | None:
    return Literal(mass, aware).form(own.rate, [g])


@settings(max_examples=100)
@given(
    masses(cells=5, groups=3),
    st.sampled_from(["balanced accuracy", "costs 1:5", "costs 3:1", "costs 0:1", "costs 1:1000"]),
    st.sampled_from([[], ["selection rate <= 0.3"], ["four-fifths rule"]]),
    st.booleans(),
)
def test_objectives_agree_with_the_literal_program(
    mass: np.ndarray, objective: str, required: list[str], aware: bool
) -> None:
    dist = CellDistribution.from_mass(mass, groups=names(mass))
    share = dist.mass.sum(axis=(0, 1))
    if objective.startswith("costs"):
        zero, one = (float(part) for part in objective.removeprefix("costs ").split(":"))
        credit, shift = (zero, one), -zero * share[0] - one * share[1]
    elif share.min() == 0:
        with pytest.raises(InputError, match="both labels"):
            solve(dist, {}, objective=objective)
        return
    else:
        credit, shift = (0.5 / share[0], 0.5 / share[1]), 0.0
    rule = solve(dist, {}, aware=aware, requirements=required, objective=objective)
    best = Literal(mass, aware).optimum(list(read_requirements(required)), dist.groups, credit)
    assert best is not None
    assert rule.value == pytest.approx(best + shift, abs=EXACT * max(credit))
    assert rule.accuracy == pytest.approx(_accuracy(dist, rule), abs=1e-12)


def _accuracy(dist: CellDistribution, rule: Rule) -> float:
    return float((dist.mass[:, :, 1] * rule.group_scores + dist.mass[:, :, 0] * (1 - rule.group_scores)).sum())


def some_people(cells: int = 40, groups: int = 3, seed: int = 0) -> CellDistribution:
    rng = np.random.default_rng(seed)
    return CellDistribution.from_mass(
        rng.gamma(0.7, size=(cells, groups, 2)), groups=tuple(f"group {g}" for g in range(groups))
    )


@pytest.mark.parametrize("rate", list(RATES))
def test_common_names_are_the_notions(rate: str) -> None:
    notion = {"selection rate": "DP", "accuracy": "EA", "error rate": "EA", "true positive rate": "EOp"} | {
        "false negative rate": "EOp",
        "false positive rate": "PE",
        "true negative rate": "PE",
    }
    dist = some_people()
    rule = solve(dist, {}, requirements=[f"{rate} difference <= 0.03"])
    same = solve(dist, {notion[rate]: 0.03})
    assert rule.accuracy == pytest.approx(same.accuracy, abs=EXACT)
    assert rule.attained[f"{rate} difference <= 0.03"] == pytest.approx(rule.gaps[notion[rate]], abs=1e-12)


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("selection rate <= 0.3", Limit("selection rate", at_most=0.3)),
        ("Selection  rate<=.3", Limit("selection rate", at_most=0.3)),
        ("accuracy of Female >= 0.8", Limit("accuracy", at_least=0.8, group="Female")),
        ("TPR of each group >= 0.5", Limit("true positive rate", at_least=0.5, group="each group")),
        ("FNR of Black or Female of Rome <= 0.5", Limit("FNR", at_most=0.5, group="Black or Female of Rome")),
        ("four-fifths", FOUR_FIFTHS),
        ("four-fifths rule", FOUR_FIFTHS),
        ("selection rate ratio >= 0.9", Ratio("selection rate", 0.9)),
        ("error rate difference <= 0.05", Difference("error rate", 0.05)),
        ("FPR difference from the rest <= 0.05", Difference("false positive rate", 0.05, "the rest")),
        ("FPR difference from the average <= 0.05", Difference("false positive rate", 0.05, "the average")),
    ],
)
def test_requirements_are_read_as_people_write_them(text: str, read: Requirement) -> None:
    assert read_requirements([text]) == (read,)
    assert read_requirements(str(read)) == (read,)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ("happiness <= 0.3", "not a rate; the known ones are selection rate"),
        ("selection rate = 0.3", "not understood; write it as in"),
        ("selection rate <= many", "not a number"),
        ("selection rate <= 30", "must lie in 0 to 1"),
        ("selection rate ratio <= 0.8", "from above"),
        ("selection rate difference >= 0.8", "kept by <="),
        ("precision >= 0.8", "predictive_parity"),
        (3, "not text"),
    ],
)
def test_what_cannot_be_read_is_said(wrong: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        read_requirements([wrong])


def test_bounds_and_groups_that_are_not_there() -> None:
    with pytest.raises(InputError, match="give at_least or at_most"):
        Limit("selection rate")
    with pytest.raises(InputError, match="choose 'each other'"):
        Difference("selection rate", 0.1, "all")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="give a list"):
        read_requirements(3)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="the groups are group 0, group 1, group 2"):
        solve(some_people(), {}, requirements=["accuracy of nobody >= 0.5"])


def test_objectives_are_read() -> None:
    assert read_objective("Accuracy").name == "accuracy"
    assert read_objective("costs 1:2.5") == Costs(1, 2.5)
    assert read_objective(str(Costs(0.125, 3))) == Costs(0.125, 3)
    for wrong in ("costs 1", "profit", "costs 0:0", 3):
        with pytest.raises(InputError, match="costs"):
            read_objective(wrong)  # type: ignore[arg-type]
    for false_positive in (-1, math.inf, "1", True):
        with pytest.raises(InputError, match="at least 0"):
            Costs(false_positive, 1)  # type: ignore[arg-type]


@pytest.mark.parametrize("aware", [False, True])
def test_two_groups_against_the_rest_are_max_minus_min(aware: bool) -> None:
    dist = some_people(groups=2)
    rest = solve(dist, {}, aware=aware, requirements=["selection rate difference from the rest <= 0.04"])
    assert rest.accuracy == pytest.approx(solve(dist, {"DP": 0.04}, aware=aware).accuracy, abs=EXACT)


@st.composite
def uneven_laws(draw: st.DrawFn) -> CellDistribution:
    """Laws in which some groups, labels of a group or cells have shares down to 1e-12."""
    rng = np.random.default_rng(draw(st.integers(0, 100_000)))
    mass = rng.gamma(0.7, size=(draw(st.integers(2, 8)), draw(st.integers(2, 4)), 2))
    tiny = 10.0 ** -draw(st.floats(4, 12))
    what = draw(st.sampled_from(["groups", "label", "cells"]))
    if what == "groups":
        mass[:, rng.choice(mass.shape[1], size=rng.integers(1, mass.shape[1]), replace=False)] *= tiny
    elif what == "label":
        mass[:, rng.integers(mass.shape[1]), rng.integers(2)] *= tiny
    else:
        mass[rng.random(mass.shape) < 0.3] *= tiny
    return CellDistribution.from_mass(mass)


SAME_AS = {
    "DP": ("selection rate",),
    "EA": ("accuracy", "error rate"),
    "EOp": ("true positive rate", "false negative rate"),
    "PE": ("false positive rate", "true negative rate"),
}


@settings(max_examples=300)
@given(uneven_laws(), st.sampled_from(sorted(SAME_AS)), st.sampled_from([0.0, 0.0, 0.05, 0.3]), st.booleans())
def test_every_kind_of_requirement_is_its_notion_however_small_a_group(
    dist: CellDistribution, notion: str, eps: float, aware: bool
) -> None:
    rule = solve(dist, {notion: eps}, aware=aware)
    for rate in SAME_AS[notion]:
        asked: list[Requirement] = [Difference(rate, eps)]
        if dist.n_groups == 2 or eps == 0:
            asked.append(Difference(rate, eps, "the rest"))
        if eps == 0:
            asked += [Difference(rate, eps, "the average"), Ratio(rate, 1.0)]
        for own in asked:
            alone = solve(dist, {}, aware=aware, requirements=[own])
            assert alone.accuracy == pytest.approx(rule.accuracy, abs=EXACT), str(own)
            # Two rows that are one up to rounding must not be taken for two constraints.
            both = solve(dist, {notion: eps}, aware=aware, requirements=[own])
            assert both.accuracy == pytest.approx(rule.accuracy, abs=EXACT), str(own)


@settings(max_examples=100)
@given(uneven_laws(), st.sampled_from(sorted(SAME_AS)), st.sampled_from([0.0, 0.05, 0.3]), st.booleans())
def test_no_rule_above_the_optimum_is_said_to_be_infeasible(
    dist: CellDistribution, notion: str, eps: float, aware: bool
) -> None:
    best = solve(dist, {notion: eps}, aware=aware).accuracy
    for floor in (best + 1e-6, best + 1e-3):
        if floor < 1:
            with pytest.raises(InfeasibleError):
                solve(dist, {notion: eps}, aware=aware, requirements=[Limit("accuracy", floor)])
    solve(dist, {notion: eps}, aware=aware, requirements=[Limit("accuracy", max(best - 1e-6, 0.0))])


def test_relaxations_are_enough_and_the_smallest() -> None:
    dist = some_people(groups=2, seed=3)
    asked = ["selection rate <= 0.2", "true positive rate of each group >= 0.6"]
    with pytest.raises(InfeasibleError, match="would have to become") as caught:
        solve(dist, {"DP": 0.01}, requirements=asked)
    relaxed = caught.value.relaxations
    assert "DP <= 0.01" in str(caught.value)
    assert set(relaxed) == set(asked)
    for before, after in relaxed.items():
        others = [after if own == before else own for own in asked]
        solve(dist, {"DP": 0.01}, requirements=others)
        (new,), (old,) = read_requirements(after), read_requirements(before)
        assert old.room - new.room > 1e-4
        tighter = old.eased(old.room - new.room - 5e-5)
        with pytest.raises(InfeasibleError):
            solve(dist, {"DP": 0.01}, requirements=[tighter if own == before else own for own in asked])


def test_where_no_single_relaxation_is_enough() -> None:
    dist = some_people(groups=2)
    asked = ["selection rate <= 0.1", "true positive rate >= 0.9", "accuracy of group 1 >= 0.99"]
    with pytest.raises(InfeasibleError, match=r"Relaxing all of them by 0\.\d+ is"):
        solve(dist, {}, requirements=[*asked, "selection rate >= 0.9"])


@pytest.mark.parametrize("aware", [False, True])
def test_frontiers_under_requirements(aware: bool, tmp_path: Path) -> None:
    dist = some_people(seed=1)
    asked = {"requirements": ["selection rate <= 0.4", "four-fifths rule"], "objective": "costs 1:3"}
    curve = frontier(dist, ["EOd"], np.linspace(0, 0.3, 13), aware=aware, **asked)  # type: ignore[arg-type]
    exact = frontier(dist, ["EOd"], {"EOd": (0, 0.3)}, aware=aware, exact=True, **asked)  # type: ignore[arg-type]
    assert (np.diff(curve.value) >= -1e-9).all()
    assert np.interp(curve.grid["EOd"], exact.grid["EOd"], exact.value) == pytest.approx(curve.value, abs=1e-8)
    for point in (0, 6, 12):
        rule = curve.rules[point]
        assert rule.value == pytest.approx(curve.value[point], abs=1e-8)
        assert rule.accuracy <= rule.bayes_accuracy
    assert "costs 1:3" in curve.to_frame().column_names
    assert curve.plot().get_ylabel() == "minus expected cost (plug-in)"
    curve.save(tmp_path / "curve.npz")
    again = Frontier.load(tmp_path / "curve.npz")
    assert again.requirements == curve.requirements
    assert again.value == pytest.approx(curve.value)
    rule.save(tmp_path / "rule.npz")
    loaded = Rule.load(tmp_path / "rule.npz")
    assert loaded.attained == rule.attained
    assert loaded.objective == rule.objective
    assert "expected cost" in repr(loaded)


def test_a_frontier_that_starts_infeasible_says_what_to_relax() -> None:
    with pytest.raises(InfeasibleError, match="would have to become"):
        frontier(some_people(), ["DP"], requirements=["accuracy >= 0.999"])


def test_the_default_exact_frontier_ends_where_the_notion_goes_slack() -> None:
    dist = some_people(seed=2)
    curve = frontier(dist, ["DP"], exact=True, requirements=["selection rate >= 0.6"])
    assert curve.value[-1] == pytest.approx(solve(dist, {}, requirements=["selection rate >= 0.6"]).value, abs=EXACT)


# Ratios


def test_a_frontier_of_ratios() -> None:
    dist = some_people(seed=4)
    curve = ratio_frontier(dist, [0.5, 0.8, 1.0], tolerances={"EOd": 0.2}, objective="balanced accuracy")
    assert (np.diff(curve.value) <= 1e-9).all()
    for rule, ratio in zip(curve.rules, curve.at, strict=True):
        assert Ratio().value(dist.rates, rule.group_scores) >= ratio - 1e-7
        assert rule.gaps["EOd"] <= 0.2 + 1e-7
    table = curve.to_frame()
    assert table.num_rows == len(curve) == 3
    assert {"selection rate ratio", "attained", "balanced accuracy", "gap DP"} <= set(table.column_names)
    assert curve.plot().get_xlabel() == "smallest ratio allowed, selection rate"
    assert "3 points" in repr(curve)
    assert len(ratio_frontier(dist, rate="TPR")) == 26
    # At a ratio of 1 all rates are equal.
    assert curve.accuracy[2] == pytest.approx(
        solve(dist, {"DP": 0, "EOd": 0.2}, objective="balanced accuracy").accuracy, abs=EXACT
    )


@pytest.mark.parametrize("ratios", [[1.2], [], "many", [[0.5]], [math.nan]])
def test_ratios_that_are_none(ratios: object) -> None:
    with pytest.raises(InputError, match="0 to 1"):
        ratio_frontier(some_people(), ratios)  # type: ignore[arg-type]


# On rows that took no part


def known_rows(n: int, seed: int) -> Dataset:
    rng = np.random.default_rng(seed)
    group = rng.choice(["a", "b", "c"], n, p=[0.5, 0.495, 0.005])
    x = rng.integers(0, 6, n)
    y = (rng.random(n) < 0.1 + 0.12 * x + 0.1 * (group == "a")).astype(int)
    return Dataset.from_frame(pa.table({"x": x, "group": group, "y": y}), label="y", positive="1", sensitive="group")


def test_requirements_are_evaluated_on_other_rows() -> None:
    learn, test = known_rows(8000, 0), known_rows(3000, 1)
    dist = discretize(learn, cells=6, generator=None, partition="features")
    required = [
        "selection rate <= 0.3",
        "true positive rate of a >= 0.3",
        "selection rate of c <= 0.9",
        "selection rate ratio >= 0.8",
        "error rate difference from the average <= 0.05",
    ]
    rule = solve(dist, {}, requirements=required, objective="costs 1:2")
    held = evaluate(rule, test)
    assert set(held.attained) == set(required)
    assert held.value is not None
    assert held.value.low <= held.value.value <= held.value.high < 0
    assert abs(held.value.value - rule.value) < 0.05
    capacity = held.attained["selection rate <= 0.3"]
    assert capacity.low <= capacity.value <= capacity.high
    assert abs(capacity.value - rule.attained["selection rate <= 0.3"]) < 0.05
    # Ten people of c are too few to say; the others are compared without them.
    assert not held.attained["selection rate of c <= 0.9"].known
    assert held.set_aside == ("c (10 rows)",)
    assert "Set aside, with fewer than 30 rows behind a rate: c (10 rows)." in held.summary()
    scores = rule.decide(test)
    low, high = sorted(float(scores[test.group == g].mean()) for g in (0, 1))
    assert held.attained["selection rate ratio >= 0.8"].value == pytest.approx(low / high)
    assert held.attained["true positive rate of a >= 0.3"].known
    record = held.to_dict()
    assert {"objective", "selection rate <= 0.3, high"} <= set(record)


def test_balanced_accuracy_on_other_rows() -> None:
    learn, test = known_rows(3000, 0), known_rows(2000, 1)
    dist = discretize(learn, cells=6, generator=None, partition="features")
    rule = solve(dist, {"DP": 0.1}, objective="balanced accuracy")
    held = evaluate(rule, test)
    scores = rule.decide(test)
    by_hand = (scores[test.label == 1].mean() + (1 - scores[test.label == 0]).mean()) / 2
    assert held.value is not None
    assert held.value.value == pytest.approx(by_hand, abs=1e-12)


def test_a_map_keeps_no_requirements() -> None:
    dist = some_people(groups=2)
    with pytest.raises(InputError, match="keeps tolerances only"):
        decorrelate(dist, solve(dist, {}, requirements=["selection rate <= 0.3"]))
