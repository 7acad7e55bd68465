"""Rules on held-out rows: what they are worth, and models that do better."""

from __future__ import annotations

import math
import warnings
from functools import cache

import numpy as np
import pytest
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from fairlimits import (
    BeatenWarning,
    CellDistribution,
    Dataset,
    Outcome,
    challenge,
    decorrelate,
    discretize,
    estimate_outcome,
    evaluate,
    frontier,
    growth,
    pointwise_frontier,
    solve,
    solve_pointwise,
)
from fairlimits.errors import DataError, InputError
from fairlimits.evaluation.challenges import hull
from known_people import known


@cache
def learned() -> tuple[Dataset, Outcome, CellDistribution]:
    data, _ = known(0, 3_000)
    outcome = estimate_outcome(data, estimator=LogisticRegression())
    return data, outcome, discretize(data, 24, generator=None)


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
    assert found.points[1].accuracy.value == pytest.approx(evaluate(curve.rule(1), test).accuracy.value, abs=1e-6)
    assert found.to_frame().num_rows == 3
    assert "gap DP, low" in found.to_frame().column_names
    axes = found.plot()
    assert len(axes.lines) == 2
    pointwise = evaluate(pointwise_frontier(outcome, ["DP"], [0.0, 0.05]), test)
    assert (pointwise.accuracy > 0.6).all()


def test_figures_repeat_with_their_seed() -> None:
    _, outcome, _ = learned()
    test, _ = known(1, 500)
    rule = solve_pointwise(outcome, {"DP": 0.1})
    assert evaluate(rule, test, random_state=3).gaps == evaluate(rule, test, random_state=3).gaps


def test_a_better_model_is_said_aloud() -> None:
    """The estimate sees one feature; the model sees what the label was made from."""
    data, _ = known(0, 3_000)
    poor, _ = data.take_out("skill")
    limit = pointwise_frontier(
        estimate_outcome(poor, estimator=LogisticRegression()), ["DP"], [0.0, 0.05, 1.0], aware=True
    )
    test, _ = known(1, 3_000)
    skill = np.asarray(test.columns["skill"])
    blind, _ = test.take_out("skill")
    model = (skill > 0).astype(float)
    with pytest.warns(BeatenWarning, match="ESTIMATED LIMIT IS TOO LOW"):
        found = challenge(limit, blind, model)
    assert found.beaten
    assert found.lead.low > 0
    assert "estimator=" in str(found)


def test_an_ordinary_model_is_placed_below_the_limit() -> None:
    _, outcome, _ = learned()
    test, _ = known(1, 3_000)
    limit = pointwise_frontier(outcome, ["DP"], [0.0, 0.02, 0.05, 0.1, 0.2, 1.0], aware=True)
    noisy = expit(np.asarray(test.columns["skill"]) + np.random.default_rng(0).normal(size=test.n_rows))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = challenge(limit, test, noisy)
    assert not found.beaten
    assert found.lead.value < 0
    assert "lead of the model" in str(found)


@pytest.mark.parametrize("pointwise", [False, True])
def test_a_gap_beyond_the_frontier_is_compared_with_the_rule_without_tolerances(pointwise: bool) -> None:
    """A frontier of small tolerances only says nothing of models with large gaps."""
    _, outcome, dist = learned()
    test, _ = known(1, 2_000)
    tight = pointwise_frontier(outcome, ["DP"], [0.0]) if pointwise else frontier(dist, ["DP"], [0.0])
    free = evaluate(solve_pointwise(outcome, {}) if pointwise else solve(dist, {}), test, resamples=100)
    model = (np.asarray(test.columns["skill"]) + test.group > 0.5).astype(float)
    found = challenge(tight, test, model, resamples=100)
    assert found.gap.value > free.gaps["DP"].value
    assert found.frontier_accuracy == pytest.approx(free.accuracy.value)


