"""Tallies of decided people: masses of people, and of those decided 1, by group and label, and rates from them.

Every figure about decisions is a function of these two tables. A bootstrap computes them for each resample.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from fairlimits._util.small_samples import enough
from fairlimits._util.threads import ONE_BLAS_THREAD
from fairlimits._util.types import Floats, Ints
from fairlimits.notions.rates import Rate, spread
from fairlimits.notions.registry import NOTIONS, widest

# Resamples drawn at a time: their weights, a number for each row, are all that takes memory.
_AT_ONCE = 100


class People(Protocol):
    """Labelled people as plain arrays: a `Dataset`, with an entry each, or `CountedPeople`, with one for many."""

    @property
    def group(self) -> NDArray[np.int64]:
        """Position of each person's group."""

    @property
    def label(self) -> NDArray[np.int8]:
        """Label of each person, 0 or 1."""

    @property
    def shares(self) -> Floats:
        """Weight of each entry, as a share of the total."""

    @property
    def squares(self) -> Floats:
        """Sum over the people of each entry of the squares of their shares: ``shares**2`` where it is one person."""

    @property
    def times(self) -> Ints:
        """Number of people of each entry with a weight above 0: 1 or 0, where an entry is one person."""

    @property
    def n_rows(self) -> int:
        """Number of people, those without weight too."""

    @property
    def groups(self) -> tuple[str, ...]:
        """Names of the groups."""

    @property
    def frame_kind(self) -> str:
        """Library whose frame they came in."""


@dataclass(frozen=True, eq=False)
class Tally:
    """Mass of people, and of those decided 1, by group and label.

    Parameters
    ----------
    mass : ndarray of shape (..., G, 2)
    decided : ndarray of shape (..., points, G, 2)
    counts : ndarray of int of shape (G, 2)
        Rows behind the masses; for resamples, the original rows.
    """

    mass: Floats
    decided: Floats
    counts: Ints

    def accuracy(self) -> Floats:
        """Share of people whose decision equals their label, of shape (..., points); NaN without people."""
        right = self.decided[..., 1] + self.mass[..., None, :, 0] - self.decided[..., 0]
        # A resample of very few rows can have none.
        with np.errstate(invalid="ignore"):
            return np.asarray(right.sum(axis=-1) / self.mass.sum(axis=(-1, -2))[..., None])

    def rate(self, rate: Rate) -> Floats:
        """Return a rate in each group, of shape (..., points, G); NaN for a group without mass in the condition."""
        event = np.asarray(rate.event)
        hit = self.decided * event[:, 1] + (self.mass[..., None, :, :] - self.decided) * event[:, 0]
        chosen = list(rate.given)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(hit[..., chosen].sum(axis=-1) / self.mass[..., None, :, chosen].sum(axis=-1))

    def compared(self, rate: Rate) -> Floats:
        """Return a rate in each group as `rate` does; NaN too for a group that is set aside, for too few rows."""
        return np.where(enough(self.rows(rate)), self.rate(rate), np.nan)

    def rows(self, rate: Rate) -> Ints:
        """Return the rows of each group in a rate's condition, of shape (G,)."""
        return np.asarray(self.counts[:, list(rate.given)].sum(axis=1))

    def shares(self, rate: Rate) -> Floats:
        """Return the share of each group among the people in a rate's condition, of shape (..., G)."""
        people = self.mass[..., list(rate.given)].sum(axis=-1)
        total = people.sum(axis=-1, keepdims=True)
        return np.asarray(people / np.where(total > 0, total, 1.0))

    def gap(self, name: str) -> Floats:
        """Return the gap of a group notion, (..., points); NaN where none of its rates can be compared."""
        return widest(spread(self.compared(rate)) for rate in NOTIONS[name].rates)


def tally(people: People, scores: Floats) -> Tally:
    """Tally the decisions that scores of shape (points, n) make on rows."""
    share, stratum = people.shares, _strata(people)
    groups = len(people.groups)

    def add_up(amount: Floats) -> Floats:
        total: Floats = np.bincount(stratum, weights=amount, minlength=2 * groups).astype(np.float64)
        return total.reshape(groups, 2)

    return Tally(add_up(share), np.stack([add_up(share * chances) for chances in scores]), counts_of(people))


def resampled(people: People, scores: Floats, resamples: int, random_state: int) -> Tally:
    """Tally `resamples` times rows drawn anew, each a Poisson number of times (Poisson bootstrap).

    So the rows of an entry are drawn a Poisson number of times as well. An entry of rows that differ in weight varies
    as an effective, smaller number of equal rows.
    """
    rng = np.random.default_rng(random_state)
    groups = len(people.groups)
    share, stratum = people.shares, _strata(people)
    there = people.squares > 0
    effective = np.divide(share**2, people.squares, out=np.ones(len(share)), where=there)
    one = np.divide(share, effective, out=np.zeros(len(share)), where=there)
    members = [np.flatnonzero(stratum == s) for s in range(2 * groups)]
    mass = np.empty((resamples, 2 * groups))
    decided = np.empty((resamples, len(scores), 2 * groups))
    # The products are small: threads of BLAS would wait for each other longer than they work.
    with ONE_BLAS_THREAD:
        for start in range(0, resamples, _AT_ONCE):
            part = slice(start, min(start + _AT_ONCE, resamples))
            for s, rows in enumerate(members):
                drawn = rng.poisson(effective[rows], (part.stop - part.start, len(rows))) * one[rows]
                mass[part, s] = drawn.sum(axis=1)
                decided[part, :, s] = drawn @ scores[:, rows].T
    return Tally(
        mass.reshape(resamples, groups, 2), decided.reshape(resamples, len(scores), groups, 2), counts_of(people)
    )


def counts_of(people: People) -> Ints:
    """Return the rows that count, by group and label, of shape (G, 2)."""
    # A double holds whole numbers up to 2^53 exactly.
    found = np.bincount(_strata(people), weights=people.times, minlength=2 * len(people.groups))
    return np.asarray(found.reshape(-1, 2).astype(np.int64))


def _strata(people: People) -> Ints:
    return np.asarray(people.group * 2 + people.label, dtype=np.int64)
