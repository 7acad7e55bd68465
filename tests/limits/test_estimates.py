"""Rules on an estimate: invariants for many and small groups, and their labels out of fold."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

from fairlimits import CellDistribution, Dataset, Outcome, estimate_outcome, evaluate, frontier, solve
from fairlimits.errors import InputError
from fairlimits.limits import ConstantRuleWarning, MarginWarning, on_cells
from fairlimits.notions import alike_accuracy
from known_people import known, known_outcome, people

EVEN_STEPS = np.linspace(0, 0.25, 6)


@st.composite
def tables(draw: st.DrawFn) -> Dataset:
    """People of 2 to 8 groups, each of 5 to 500 rows, whose features say something of group and label, or nothing."""
    sizes = draw(st.lists(st.sampled_from([5, 12, 29, 30, 45, 120, 500]), min_size=2, max_size=8))
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    strength = draw(st.sampled_from([0.0, 0.5, 2.0]))
    group = np.repeat(np.arange(len(sizes)), sizes)
    skill = rng.normal(size=len(group)) + draw(st.sampled_from([0.0, 0.4])) * group
    chance = 1 / (1 + np.exp(-strength * skill + draw(st.sampled_from([-1.0, 0.0, 1.5]))))
    label = (rng.random(len(group)) < chance).astype(int)
    label[:2] = 0, 1
    area = (group + rng.integers(0, 3, len(group))) % 4
    table = pa.table(
        {"skill": skill, "area": [f"a{own}" for own in area], "g": [f"g{own}" for own in group], "y": label}
    )
    return Dataset.from_frame(table, label="y", positive=1, sensitive="g")


CONTAINED = [
    ("EOd", "EOp"),
    ("EOd", "PE"),
    ("DP EOp", "DP"),
    ("EA EOd", "EA"),
    ("EA EOd", "EOd"),
    ("DP EA", "EA"),
]
"""Notions, and fewer of them."""


@settings(max_examples=12, deadline=None)
@given(data=tables(), seed=st.integers(0, 3), contained=st.sampled_from(CONTAINED))
@pytest.mark.filterwarnings("ignore")
def test_invariants_for_many_and_small_groups(data: Dataset, seed: int, contained: tuple[str, str]) -> None:
    found = estimate_outcome(data, estimator=LogisticRegression(), folds=2, random_state=seed)
    positive = float(on_cells(found, ()).mass[:, :, 1].sum())
    values: dict[tuple[str, bool], np.ndarray] = {}
    for notions in contained:
        for aware in (False, True):
            curve = frontier(found, notions.split(), EVEN_STEPS, aware=aware)
            values[notions, aware] = curve.plug_in
            # More room never hurts, and half of two rules is a rule.
            assert (np.diff(curve.plug_in) >= -1e-9).all()
            assert (np.diff(curve.plug_in, 2) <= 1e-9).all()
            # No rule is worse than a mixture of a later one and of deciding all alike.
            alike = alike_accuracy(notions.split(), positive)
            share = EVEN_STEPS[1:-1] / EVEN_STEPS[-1]
            assert (curve.plug_in[1:-1] >= share * curve.plug_in[-1] + (1 - share) * alike - 1e-9).all()
            for name in notions.split():
                gaps = curve.gaps[name]
                assert (np.isnan(gaps) | (gaps <= EVEN_STEPS + 1e-7)).all()
            for rule in curve.rules:
                assert rule.accuracy == pytest.approx(_accuracy(rule), abs=1e-8)
        assert (values[notions, True] >= values[notions, False] - 1e-9).all()
    more, less = contained
    for aware in (False, True):
        assert (values[more, aware] <= values[less, aware] + 1e-9).all()


def _accuracy(rule: object) -> float:
    """Accuracy of a rule's scores, added up by hand."""
    mass, scores = rule.distribution.mass, rule.group_scores  # type: ignore[attr-defined]
    return float((mass[:, :, 1] * scores + mass[:, :, 0] * (1 - scores)).sum())


