"""Rates of each group, read off decided people with their intervals, or off a law."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.special import ndtri

from fairlimits._util.small_samples import enough
from fairlimits._util.types import Floats, Ints
from fairlimits.notions.group_rates import Gap, GroupRates
from fairlimits.notions.intervals import NOT_ESTIMABLE, Estimate, check_confidence
from fairlimits.notions.rates import RateTable, spread
from fairlimits.notions.registry import NOTIONS, group_gaps
from fairlimits.notions.tallies import People, tally

# People selected in the group of the highest rate, below which nothing is said about shares of that rate.
_FEWEST_SELECTED = 5

# A gap below this is rounding: nobody is lower than others.
_SAME = 1e-9


def rates_by_group(people: People, scores: Floats, gaps: Mapping[str, Estimate], confidence: float) -> GroupRates:
    """Read the rates of each group.

    Parameters
    ----------
    people : People
        Labelled people.
    scores : ndarray of shape (n,)
        Probability of deciding 1.
    gaps : mapping of str to Estimate
        Gap of every group notion on the same decisions.
    confidence : float
        Of the intervals.
    """
    check_confidence(confidence)
    one = (people.label == 1).astype(np.float64)
    everybody = np.ones(len(one))
    right = np.where(people.label == 1, scores, 1 - scores)
    sides = {
        "base rate": (one, everybody),
        "selection rate": (scores, everybody),
        "true positive rate": (scores, one),
        "false positive rate": (scores, 1 - one),
        "accuracy": (right, everybody),
        "precision": (one, scores),
    }
    read = {name: _wilson(people, *side, confidence) for name, side in sides.items()}
    found = tally(people, scores[None])
    return GroupRates(
        people.groups,
        tuple(found.counts.sum(axis=1).tolist()),
        {name: estimates for name, (estimates, _) in read.items()},
        _ratios(*read["selection rate"], confidence),
        {
            name: _gap(gaps[name], {rate.name: found.compared(rate)[0] for rate in NOTIONS[name].rates}, people.groups)
            for name in NOTIONS
            if name in gaps
        },
        confidence,
        parts=_parts(found.counts, _decided_people(people, scores)),
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
    for name, value in group_gaps(table, scores).items():
        estimate = Estimate(float(value), math.nan, math.nan)
        affine = {rate.name: table.of(rate) for rate in NOTIONS[name].rates}
        values = {
            rate: np.where(affine_rate.defined, affine_rate.values(scores), np.nan)
            for rate, affine_rate in affine.items()
        }
        gaps[name] = _gap(estimate, values, table.groups)
    counted = (None,) * len(table.groups) if people is None else tuple(people.tolist())
    by_decision = None
    if table.counts is not None and rows is not None:
        by_decision = _parts(rows, (table.counts * scores[:, :, None]).sum(axis=0))
    return GroupRates(table.groups, counted, figures, ratios, gaps, None, parts=by_decision)


def _parts(counts: Ints, decided: Floats) -> Floats:
    """People by label and decision, of shape (G, 4), from all of them and those decided 1, both by label."""
    return np.concatenate([counts - decided, decided], axis=1)


def _decided_people(people: People, scores: Floats) -> Floats:
    """People decided 1 by group and label; somebody decided by lot is so much of a person."""
    part = people.times * scores
    total = np.bincount(people.group * 2 + people.label, weights=part, minlength=2 * len(people.groups))
    return np.asarray(total.reshape(-1, 2), dtype=np.float64)


def _wilson(people: People, value: Floats, part: Floats, confidence: float) -> tuple[tuple[Estimate, ...], Floats]:
    """Weighted mean of values from 0 to 1 in each group with Wilson's interval, and its effective sample size.

    Of each person a part counts: a chance to be decided 1 is so much of a person. The effective sample size of weighted
    rows is (sum w)^2 / sum w^2 (Kish, 1965). Values between 0 and 1 vary less than decisions of the same mean, for
    which the interval is made.
    """
    groups, weight = len(people.groups), people.shares * part
    total, hit, squares, rows = (
        np.bincount(people.group, weights=amounts, minlength=groups)
        for amounts in (weight, weight * value, people.squares * part**2, people.times * part)
    )
    known = enough(np.floor(rows + 1e-9).astype(np.int64)) & (total > 0)
    effective = np.where(known, total**2 / np.where(squares > 0, squares, 1), 0)
    z = float(ndtri(0.5 + confidence / 2))
    estimates = []
    for g in range(groups):
        if not known[g]:
            estimates.append(NOT_ESTIMABLE)
            continue
        p, n = float(np.clip(hit[g] / total[g], 0, 1)), effective[g]
        centre = (p + z * z / (2 * n)) / (1 + z * z / n)
        reach = z * np.sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / (1 + z * z / n)
        estimates.append(Estimate(p, min(max(float(centre - reach), 0.0), p), max(min(float(centre + reach), 1.0), p)))
    return tuple(estimates), effective


def _ratios(rates: tuple[Estimate, ...], effective: Floats, confidence: float) -> tuple[Estimate, ...]:
    """Rates as shares of the highest one, with intervals on the scale of logarithms (Katz and others)."""
    known = [g for g, rate in enumerate(rates) if rate.known]
    top = max(known, key=lambda g: rates[g].value, default=0)
    if len(known) < 2 or rates[top].value * effective[top] < _FEWEST_SELECTED:
        return (NOT_ESTIMABLE,) * len(rates)
    z = float(ndtri(0.5 + confidence / 2))
    found = []
    for g, rate in enumerate(rates):
        if not rate.known:
            found.append(NOT_ESTIMABLE)
        elif g == top:
            found.append(Estimate(1.0, 1.0, 1.0))
        else:
            ratio = rate.value / rates[top].value
            # Half a hit where there is none, so that there is an upper end.
            p, q = max(rate.value, 0.5 / effective[g]), rates[top].value
            reach = z * float(np.sqrt((1 - p) / (effective[g] * p) + (1 - q) / (effective[top] * q)))
            middle = p / q
            low = 0.0 if rate.value == 0 else middle * float(np.exp(-reach))
            found.append(Estimate(ratio, min(low, ratio), max(middle * float(np.exp(reach)), ratio)))
    return tuple(found)


def _gap(estimate: Estimate, rates: Mapping[str, Floats], groups: tuple[str, ...]) -> Gap:
    """Say between which groups, and in which rate, a gap lies."""
    widths = {name: float(spread(values)) for name, values in rates.items()}
    known = {name: width for name, width in widths.items() if width > _SAME}
    if not estimate.known or not known:
        return Gap(estimate)
    widest = max(known, key=lambda name: known[name])
    values = rates[widest]
    return Gap(estimate, widest, groups[int(np.nanargmin(values))], groups[int(np.nanargmax(values))])
