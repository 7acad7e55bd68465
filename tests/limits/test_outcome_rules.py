"""Pointwise rules: tolerances hold on labels, limits agree with cells, margins keep their promise."""

from __future__ import annotations

import math
import warnings
from functools import cache

import numpy as np
import pyarrow as pa
import pytest
from sklearn.linear_model import LogisticRegression

from fairlimits import CellDistribution, Dataset, Outcome, estimate_outcome, evaluate, frontier, solve
from fairlimits.errors import InputError
from fairlimits.limits import MarginWarning, OutcomePolicy, OutcomeProgram
from known_people import known, people


@cache
def outcome(groups: int = 2, rows: int = 4_000) -> Outcome:
    return estimate_outcome(known(0, rows, groups)[0], estimator=LogisticRegression())


@pytest.mark.parametrize("aware", [False, True])
@pytest.mark.parametrize("groups", [2, 3])
@pytest.mark.parametrize("notions", [("DP",), ("EOd",), ("EA", "EOp")])
def test_tolerances_hold_on_the_labels_of_the_rows(notions: tuple[str, ...], groups: int, aware: bool) -> None:
    rule = solve(outcome(groups), dict.fromkeys(notions, 0.02), aware=aware)
    for name in notions:
        assert rule.gaps[name] <= 0.02 + 1e-3
    assert rule.accuracy <= rule.bayes_accuracy
    assert rule.on_labels is not None
    assert rule.on_labels.accuracy == pytest.approx(rule.accuracy, abs=0.02)
    assert set(rule.shadow_prices) == set(notions)
    assert all(price >= 0 for price in rule.shadow_prices.values())


@pytest.mark.parametrize("aware", [False, True])
def test_the_limit_is_that_of_the_law_with_a_cell_for_every_row(aware: bool) -> None:
    found = outcome(rows=500)
    mass = found.q * found.weight[:, None, None]
    exact = solve(CellDistribution.from_mass(mass), {"DP": 0.05}, aware=aware)
    rule = solve(found, {"DP": 0.05}, aware=aware)
    # What the labels of 500 rows say differs from what q expects of them.
    assert rule.accuracy == pytest.approx(exact.accuracy, abs=0.03)
    free = solve(found, {}, aware=aware)
    assert free.accuracy == pytest.approx(solve(CellDistribution.from_mass(mass), {}, aware=aware).accuracy, abs=1e-3)


@pytest.mark.parametrize("aware", [False, True])
def test_a_frontier_rises_and_each_point_is_the_rule_alone(aware: bool) -> None:
    found = outcome()
    tolerances = [0.0, 0.02, 0.05, 0.1, 1.0]
    curve = frontier(found, ["EOd"], tolerances, aware=aware)
    assert (np.diff(curve.accuracy) > -1e-4).all()
    alone = solve(found, {"EOd": 0.02}, aware=aware)
    assert curve.rules[1].accuracy == pytest.approx(alone.accuracy, abs=2e-4)
    assert curve.rules[-1].accuracy == pytest.approx(curve.rules[-1].bayes_accuracy, abs=1e-3)
    assert curve.to_frame().num_rows == 5
    assert len(curve) == 5
    assert curve.aware is aware
    assert "EOd" in repr(curve)
    assert "EOd <= 0.02" in repr(alone)


def test_new_rows_need_no_label_and_unaware_no_group() -> None:
    found = outcome()
    new, _ = people(5, 40)
    hidden = solve(found, {"DP": 0.05})
    seen = solve(found, {"DP": 0.05}, aware=True)
    data = type(found.data).read_like(found.data.schema, new)
    assert hidden.decide(new.select(["skill", "area"])) == pytest.approx(hidden.decide(data))
    assert seen.decide(new.select(["skill", "area", "sex"])) == pytest.approx(seen.decide(data))
    with pytest.raises(InputError, match="none was given"):
        seen.policy.scores_at(found.q[:3], None)


def test_gaps_on_new_rows_are_near_their_tolerance() -> None:
    test, _ = known(9, 20_000)
    for aware in (False, True):
        rule = solve(outcome(), {"DP": 0.05}, aware=aware)
        held = evaluate(rule, test)
        assert held.gaps["DP"].value < 0.05 + 0.04
        assert held.accuracy.value == pytest.approx(rule.accuracy, abs=0.03)


def test_a_margin_tightens_the_tolerance() -> None:
    found = outcome()
    plain = solve(found, {"DP": 0.1})
    safe = solve(found, {"DP": 0.1}, confidence=0.95)
    assert plain.margins == {"DP": 0.0}
    assert 0.01 < safe.margins["DP"] < 0.06
    assert safe.gaps["DP"] == pytest.approx(0.1 - safe.margins["DP"], abs=2e-3)
    assert safe.accuracy < plain.accuracy


@pytest.mark.parametrize(("notion", "score"), [("EOd", (0.0, 1.0)), ("EA", (0.5,))])
def test_too_few_rows_for_a_margin_give_a_constant_rule(notion: str, score: tuple[float, ...]) -> None:
    found = outcome(rows=500)
    with pytest.warns(MarginWarning, match="cannot show"):
        rule = solve(found, {notion: 0.01}, confidence=0.95)
    scores = rule.decide(known(1, 20)[0])
    assert len(set(scores.tolist())) == 1
    assert scores[0] in score
    assert rule.gaps[notion] == pytest.approx(0, abs=1e-12)


