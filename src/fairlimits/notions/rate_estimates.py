"""Rates of each group, read off decided people with their intervals, or off a law."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from fairlimits._util.small_samples import enough
from fairlimits._util.types import Flags, Floats, Ints
from fairlimits.notions.estimates import effective_counts, gaps_on_counts
from fairlimits.notions.group_rates import Gap, GroupRates
from fairlimits.notions.intervals import NOT_ESTIMABLE, Estimate, check_confidence
from fairlimits.notions.rates import (
    ACCURACY_RATE,
    FALSE_POSITIVE_RATE,
    SELECTION_RATE,
    TRUE_POSITIVE_RATE,
    RateTable,
    spread,
)
from fairlimits.notions.registry import NOTIONS
from fairlimits.notions.score_intervals import MeasuredRates, Shares, effective_rows, normal_quantile, quantile_for_all
from fairlimits.notions.tallies import People, tally

# Fewest people selected in the group of the highest rate for shares of that rate to be shown.
_FEWEST_SELECTED = 5

# Confidence at which plug-in gaps of counted rows are said to be chance or not.
_PLUG_IN_CONFIDENCE = 0.95

# A gap below this is rounding: no group is lower than others.
_SAME = 1e-9


def rates_by_group(people: People, scores: Floats, gaps: Mapping[str, Estimate], confidence: float) -> GroupRates:
    """Estimate the rates of each group.

    Parameters
    ----------
    people : People
        Labelled people.
    scores : ndarray of shape (n,)
        Probability of deciding 1.
    gaps : mapping of str to Estimate
        Gap of every group notion on the same decisions.
    confidence : float
        Confidence of the intervals.
    """
    check_confidence(confidence)
    found = tally(people, scores[None])
    measured = MeasuredRates(people, scores[None], found)
    one = (people.label == 1).astype(np.float64)
    chosen = _decided_people(people, scores)
    by_label = found.counts.T
    sides = {
        "base rate": (_certain(people, one, np.ones(len(one)), found.counts.sum(axis=1)), found.counts.sum(axis=1)),
        "selection rate": (measured.of(SELECTION_RATE).at(0), found.counts.sum(axis=1)),
        "true positive rate": (measured.of(TRUE_POSITIVE_RATE).at(0), by_label[1]),
        "false positive rate": (measured.of(FALSE_POSITIVE_RATE).at(0), by_label[0]),
        "accuracy": (measured.of(ACCURACY_RATE).at(0), found.counts.sum(axis=1)),
        "precision": (_certain(people, one, scores, chosen.sum(axis=1)), chosen.sum(axis=1)),
    }
    return GroupRates(
        people.groups,
        tuple(found.counts.sum(axis=1).tolist()),
        {name: _estimates(*side, confidence) for name, side in sides.items()},
        _ratios(*sides["selection rate"], confidence),
        {
            name: _gap(gap, _compared(measured, name), people.groups, gap.low <= 0, confidence)
            for name, gap in gaps.items()
        },
        confidence,
        parts=_parts(found.counts, chosen),
        frame_kind=people.frame_kind,
    )


def plug_in_rates(table: RateTable, scores: Floats) -> GroupRates:
    """Read the rates of each group on a law, for scores of shape (N, G): exact figures without intervals.

    Where the law counts rows, a rate with too few of them behind it is not estimable.
    """
    mass, decided = (masses.sum(axis=0) for masses in (table.mass, table.mass * scores[:, :, None]))
    rows = None if table.counts is None else table.counts.sum(axis=0)
    chosen = None if table.counts is None else (table.counts * scores[:, :, None]).sum(axis=(0, 2))
    right = mass[:, 0] - decided[:, 0] + decided[:, 1]

    def parts(hit: Floats, whole: Floats, behind: Any) -> tuple[Estimate, ...]:
        known = (whole > 0) & (True if behind is None else enough(np.floor(behind + 1e-9).astype(np.int64)))
        return tuple(
            Estimate(float(np.clip(h / w, 0, 1)), math.nan, math.nan) if there else NOT_ESTIMABLE
            for h, w, there in zip(hit, whole, known, strict=True)
        )

    people = None if rows is None else rows.sum(axis=1)
    by_label = (None, None) if rows is None else (rows[:, 0], rows[:, 1])
    figures = {
        "base rate": parts(mass[:, 1], mass.sum(axis=1), people),
        "selection rate": parts(decided.sum(axis=1), mass.sum(axis=1), people),
        "true positive rate": parts(decided[:, 1], mass[:, 1], by_label[1]),
        "false positive rate": parts(decided[:, 0], mass[:, 0], by_label[0]),
        "accuracy": parts(right, mass.sum(axis=1), people),
        "precision": parts(decided[:, 1], decided.sum(axis=1), chosen),
    }
    selected = [rate.value for rate in figures["selection rate"]]
    top = max((rate for rate in selected if not math.isnan(rate)), default=0.0)
    ratios = tuple(Estimate(rate / top, math.nan, math.nan) if top > 0 else NOT_ESTIMABLE for rate in selected)
    gaps = {}
    for name, found in gaps_on_counts(table, scores).items():
        affine = {rate: table.of(rate) for rate in NOTIONS[name].rates}
        measured = {
            rate.name: Shares(np.where(own.defined, own.values(scores), np.nan), effective_counts(table, rate))
            for rate, own in affine.items()
        }
        size = Estimate(found.value, math.nan, math.nan)
        gaps[name] = _gap(size, measured, table.groups, found.low <= 0, _PLUG_IN_CONFIDENCE)
    counted = (None,) * len(table.groups) if people is None else tuple(people.tolist())
    by_decision = None
    if table.counts is not None and rows is not None:
        by_decision = _parts(rows, (table.counts * scores[:, :, None]).sum(axis=0))
    return GroupRates(table.groups, counted, figures, ratios, gaps, None, parts=by_decision)


def _parts(counts: Ints, decided: Floats) -> Floats:
    """Return people by label and decision, (G, 4), from all people and those decided 1, both by label."""
    return np.concatenate([counts - decided, decided], axis=1)


def _decided_people(people: People, scores: Floats) -> Floats:
    """Return people decided 1 by group and label; somebody with a score between 0 and 1 counts by that fraction."""
    part = people.times * scores
    total = np.bincount(people.group * 2 + people.label, weights=part, minlength=2 * len(people.groups))
    return np.asarray(total.reshape(-1, 2), dtype=np.float64)


def _certain(people: People, value: Floats, part: Floats, rows: Floats | Ints) -> Shares:
    """Return the weighted mean in each group of values that are 0 or 1; each person counts by the fraction `part`.

    For rates of people decided 1, that is the person's score.
    """
    groups = len(people.groups)

    def add_up(amounts: Floats) -> Floats:
        return np.asarray(np.bincount(people.group, amounts, groups), dtype=np.float64)

    total = add_up(people.shares * part)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = add_up(people.shares * part * value) / total
    squared = people.squares * part**2
    squares, scatter = add_up(squared), add_up(squared * (value - np.nan_to_num(mean)[people.group]) ** 2)
    ends = np.zeros(groups), np.ones(groups)
    return Shares(mean, effective_rows(mean, total, squares, scatter, np.asarray(rows, dtype=np.float64), ends))


def _estimates(shares: Shares, rows: Floats | Ints, confidence: float) -> tuple[Estimate, ...]:
    """Return a share in each group with its interval, not estimable where there are too few rows."""
    known = _known(rows) & ~np.isnan(shares.value)
    ends = (shares.value, *shares.ends(normal_quantile(confidence)))
    return tuple(
        Estimate(*own) if there else NOT_ESTIMABLE
        for there, *own in zip(known, *(end.tolist() for end in ends), strict=True)
    )


def _known(rows: Floats | Ints) -> Flags:
    return enough(np.floor(np.asarray(rows) + 1e-9).astype(np.int64))


def _ratios(shares: Shares, rows: Floats | Ints, confidence: float) -> tuple[Estimate, ...]:
    """Return rates as shares of the highest one."""
    known = np.flatnonzero(_known(rows) & ~np.isnan(shares.value)).tolist()
    top = max(known, key=lambda g: float(shares.value[g]), default=0)
    if len(known) < 2 or shares.value[top] * rows[top] < _FEWEST_SELECTED:
        return (NOT_ESTIMABLE,) * len(rows)
    z, found = normal_quantile(confidence), [NOT_ESTIMABLE] * len(rows)
    for g in known:
        ratio = float(shares.value[g] / shares.value[top])
        low, high = (1.0, 1.0) if g == top else shares.ratio_ends(g, top, z)
        found[g] = Estimate(ratio, min(low, ratio), max(high, ratio))
    return tuple(found)


def _compared(measured: MeasuredRates, notion: str) -> dict[str, Shares]:
    """Return the rates of a notion, for the groups that are compared, at the only point."""
    rates = NOTIONS[notion].rates
    return {rate.name: Shares(measured.found.compared(rate)[0], measured.of(rate).rows[0]) for rate in rates}


def _gap(
    estimate: Estimate, rates: Mapping[str, Shares], groups: tuple[str, ...], by_chance: bool, confidence: float
) -> Gap:
    """Return between which groups, and in which rate, a gap lies, and what of it chance may explain.

    Groups that are not compared have no rate here.
    """
    widths = {name: float(spread(own.value)) for name, own in rates.items()}
    known = {name: width for name, width in widths.items() if width > _SAME}
    if not estimate.known or not known:
        return Gap(estimate)
    widest = max(known, key=lambda name: known[name])
    shares = rates[widest]
    lowest, highest = int(np.nanargmin(shares.value)), int(np.nanargmax(shares.value))
    pair = np.zeros((1, len(groups)))
    pair[0, highest], pair[0, lowest] = 1.0, -1.0
    compared = int((~np.isnan(shares.value)).sum())
    z = quantile_for_all(confidence, compared, sum(not np.isnan(width) for width in widths.values()))
    low, _ = shares.contrast_ends(pair, z)
    chance = "the gap" if by_chance else "the groups" if low[0] <= 0 else ""
    return Gap(estimate, widest, groups[lowest], groups[highest], chance)
