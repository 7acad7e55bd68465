"""What scores are worth on labelled rows: accuracy, rates and gaps, with intervals from resampled rows.

Everything is a function of two tables over groups and labels: the mass of people, and the mass of those who are decided
1. Resampling the rows gives these tables again and again.

A gap is the size of a difference, and its resampled values never reach below 0, so intervals are made for the signed
differences between groups and carried over to the gap. A notion with more than one difference (several rates, or more
than two groups) gets intervals that hold for all of them at once.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np

from fairlimits._util.types import Floats, Ints
from fairlimits.data import Dataset
from fairlimits.errors import DataError, InputError
from fairlimits.notions import Difference, Requirement
from fairlimits.notions.objectives import Objective
from fairlimits.notions.rates import NOTIONS, Rate, enough_rows

RESAMPLES = 1_000

# Resamples drawn at a time: their weights, a number for each row, are all that takes memory.
_AT_ONCE = 100


class Estimate(NamedTuple):
    """A figure and its confidence interval; NaN where too few rows stand behind it."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        if math.isnan(self.value):
            return "not estimable"
        return f"{self.value:.4f} ({self.low:.4f} to {self.high:.4f})"

    @property
    def known(self) -> bool:
        """Whether enough rows stand behind the figure."""
        return not math.isnan(self.value)


NOT_ESTIMABLE = Estimate(math.nan, math.nan, math.nan)


def row_shares(data: Dataset) -> Floats:
    """What each row counts, as a share of all."""
    weight = np.ones(data.n_rows) if data.weight is None else np.asarray(data.weight)
    if not weight.sum() > 0:
        raise DataError("No row counts: there are none, or all weights are 0; give some rows a weight above 0.")
    return np.asarray(weight / weight.sum())


@dataclass(frozen=True, eq=False)
class Tally:
    """Mass of people, and of those decided 1, by group and label.

    Parameters
    ----------
    mass : ndarray of shape (..., G, 2)
    decided : ndarray of shape (..., points, G, 2)
    """

    mass: Floats
    decided: Floats

    def accuracy(self) -> Floats:
        """Share of people who are decided as their label says, of shape (..., points); NaN without any."""
        right = self.decided[..., 1] + self.mass[..., None, :, 0] - self.decided[..., 0]
        # A resample of very few rows can be without any.
        with np.errstate(invalid="ignore"):
            return np.asarray(right.sum(axis=-1) / self.mass.sum(axis=(-1, -2))[..., None])

    def rate(self, rate: Rate) -> Floats:
        """A rate in each group, of shape (..., points, G); NaN for a group without mass in the condition."""
        event = np.asarray(rate.event)
        hit = self.decided * event[:, 1] + (self.mass[..., None, :, :] - self.decided) * event[:, 0]
        chosen = list(rate.given)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(hit[..., chosen].sum(axis=-1) / self.mass[..., None, :, chosen].sum(axis=-1))

    def shares(self, rate: Rate) -> Floats:
        """Share of each group among the people whom a rate looks at, of shape (..., G)."""
        people = self.mass[..., list(rate.given)].sum(axis=-1)
        total = people.sum(axis=-1, keepdims=True)
        return np.asarray(people / np.where(total > 0, total, 1.0))


def tally(data: Dataset, scores: Floats) -> Tally:
    """Add up what scores of shape (points, n) decide on rows."""
    share, stratum = row_shares(data), _strata(data)
    groups = len(data.groups)

    def add_up(amount: Floats) -> Floats:
        total: Floats = np.bincount(stratum, weights=amount, minlength=2 * groups).astype(np.float64)
        return total.reshape(groups, 2)

    return Tally(add_up(share), np.stack([add_up(share * own) for own in scores]))


def resampled(data: Dataset, scores: Floats, resamples: int, random_state: int) -> Tally:
    """Add up again for rows drawn anew, `resamples` times: each row is drawn a Poisson number of times."""
    rng = np.random.default_rng(random_state)
    groups = len(data.groups)
    share, stratum = row_shares(data), _strata(data)
    members = [np.flatnonzero(stratum == s) for s in range(2 * groups)]
    mass = np.empty((resamples, 2 * groups))
    decided = np.empty((resamples, len(scores), 2 * groups))
    for start in range(0, resamples, _AT_ONCE):
        part = slice(start, min(start + _AT_ONCE, resamples))
        for s, rows in enumerate(members):
            drawn = rng.poisson(1.0, (part.stop - part.start, len(rows))) * share[rows]
            mass[part, s] = drawn.sum(axis=1)
            decided[part, :, s] = drawn @ scores[:, rows].T
    return Tally(mass.reshape(resamples, groups, 2), decided.reshape(resamples, len(scores), groups, 2))


def row_counts(data: Dataset) -> Ints:
    """Rows that count, by group and label, of shape (G, 2)."""
    counted = np.ones(data.n_rows, dtype=bool) if data.weight is None else data.weight > 0
    groups = len(data.groups)
    return np.bincount(_strata(data)[counted], minlength=2 * groups).reshape(groups, 2)


def percentile_estimate(value: float, drawn: Floats, confidence: float) -> Estimate:
    """Figure with the interval that holds the middle of its resampled values; NaN among them says nothing."""
    tail = (1 - confidence) / 2
    low, high = np.quantile(drawn[~np.isnan(drawn)], [tail, 1 - tail])
    # The interval holds the figure itself, also where resampling is biased.
    return Estimate(value, min(float(low), value), max(float(high), value))