def test_a_few_rows_show_nothing_for_certain() -> None:
    """A single row has no spread of its own, so its rate would seem to be known exactly."""
    data, _ = known(0, 500)
    lonely = np.flatnonzero((data.group == 0) & (data.label == 0))
    found = estimate_outcome(data.take(np.delete(np.arange(500), lonely[1:])), estimator=LogisticRegression())
    with pytest.warns(MarginWarning, match="cannot show"):
        rule = solve(found, {"PE": 0.3}, confidence=0.95)
    assert rule.margins["PE"] == 1
    assert isinstance(rule.policy, OutcomePolicy)
    assert rule.policy.constant is not None


@pytest.mark.parametrize("aware", [False, True])
@pytest.mark.parametrize("confidence", [None, 0.95])
def test_a_rate_that_no_row_stands_behind_is_left_out(aware: bool, confidence: float | None) -> None:
    data, _ = known(0, 600)
    found = estimate_outcome(data.take((data.group == 1) | (data.label == 1)), estimator=LogisticRegression())
    rule = solve(found, {"PE": 0.05}, aware=aware, confidence=confidence)
    assert rule.accuracy == pytest.approx(rule.bayes_accuracy, abs=1e-3)
    assert math.isnan(rule.gaps["PE"])
    assert rule.margins["PE"] == 0
    assert solve(found, {"EOd": 0.05}, aware=aware).gaps["EOd"] <= 0.05 + 1e-3
    one_group = estimate_outcome(data.take(data.group == 1), estimator=LogisticRegression())
    alone = solve(one_group, {"DP": 0.0}, aware=aware, confidence=confidence)
    assert alone.accuracy == pytest.approx(alone.bayes_accuracy, abs=1e-3)


def test_labels_that_no_rule_can_bring_together_are_said() -> None:
    """Labels that have little to do with q shift rates farther apart than a rule without the group can mend."""
    data, _ = known(0, 40)
    q = np.where(data.group == 1, 0.97, 0.03)[:, None, None] * np.ones((1, 2, 2)) / 4
    q[:, :, 1] = np.random.default_rng(0).uniform(0, 0.35, (40, 2)) + 0.15 * data.label[:, None]
    q /= q.sum(axis=(1, 2), keepdims=True)
    lost = Outcome(data, q, outcome(rows=500).model, {}, {})
    with pytest.warns(MarginWarning, match=r"EOd is 0\.\d+ on the labels"):
        rule = solve(lost, {"EOd": 0.0})
    assert rule.gaps["EOd"] > 0


def test_a_tolerance_alone_has_no_price_where_another_is_as_tight() -> None:
    found = outcome()
    both = solve(found, {"EOp": 0.01, "EOd": 0.01})
    assert both.shadow_prices["EOp"] == 0
    one = solve(found, {"EOp": 0.01, "EOd": 0.5})
    assert one.shadow_prices["EOp"] > 0


def test_tolerances_without_bound_leave_the_best_rule() -> None:
    rule = solve(outcome(), {"DP": math.inf, "EA": 2.0})
    assert rule.accuracy == pytest.approx(rule.bayes_accuracy, abs=1e-3)


def test_coverage_where_the_law_is_known() -> None:
    """The gap of rules with a margin, on the law itself, stays within the tolerance as often as promised."""
    law, _ = known(100, 20_000)
    kept = 0
    for seed in range(12):
        data, _ = known(200 + seed, 1_500)
        found = estimate_outcome(data, estimator=LogisticRegression(), random_state=seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", MarginWarning)
            rule = solve(found, {"DP": 0.12}, confidence=0.95)
        kept += evaluate(rule, law, resamples=100).gaps["DP"].value <= 0.12
    assert kept >= 11


def test_bad_input_gets_a_sentence() -> None:
    found = outcome()
    with pytest.raises(InputError, match="compares cells"):
        OutcomeProgram(found, ("IF",), aware=False)
    with pytest.raises(InputError, match="single people"):
        solve(found, {"IF": 0.1}, confidence=0.95)
    with pytest.raises(InputError, match="not a fairness notion"):
        solve(found, {"XX": 0.1})
    with pytest.raises(InputError, match="temperature"):
        OutcomeProgram(found, ("DP",), aware=False, temperature=0)
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


def test_no_rule_is_worse_than_deciding_all_alike() -> None:
    """Of six groups of thirty people, a handful of labels can ask for more than any rule gives."""
    rng = np.random.default_rng(3)
    group = rng.integers(0, 6, 240)
    x = rng.normal(size=240) + 0.3 * group
    label = (x + rng.normal(size=240) > 1.4).astype(int)
    data = Dataset.from_frame(
        pa.table({"x": x, "group": [f"g{g}" for g in group], "y": label}), label="y", positive=1, sensitive="group"
    )
    outcome = estimate_outcome(data, estimator=LogisticRegression())
    alike = max(label.mean(), 1 - label.mean())
    for tolerance in (0.0, 0.02, 0.08):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", MarginWarning)
            found = solve(outcome, {"EOd": tolerance}).on_labels
        assert found is not None
        assert found.accuracy >= alike - 2e-3
