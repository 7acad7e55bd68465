"""Figures of decided people with score intervals: accuracy, gaps, requirements and objectives.

A gap is the size of a difference, which is never below 0, so intervals are made for the signed differences between
groups and carried over to the gap. A notion with more than one difference (several rates, or more than two groups) gets
intervals that hold for all of them at once.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import combinations, permutations

import numpy as np

from fairlimits._util.small_samples import enough
from fairlimits._util.types import Flags, Floats, Ints
from fairlimits.notions.intervals import NOT_ESTIMABLE, Estimate
from fairlimits.notions.objectives import Costs, Objective
from fairlimits.notions.rates import ACCURACY_RATE, RATES, Rate, RateTable
from fairlimits.notions.registry import NOTIONS
from fairlimits.notions.requirements import EACH_GROUP, Difference, Limit, Ratio
from fairlimits.notions.rows import Requirement
from fairlimits.notions.score_intervals import MeasuredRates, Shares, normal_quantile, quantile_for_all
from fairlimits.notions.tallies import People


def accuracy_estimates(measured: MeasuredRates, confidence: float) -> list[Estimate]:
    """Return the accuracy at each point, with its interval."""
    return _of_all(measured.overall(ACCURACY_RATE.event), confidence)


def accuracy_difference(people: People, one: Floats, other: Floats, confidence: float) -> Estimate:
    """Return the accuracy of scores minus that of others on the same people, with Bonett and Price's interval (2012).

    Two rows are added, one that only the first decide right and one that only the others do: that both decided these
    people alike does not show that they decide everybody alike.
    """
    difference = (2.0 * people.label - 1) * (one - other)
    value = float(people.shares @ difference)
    row = 1 / max(int(people.times.sum()), 1)
    middle = value / (1 + 2 * row)
    scatter = float(people.squares @ (difference - middle) ** 2)
    scatter += row**2 * ((1 - middle) ** 2 + (1 + middle) ** 2)
    reach = normal_quantile(confidence) * math.sqrt(scatter) / (1 + 2 * row)
    return Estimate(value, max(min(middle - reach, value), -1.0), min(max(middle + reach, value), 1.0))


def gap_estimates(measured: MeasuredRates, confidence: float) -> list[dict[str, Estimate]]:
    """Return the gap of every group notion at each point, with its interval; rates on too few rows are left out."""
    found = measured.found
    rates = {rate: measured.of(rate) for notion in NOTIONS.values() for rate in notion.rates}
    compared = {rate: np.flatnonzero(enough(found.rows(rate))) for rate in rates}
    gaps = {name: _gaps(notion.rates, rates, compared, confidence) for name, notion in NOTIONS.items()}
    return [{name: own[point] for name, own in gaps.items()} for point in range(len(found.decided))]


def gaps_on_counts(table: RateTable, scores: Floats, confidence: float = 0.95) -> dict[str, Estimate]:
    """Return the gap of every group notion on a law for scores of shape (N, G), with its interval by rows counted."""
    affine = {rate: table.of(rate) for notion in NOTIONS.values() for rate in notion.rates}
    compared = {rate: np.flatnonzero(own.defined) for rate, own in affine.items()}
    rates = {
        rate: Shares(own.values(scores)[None], effective_counts(table, rate)[None]) for rate, own in affine.items()
    }
    return {name: _gaps(notion.rates, rates, compared, confidence)[0] for name, notion in NOTIONS.items()}


def effective_counts(table: RateTable, rate: Rate) -> Floats:
    """Return the rows of each group behind a rate of a law; infinite for a law without rows, which is exact."""
    rows = table.rows(rate)
    return np.full(table.n_groups, np.inf) if rows is None else rows.astype(np.float64)


def _gaps(
    asked: Sequence[Rate], rates: Mapping[Rate, Shares], compared: Mapping[Rate, Ints], confidence: float
) -> list[Estimate]:
    """Return the largest difference of some rates between the groups that are compared, at each point."""
    left = [rate for rate in asked if len(compared[rate]) >= 2]
    sides = []
    for rate in left:
        z = quantile_for_all(confidence, len(compared[rate]), len(left))
        sides.append(_differences(rates[rate], _pairs(compared[rate], rates[rate].value.shape[-1]), z))
    points = len(rates[asked[0]].value)
    if not sides:
        return [NOT_ESTIMABLE] * points
    return [_largest([[end[point] for end in side] for side in sides]) for point in range(points)]


def requirement_estimates(
    measured: MeasuredRates, requirements: Sequence[Requirement], groups: tuple[str, ...], confidence: float
) -> list[dict[str, Estimate]]:
    """Return the value that each requirement bounds, at each point, with its interval (see `gap_estimates`)."""
    found = measured.found
    estimates: list[dict[str, Estimate]] = [{} for _ in range(len(found.decided))]
    for requirement in requirements:
        rows = found.rows(requirement.needed)
        if not requirement.estimable(rows, groups):
            own = [NOT_ESTIMABLE] * len(estimates)
        elif isinstance(requirement, Limit):
            own = _limits(measured, requirement, rows, groups, confidence)
        elif isinstance(requirement, Ratio):
            own = _ratios(measured.of(requirement.needed), np.flatnonzero(enough(rows)), confidence)
        else:
            assert isinstance(requirement, Difference)
            shares = found.shares(requirement.needed)
            own = _bounded(measured.of(requirement.needed), requirement, shares, enough(rows), confidence)
        for estimate, value in zip(estimates, own, strict=True):
            estimate[str(requirement)] = value
    return estimates


def objective_estimates(measured: MeasuredRates, objective: Objective, confidence: float) -> list[Estimate]:
    """Return the value of an objective at each point, with its interval."""
    if isinstance(objective, Costs):
        most = max(objective.false_positive, objective.false_negative)
        costs = measured.overall([[0, objective.false_positive / most], [objective.false_negative / most, 0]])
        return [Estimate(-most * value, -most * high, -most * low) for value, low, high in _of_all(costs, confidence)]
    if objective.name == ACCURACY_RATE.name:
        return accuracy_estimates(measured, confidence)
    # Balanced accuracy: the mean of two rates, of different people.
    rates = [RATES[name] for name in ("true positive rate", "true negative rate")]
    sides = [measured.overall(rate.event, rate.given) for rate in rates]
    both = Shares(*(np.concatenate([getattr(own, part) for own in sides], axis=1) for part in ("value", "rows")))
    half = np.full((1, 2), 0.5)
    low, high = both.contrast_ends(half, normal_quantile(confidence))
    return [
        NOT_ESTIMABLE if math.isnan(value) else Estimate(value, float(lower[0]), float(higher[0]))
        for value, lower, higher in zip(both.value.mean(axis=1).tolist(), low, high, strict=True)
    ]


def _of_all(shares: Shares, confidence: float) -> list[Estimate]:
    """Return a share among all people at each point, with its interval."""
    low, high = shares.ends(normal_quantile(confidence))
    return [Estimate(*map(float, own)) for own in zip(shares.value[:, 0], low[:, 0], high[:, 0], strict=True)]


def _pairs(groups: Ints, n_groups: int) -> Floats:
    """Return the differences of all pairs of some groups, as weights of the rates of all groups."""
    one = np.eye(n_groups)
    return np.array([one[g] - one[h] for g, h in combinations(groups.tolist(), 2)])


def _differences(shares: Shares, weights: Floats, z: float) -> tuple[Floats, Floats, Floats]:
    """Return signed differences of shape (points, C), and the ends of their intervals."""
    return np.nan_to_num(shares.value) @ weights.T, *shares.contrast_ends(weights, z)


def _largest(sides: Sequence[Sequence[Floats]]) -> Estimate:
    """Return the largest size of some signed differences, from intervals that hold for all of them at once."""
    value, low, high = (np.concatenate(parts) for parts in zip(*sides, strict=True))
    gap = float(np.abs(value).max())
    nearest = np.where((low <= 0) & (high >= 0), 0.0, np.minimum(np.abs(low), np.abs(high)))
    farthest = np.maximum(np.abs(low), np.abs(high))
    return Estimate(gap, min(float(nearest.max()), gap), min(max(float(farthest.max()), gap), 1.0))


def _limits(
    measured: MeasuredRates, limit: Limit, rows: Ints, groups: tuple[str, ...], confidence: float
) -> list[Estimate]:
    """Return a rate of all people, of one group, or the lowest (for a lower bound) or highest of all groups."""
    if limit.group is None:
        return _of_all(measured.overall(limit.needed.event, limit.needed.given), confidence)
    each = limit.group == EACH_GROUP
    chosen = np.flatnonzero(enough(rows)) if each else np.array([groups.index(limit.group)])
    shares = measured.of(limit.needed)
    # The errors of rates of different people are independent.
    low, high = shares.ends(normal_quantile(confidence ** (1 / len(chosen))))
    out = np.min if limit.at_least is not None else np.max
    ends = (out(own[:, chosen], axis=1).tolist() for own in (shares.value, low, high))
    return [Estimate(*own) for own in zip(*ends, strict=True)]


def _ratios(shares: Shares, chosen: Ints, confidence: float) -> list[Estimate]:
    """Return lowest over highest rate; 1 where all are 0, from 0 to 1 unless the rates are exact."""
    z = quantile_for_all(confidence, len(chosen))
    found = []
    for point, rates in enumerate(shares.value):
        own = Shares(rates, shares.rows[point])
        highest = float(rates[chosen].max())
        if highest <= 0:
            found.append(Estimate(1.0, 0.0, 1.0) if np.isfinite(own.rows[chosen]).any() else Estimate(1.0, 1.0, 1.0))
            continue
        value = max(float(rates[chosen].min()), 0.0) / highest
        ends = [own.ratio_ends(g, h, z) for g, h in permutations(chosen.tolist(), 2) if rates[h] > 0]
        low, high = (min(end) for end in zip(*ends, strict=True))
        found.append(Estimate(value, min(low, value), min(max(high, value), 1.0)))
    return found


def _bounded(
    shares: Shares, requirement: Difference, sizes: Floats, compared: Flags, confidence: float
) -> list[Estimate]:
    """Return the largest of the differences that a requirement bounds."""
    weights = requirement.weights(sizes, compared)
    if requirement.against == "each other":
        z = quantile_for_all(confidence, int(compared.sum()))
    else:
        z = normal_quantile(confidence ** (1 / max(len(weights), 1)))
    value, low, high = _differences(shares, weights, z)
    return [_largest([own]) for own in zip(value, low, high, strict=True)]
