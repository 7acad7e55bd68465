"""Codebooks and counts of rows that are not in memory: on disk, or on the workers of a cluster.

Nothing here depends on where the rows are: each step is a fold over their parts (`fairlimits.data.parts`). What is sent
to a part is a codebook, and what comes back are sums over its cells.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial, reduce
from typing import Any, TypeVar

import numpy as np

from fairlimits._util.progress import Progress, silent
from fairlimits._util.types import Floats, Ints
from fairlimits.data import Dataset, Encoding, Learned, Part, Reader, Stream
from fairlimits.errors import DataError
from fairlimits.law.cells.counts import Counts, count_cells
from fairlimits.law.cells.quantizer.codebook import Codebook, check_enough_rows, check_settings, first_centroids, refine
from fairlimits.law.cells.quantizer.nearest import Floats32, Points, Sweep, Totals, squared_norms
from fairlimits.law.cells.quantizer.rows import Rows
from fairlimits.law.cells.quantizer.seeding import check_distinct, drawn_at, merged, sample_marks, sample_size

# Encoded numbers held at a time by the work on a part: 8 MB.
_PIECE = 1 << 21

_MAX_PASSES = 300

Total = TypeVar("Total")


@dataclass(frozen=True, eq=False)
class Encoder:
    """How a part of a table becomes encoded rows, piece by piece: small, so that it can be sent to the parts."""

    reader: Reader
    encoding: Encoding

    def pieces(self, dataset: Dataset) -> Iterator[Floats32]:
        """Encode rows, a bounded number at a time."""
        size = max(1, _PIECE // self.encoding.n_columns)
        for start in range(0, dataset.n_rows, size):
            columns = {name: column[start : start + size] for name, column in dataset.columns.items()}
            yield self.encoding.transform(columns, min(size, dataset.n_rows - start))

    def rows(self, part: Part, frame: Any) -> Iterator[Rows]:
        """Encode the rows of a part that have a weight above 0."""
        dataset = self.reader(part, frame)
        if dataset is None:
            return
        if dataset.weight is not None:
            dataset = dataset.take(dataset.weight > 0)
        weights = np.ones(dataset.n_rows) if dataset.weight is None else dataset.weight
        at = 0
        for values in self.pieces(dataset):
            yield Rows(values, weights[at : at + len(values)])
            at += len(values)


def train_codebook(
    stream: Stream,
    learned: Learned,
    cells: int,
    *,
    relative_error: float,
    random_state: int,
    tell: Progress = silent,
) -> Codebook:
    """Find the codebook of rows that are not in memory, as `fit_codebook` does for those that are.

    The start is found on the very sample that `fit_codebook` would draw, and Lloyd's iteration goes through all rows,
    so that the codebooks differ only by the rounding of sums.

    Parameters
    ----------
    stream : Stream
        The rows.
    learned : Learned
        What the first passes found out.
    cells : int
        Number of cells, N.
    relative_error : float
        Stop when a pass lowers the quantization error by less than this share.
    random_state : int
        Seed.
    tell : callable
        Called with the fraction done and a few words.
    """
    check_settings(cells, relative_error, _MAX_PASSES)
    facts = learned.facts
    check_enough_rows(facts.counted, cells)
    encoder = Encoder(learned.reader, learned.encoding)
    size = sample_size(cells)
    rng = np.random.default_rng(random_state)
    fold = partial(
        stream.parts.fold,
        columns=learned.reader.columns,
        tell=lambda done, words: tell(0.1 * done, f"drawing a sample, {words}"),
    )
    if facts.counted > size:
        marks = _marks_of_parts(facts.weights, size, rng)
        begin = partial(_begin, cells=cells, relative_error=relative_error, rng=rng)
        start: Floats32 = _there(fold(partial(_sampled, encoder, marks), operator.add, begin))
        if len(start):
            passes = StreamPasses(stream, encoder, tell)
            return refine(passes, start, relative_error, _MAX_PASSES)
    # Few points: all of them are used, with their weights, in place of the rows.
    fit = partial(_fitted, cells=cells, relative_error=relative_error, rng=rng)
    codebook: Codebook = _there(fold(partial(_distinct, encoder), _joined, fit))
    return codebook


def count_stream(
    stream: Stream, reader: Reader, encoding: Encoding, centroids: Floats32, tell: Progress = silent
) -> tuple[Counts, int]:
    """Count rows that are not in memory by cell, group and label, as `count_cells` does for those that are.

    Parameters
    ----------
    stream : Stream
        The rows.
    reader : Reader
        Reads their parts.
    encoding : Encoding
        How they are encoded.
    centroids : ndarray of float32, shape (N, d)
        The cells.
    tell : callable
        Called with the fraction done and a few words.

    Returns
    -------
    counts : Counts
    rows : int
        How many rows there are, whatever their weight.
    """
    work = partial(_counted, Encoder(reader, encoding), centroids)
    counted: tuple[Counts, int] | None = stream.parts.fold(
        work,
        _counts_sum,
        _same,
        columns=reader.columns,
        tell=lambda done, words: tell(done, f"counting, {words}"),
    )
    if counted is None or not counted[0].rows.any():
        raise DataError("No row counts: there are none, or all weights are 0; give some rows a weight above 0.")
    return counted


class StreamPasses:
    """Passes of Lloyd's iteration over rows that are not in memory (see `Passes`)."""

    def __init__(self, stream: Stream, encoder: Encoder, tell: Progress) -> None:
        self._fold = partial(stream.parts.fold, columns=encoder.reader.columns, tell=self._told)
        self._encoder = encoder
        self._tell = tell
        self._passes = 0

    def sweep(self, points: Points) -> Sweep:
        """Assign every row to its nearest point and sum over the cells."""
        totals = _there(self._fold(partial(_swept, self._encoder, points.centroids), operator.add, _same))
        self._passes += 1
        return Sweep(points, np.empty(0, dtype=np.int64), totals.mass, totals.sums, totals.errors, totals.margins)

    def farthest(self, points: Points, centroids: Floats32) -> tuple[Floats, Floats32]:
        """Find the row of each point that is farthest from the centroid of the same number."""
        work = partial(_far, self._encoder, points.centroids, centroids)
        found: tuple[Floats, Floats32] = _there(self._fold(work, _farther, _same))
        return found

    def _told(self, done: float, words: str) -> None:
        # The number of passes is not known: each advances progress by a share of what is left.
        self._tell(1 - 0.9 * 0.75 ** (self._passes + done), f"pass {self._passes + 1}, {words}")