def test_no_lead_where_the_gap_is_not_estimable() -> None:
    _, outcome, _ = learned()
    test, _ = known(1, 500)
    one_label = test.take(test.label == 1)
    found = challenge(pointwise_frontier(outcome, ["EOd"], [0.1]), one_label, np.ones(one_label.n_rows), resamples=100)
    assert not found.lead.known
    assert not found.beaten
    assert "not estimable" in str(found)


def test_a_hull_mixes_rules_and_the_constant_one() -> None:
    gaps, accuracy = np.array([0.1, 0.2, 0.15]), np.array([0.8, 0.9, 0.7])
    assert hull(gaps, accuracy, 0.5, 0.0) == pytest.approx(0.5)
    assert hull(gaps, accuracy, 0.5, 0.05) == pytest.approx(0.65)
    assert hull(gaps, accuracy, 0.5, 0.15) == pytest.approx(0.85)
    assert hull(gaps, accuracy, 0.5, 0.9) == pytest.approx(0.9)
    # A rule below the line between its neighbours is of no use.
    assert hull(np.array([0.1]), np.array([0.4]), 0.5, 0.1) == pytest.approx(0.5)


def test_growth_shows_plug_in_and_held_out_side_by_side() -> None:
    data, _ = known(0, 1_500)
    table = growth(data, {"DP": 0.05}, cells=(4, 16), partitions=("features",))
    assert table.num_rows == 4
    assert table["cells"].to_pylist() == [4, 4, 16, 16]
    plug_in = table["plug-in accuracy"].to_numpy()
    assert plug_in[2] > plug_in[0]
    with pytest.raises(InputError, match="at least one"):
        growth(data, {}, cells=())
    table = growth(data, {"DP": 0.05}, cells=(4,), partitions=("outcome",), estimator=LogisticRegression())
    assert table["partition"].to_pylist() == ["outcome"] * 2


def test_bad_input_gets_a_sentence() -> None:
    data, outcome, dist = learned()
    rule = solve(dist, {})
    others, _ = known(0, 300, groups=3)
    with pytest.raises(InputError, match="groups"):
        evaluate(rule, others)
    with pytest.raises(InputError, match="groups"):
        evaluate(solve_pointwise(outcome, {}), others)
    with pytest.raises(InputError, match="other features"):
        evaluate(rule, data.take_out("area")[0])
    with pytest.raises(InputError, match="cannot be evaluated"):
        evaluate(3, data)  # type: ignore[call-overload]
    with pytest.raises(InputError, match="resamples"):
        evaluate(rule, data, resamples=3)
    with pytest.raises(InputError, match="confidence"):
        evaluate(rule, data, confidence=95)
    limit = frontier(dist, ["DP"], [0.0, 0.1])
    with pytest.raises(InputError, match="one a row"):
        challenge(limit, data, [0, 1])
    with pytest.raises(InputError, match="outside 0 to 1"):
        challenge(limit, data, np.full(data.n_rows, 2.0))
    with pytest.raises(InputError, match="no numbers"):
        challenge(limit, data, ["yes"] * data.n_rows)
    with pytest.raises(InputError, match="no group notion"):
        challenge(frontier(dist, ["IF"], [0.0, 0.1]), data, np.zeros(data.n_rows))
    with pytest.raises(InputError, match="DP and EOd at once"):
        challenge(frontier(dist, ["DP", "EOd"], [0.0, 0.1]), data, np.zeros(data.n_rows))
    with pytest.raises(InputError, match="'cells'"):
        growth(data, {}, partitions=("cells",))  # type: ignore[arg-type]
    with pytest.raises(DataError, match="at most 2100"):
        growth(data, {}, cells=(4, 2_500))
    with pytest.raises(InputError, match="no feature"):
        data.take_out("height")


def test_a_gap_that_few_rows_stand_behind_is_not_estimable() -> None:
    data, _, dist = learned()
    few = data.take(np.arange(60))
    found = evaluate(solve(dist, {}), few)
    assert math.isnan(found.gaps["EOd"].value)
    assert found.accuracy.known