@pytest.mark.parametrize("aware", [False, True])
@pytest.mark.parametrize("groups", [2, 3])
@pytest.mark.parametrize("notions", [("DP",), ("EOd",), ("EA", "EOp")])
def test_tolerances_hold_on_the_law_and_nearly_on_labels(notions: tuple[str, ...], groups: int, aware: bool) -> None:
    rule = solve(known_outcome(groups), dict.fromkeys(notions, 0.02), aware=aware)
    assert rule.on_labels is not None
    for name in notions:
        assert rule.gaps[name] <= 0.02 + 1e-7
        assert rule.on_labels.gaps[name] <= 0.02 + 0.05
    assert rule.accuracy <= rule.bayes_accuracy
    assert rule.on_labels.accuracy == pytest.approx(rule.accuracy, abs=0.02)
    assert set(rule.shadow_prices) == set(notions)
    assert all(price >= 0 for price in rule.shadow_prices.values())


@pytest.mark.parametrize("aware", [False, True])
def test_the_limit_is_near_that_of_the_law_with_a_cell_for_every_row(aware: bool) -> None:
    found = known_outcome(rows=500)
    mass = found.q * found.weight[:, None, None]
    for asked in ({}, {"DP": 0.05}, {"EOd": 0.02}):
        exact = solve(CellDistribution.from_mass(mass), asked, aware=aware)
        rule = solve(found, asked, aware=aware)
        assert rule.accuracy <= exact.accuracy + 1e-9
        assert rule.accuracy == pytest.approx(exact.accuracy, abs=2e-3)


def test_all_questions_about_an_estimate_are_put_to_the_same_cells() -> None:
    found = known_outcome(rows=500)
    rule = solve(found, {"DP": 0.05})
    assert frontier(found, ["EOd"], [0.1]).distribution is rule.distribution
    assert solve(found, {}, requirements=["selection rate <= 0.3"]).distribution is rule.distribution
    exact = frontier(found, ["DP"], exact=True)
    at = np.interp(0.05, exact.grid["DP"], exact.plug_in)
    assert at == pytest.approx(rule.accuracy, abs=1e-9)


def test_twins_make_fewer_cells_than_were_asked_for() -> None:
    rng = np.random.default_rng(0)
    table = pa.table({"x": rng.integers(0, 3, 600).astype(str), "g": rng.integers(0, 2, 600), "y": [0, 1] * 300})
    data = Dataset.from_frame(table, label="y", positive=1, sensitive="g")
    found = estimate_outcome(data, estimator=LogisticRegression())
    assert on_cells(found, ()).n_cells <= 3 * 5


def test_new_rows_need_no_label_and_unaware_no_group() -> None:
    found = known_outcome()
    new, _ = people(5, 40)
    hidden = solve(found, {"DP": 0.05})
    seen = solve(found, {"DP": 0.05}, aware=True)
    data = type(found.data).read_like(found.data.schema, new)
    assert hidden.decide(new.select(["skill", "area"])) == pytest.approx(hidden.decide(data))
    assert seen.decide(new.select(["skill", "area", "sex"])) == pytest.approx(seen.decide(data))
    with pytest.raises(InputError, match="none was given"):
        seen.policy.scores_at(np.zeros(3, dtype=int), None)


def test_gaps_on_new_rows_are_near_their_tolerance() -> None:
    test, _ = known(9, 20_000)
    for aware in (False, True):
        rule = solve(known_outcome(), {"DP": 0.05}, aware=aware)
        held = evaluate(rule, test)
        assert held.gaps["DP"].value < 0.05 + 0.04
        assert held.accuracy.value == pytest.approx(rule.accuracy, abs=0.03)


@pytest.mark.parametrize("aware", [False, True])
@pytest.mark.parametrize("confidence", [None, 0.95])
@pytest.mark.filterwarnings("ignore")
def test_a_rate_that_no_row_stands_behind_is_left_out(aware: bool, confidence: float | None) -> None:
    data, _ = known(0, 600)
    one_group = estimate_outcome(data.take(data.group == 1), estimator=LogisticRegression())
    alone = solve(one_group, {"DP": 0.0}, aware=aware, confidence=confidence)
    assert alone.accuracy == pytest.approx(alone.bayes_accuracy, abs=1e-9)


