"""Score intervals for rates and functions of them: valid near 0 and 1 too, with few events or none.

A share gets Wilson's interval; the ends for differences and ratios are computed from those of the shares
(MOVER: Newcombe, 1998; Zou and Donner, 2008); a paired difference gets Bonett and Price's (2012). Rows of unequal
weight, and people decided by lot, enter by an effective number of rows: that many rows of equal weight, each decided 0
or 1, have the same variance. Nothing is resampled, so the same rows always have the same intervals.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri

from fairlimits._util.types import Floats
from fairlimits.notions.rates import Rate
from fairlimits.notions.tallies import People, Tally

# Scores within this range are the same for everybody.
_ROUNDING = 1e-12

# Points of the integral over the normal distribution, and how far it reaches.
_GRID = np.linspace(-9.0, 9.0, 2_001)


def normal_quantile(confidence: float) -> float:
    """Return how many standard errors a two-sided interval reaches."""
    return float(ndtri(0.5 + confidence / 2))


@lru_cache(maxsize=256)
def quantile_for_all(confidence: float, groups: int, rates: int = 1) -> float:
    """Return how many standard errors intervals reach that hold for all pairs of groups and several rates at once.

    Tukey's range: the largest difference of any two of that many normal means. Errors of rates of different people,
    such as those of label 0 and of label 1, are independent.
    """
    each = confidence ** (1 / rates)
    density = np.exp(-(_GRID**2) / 2) / np.sqrt(2 * np.pi) * (_GRID[1] - _GRID[0])

    def excess(reach: float) -> float:
        within = ndtr(_GRID) - ndtr(_GRID - reach * np.sqrt(2))
        return float(groups * (density * within ** (groups - 1)).sum() - each)

    return float(brentq(excess, 0.0, 12.0))


@dataclass(frozen=True, eq=False)
class Shares:
    """Shares of people, and how many rows they rest on.

    Parameters
    ----------
    value : ndarray
        From 0 to 1; NaN where there is nobody.
    rows : ndarray
        Effective number of rows; infinite where nothing is left to chance.
    """

    value: Floats
    rows: Floats

    def at(self, point: int) -> Shares:
        """Return the shares at one of several points."""
        return Shares(self.value[point], self.rows[point])

    def ends(self, z: float) -> tuple[Floats, Floats]:
        """Return the ends of Wilson's intervals."""
        p = np.clip(self.value, 0.0, 1.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            over = z * z / self.rows
            centre = (p + over / 2) / (1 + over)
            reach = np.sqrt(over * (p * (1 - p) + over / 4)) / (1 + over)
        return np.minimum(np.maximum(centre - reach, 0.0), p), np.maximum(np.minimum(centre + reach, 1.0), p)

    def contrast_ends(self, weights: Floats, z: float) -> tuple[Floats, Floats]:
        """Return the ends for sums of shares of different people, with weights (C, shares), of shape (..., C)."""
        low, high = self.ends(z)
        value = np.nan_to_num(self.value)
        below, above = (np.nan_to_num(np.abs(end - self.value)) ** 2 for end in (low, high))
        middle = value @ weights.T
        plus, minus = np.maximum(weights, 0.0).T ** 2, np.minimum(weights, 0.0).T ** 2
        return middle - np.sqrt(below @ plus + above @ minus), middle + np.sqrt(above @ plus + below @ minus)

    def ratio_ends(self, of: int, to: int, z: float) -> tuple[float, float]:
        """Return the ends for one share as a multiple of another, which is not 0."""
        (low_p, low_q), (high_p, high_q) = (end[..., [of, to]] for end in self.ends(z))
        # Half an event where there is none, so that the upper end has an estimate to start from.
        p, q = max(float(self.value[of]), 0.5 / float(self.rows[of])), float(self.value[to])
        high_p = max(float(high_p), p)
        with np.errstate(divide="ignore"):
            down = np.hypot(np.log(p / low_p), np.log(high_q / q)) if low_p > 0 else np.inf
            up = np.hypot(np.log(high_p / p), np.log(q / low_q)) if low_q > 0 else np.inf
        return float(p / q * np.exp(-down)), float(p / q * np.exp(up))


def effective_rows(
    value: Floats, total: Floats, squares: Floats, scatter: Floats, rows: Floats, ends: tuple[Floats, Floats]
) -> Floats:
    """Return the number of rows of equal weight, decided 0 or 1, of the same variance as weighted values from 0 to 1.

    A pseudo-row at each end of the range of values is added to both (Agresti and Caffo, 2000), else rows that happen
    to be alike would seem to be alike for certain. Where only one value is possible, nothing is left to chance.

    Parameters
    ----------
    value : ndarray
        Weighted mean of the values.
    total, squares : ndarray
        Sum of the weights, and of their squares.
    scatter : ndarray
        Sum of squared weight times squared difference from the mean.
    rows : ndarray
        Rows behind the mean.
    ends : (ndarray, ndarray)
        Least and largest possible value.
    """
    low, high = ends
    with np.errstate(divide="ignore", invalid="ignore"):
        one = (total / rows) ** 2
        by_lot = squares * value * (1 - value) + one * (value**2 + (1 - value) ** 2)
        found = np.maximum(scatter, 0.0) + one * ((value - low) ** 2 + (high - value) ** 2)
        effective = total**2 / squares * by_lot / found
    return np.where(high - low < _ROUNDING, np.inf, np.where(total > 0, effective, 0.0))


class MeasuredRates:
    """Rates of decided people, with how much they vary: what intervals are computed from.

    Parameters
    ----------
    people : People
    scores : ndarray of shape (points, n)
        Probability of deciding 1.
    found : Tally
        Tally of the same scores.
    """

    def __init__(self, people: People, scores: Floats, found: Tally) -> None:
        self.found = found
        groups = len(people.groups)
        stratum = np.asarray(people.group * 2 + people.label, dtype=np.int64)

        def add_up(amount: Floats) -> Floats:
            return np.asarray(np.bincount(stratum, amount, 2 * groups).reshape(groups, 2), dtype=np.float64)

        self._squares = add_up(people.squares)
        # Sums of squared weight times score, and times squared score: the scatter of any rate follows from them.
        self._first = np.stack([add_up(people.squares * own) for own in scores])
        self._second = np.stack([add_up(people.squares * own**2) for own in scores])
        self._ends = scores.min(axis=1, initial=1.0), scores.max(axis=1, initial=0.0)

    def of(self, rate: Rate) -> Shares:
        """Measure a rate in each group, of shape (points, G)."""
        given, event = list(rate.given), np.asarray(rate.event)
        total, rows = self.found.mass[:, given].sum(axis=1), self.found.rows(rate).astype(np.float64)
        return self._measured(self.found.rate(rate), total, self._sums(event, given), rows, event[given])

    def overall(self, event: ArrayLike, given: Sequence[int] = (0, 1)) -> Shares:
        """Measure the mean over all people of what their decision counts, of shape (points, 1).

        Parameters
        ----------
        event : array-like of shape (2, 2)
            What a person of each label counts who is decided 0, and 1: from 0 to 1.
        given : sequence of int
            Labels of the people in the condition.
        """
        labels, counts = list(given), np.asarray(event, dtype=np.float64)
        mass, decided = self.found.mass[:, labels], self.found.decided[..., labels]
        hit = decided * counts[labels, 1] + (mass - decided) * counts[labels, 0]
        total, rows = mass.sum(keepdims=True)[0], self.found.counts[:, labels].sum(keepdims=True)[0]
        sums = [own.sum(axis=-1, keepdims=True) for own in self._sums(counts, labels)]
        with np.errstate(invalid="ignore", divide="ignore"):
            value = hit.sum(axis=(-1, -2))[:, None] / total
        return self._measured(value, total, sums, rows.astype(np.float64), counts[labels])

    def _sums(self, event: Floats, given: list[int]) -> list[Floats]:
        """Return sums of squared weight, times the rate's value and its square, of shapes (G,) and (points, G)."""
        at = (event[:, 1] - event[:, 0])[given]
        squares, first, second = self._squares[:, given], self._first[..., given], self._second[..., given]
        # A value is the score, or one minus the score.
        start = event[given, 0]
        once = start * squares + at * first
        twice = start**2 * squares + 2 * start * at * first + at**2 * second
        return [squares.sum(axis=-1), once.sum(axis=-1), twice.sum(axis=-1)]

    def _measured(self, value: Floats, total: Floats, sums: list[Floats], rows: Floats, event: Floats) -> Shares:
        squares, once, twice = sums
        scatter = twice - 2 * value * once + value**2 * squares
        reach = [event[:, 0] + (event[:, 1] - event[:, 0]) * end[:, None] for end in self._ends]
        low, high = np.min(reach, axis=(0, 2))[:, None], np.max(reach, axis=(0, 2))[:, None]
        return Shares(value, effective_rows(value, total, squares, scatter, rows, (low, high)))