def _marks_of_parts(
    weights: Mapping[int, float], size: int, rng: np.random.Generator
) -> dict[int, tuple[Floats, float]]:
    """Return the marks of a sample by part, measured from the start of the part, with the part's weight."""
    numbers = sorted(weights)
    ends = np.cumsum([weights[number] for number in numbers])
    marks = sample_marks(float(ends[-1]), size, rng)
    bounds = [0, *np.searchsorted(marks, ends[:-1]), size]
    return {
        number: (marks[bounds[at] : bounds[at + 1]] - (ends[at - 1] if at else 0.0), weights[number])
        for at, number in enumerate(numbers)
    }


def _sampled(encoder: Encoder, marks: Mapping[int, tuple[Floats, float]], part: Part, frame: Any) -> list[Rows] | None:
    """Return the rows of one part that marks fall on."""
    dataset = encoder.reader(part, frame)
    if dataset is None:
        return None
    weights = np.ones(dataset.n_rows) if dataset.weight is None else dataset.weight
    own, weight = marks.get(part.number, (np.empty(0), 0.0))
    if weights.sum() != weight:
        raise _changed()
    index, times = drawn_at(own, np.cumsum(weights))
    if not len(index):
        return None
    drawn = dataset.take(index)
    return [Rows(encoder.encoding.transform_dataset(drawn), times)]


def _begin(sample: list[Rows], cells: int, relative_error: float, rng: np.random.Generator) -> Floats32:
    """Return centroids for the points of a sample; none if there are too few points."""
    points = merged(sample)
    if len(points.values) < cells:
        return points.values[:0]
    return first_centroids(points, cells, relative_error, _MAX_PASSES, rng)


def _distinct(encoder: Encoder, part: Part, frame: Any) -> Rows | None:
    parts = [merged([rows]) for rows in encoder.rows(part, frame) if len(rows.values)]
    return merged(parts) if parts else None


def _joined(one: Rows, other: Rows) -> Rows:
    return merged([one, other])


def _fitted(points: Rows, cells: int, relative_error: float, rng: np.random.Generator) -> Codebook:
    check_distinct(points, cells)
    start = first_centroids(points, cells, relative_error, _MAX_PASSES, rng)
    return refine(points, start, relative_error, _MAX_PASSES)


def _swept(encoder: Encoder, centroids: Floats32, part: Part, frame: Any) -> Totals | None:
    points = Points(centroids)
    parts = [Totals.of(*rows, points, np.empty(len(rows.values), dtype=np.int64)) for rows in encoder.rows(part, frame)]
    return reduce(operator.add, parts) if parts else None


def _far(encoder: Encoder, old: Floats32, new: Floats32, part: Part, frame: Any) -> tuple[Floats, Floats32] | None:
    points, centroids = Points(old), new.astype(np.float64)
    total: tuple[Floats, Floats32] | None = None
    for rows in encoder.rows(part, frame):
        labels = points.nearest(rows.values)[0]
        distances = squared_norms(rows.values - centroids[labels])
        # Sorted by cell, then from far to near: the first of each cell is its farthest row.
        order = np.lexsort((-distances, labels))
        cells, first = np.unique(labels[order], return_index=True)
        found = np.zeros(len(old)), old.copy()
        found[0][cells], found[1][cells] = distances[order[first]], rows.values[order[first]]
        total = found if total is None else _farther(total, found)
    return total


def _farther(one: tuple[Floats, Floats32], other: tuple[Floats, Floats32]) -> tuple[Floats, Floats32]:
    there = other[0] > one[0]
    return np.where(there, other[0], one[0]), np.where(there[:, None], other[1], one[1])


def _counted(encoder: Encoder, centroids: Floats32, part: Part, frame: Any) -> tuple[Counts, int] | None:
    dataset = encoder.reader(part, frame)
    if dataset is None:
        return None
    points = Points(centroids)
    cells: Ints = np.concatenate([points.nearest(values)[0] for values in encoder.pieces(dataset)])
    return count_cells(cells, dataset, len(centroids)), dataset.n_rows


def _counts_sum(one: tuple[Counts, int], other: tuple[Counts, int]) -> tuple[Counts, int]:
    return one[0] + other[0], one[1] + other[1]


def _same(total: Total) -> Total:
    return total


def _there(found: Total | None) -> Total:
    if found is None:
        raise _changed()
    return found


def _changed() -> DataError:
    return DataError("The rows changed while they were read: read them again, when nobody writes to them.")
