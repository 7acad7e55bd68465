"""Intervals where drawing rows anew teaches nothing, because nobody is an exception."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import binomtest

import fairlimits as fl


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
    # The rows that resampling is worth are counted by resampling.
    assert found.accuracy.low == pytest.approx(low, abs=0.003)
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
