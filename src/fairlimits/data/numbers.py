"""Mean, variance and exact median of numbers that are read part by part, in a fixed amount of memory.

The median is found digit by digit. The bits of a double, with those of negative numbers inverted, are a whole
number of 64 bits that sorts as the doubles do. A pass counts the values by their first 16 bits, which tells the first
16 bits of the median; three more passes tell the rest, fewer where all values are small whole numbers.

A library does not do it: Dask's quantiles are approximate, DuckDB and polars have no median with weights, and a second
reader would take other values for numbers, for missing and for categories than the one that reads all else. Whatever
comes in parts (files, Arrow, Dask) gives the cells that the same rows in memory give, which a test holds us to.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from fairlimits._util.types import Floats

_DIGIT = 16
_BINS = 1 << _DIGIT
_SIGN = 1 << 63


@dataclass(frozen=True, eq=False)
class Moments:
    """Weight, mean and sum of squared differences from the mean, in a unit that keeps squares within range.

    The unit is a power of 2, at least half as large as any value, so that changing it rounds nothing.
    """

    unit: float = 1.0
    weight: float = 0.0
    mean: float = 0.0
    squares: float = 0.0

    @classmethod
    def of(cls, values: Floats, weights: Floats) -> Moments:
        """Return the moments of values, whose weights are above 0."""
        largest = float(np.abs(values).max(initial=0.0))
        if largest == 0:
            return cls(weight=float(weights.sum()))
        unit = math.ldexp(0.5, math.frexp(largest)[1])
        scaled = values / unit
        mean = float(np.average(scaled, weights=weights))
        return cls(unit, float(weights.sum()), mean, float(weights @ (scaled - mean) ** 2))

    def __add__(self, other: Moments) -> Moments:
        if 0 in (self.weight, other.weight):
            return self if other.weight == 0 else other
        unit = max(self.unit, other.unit)
        here, there = self.unit / unit, other.unit / unit
        weight = self.weight + other.weight
        mean, far = self.mean * here, other.mean * there - self.mean * here
        return Moments(
            unit,
            weight,
            mean + far * (other.weight / weight),
            self.squares * here**2 + other.squares * there**2 + far**2 * (self.weight / weight * other.weight),
        )


@dataclass(frozen=True, eq=False)
class Numbers:
    """What is known of the present values of a numeric column.

    Parameters
    ----------
    low, high : float
        Their range.
    moments : Moments
        Mean and variance.
    digits : ndarray of shape (65536,)
        Weight of the values by their first 16 bits.
    bits : int
        Which bits are set in any of them: the last ones of small whole numbers are not.
    """

    low: float
    high: float
    moments: Moments
    digits: Floats
    bits: int

    @classmethod
    def of(cls, values: Floats, weights: Floats) -> Numbers:
        """Summarise values, at least one, whose weights are above 0."""
        values = values + 0.0  # -0 and 0 are one value
        return cls(
            float(values.min()),
            float(values.max()),
            Moments.of(values, weights),
            _by_digit(_keys(values) >> np.uint64(64 - _DIGIT), weights),
            int(np.bitwise_or.reduce(values.view(np.uint64))),
        )

    def __add__(self, other: Numbers) -> Numbers:
        return Numbers(
            min(self.low, other.low),
            max(self.high, other.high),
            self.moments + other.moments,
            self.digits + other.digits,
            self.bits | other.bits,
        )


@dataclass(frozen=True)
class Place:
    """A value that is being looked for: the first at which the weights, added up from below, reach a mark.

    Parameters
    ----------
    mark : float
        What is left of the mark after all smaller values than those that start with the known bits.
    start : int
        The bits that are known.
    known : int
        How many.
    """

    mark: float
    start: int = 0
    known: int = 0

    def narrowed(self, digits: Floats) -> Place:
        """Learn 16 more bits from the weights of the values that start with the known ones."""
        reached = np.cumsum(digits)
        # Rounding may leave the mark a little beyond the last value.
        digit = min(int(np.searchsorted(reached, self.mark)), int(np.flatnonzero(digits)[-1]))
        below = float(reached[digit - 1]) if digit else 0.0
        return Place(self.mark - below, self.start << _DIGIT | digit, self.known + _DIGIT)

    def completed(self, bits: int) -> Place:
        """Fill in the bits that are the same in all values."""
        rest = 64 - self.known
        if bits & ((1 << rest) - 1):
            return self
        positive = self.start >> (self.known - 1)
        return replace(self, start=self.start << rest | (0 if positive else (1 << rest) - 1), known=64)

    def digits(self, values: Floats, weights: Floats) -> Floats:
        """Weights, by their next 16 bits, of the values that start with the known ones."""
        keys = _keys(values + 0.0)
        chosen = keys >> np.uint64(64 - self.known) == np.uint64(self.start)
        next_digits = (keys[chosen] >> np.uint64(64 - self.known - _DIGIT)) & np.uint64(_BINS - 1)
        return _by_digit(next_digits, weights[chosen])

    @property
    def value(self) -> float:
        """The value, once all of its bits are known."""
        bits = self.start ^ _SIGN if self.start & _SIGN else self.start ^ (2 * _SIGN - 1)
        return float(np.array(bits, dtype=np.uint64).view(np.float64))


def median_places(numbers: Numbers, weighted: bool) -> tuple[Place, ...]:
    """Return the places of the median: the middle value, or the two next to the middle of an even number.

    With weights, the median is the first value that has half of the weight at or below it.
    """
    total = float(numbers.digits.sum())
    marks = [total / 2] if weighted else [(total - 1) // 2 + 1, total // 2 + 1]
    return tuple(Place(mark).narrowed(numbers.digits).completed(numbers.bits) for mark in marks)


def _by_digit(digits: npt.NDArray[np.uint64], weights: Floats) -> Floats:
    sums: Floats = np.bincount(digits.astype(np.int64), weights, _BINS).astype(np.float64)
    return sums


def _keys(values: Floats) -> npt.NDArray[np.uint64]:
    """Return whole numbers that sort as the values do."""
    bits = np.ascontiguousarray(values).view(np.uint64)
    return np.where(bits >> np.uint64(63), ~bits, bits | np.uint64(_SIGN))
