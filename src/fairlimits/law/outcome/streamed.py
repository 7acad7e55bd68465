"""`StreamedOutcome`: an estimate of q(x) = P(A, Y | x) for rows that are not in memory.

Learners are fitted on a sample; q is computed, whenever it is needed, for every row in passes of bounded memory. Rows
that were learned from get q from the learners that did not see them, all others from the learners of all folds.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from fairlimits._util.frames import of_user_kind
from fairlimits._util.notebooks import Shown
from fairlimits._util.progress import Progress
from fairlimits._util.types import Floats, Ints
from fairlimits.data import Dataset, Learned, Part, Reader, Stream
from fairlimits.errors import DataError
from fairlimits.law.outcome.estimates import difference_in_words, draw_calibration, losses_in_words, mean_difference
from fairlimits.law.outcome.models import OutcomeModel
from fairlimits.law.outcome.sampling import (
    Grow,
    Grown,
    LearningPoint,
    Sampling,
    Sizes,
    draw_rows,
    learning_curve_table,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Rows whose q is computed at a time.
_ROWS = 1 << 16


@dataclass(frozen=True, eq=False)
class RowEstimates:
    """How rows of a part get their q: a small object, so that it can be sent to the parts.

    Parameters
    ----------
    reader : Reader
        Reads the parts.
    model : OutcomeModel
        Estimates q.
    sampling : Sampling
        Which rows it was learned from.
    """

    reader: Reader
    model: OutcomeModel
    sampling: Sampling

    def pieces(self, part: Part, frame: Any, below: float = 1.0) -> Iterator[tuple[Dataset, Floats]]:
        """Yield the rows of a part that count, with their q, piece by piece; or only a share `below` of them."""
        found = self.reader.drawn(part, frame, self.sampling.draw, "learned from", "fold", "placed")
        if found is None:
            return
        rows, (drawn, fold, placed) = found
        chosen = np.flatnonzero(placed < below if rows.weight is None else (placed < below) & (rows.weight > 0))
        folds = np.where(drawn < self.sampling.below, self.sampling.folds_of(fold), -1)
        for start in range(0, len(chosen), _ROWS):
            some = chosen[start : start + _ROWS]
            piece = rows.take(some)
            yield piece, self._q(piece, folds[some])

    def _q(self, rows: Dataset, fold: Ints) -> Floats:
        q = np.empty((rows.n_rows, len(rows.groups), 2))
        learned, other = np.flatnonzero(fold >= 0), np.flatnonzero(fold < 0)
        if len(other):
            columns = {name: values[other] for name, values in rows.columns.items()}
            q[other] = self.model.predict_columns(columns, len(other))
        if len(learned):
            columns = {name: values[learned] for name, values in rows.columns.items()}
            q[learned] = self.model.predict_out_of_fold(columns, fold[learned])
        return q


@dataclass(frozen=True, eq=False, repr=False)
class StreamedOutcome(Shown):
    """An estimate of q(x) = P(A, Y | x) for rows that are not in memory; made by `estimate_outcome`.

    Parameters
    ----------
    stream : Stream
        The people.
    learned : Learned
        What the first passes found out about them.
    model : OutcomeModel
        The estimate for new rows.
    losses, chosen
        See `Outcome`; of the sample that was learned from, out of fold.
    learning_curve : tuple of LearningPoint
        Log-loss of samples of growing size, on rows that took no part.
    sampling : Sampling
        Which rows were learned from.
    calibrated : pyarrow.Table
        See `Outcome.calibration`; of the sample, out of fold.
    group_loss : float
        Log-loss of the group where the label is known; of the sample, out of fold.
    """

    stream: Stream
    learned: Learned
    model: OutcomeModel
    losses: Mapping[str, Mapping[str, float]]
    chosen: Mapping[str, tuple[str, ...]]
    learning_curve: tuple[LearningPoint, ...]
    sampling: Sampling
    calibrated: pa.Table
    group_loss: float

    @property
    def groups(self) -> tuple[str, ...]:
        """Names of the groups."""
        return self.learned.schema.groups

    @property
    def counts(self) -> Ints:
        """Number of rows with a weight above 0, by group and label, of shape (G, 2)."""
        return self.learned.counts

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.learned.facts.rows

    @property
    def estimates(self) -> RowEstimates:
        """How rows get their q."""
        return RowEstimates(self.learned.reader, self.model, self.sampling)

    def calibration_error(self) -> float:
        """Return the mean absolute difference between estimate and what came true, over groups, labels and bins."""
        return mean_difference(self.calibrated)

    @property
    def frame_kind(self) -> str:
        """Library that `to_frame` makes a frame of."""
        return self.learned.schema.frame_kind

    @of_user_kind
    def to_frame(self) -> pa.Table:
        """Return the learning curve: a row for each sample, its rows, log-loss, gain and the gain's standard error."""
        return learning_curve_table(self.learning_curve)

    def summary(self) -> str:
        """Say what was learned with, from how many rows, how well, and how far the estimate is off."""
        last = self.learning_curve[-1]
        used = max(self.learning_curve, key=lambda point: -point.loss)
        grown = f"the last doubling gained {last.gain:.5f} (standard error {last.error:.5f})"
        if len(self.learning_curve) == 1:
            grown = "there was no larger sample to compare with"
        return (
            f"P(A, Y | x) was estimated for {self.n_rows:,} rows by learners of {used.rows:,} of them, whose own "
            f"estimates are by learners that did not see them ({self.model.n_folds} folds). Held-out log-loss of group "
            f"and label {used.loss:.4f}; {grown}. {losses_in_words(self.losses, self.chosen, self.group_loss)} "
            f"{difference_in_words(self.calibration_error())}"
        )

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the share that came true against the mean estimate, out of fold, for every group and label."""
        return draw_calibration(self.calibrated, self.groups, ax)

    def __repr__(self) -> str:
        return (
            f"StreamedOutcome({self.n_rows} rows, learned from {self.learning_curve[-1].rows}, groups "
            f"{', '.join(self.groups)})"
        )


def estimate_streamed(
    stream: Stream, *, estimator: Any, folds: int, random_state: int, n_jobs: int | None, tell: Progress
) -> StreamedOutcome:
    """Estimate q for rows that are not in memory (see `estimate_outcome`)."""
    learned = stream.learn(lambda done, words: tell(0.3 * done, words))
    if learned.facts.counted < folds:
        raise DataError(f"The table has {learned.facts.counted} rows, too few for {folds} folds; give more rows.")
    draw = stream.draw(random_state)
    grow = Grow(
        Sizes.of(learned.facts.counted, len(learned.schema.features)),
        Sampling(draw, 0.0, folds),
        estimator,
        random_state,
        n_jobs,
    )
    # Learning runs where the sample is: on a cluster no row comes here, and no progress is reported from there.
    finish = grow if stream.parts.remote else partial(grow, tell=lambda done, words: tell(0.4 + 0.6 * done, words))
    grown: Grown | None = stream.parts.fold(
        partial(draw_rows, learned.reader, draw, grow.below),
        operator.add,
        finish,
        columns=tuple(dict.fromkeys((*learned.reader.columns, *draw.names))),
        tell=lambda done, words: tell(0.3 + 0.1 * done, f"drawing a sample, {words}"),
    )
    if grown is None:
        raise DataError("The rows changed while they were read: read them again, when nobody writes to them.")
    return StreamedOutcome(
        stream,
        learned,
        grown.model,
        grown.losses,
        grown.chosen,
        grown.curve,
        grown.sampling,
        grown.calibration,
        grown.group_loss,
    )
