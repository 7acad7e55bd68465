"""`CountedPeople`: labelled people, of whom those who are alike are counted instead of kept one by one.

Every figure of decided people is a function of sums over them: how many there are, what they weigh, and what the
squares of their weights add up to. So people of one group and label who are decided alike need one entry, however many
they are, and figures on a billion rows are those of a few thousand entries.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from fairlimits._util.frames import ARROW
from fairlimits._util.types import Floats, Ints
from fairlimits.errors import DataError


@dataclass(frozen=True, eq=False)
class CountedPeople:
    """Labelled people, those who are alike in one entry (see `People`).

    Parameters
    ----------
    group : ndarray of int64 of shape (k,)
        Position of each entry's group.
    label : ndarray of int8 of shape (k,)
        Its label.
    times : ndarray of int64 of shape (k,)
        People in it who count (have a weight above 0).
    weight, squared_weight : ndarray of shape (k,)
        Sum of their weights, and of the squared weights.
    groups : tuple of str
        Names of the groups.
    n_rows : int
        All rows, those of weight 0 too.
    frame_kind : str
        Library whose frame they came in.
    """

    group: NDArray[np.int64]
    label: NDArray[np.int8]
    times: Ints
    weight: Floats
    squared_weight: Floats
    groups: tuple[str, ...]
    n_rows: int
    frame_kind: str = ARROW

    @cached_property
    def shares(self) -> Floats:
        """Weight of each entry, as a share of the total."""
        return np.asarray(self.weight / self._total)

    @cached_property
    def squares(self) -> Floats:
        """Sum over the people of each entry of the squares of their shares."""
        return np.asarray(self.squared_weight / self._total**2)

    @cached_property
    def _total(self) -> float:
        total = float(self.weight.sum())
        if not total > 0:
            raise DataError("No row counts: there are none, or all weights are 0; give some rows a weight above 0.")
        return total


# Scores are counted in this many ranges. The mean of each range is kept, so that only differences within a range are
# lost, and only to intervals; scores of 0 and 1 are kept as they are.
_RANGES = 64


@dataclass(frozen=True, eq=False)
class Kinds:
    """Rows of a table that are alike in some numbers, counted; two tables' kinds add up, whatever their order.

    Parameters
    ----------
    values : ndarray of float64 of shape (k, c)
        The numbers, each combination once, in order. The first of them are ranges of scores, if there are scores.
    times, weight, squared_weight : ndarray of shape (k,)
        Rows that count, the sum of their weights, and of the squared weights.
    scored : ndarray of shape (k, m)
        Sum of weight times score, for scores of m models from 0 to 1.
    n_rows : int
        All rows.
    """

    values: Floats
    times: Ints
    weight: Floats
    squared_weight: Floats
    scored: Floats
    n_rows: int

    @classmethod
    def of(cls, values: Floats, weight: Floats | None, scores: Floats | None = None) -> Kinds:
        """Count rows.

        Parameters
        ----------
        values : ndarray of shape (n, c)
            Numbers that rows are told apart by; the last two are group and label.
        weight : ndarray of shape (n,), optional
            Without one each row counts 1.
        scores : ndarray of shape (n, m), optional
            Scores from 0 to 1 of m models; they may take any number of values.
        """
        ones = np.ones(len(values), dtype=np.int64)
        own = ones.astype(np.float64) if weight is None else weight
        if scores is None:
            scores = np.empty((len(values), 0))
        values = np.column_stack([np.ceil(scores * _RANGES), values])
        return cls(values, ones * (own > 0), own, own**2, own[:, None] * scores, len(values))._joined()

    def __add__(self, other: Kinds) -> Kinds:
        return Kinds(
            np.concatenate([self.values, other.values]),
            np.concatenate([self.times, other.times]),
            np.concatenate([self.weight, other.weight]),
            np.concatenate([self.squared_weight, other.squared_weight]),
            np.concatenate([self.scored, other.scored]),
            self.n_rows + other.n_rows,
        )._joined()

    def _joined(self) -> Kinds:
        # Adding 0 turns -0 into 0, which it equals but has other bits.
        values = np.ascontiguousarray(self.values + 0.0)
        bits = values.view(np.dtype((np.void, values.dtype.itemsize * values.shape[1]))).ravel()
        _, first, kind = np.unique(bits, return_index=True, return_inverse=True)
        times = np.zeros(len(first), dtype=np.int64)
        np.add.at(times, kind, self.times)
        weight, squared, *scored = (
            np.bincount(kind, weights=weights, minlength=len(first)).astype(np.float64)
            for weights in (self.weight, self.squared_weight, *self.scored.T)
        )
        sums = np.stack(scored, axis=1) if scored else np.empty((len(first), 0))
        return Kinds(values[first], times, weight, squared, sums, self.n_rows)

    def with_values(self, values: Floats) -> Kinds:
        """Return the same rows by other numbers, given for each kind; ranges of scores stay."""
        ranges = self.values[:, : self.scored.shape[1]]
        return replace(self, values=np.column_stack([ranges, values]))._joined()

    @property
    def numbers(self) -> Floats:
        """The numbers of each kind, without ranges of scores."""
        return self.values[:, self.scored.shape[1] :]

    def people(self, groups: tuple[str, ...], frame_kind: str) -> tuple[CountedPeople, Floats]:
        """The rows as people, where the last two numbers are group and label; scores and the other numbers, (., k)."""
        counted = CountedPeople(
            self.values[:, -2].astype(np.int64),
            self.values[:, -1].astype(np.int8),
            self.times,
            self.weight,
            self.squared_weight,
            groups,
            self.n_rows,
            frame_kind,
        )
        there = np.where(self.weight > 0, self.weight, 1.0)
        # A mean lies within the range of its values, but for rounding.
        scores = np.clip(self.scored / there[:, None], 0, 1)
        return counted, np.ascontiguousarray(np.column_stack([scores, self.numbers[:, :-2]]).T)
