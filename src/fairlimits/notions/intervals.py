"""`Estimate`: a figure of decided people with its confidence interval; and the standard errors of rates."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from fairlimits._util.percentages import hundredfold
from fairlimits._util.suppression import SUPPRESSED_TEXT
from fairlimits._util.types import Floats
from fairlimits.errors import InputError
from fairlimits.notions.rates import Rate
from fairlimits.notions.tallies import People

RESAMPLES = 1_000

UNIT = "shares from 0 to 1"
"""Unit of figures in files; people read them in percent and in points."""

NOT_ESTIMABLE_TEXT = "not estimable"
"""What is shown where too few rows stand behind a figure."""


class Estimate(NamedTuple):
    """A figure and its confidence interval; NaN where too few rows stand behind it, or as ends of a plug-in one."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        if math.isnan(self.value):
            return NOT_ESTIMABLE_TEXT
        if math.isnan(self.low):
            return f"{self.value:.4f}"
        return f"{self.value:.4f} ({self.low:.4f} to {self.high:.4f})"

    def hundredths(self, unit: str = "", sign: str = "") -> str:
        """Return the figure and its interval in percent or points, with the name or sign of that unit after the figure.

        Examples
        --------
        >>> Estimate(0.4429, 0.3448, 0.5303).hundredths(" points")
        '44.3 points (34.5 to 53.0)'
        """
        if not self.known:
            return str(self)
        value, low, high = (hundredfold(end, sign) if end == end else "" for end in self)
        return f"{value}{unit} ({low} to {high})" if low else f"{value}{unit}"

    @property
    def known(self) -> bool:
        """Whether there is a figure: enough rows stand behind it, and it is not suppressed."""
        return not math.isnan(self.value)

    @property
    def suppressed(self) -> bool:
        """Whether the figure is left out because it rests on too few people to be published."""
        return False

    def columns(self, name: str) -> dict[str, float | None]:
        """Return value, low and high end as columns of a table; None where the figure is suppressed."""
        ends = (None,) * 3 if self.suppressed else (self.value, self.low, self.high)
        return dict(zip((name, f"{name}, low", f"{name}, high"), ends, strict=True))

    def plain(self) -> dict[str, float | None] | str | None:
        """The figure and its ends as JSON can hold them; None where it is not estimable, a word where suppressed."""
        if not self.known:
            return SUPPRESSED_TEXT if self.suppressed else None
        ends = {"value": self.value, "low": self.low, "high": self.high}
        return {name: None if math.isnan(value) else value for name, value in ends.items()}


class _Suppressed(Estimate):
    """A figure that is left out because it rests on too few people to be published."""

    __slots__ = ()

    def __str__(self) -> str:
        return SUPPRESSED_TEXT

    @property
    def suppressed(self) -> bool:
        return True


NOT_ESTIMABLE = Estimate(math.nan, math.nan, math.nan)

SUPPRESSED = _Suppressed(math.nan, math.nan, math.nan)


def with_suppressed(record: dict[str, Any], figures: Mapping[str, Estimate], least: int | None) -> dict[str, Any]:
    """Add figures to a record of a table, and, where people are to be protected, which of them are suppressed.

    Columns of numbers cannot hold the word, and an empty field alone would read as not estimable.
    """
    for name, figure in figures.items():
        record |= figure.columns(name)
    if least is not None:
        hidden = [name for name, value in record.items() if value == SUPPRESSED_TEXT]
        hidden += [name for name, figure in figures.items() if figure.suppressed]
        record |= dict.fromkeys(hidden) | {SUPPRESSED_TEXT: ", ".join(hidden)}
    return record


def plain_records(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return rows of a table as JSON can hold them: None where a figure is not estimable, a word if suppressed."""
    found = []
    for record in records:
        plain = {
            key: None if isinstance(value, float) and math.isnan(value) else value for key, value in record.items()
        }
        hidden = plain.pop(SUPPRESSED_TEXT, None)
        found.append(plain | dict.fromkeys(hidden.split(", "), SUPPRESSED_TEXT) if hidden else plain)
    return found


def percentile_estimate(value: float, drawn: Floats, confidence: float) -> Estimate:
    """Return an estimate with the percentile interval of its bootstrap values; NaN among them are left out."""
    tail = (1 - confidence) / 2
    low, high = np.quantile(drawn[~np.isnan(drawn)], [tail, 1 - tail])
    # The interval holds the figure itself, also where the bootstrap is biased.
    return Estimate(value, min(float(low), value), max(float(high), value))


def standard_errors(people: People, scores: Floats, rates: tuple[Rate, ...]) -> Floats:
    """Return the standard error of each rate in each group, (K, G), for scores of shape (n,); NaN without rows.

    Two pseudo-rows are added to each group, one at either end of what the rule's scores can be (Agresti and Caffo,
    2000): else a group in which all were decided alike would seem to be known for certain. Only scores that are the
    same for everybody leave nothing to chance.
    """
    share, event_of = people.shares, people.label.astype(np.int64)
    errors = np.full((len(rates), len(people.groups)), np.nan)
    ends = np.array([scores.min(initial=1.0), scores.max(initial=0.0)])
    for k, rate in enumerate(rates):
        event = np.asarray(rate.event)[event_of]
        value = event[:, 1] * scores + event[:, 0] * (1 - scores)
        extremes = np.array([rate.event[y][1] * ends + rate.event[y][0] * (1 - ends) for y in rate.given])
        asked = np.isin(event_of, rate.given)
        weight = share * asked
        total = np.bincount(people.group, weight, len(people.groups))
        known = total > 0
        mean = np.bincount(people.group, weight * value, len(people.groups)) / np.where(known, total, 1.0)
        spread = people.squares * asked * (value - mean[people.group]) ** 2
        off = np.bincount(people.group, spread, len(people.groups))
        one = total / np.maximum(np.bincount(people.group, people.times * asked, len(people.groups)), 1)
        added = one**2 * ((mean - extremes.min()) ** 2 + (extremes.max() - mean) ** 2) if np.ptp(extremes) > 0 else 0.0
        errors[k, known] = np.sqrt(off + added)[known] / (total + 2 * one)[known]
    return errors


def check_confidence(confidence: float) -> float:
    """Return the confidence if it lies between 0 and 1."""
    if not (isinstance(confidence, int | float | np.number) and 0 < confidence < 1):
        raise InputError(f"The confidence is {confidence!r}; it must lie between 0 and 1, such as 0.95.")
    return float(confidence)


def check_resamples(resamples: int) -> None:
    """Refuse fewer resamples than an interval can be read from."""
    if isinstance(resamples, bool) or not isinstance(resamples, int | np.integer) or resamples < 100:
        raise InputError(f"The number of resamples is {resamples}; give at least 100, or the intervals are chance.")
