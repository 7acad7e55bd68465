"""Intervals near 0 and 1, where few people are exceptions, or nobody is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import binom, binomtest

import fairlimits as fl
from fairlimits.notions import (
    CountedPeople,
    MeasuredRates,
    accuracy_difference,
    objective_estimates,
    read_objective,
    read_requirements,
    requirement_estimates,
    tally,
)
from fairlimits.notions.score_intervals import Shares, normal_quantile, quantile_for_all


def decided(scores: Any, label: Any, weights: Any = None) -> fl.GroupRates:
    return fl.group_rates(label, scores, np.where(np.arange(len(label)) % 2 == 0, "a", "b"), weights=weights)


@pytest.fixture
def label() -> Any:
    return np.random.default_rng(0).integers(0, 2, 400)


def test_decisions_that_are_all_right_are_not_known_to_stay_so(label: Any) -> None:
    people = pa.table({"x": label, "sex": np.where(np.arange(400) % 2 == 0, "a", "b"), "y": label})
    data = fl.Dataset.from_frame(people, label="y", positive=1, sensitive="sex")
    learn, test = data.split(0.5)
    found = fl.evaluate(fl.solve(fl.discretize(learn, 2, partition="features", generator=None), {}), test)
    low = binomtest(200, 200).proportion_ci(method="wilson").low
    assert found.accuracy.value == 1
    assert found.accuracy.low == pytest.approx(low)
    for name in ("EA", "EOp", "PE", "EOd"):
        assert found.gaps[name].value == found.gaps[name].low == 0
        assert found.gaps[name].high > 0.01
        assert found.at_most[name] > 0.005


def test_a_gap_of_everything_is_not_known_to_be_one(label: Any) -> None:
    found = decided(np.arange(400) % 2, label).gaps["DP"].estimate
    assert found.value == found.high == 1
    assert 0.95 < found.low < 0.999


@pytest.mark.parametrize("score", [0.0, 0.5, 1.0])
def test_a_score_for_all_leaves_no_difference_to_chance(label: Any, score: float) -> None:
    found = decided(np.full(400, score), label)
    names = ("DP", "EOp", "PE", "EOd", *(("EA",) if score == 0.5 else ()))
    assert {tuple(found.gaps[name].estimate) for name in names} == {(0.0, 0.0, 0.0)}


def test_people_who_weigh_more_are_fewer(label: Any) -> None:
    weights = np.where(np.arange(400) % 4 < 2, 9.0, 1.0)
    even, uneven = decided(label, label).gaps["EA"], decided(label, label, weights).gaps["EA"]
    assert uneven.estimate.high > 1.2 * even.estimate.high


@pytest.mark.parametrize(
    ("hits", "n", "others", "m", "ends"), [(56, 70, 48, 80, (0.0524, 0.3339)), (9, 10, 3, 10, (0.1705, 0.8090))]
)
def test_differences_have_newcombes_interval(hits: int, n: int, others: int, m: int, ends: tuple[float, float]) -> None:
    """Two of his own examples (1998, table II)."""
    shares = Shares(np.array([hits / n, others / m]), np.array([n, m], dtype=float))
    low, high = shares.contrast_ends(np.array([[1.0, -1.0]]), normal_quantile(0.95))
    assert (low[0], high[0]) == pytest.approx(ends, abs=1e-4)
    if n >= 30:
        score = np.r_[np.arange(n) < hits, np.arange(m) < others].astype(float)
        found = fl.group_rates(np.arange(n + m) % 2, score, np.arange(n + m) < n).gaps["DP"].estimate
        assert (found.low, found.high) == pytest.approx(ends, abs=1e-4)


@pytest.mark.parametrize(("p", "q"), [(0.0, 0.02), (0.02, 0.02), (0.03, 0.2), (0.97, 1.0), (0.5, 0.5)])
@pytest.mark.parametrize(("n", "m"), [(30, 300), (60, 60)])
def test_differences_are_covered_near_0_and_1(p: float, q: float, n: int, m: int) -> None:
    """The chance of a miss, summed over every outcome."""
    one, other = np.arange(n + 1), np.arange(m + 1)
    rates = np.stack(np.broadcast_arrays(one[:, None] / n, other / m), axis=-1)
    shares = Shares(rates, np.broadcast_to(np.array([n, m], dtype=float), rates.shape))
    low, high = shares.contrast_ends(np.array([[1.0, -1.0]]), normal_quantile(0.95))
    held = (low[..., 0] <= p - q) & (p - q <= high[..., 0])
    assert (held * binom.pmf(one, n, p)[:, None] * binom.pmf(other, m, q)).sum() > 0.93


@pytest.mark.parametrize("aside", [(0.0, 0.0), (0.002, 0.002), (0.01, 0.0), (0.1, 0.05)])
def test_paired_differences_are_covered_where_few_are_decided_otherwise(aside: tuple[float, float]) -> None:
    rng, n, held = np.random.default_rng(0), 400, 0
    for _ in range(300):
        kind = rng.choice(3, n, p=[*aside, 1 - sum(aside)])
        found = accuracy_difference(_people(np.ones(n)), (kind != 1) * 1.0, (kind != 0) * 1.0, 0.95)
        held += found.low <= aside[0] - aside[1] <= found.high
        assert found.low < found.value < found.high
    assert held >= 0.92 * 300


@pytest.mark.parametrize(("groups", "rates"), [(2, 1), (2, 2), (5, 1), (5, 2)])
def test_all_pairs_hold_at_once(groups: int, rates: int) -> None:
    means = np.random.default_rng(1).normal(size=(100_000, rates, groups))
    widest = np.ptp(means, axis=-1).max(axis=-1) / np.sqrt(2)
    assert (widest <= quantile_for_all(0.95, groups, rates)).mean() == pytest.approx(0.95, abs=0.003)
    if groups == 2 and rates == 1:
        assert quantile_for_all(0.95, 2) == pytest.approx(normal_quantile(0.95), abs=1e-6)


def test_ratios_of_groups_that_are_nearly_all_selected() -> None:
    some = decided(np.r_[np.ones(399), 0.0], np.arange(400) % 3 == 0).impact_ratio
    assert 0.96 < some.low < some.value < 1 < some.high < 1.02
    law = _people(np.arange(400) % 3 == 0)
    scores = np.where(np.arange(400) == 7, 0.5, 1.0)[None]
    measured = MeasuredRates(law, scores, tally(law, scores))
    (found,) = requirement_estimates(measured, read_requirements(["selection rate ratio >= 0.8"]), ("a", "b"), 0.95)
    assert 0.96 < found["selection rate ratio >= 0.8"].low < 1


def test_people_decided_by_lot_vary_less_than_their_decisions() -> None:
    rng = np.random.default_rng(0)
    label, chance = rng.integers(0, 2, 2_000), rng.uniform(0.4, 0.6, 2_000)
    by_lot, drawn = (decided(own, label).gaps["DP"].estimate for own in (chance, rng.random(2_000) < chance))
    assert by_lot.high - by_lot.low < 0.4 * (drawn.high - drawn.low)


@pytest.mark.parametrize(
    ("text", "most"),
    [
        ("selection rate <= 0.5", 0.02),
        ("selection rate of a <= 0.5", 0.05),
        ("true positive rate of each group <= 0.5", 0.1),
        ("selection rate difference <= 0.1", 0.05),
        ("selection rate difference from the rest <= 0.1", 0.05),
        ("selection rate difference from the average <= 0.1", 0.03),
    ],
)
def test_requirements_where_hardly_anybody_is_selected(text: str, most: float) -> None:
    people, scores = _people(np.arange(400) % 4 < 2), np.zeros((2, 400))
    scores[1, 0] = 1.0  # Nobody, whatever the rows; then one person of 400.
    measured = MeasuredRates(people, scores, tally(people, scores))
    nobody, one = requirement_estimates(measured, read_requirements([text]), ("a", "b"), 0.95)
    assert nobody[text] == (0.0, 0.0, 0.0)
    assert 0 <= one[text].low <= one[text].value < one[text].high < most
    assert one[text].high > one[text].value + 0.005


@pytest.mark.parametrize(("text", "truth"), [("balanced accuracy", 0.965), ("costs 1:5", -0.089), ("accuracy", 0.971)])
def test_objectives_are_covered(text: str, truth: float) -> None:
    rng, objective, held = np.random.default_rng(2), read_objective(text), 0
    for _ in range(300):
        label = rng.random(400) < 0.3
        score = (rng.random((1, 400)) < np.where(label, 0.95, 0.02)).astype(float)
        people = _people(label)
        (found,) = objective_estimates(MeasuredRates(people, score, tally(people, score)), objective, 0.95)
        held += found.low <= truth <= found.high
    assert held >= 0.92 * 300


def _people(label: Any) -> CountedPeople:
    n, ones = len(label), np.ones(len(label))
    times, label = ones.astype(np.int64), np.asarray(label, dtype=np.int8)
    return CountedPeople(np.arange(n) % 2, label, times, ones, ones, ("a", "b"), n)
