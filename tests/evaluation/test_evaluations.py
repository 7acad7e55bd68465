"""Rules on held-out rows: what they are worth, and models that do better."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from fairlimits import (
    CellDistribution,
    Dataset,
    Outcome,
    decorrelate,
    discretize,
    estimate_outcome,
    evaluate,
    frontier,
    solve,
)
from fairlimits.errors import InputError
from known_people import known


@cache
def learned() -> tuple[Dataset, Outcome, CellDistribution]:
    data, _ = known(0, 3_000)
    outcome = estimate_outcome(data, estimator=LogisticRegression())
    return data, outcome, discretize(data, 24, generator=None, partition="features")


@pytest.mark.parametrize("aware", [False, True])
def test_on_its_own_rows_a_cell_rule_is_worth_what_it_claims(aware: bool) -> None:
    data, _, dist = learned()
    rule = solve(dist, {"DP": 0.02}, aware=aware)
    found = evaluate(rule, data)
    assert found.accuracy.value == pytest.approx(rule.accuracy)
    assert found.optimism == pytest.approx(0)
    for name, gap in found.gaps.items():
        assert gap.value == pytest.approx(rule.gaps[name])
        assert gap.low <= gap.value <= gap.high
    assert found.rows == data.n_rows
    assert found.counts is not None
    assert found.counts.sum() == data.n_rows


def test_a_plan_is_evaluated_after_its_map() -> None:
    data, _, dist = learned()
    plan = decorrelate(dist, solve(dist, {"EA": 0.02}))
    assert evaluate(plan, data).accuracy.value == pytest.approx(plan.accuracy)


def test_frontiers_are_evaluated_point_by_point() -> None:
    _, outcome, dist = learned()
    test, _ = known(1, 4_000)
    curve = frontier(dist, ["DP"], [0.0, 0.05, 0.2])
    found = evaluate(curve, test)
    assert len(found) == 3
    assert found.held_out[1].accuracy.value == pytest.approx(evaluate(curve.rules[1], test).accuracy.value, abs=1e-6)
    assert found.to_frame().num_rows == 3
    assert "held out: gap DP, low" in found.to_frame().column_names
    axes = found.plot()
    assert len(axes.lines) == 2
    pointwise = evaluate(frontier(outcome, ["DP"], [0.0, 0.05]), test)
    assert (pointwise.accuracy > 0.6).all()


def test_figures_repeat() -> None:
    _, outcome, _ = learned()
    test, _ = known(1, 500)
    rule = solve(outcome, {"DP": 0.1})
    assert evaluate(rule, test).gaps == evaluate(rule, test).gaps


def test_bad_input_gets_a_sentence() -> None:
    data, outcome, dist = learned()
    rule = solve(dist, {})
    others, _ = known(0, 300, groups=3)
    with pytest.raises(InputError, match="groups"):
        evaluate(rule, others)
    with pytest.raises(InputError, match="groups"):
        evaluate(solve(outcome, {}), others)
    with pytest.raises(InputError, match="other features"):
        evaluate(rule, data.take_out("area")[0])
    with pytest.raises(InputError, match="cannot be evaluated"):
        evaluate(3, data)  # type: ignore[call-overload]
    with pytest.raises(InputError, match="confidence"):
        evaluate(rule, data, confidence=95)
    with pytest.raises(InputError, match="no feature"):
        data.take_out("height")


def test_a_gap_that_few_rows_stand_behind_is_not_estimable() -> None:
    data, _, dist = learned()
    few = data.take(np.arange(60))
    found = evaluate(solve(dist, {}), few)
    assert math.isnan(found.gaps["EOd"].value)
    assert found.accuracy.known
