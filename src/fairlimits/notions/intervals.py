"""Figures of decided people with their confidence intervals, from resampled rows.

A gap is the size of a difference, and its resampled values never reach below 0, so intervals are made for the signed
differences between groups and carried over to the gap. A notion with more than one difference (several rates, or more
than two groups) gets intervals that hold for all of them at once. Where all people of a group are decided alike,
drawing them anew teaches nothing, and the interval is that of so many people without an exception.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from fairlimits._util.small_samples import enough
from fairlimits._util.suppression import SUPPRESSED_TEXT
from fairlimits._util.types import Floats
from fairlimits.errors import InputError
from fairlimits.notions.objectives import Objective
from fairlimits.notions.rates import Rate
from fairlimits.notions.registry import NOTIONS
from fairlimits.notions.requirements import Difference
from fairlimits.notions.rows import Requirement
from fairlimits.notions.tallies import People, Tally

RESAMPLES = 1_000

# Shares that differ by less than this are the same.
_ROUNDING = 1e-12

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

    @property
    def known(self) -> bool:
        """Whether there is a figure: enough rows stand behind it, and it is not suppressed."""
        return not math.isnan(self.value)

    @property
    def suppressed(self) -> bool:
        """Whether the figure is left out because it rests on too few people to be handed on."""
        return False

    def columns(self, name: str) -> dict[str, float | None]:
        """Value, low and high end, as columns of a table; None where the figure is suppressed."""
        ends = (None,) * 3 if self.suppressed else (self.value, self.low, self.high)
        return dict(zip((name, f"{name}, low", f"{name}, high"), ends, strict=True))

    def plain(self) -> dict[str, float | None] | str | None:
        """The figure and its ends as JSON can hold them; None where it is not estimable, a word where suppressed."""
        if not self.known:
            return SUPPRESSED_TEXT if self.suppressed else None
        ends = {"value": self.value, "low": self.low, "high": self.high}
        return {name: None if math.isnan(value) else value for name, value in ends.items()}


class _Suppressed(Estimate):
    """A figure that is left out because it rests on too few people to be handed on."""

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
    """Rows of a table as JSON can hold them: None where a figure is not estimable, a word where it is suppressed."""
    found = []
    for record in records:
        plain = {
            key: None if isinstance(value, float) and math.isnan(value) else value for key, value in record.items()
        }
        hidden = plain.pop(SUPPRESSED_TEXT, None)
        found.append(plain | dict.fromkeys(hidden.split(", "), SUPPRESSED_TEXT) if hidden else plain)
    return found


def percentile_estimate(value: float, drawn: Floats, confidence: float) -> Estimate:
    """Figure with the interval that holds the middle of its resampled values; NaN among them says nothing."""
    tail = (1 - confidence) / 2
    low, high = np.quantile(drawn[~np.isnan(drawn)], [tail, 1 - tail])
    # The interval holds the figure itself, also where resampling is biased.
    return Estimate(value, min(float(low), value), max(float(high), value))


def accuracy_estimates(found: Tally, drawn: Tally, confidence: float) -> list[Estimate]:
    """Accuracy at each point, with its interval; that of people who are all decided right is Wilson's.

    Parameters
    ----------
    found : Tally
        Of the rows.
    drawn : Tally
        Of resampled rows.
    confidence : float
        Of the intervals.
    """
    again, rows = drawn.accuracy(), float(_effective_rows(found.mass.sum(), drawn.mass.sum(axis=(1, 2))))
    return [
        _unsure(percentile_estimate(float(value), again[:, point], confidence), rows, confidence)
        for point, value in enumerate(found.accuracy())
    ]


def _unsure(share: Estimate, rows: float, confidence: float) -> Estimate:
    """A share of people with an interval that is not a point where it is all of them, or nobody."""
    least = float(rows / (rows + ndtri(0.5 + confidence / 2) ** 2))
    if share.value >= 1 - _ROUNDING:
        return Estimate(1.0, min(share.low, least), 1.0)
    return Estimate(share.value, share.low, max(share.high, 1 - least)) if share.value <= _ROUNDING else share


def _effective_rows(mass: Floats, drawn: Floats) -> Floats:
    """Effective sample size of masses (how many rows of equal weight vary as much), read off resampled rows."""
    spread = drawn.var(axis=0)
    return np.asarray(np.divide(mass**2, spread, out=np.zeros_like(spread), where=spread > 0))


def gap_estimates(found: Tally, drawn: Tally, confidence: float) -> list[dict[str, Estimate]]:
    """Gap of every group notion, for each point, with its interval; what few rows stand behind is left out.

    Parameters
    ----------
    found : Tally
        Of the rows.
    drawn : Tally
        Of resampled rows.
    confidence : float
        Of the intervals.
    """
    points, constant = found.decided.shape[0], _is_constant(drawn)
    estimates: list[dict[str, Estimate]] = [{} for _ in range(points)]
    for name, notion in NOTIONS.items():
        value, again, error = [], [], []
        for rate in notion.rates:
            rates, others = found.compared(rate), drawn.rate(rate)
            present = np.flatnonzero(~np.isnan(rates[0]))
            chosen = list(rate.given)
            effective = _effective_rows(found.mass[:, chosen].sum(axis=1), drawn.mass[:, :, chosen].sum(axis=2))
            for g, h in combinations(present, 2):
                value.append(rates[:, g] - rates[:, h])
                again.append(others[:, :, g] - others[:, :, h])
                # What a row more with the event, and one more without, leave open (see `standard_errors`).
                error.append(math.hypot(1 / (effective[g] + 2), 1 / (effective[h] + 2)))
        if not value:
            for estimate in estimates:
                estimate[name] = NOT_ESTIMABLE
            continue
        differences, resampling = np.stack(value, axis=1), np.stack(again, axis=2)
        for point in range(points):
            least = np.zeros(len(error)) if constant[point] else np.array(error)
            estimates[point][name] = _gap_estimate(differences[point], resampling[:, point], confidence, least)
    return estimates


def _is_constant(drawn: Tally) -> NDArray[np.bool_]:
    """Points at which everybody gets the same score, so that no difference is left to chance."""
    with np.errstate(invalid="ignore", divide="ignore"):
        share = drawn.decided / drawn.mass[:, None]
    lowest, highest = (np.asarray(extreme(share, axis=(0, 2, 3))) for extreme in (np.nanmin, np.nanmax))
    return np.asarray(highest - lowest < _ROUNDING)


def _gap_estimate(differences: Floats, drawn: Floats, confidence: float, least: Floats | None = None) -> Estimate:
    """Largest size of some signed differences, from intervals that hold for all of them at once.

    Differences that do not vary when rows are drawn anew get the standard errors `least`.
    """
    # A resample without anybody in a small group says nothing about its rate.
    drawn = drawn[~np.isnan(drawn).any(axis=1)]
    gap = float(np.abs(differences).max())
    error = drawn.std(axis=0)
    same = error < _ROUNDING
    if len(differences) == 1:
        _, below, above = percentile_estimate(float(differences[0]), drawn[:, 0], confidence)
        low, high = np.array([below]), np.array([above])
    else:
        with np.errstate(invalid="ignore", divide="ignore"):
            worst = np.nanmax(np.where(same, 0.0, np.abs(drawn - differences) / error), axis=1)
        reach = float(np.quantile(worst, confidence)) * error
        low, high = differences - reach, differences + reach
    if least is not None:
        reach = float(ndtri(1 - (1 - confidence) / 2 / len(differences))) * least
        low, high = np.where(same, differences - reach, low), np.where(same, differences + reach, high)
    nearest = np.where((low <= 0) & (high >= 0), 0.0, np.minimum(np.abs(low), np.abs(high)))
    farthest = np.maximum(np.abs(low), np.abs(high))
    return Estimate(gap, float(nearest.max()), min(float(farthest.max()), 1.0))


def requirement_estimates(
    found: Tally,
    drawn: Tally,
    requirements: Sequence[Requirement],
    groups: tuple[str, ...],
    confidence: float,
) -> list[dict[str, Estimate]]:
    """Value of what each requirement is about, for each point, with its interval (see `gap_estimates`)."""
    estimates: list[dict[str, Estimate]] = [{} for _ in range(found.decided.shape[0])]
    for requirement in requirements:
        rows = found.rows(requirement.needed)
        compared = enough(rows)
        rates, shares = found.rate(requirement.needed), found.shares(requirement.needed)
        others, other_shares = drawn.rate(requirement.needed), drawn.shares(requirement.needed)
        for point, estimate in enumerate(estimates):
            if not requirement.estimable(rows, groups):
                estimate[str(requirement)] = NOT_ESTIMABLE
            elif isinstance(requirement, Difference):
                again = [
                    requirement.signed(r, s, compared) for r, s in zip(others[:, point], other_shares, strict=True)
                ]
                differences = requirement.signed(rates[point], shares, compared)
                whole = np.array([each for each in again if len(each) == len(differences)])
                estimate[str(requirement)] = _gap_estimate(differences, whole, confidence)
            else:
                value = requirement.attained(rates[point], shares, compared, groups)
                again_values = [
                    requirement.attained(r, s, compared, groups)
                    for r, s in zip(others[:, point], other_shares, strict=True)
                ]
                estimate[str(requirement)] = percentile_estimate(value, np.array(again_values), confidence)
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


def standard_errors(people: People, scores: Floats, rates: tuple[Rate, ...]) -> Floats:
    """Standard error of each rate in each group, of shape (K, G), for scores of shape (n,); NaN without rows.

    Two rows are added to each group, one decided in favour of the event and one against it as far as the rule goes
    (Agresti and Caffo, 2000): else a group in which all were decided alike would seem to be known for certain. Only
    scores that are the same for everybody leave nothing to chance.
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
