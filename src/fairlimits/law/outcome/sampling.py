"""The sample that learners are fitted on where there are too many rows: it grows until more rows do not help.

A hash decides which rows are in the sample, so that it is drawn from all files alike, in one pass, and every later
pass knows which rows were learned from, and in which fold. The law is learned on 50,000 rows, then on twice
as many, and so on, and each time judged on the same rows that none of them learned from. Once doubling the rows gains
no more than chance explains, more would be wasted.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from fairlimits._util.progress import Progress, silent
from fairlimits._util.types import Floats, Ints
from fairlimits.data import Dataset, Draw, Part, Reader
from fairlimits.law.outcome.crossfit import cross_fit
from fairlimits.law.outcome.estimates import Outcome
from fairlimits.law.outcome.models import OutcomeModel
from fairlimits.law.outcome.splits import LEAST_CHANCE

# Most values of features in a sample: 8 bytes each, held twice for a moment.
_MOST_VALUES = 1 << 25

# Rows of the first sample, of the largest, and of those that samples are judged on.
_FIRST, _MOST, _JUDGED = 50_000, 1_600_000, 100_000

# Where there are few rows, the share of them that samples are judged on.
_JUDGED_SHARE = 0.2

# More rows do not help if they gain less than so many standard errors, or so little log-loss that no figure shows it.
_BEYOND_CHANCE, _LEAST_GAIN = 2.0, 1e-4

# A last sample that is hardly larger than the one before would say nothing.
_LARGER = 1.25


class LearningPoint(NamedTuple):
    """The log-loss after learning on a sample, on rows that took no part in it.

    Parameters
    ----------
    rows : int
        Rows learned from.
    loss : float
        Log-loss of group and label, held out; where no rows are left to hold out, out of fold.
    gain, error : float
        By how much the loss is lower than that of the sample before, and its standard error; NaN for the first.
    """

    rows: int
    loss: float
    gain: float = math.nan
    error: float = math.nan


@dataclass(frozen=True)
class Sampling:
    """Which rows were learned from, and in which fold.

    Parameters
    ----------
    draw : Draw
        How rows are drawn.
    below : float
        Rows with smaller draws were learned from.
    folds : int
        Number of folds.
    """

    draw: Draw
    below: float
    folds: int

    def folds_of(self, drawn: Floats) -> Ints:
        """Return the fold of each row, given a draw of its own."""
        return np.minimum((drawn * self.folds).astype(np.int64), self.folds - 1)


class Sizes(NamedTuple):
    """Largest share of all rows that is learned from, and share that samples are judged on."""

    learned: float
    judged: float

    @classmethod
    def of(cls, rows: int, features: int) -> Sizes:
        """Choose the shares for a table by its numbers of rows that count and of features."""
        judged = 0 if rows <= _FIRST else min(_JUDGED, int(_JUDGED_SHARE * rows))
        most = max(_FIRST, min(_MOST, _MOST_VALUES // max(features, 1)))
        return cls(min(most, rows - judged) / rows, judged / rows)


@dataclass(frozen=True, eq=False)
class Drawn:
    """Rows that were drawn, with their draws; those of several parts add up."""

    pieces: tuple[tuple[Dataset, Floats, Floats], ...]

    def __add__(self, other: Drawn) -> Drawn:
        return Drawn(self.pieces + other.pieces)

    def rows(self) -> tuple[Dataset, Floats, Floats]:
        """Return all rows in the order of their draws, however they came in parts, their draws and their fold draws."""
        first = self.pieces[0][0]
        drawn, fold = (np.concatenate([own[at] for own in self.pieces]) for at in (1, 2))
        group = np.concatenate([own.group for own, *_ in self.pieces])
        label = np.concatenate([own.label for own, *_ in self.pieces])
        weight = None
        if first.weight is not None:
            weight = np.concatenate([np.asarray(own.weight) for own, *_ in self.pieces])
        # Where people with the same features have the same draw, their other values say who comes first.
        order = np.lexsort((*(() if weight is None else (weight,)), label, group, drawn))
        # One column after the other, so that at most one is in memory three times.
        names = first.columns
        columns = {name: np.concatenate([own.columns[name] for own, *_ in self.pieces])[order] for name in names}
        data = Dataset(first.schema, columns, group[order], label[order], None if weight is None else weight[order])
        return data, drawn[order], fold[order]


def draw_rows(reader: Reader, draw: Draw, below: float, part: Part, frame: Any) -> Drawn | None:
    """Return the rows of a part that count and are drawn."""
    found = reader.drawn(part, frame, draw, "learned from", "fold")
    if found is None:
        return None
    rows, (drawn, fold) = found
    chosen = drawn < below
    if rows.weight is not None:
        chosen &= rows.weight > 0
    return Drawn(((rows.take(chosen), drawn[chosen], fold[chosen]),)) if chosen.any() else None


@dataclass(frozen=True, eq=False)
class Grown:
    """What was learned on a sample: no row of it is kept.

    Parameters
    ----------
    model : OutcomeModel
        Estimates q.
    losses, chosen
        See `Outcome`.
    curve : tuple of LearningPoint
        The learning curve: samples of all sizes.
    sampling : Sampling
        Which rows were learned from.
    calibration : pyarrow.Table
        See `Outcome.calibration`, out of fold.
    group_loss : float
        Log-loss of the group where the label is known, out of fold.
    """

    model: OutcomeModel
    losses: Any
    chosen: Any
    curve: tuple[LearningPoint, ...]
    sampling: Sampling
    calibration: pa.Table
    group_loss: float


@dataclass(frozen=True)
class Grow:
    """How the law is learned from drawn rows: a small object, so that it can be sent to the rows.

    Parameters
    ----------
    sizes : Sizes
        Shares of all rows.
    sampling : Sampling
        How rows are drawn; the size of the sample is still to be found.
    estimator, random_state, n_jobs
        See `estimate_outcome`.
    """

    sizes: Sizes
    sampling: Sampling
    estimator: Any
    random_state: int
    n_jobs: int | None

    @property
    def below(self) -> float:
        """Rows with smaller draws are needed, to learn from or to judge on."""
        return self.sizes.learned + self.sizes.judged

    def __call__(self, found: Drawn, tell: Progress = silent) -> Grown:
        """Learn on samples of growing size until that does not help, and keep the best."""
        data, drawn, folds = found.rows()
        fold = self.sampling.folds_of(folds)
        learned = int(np.searchsorted(drawn, self.sizes.learned))
        judged = data.take(np.arange(learned, data.n_rows))
        best: tuple[Outcome, Floats, int] | None = None
        curve: list[LearningPoint] = []
        sizes = list(_sizes(learned, judged.n_rows))
        for at, size in enumerate(sizes):
            outcome = cross_fit(
                _first(data, size),
                fold[:size],
                self.sampling.folds,
                estimator=self.estimator,
                random_state=self.random_state,
                n_jobs=self.n_jobs,
                tell=partial(_tell_size, tell, at, len(sizes), size),
            )
            loss = _losses(outcome, judged)
            point = _point(size, loss, None if best is None else best[1], judged)
            curve.append(point)
            if best is None or point.gain > 0:
                best = outcome, loss, size
            if point.gain <= max(_BEYOND_CHANCE * point.error, _LEAST_GAIN):
                break
        assert best is not None
        outcome, _, size = best
        below = float(drawn[size]) if size < data.n_rows else self.below
        return Grown(
            outcome.model,
            outcome.losses,
            outcome.chosen,
            tuple(curve),
            replace(self.sampling, below=below),
            outcome.calibration(),
            outcome.group_loss(),
        )


def _first(data: Dataset, rows: int) -> Dataset:
    """Return the first rows, without copying them."""
    columns = {name: own[:rows] for name, own in data.columns.items()}
    weight = None if data.weight is None else data.weight[:rows]
    return Dataset(data.schema, columns, data.group[:rows], data.label[:rows], weight)


def _tell_size(tell: Progress, at: int, sizes: int, rows: int, done: float, words: str) -> None:
    # Each sample takes twice as long as the one before.
    tell((2**at - 1 + done * 2**at) / (2**sizes - 1), f"{words}, from {rows:,} rows")


def _sizes(learned: int, judged: int) -> Iterator[int]:
    """Yield sizes of samples, each twice the one before, or all rows where there are none to judge on."""
    if not judged:
        yield learned
        return
    size = min(_FIRST, learned)
    yield size
    while size * _LARGER < learned:
        size = min(2 * size, learned)
        yield size


def _losses(outcome: Outcome, judged: Dataset) -> Floats:
    """Return the log-loss of each row to judge on; without any, of each row learned from, out of fold."""
    data = judged if judged.n_rows else outcome.data
    q = outcome.model.predict_columns(data.columns, data.n_rows) if judged.n_rows else outcome.q
    return -np.log(np.maximum(q[np.arange(data.n_rows), data.group, data.label], LEAST_CHANCE))


def _point(rows: int, loss: Floats, before: Floats | None, judged: Dataset) -> LearningPoint:
    share = judged.shares if judged.n_rows else np.full(len(loss), 1 / len(loss))
    if before is None:
        return LearningPoint(rows, float(share @ loss))
    less = before - loss
    gain = float(share @ less)
    return LearningPoint(rows, float(share @ loss), gain, float(np.sqrt(share**2 @ (less - gain) ** 2)))


def learning_curve_table(curve: Sequence[LearningPoint]) -> pa.Table:
    """Return the learning curve as a table, a row for each sample."""
    return pa.Table.from_pylist([point._asdict() for point in curve])