def gap_estimates(found: Tally, drawn: Tally, counts: Ints, confidence: float) -> list[dict[str, Estimate]]:
    """Gap of every group notion, for each point, with its interval.

    Parameters
    ----------
    found : Tally
        Of the rows.
    drawn : Tally
        Of resampled rows.
    counts : ndarray of int of shape (G, 2)
        Rows behind each group and label.
    confidence : float
        Of the intervals.
    """
    points = found.decided.shape[0]
    estimates: list[dict[str, Estimate]] = [{} for _ in range(points)]
    for name, notion in NOTIONS.items():
        if not enough_rows(name, counts):
            for own in estimates:
                own[name] = NOT_ESTIMABLE
            continue
        value, again = [], []
        for rate in notion.rates:
            rates, others = found.rate(rate), drawn.rate(rate)
            present = np.flatnonzero(~np.isnan(rates[0]))
            for g, h in combinations(present, 2):
                value.append(rates[:, g] - rates[:, h])
                again.append(others[:, :, g] - others[:, :, h])
        differences, resampling = np.stack(value, axis=1), np.stack(again, axis=2)
        for point in range(points):
            estimates[point][name] = _gap_estimate(differences[point], resampling[:, point], confidence)
    return estimates


def _gap_estimate(differences: Floats, drawn: Floats, confidence: float) -> Estimate:
    """Largest size of some signed differences, from intervals that hold for all of them at once."""
    # A resample without anybody in a small group says nothing about its rate.
    drawn = drawn[~np.isnan(drawn).any(axis=1)]
    gap = float(np.abs(differences).max())
    if len(differences) == 1:
        _, below, above = percentile_estimate(float(differences[0]), drawn[:, 0], confidence)
        low, high = np.array([below]), np.array([above])
    else:
        error = drawn.std(axis=0)
        with np.errstate(invalid="ignore", divide="ignore"):
            worst = np.nanmax(np.where(error > 0, np.abs(drawn - differences) / error, 0.0), axis=1)
        reach = float(np.quantile(worst, confidence)) * error
        low, high = differences - reach, differences + reach
    nearest = np.where((low <= 0) & (high >= 0), 0.0, np.minimum(np.abs(low), np.abs(high)))
    farthest = np.maximum(np.abs(low), np.abs(high))
    return Estimate(gap, float(nearest.max()), min(float(farthest.max()), 1.0))


def requirement_estimates(
    found: Tally,
    drawn: Tally,
    counts: Ints,
    requirements: Sequence[Requirement],
    groups: tuple[str, ...],
    confidence: float,
) -> list[dict[str, Estimate]]:
    """Value of what each requirement is about, for each point, with its interval (see `gap_estimates`)."""
    estimates: list[dict[str, Estimate]] = [{} for _ in range(found.decided.shape[0])]
    for own in requirements:
        rows = counts[:, list(own.needed.given)].sum(axis=1)
        rates, shares = found.rate(own.needed), found.shares(own.needed)
        others, other_shares = drawn.rate(own.needed), drawn.shares(own.needed)
        for point, estimate in enumerate(estimates):
            if not own.estimable(rows, groups):
                estimate[str(own)] = NOT_ESTIMABLE
            elif isinstance(own, Difference):
                again = [own.signed(r, s) for r, s in zip(others[:, point], other_shares, strict=True)]
                differences = own.signed(rates[point], shares)
                whole = np.array([each for each in again if len(each) == len(differences)])
                estimate[str(own)] = _gap_estimate(differences, whole, confidence)
            else:
                value = own.attained(rates[point], shares, groups)
                again_values = [own.attained(r, s, groups) for r, s in zip(others[:, point], other_shares, strict=True)]
                estimate[str(own)] = percentile_estimate(value, np.array(again_values), confidence)
    return estimates


def objective_estimates(found: Tally, drawn: Tally, objective: Objective, confidence: float) -> list[Estimate]:
    """Value of an objective at each point, with its interval."""
    values, again = (
        objective.of_people(
            (each.mass.sum(axis=-2) / each.mass.sum(axis=(-1, -2))[..., None])[..., None, :],
            each.decided.sum(axis=-2) / each.mass.sum(axis=(-1, -2))[..., None, None],
        )
        for each in (found, drawn)
    )
    return [
        NOT_ESTIMABLE if np.isnan(value) else percentile_estimate(float(value), again[:, point], confidence)
        for point, value in enumerate(values)
    ]


def standard_errors(data: Dataset, scores: Floats, rates: tuple[Rate, ...]) -> Floats:
    """Standard error of each rate in each group, of shape (K, G), for scores of shape (n,); NaN without rows."""
    share, event_of = row_shares(data), data.label.astype(np.int64)
    errors = np.full((len(rates), len(data.groups)), np.nan)
    for k, rate in enumerate(rates):
        event = np.asarray(rate.event)[event_of]
        value = event[:, 1] * scores + event[:, 0] * (1 - scores)
        for g in range(len(data.groups)):
            rows = (data.group == g) & np.isin(data.label, rate.given) & (share > 0)
            if rows.any():
                weight = share[rows] / share[rows].sum()
                mean = weight @ value[rows]
                errors[k, g] = np.sqrt((weight**2) @ (value[rows] - mean) ** 2)
    return errors


def check_confidence(confidence: float) -> float:
    """Return the confidence if it lies between 0 and 1."""
    if not (isinstance(confidence, int | float | np.number) and 0 < confidence < 1):
        raise InputError(f"The confidence is {confidence!r}; it must lie between 0 and 1, such as 0.95.")
    return float(confidence)


def check_like(data: Dataset, groups: tuple[str, ...]) -> None:
    """Refuse rows of other groups than a rule was made for."""
    if data.groups != groups:
        raise InputError(
            f"The rows have the groups {', '.join(data.groups)} and the rule was made for {', '.join(groups)}; "
            "read the rows with Dataset.read_like and the schema of the first table."
        )


def _strata(data: Dataset) -> Ints:
    return np.asarray(data.group * 2 + data.label, dtype=np.int64)
