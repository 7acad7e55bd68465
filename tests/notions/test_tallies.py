"""Figures on labelled rows: exact values by hand, intervals that cover the truth."""

from __future__ import annotations

import math

import numpy as np
import pytest

from fairlimits.data import Dataset
from fairlimits.errors import DataError, InputError
from fairlimits.notions import MeasuredRates, gap_estimates
from fairlimits.notions.intervals import Estimate, check_confidence, percentile_estimate, standard_errors
from fairlimits.notions.registry import NOTIONS
from fairlimits.notions.tallies import resampled, tally
from known_people import known


def by_hand(data: Dataset, score: np.ndarray, notion: str) -> float:
    """Gap of a notion, row by row."""
    weight = data.shares
    worst = 0.0
    for rate in NOTIONS[notion].rates:
        values = []
        for g in range(len(data.groups)):
            rows = [i for i in range(data.n_rows) if data.group[i] == g and data.label[i] in rate.given]
            event = [
                rate.event[data.label[i]][1] * score[i] + rate.event[data.label[i]][0] * (1 - score[i]) for i in rows
            ]
            values.append(np.average(event, weights=weight[rows]))
        worst = max(worst, max(values) - min(values))
    return worst


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("groups", [2, 3])
def test_figures_are_those_counted_by_hand(groups: int, weighted: bool) -> None:
    data, _ = known(0, 1_000, groups, weighted)
    score = np.random.default_rng(1).random(1_000)
    found = tally(data, score[None])
    right = np.where(data.label == 1, score, 1 - score)
    assert found.accuracy()[0] == pytest.approx(data.shares @ right)
    gaps = gap_estimates(MeasuredRates(data, score[None], found), 0.95)[0]
    for name in NOTIONS:
        assert gaps[name].value == pytest.approx(by_hand(data, score, name))
        assert gaps[name].low <= gaps[name].value <= gaps[name].high


@pytest.mark.parametrize(("groups", "notion"), [(2, "DP"), (2, "EOd"), (3, "DP"), (3, "EA")])
def test_intervals_cover_the_gap_of_the_law(groups: int, notion: str) -> None:
    """A rule without any gap is the hard case: intervals of an absolute gap would never reach 0."""
    law, _ = known(0, 200_000, groups)
    rng = np.random.default_rng(2)
    score = np.full(law.n_rows, 0.3)
    if notion == "EA":
        score = np.full(law.n_rows, 0.5)
    covered = 0
    for _ in range(60):
        rows = rng.integers(0, law.n_rows, 800)
        data = law.take(rows)
        # Decisions are drawn, so that rates vary.
        own = (rng.random(800) < score[rows]).astype(float)
        gaps = gap_estimates(MeasuredRates(data, own[None], tally(data, own[None])), 0.95)
        covered += gaps[0][notion].low <= 0.0
    assert covered >= 52


def test_resampling_is_paired_and_repeats() -> None:
    data, _ = known(3, 500)
    score = np.random.default_rng(0).random((1, 500))
    both = resampled(data, np.vstack([score, score]), 100, 7)
    assert (both.decided[:, 0] == both.decided[:, 1]).all()
    again = resampled(data, score, 100, 7)
    assert again.decided[:, 0] == pytest.approx(both.decided[:, 0], abs=1e-12)


def test_standard_errors_are_those_of_the_resamples() -> None:
    data, _ = known(4, 2_000, weighted=True)
    score = np.random.default_rng(0).random(2_000)
    rates = tuple(rate for notion in NOTIONS.values() for rate in notion.rates)
    drawn = resampled(data, score[None], 2_000, 0)
    spread = np.stack([drawn.rate(rate)[:, 0].std(axis=0) for rate in rates])
    assert standard_errors(data, score, rates) == pytest.approx(spread, rel=0.1)


def test_few_rows_are_left_out_rate_by_rate() -> None:
    data, _ = known(5, 400)
    few = (data.group == 0) & (data.label == 1)
    keep = ~few
    keep[np.flatnonzero(few)[:20]] = True
    data = data.take(keep)
    score = np.full(data.n_rows, 0.4)
    gaps = gap_estimates(MeasuredRates(data, score[None], tally(data, score[None])), 0.95)[0]
    assert math.isnan(gaps["EOp"].value)
    assert gaps["EOd"].value == gaps["PE"].value
    assert str(gaps["EOp"]) == "not estimable"
    assert gaps["DP"].known
    assert gaps["PE"].known


def test_an_interval_holds_its_figure() -> None:
    assert percentile_estimate(0.5, np.array([0.1, 0.2, 0.3]), 0.9).high == 0.5
    assert percentile_estimate(0.2, np.array([0.1, np.nan, 0.3]), 0.9).high < 0.3
    assert str(Estimate(0.5, 0.25, 0.75)) == "0.5000 (0.2500 to 0.7500)"


def test_a_resample_of_very_few_rows_can_be_without_any() -> None:
    data = known(5, 100)[0].take(np.arange(3))
    drawn = resampled(data, np.ones((1, 3)), 200, 0).accuracy()[:, 0]
    assert np.isnan(drawn).any()
    assert not math.isnan(percentile_estimate(0.5, drawn, 0.9).low)


@pytest.mark.parametrize("confidence", [0, 1, 1.5, -0.1, math.nan, "high"])
def test_confidence_lies_between_0_and_1(confidence: float) -> None:
    with pytest.raises(InputError, match="between 0 and 1"):
        check_confidence(confidence)


def test_rows_that_do_not_count() -> None:
    data, _ = known(6, 100)
    with pytest.raises(DataError, match="No row counts"):
        _ = Dataset(data.schema, data.columns, data.group, data.label, np.zeros(100)).shares