def test_labels_that_the_estimate_does_not_fit_are_said() -> None:
    """An estimate that takes the groups for alike sees no gap, where the labels show one."""
    found = known_outcome()
    share = found.q.sum(axis=2).mean(axis=0)
    blind = Outcome(found.data, found.q.sum(axis=1)[:, None, :] * share[:, None], found.model, {}, {})
    with pytest.warns(MarginWarning, match=r"DP within 0 is 0\.\d+"):
        rule = solve(blind, {"DP": 0.0})
    assert rule.gaps["DP"] == pytest.approx(0, abs=1e-9)
    assert rule.on_labels is not None
    assert rule.on_labels.gaps["DP"] > 0.05


def test_a_tolerance_alone_has_no_price_where_another_is_as_tight() -> None:
    found = known_outcome()
    both = solve(found, {"EOp": 0.01, "EOd": 0.01})
    assert both.shadow_prices["EOp"] == 0
    one = solve(found, {"EOp": 0.01, "EOd": 0.5})
    assert one.shadow_prices["EOp"] > 0


def test_tolerances_without_bound_leave_the_best_rule() -> None:
    rule = solve(known_outcome(), {"DP": math.inf, "EA": 2.0})
    assert rule.accuracy == pytest.approx(rule.bayes_accuracy, abs=1e-9)


def test_rounding_of_a_gap_is_not_said() -> None:
    """Of a rule that decides all alike the gap is 0 up to rounding, and its error is 0 too."""
    found = known_outcome(rows=500)
    for aware in (False, True):
        with warnings.catch_warnings():
            warnings.simplefilter("error", MarginWarning)
            rule = solve(found, {"DP": 0.0, "EOd": 0.0, "EA": 0.0}, aware=aware)
        assert rule.is_constant
        assert rule.on_labels is not None
        assert rule.on_labels.gaps["DP"] == pytest.approx(0, abs=1e-12)


def test_a_constant_rule_warns_and_is_marked() -> None:
    dist = CellDistribution.from_mass([[[3, 0], [0, 1]], [[0, 2], [1, 0]]])
    with pytest.warns(ConstantRuleWarning, match=r"under EOd within 0 gives everybody the same score, 0\.00"):
        rule = solve(dist, {"EOd": 0.0})
    assert rule.is_constant
    assert "same score" in repr(rule)
    assert "Everybody gets the same score" in rule.summary()
    with pytest.warns(ConstantRuleWarning, match="same score"):
        curve = frontier(dist, "EOd", [0.0, 0.5, 1.0])
    assert curve.to_frame()["same score for all"].to_pylist() == [True, False, False]
    assert "same score for everybody at 0" in curve.summary()
    assert not solve(dist, {}).is_constant


def test_bad_input_gets_a_sentence() -> None:
    found = known_outcome()
    with pytest.raises(InputError, match="gaps of groups"):
        solve(found, {"IF": 0.1}, confidence=0.95)
    with pytest.raises(InputError, match="labels of rows"):
        solve(on_cells(found, ()), {"DP": 0.1}, confidence=0.95)
    with pytest.raises(InputError, match="not a fairness notion"):
        solve(found, {"XX": 0.1})
    with pytest.raises(InputError, match="confidence"):
        solve(found, {"DP": 0.1}, confidence=2)
    with pytest.raises(InputError, match="confidence"):
        solve(found, {}, confidence=2)
    with pytest.raises(InputError, match="confidence"):
        frontier(found, ["DP"], [0.1], confidence=2)
    with pytest.raises(InputError, match="give a dict"):
        solve(found, None)  # type: ignore[arg-type]
    others, _ = known(0, 60, groups=3)
    with pytest.raises(InputError, match="groups f, m, x"):
        solve(found, {"DP": 0.1}, aware=True).decide(others)
    with pytest.raises(InputError, match="at least 0"):
        solve(found, {"DP": -0.1})
    with pytest.raises(InputError, match="No notion"):
        frontier(found, [])
