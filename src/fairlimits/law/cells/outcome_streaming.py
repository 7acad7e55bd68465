"""Outcome cells of rows that are not in memory: placed by a sample, their masses summed over all rows.

One pass draws the rows that cells are placed by, another sums q over every cell and counts group and label there. Sums
of q are sums of whole numbers, so that they do not depend on the order of the rows: neither on how these are divided
into parts, nor on what reads them.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from fairlimits._util.progress import Progress, silent
from fairlimits._util.types import Floats, Ints
from fairlimits.data import Dataset, Encoding, Part
from fairlimits.errors import DataError
from fairlimits.law.cells.cutting import ROWS_PER_CELL, error_to_stop_at, features_weight, place_cells
from fairlimits.law.cells.distributions import CellDistribution
from fairlimits.law.cells.labelled import LabelledCells
from fairlimits.law.cells.origins import Origin, Partition
from fairlimits.law.cells.outcome_cells import OutcomeCells, Space, cells_between, chance_cuts, chances_of_label
from fairlimits.law.cells.quantizer.codebook import Codebook, assign, check_enough_rows
from fairlimits.law.cells.quantizer.nearest import Floats32
from fairlimits.law.cells.quantizer.rows import Rows
from fairlimits.law.outcome.streamed import RowEstimates, StreamedOutcome
from fairlimits.notions import CountedPeople

# q is rounded to multiples of this, about a billionth, so that 64-bit integers can hold its sum over eight billion
# people.
_UNIT = 2.0**-30

# Ranges of the chance of label 1 in which people of a group are counted: far narrower than cells.
_RANGES = 1 << 14


def cut_streamed(
    outcome: StreamedOutcome,
    cells: int,
    partition: Partition,
    relative_error: float | None,
    random_state: int,
    tell: Progress = silent,
) -> CellDistribution:
    """Cut an estimate of q for rows that are not in memory into cells, as `cut_outcome` does for those that are."""
    check_enough_rows(outcome.learned.facts.counted, cells)
    relative_error = error_to_stop_at(relative_error, partition)
    columns = tuple(dict.fromkeys((*outcome.learned.reader.columns, *outcome.sampling.draw.names)))
    fold = partial(outcome.stream.parts.fold, columns=columns)
    encoding = outcome.learned.encoding
    rows = outcome.learned.facts.counted
    place = _Place(encoding, partition, cells, relative_error, random_state)
    found: tuple[Space, Codebook] | None = fold(
        partial(_drawn, outcome.estimates, encoding, partition == "blend", min(1.0, ROWS_PER_CELL * cells / rows)),
        operator.add,
        place,
        tell=lambda done, words: tell(0.3 * done, f"drawing people to place cells by, {words}"),
    )
    if found is None:
        raise _changed()
    space, codebook = found
    # Weights are counted in units of about their mean; a power of two, so that nothing is rounded.
    unit = 2.0 ** round(np.log2(outcome.learned.total_weight / rows))
    sums: CellSums | None = fold(
        partial(_summed, outcome.estimates, space, codebook.centroids, unit),
        operator.add,
        _same,
        tell=lambda done, words: tell(0.3 + 0.7 * done, f"summing over cells, {words}"),
    )
    if sums is None:
        raise _changed()
    return _distribution(outcome, space, codebook, sums, partition, random_state, relative_error)


@dataclass(frozen=True, eq=False)
class _Placed:
    """Rows that cells are placed by; those of several parts add up."""

    pieces: tuple[tuple[Floats, Floats, Floats32], ...]

    def __add__(self, other: _Placed) -> _Placed:
        return _Placed(self.pieces + other.pieces)


@dataclass(frozen=True)
class _Place:
    """How cells are placed by drawn rows: a small object, so that it can be sent to the rows."""

    encoding: Encoding
    partition: Partition
    cells: int
    relative_error: float
    random_state: int

    def __call__(self, drawn: _Placed) -> tuple[Space, Codebook]:
        q, weight, encoded = (np.concatenate([own[at] for own in drawn.pieces]) for at in range(3))
        # The same order, however the rows are divided into parts.
        order = np.lexsort((weight, *q.reshape(len(q), -1).T))
        q, share, encoded = q[order], weight[order] / weight.sum(), encoded[order]
        space = Space.fit(q, share, self.encoding, encoded, features_weight(self.partition))
        points = Rows(space.place(q, encoded), share)
        cells = min(self.cells, len(q))
        return space, place_cells(points, cells, self.partition, self.relative_error, self.random_state, silent)


def _drawn(
    estimates: RowEstimates, encoding: Encoding, features: bool, below: float, part: Part, frame: Any
) -> _Placed | None:
    pieces = tuple(
        (q, _weights(rows), encoding.transform_dataset(rows) if features else np.empty((len(q), 0), np.float32))
        for rows, q in estimates.pieces(part, frame, below)
    )
    return _Placed(pieces) if pieces else None


@dataclass(frozen=True, eq=False)
class CellSums:
    """What the rows of some parts add up to.

    Parameters
    ----------
    mass : ndarray of int of shape (N, G, 2)
        Sum of q in each cell, in units.
    rows : ndarray of int of shape (N, G, 2)
        Rows of each cell, group and label.
    weight, squares : ndarray of shape (N, G, 2)
        Sum of their weights, and of the squares of these.
    centre : ndarray of shape (N, d)
        Sum of their encoded features, each times its weight.
    ranges : ndarray of int of shape (R, G)
        Sum over rows of the chance of a group, by the range of their chance of label 1 in that group, in units.
    range_rows, range_weight, range_squares : ndarray of shape (R, G, 2)
        The same as of cells, by the range of the chance of label 1 in the row's own group.
    """

    mass: Ints
    rows: Ints
    weight: Floats
    squares: Floats
    centre: Floats
    ranges: Ints
    range_rows: Ints
    range_weight: Floats
    range_squares: Floats

    def __add__(self, other: CellSums) -> CellSums:
        return CellSums(*(getattr(self, name) + getattr(other, name) for name in self.__dataclass_fields__))


def _summed(
    estimates: RowEstimates, space: Space, codewords: Floats32, unit: float, part: Part, frame: Any
) -> CellSums | None:
    total: CellSums | None = None
    for rows, q in estimates.pieces(part, frame):
        own = _sums(rows, q, space, codewords, unit)
        total = own if total is None else total + own
    return total


def _sums(rows: Dataset, q: Floats, space: Space, codewords: Floats32, unit: float) -> CellSums:
    cells, groups, weight = len(codewords), len(rows.groups), _weights(rows)
    encoded = space.encoding.transform_dataset(rows)
    at = assign(space.place(q, encoded), codewords)
    share = np.rint(q * (weight / unit / _UNIT)[:, None, None])
    labels = _by_label(at, cells, rows, weight)
    chance = chances_of_label(q)
    # A range includes its upper end, as cells that are cut by chance do.
    place = np.clip(np.ceil(chance * _RANGES).astype(np.int64) - 1, 0, _RANGES - 1)
    passed = np.stack([_whole(place[:, g], share[:, g].sum(axis=1), _RANGES) for g in range(groups)], axis=1)
    own = place[np.arange(rows.n_rows), rows.group]
    inside = sp.csr_array((weight, (at, np.arange(rows.n_rows))), shape=(cells, rows.n_rows))
    return CellSums(
        np.stack([_whole(at, own, cells) for own in share.reshape(len(at), -1).T], axis=1).reshape(cells, groups, 2),
        *labels,
        np.asarray(inside @ encoded.astype(np.float64)),
        passed,
        *_by_label(own, _RANGES, rows, weight),
    )


def _whole(at: Ints, amount: Floats, size: int) -> Ints:
    """Return sums of whole numbers; those of one piece are small enough for doubles to hold them exactly."""
    return np.bincount(at, weights=amount, minlength=size).astype(np.int64)


def _by_label(at: Ints, size: int, rows: Dataset, weight: Floats) -> tuple[Ints, Floats, Floats]:
    """Return rows, weights and squared weights by place, group and label."""
    shape = (size, len(rows.groups), 2)
    index = np.ravel_multi_index((at, rows.group, rows.label.astype(np.int64)), shape)
    length = size * shape[1] * 2
    counted = np.bincount(index, minlength=length).reshape(shape)
    if rows.weight is None:
        return counted, counted.astype(np.float64), counted.astype(np.float64)
    sums = (np.bincount(index, weights=own, minlength=length).reshape(shape) for own in (weight, weight**2))
    return (counted, *sums)  # type: ignore[return-value]


def _weights(rows: Dataset) -> Floats:
    return np.ones(rows.n_rows) if rows.weight is None else rows.weight


def _distribution(
    outcome: StreamedOutcome,
    space: Space,
    codebook: Codebook,
    sums: CellSums,
    partition: Partition,
    random_state: int,
    relative_error: float,
) -> CellDistribution:
    mass = sums.mass / sums.mass.sum()
    total = sums.weight.sum(axis=(1, 2))
    cuts, labels = None, (sums.rows, sums.weight, sums.squares)
    cells = np.arange(len(mass))
    hidden = _people(outcome, *labels)
    seen, seen_cells = hidden, np.repeat(cells, mass[0].size)
    if partition == "outcome":
        ends = np.arange(1, _RANGES + 1) / _RANGES
        chance = np.repeat(ends[:, None], len(outcome.groups), axis=1)
        filled = sums.ranges.any(axis=1)
        cuts = chance_cuts(mass, chance[filled], sums.ranges[filled].astype(np.float64))
        # Moved to the border between two ranges, so that all people of a range are in one cell.
        cuts = np.where(np.isfinite(cuts), np.floor(cuts * _RANGES) / _RANGES, cuts)
        seen = _people(outcome, sums.range_rows, sums.range_weight, sums.range_squares)
        by_range = np.stack([cells_between(cuts, mass, g, ends) for g in range(len(outcome.groups))], axis=1)
        seen_cells = np.repeat(by_range.ravel(), 2)
    return CellDistribution(
        mass=mass,
        groups=outcome.groups,
        counts=sums.rows,
        centroids=(sums.centre / np.where(total > 0, total, 1.0)[:, None]).astype(np.float32),
        encoding=outcome.learned.encoding,
        schema=outcome.learned.schema,
        places=OutcomeCells(outcome.model, space, codebook.centroids, cuts),
        labelled=LabelledCells(hidden, np.repeat(cells, mass[0].size), seen, seen_cells),
        origin=Origin(
            rows=outcome.n_rows,
            partition=partition,
            random_state=random_state,
            relative_error=float(relative_error),
            distortion=codebook.distortion,
            iterations=codebook.iterations,
        ),
    )


def _people(outcome: StreamedOutcome, rows: Ints, weight: Floats, squares: Floats) -> CountedPeople:
    """Return the people of each place, group and label."""
    _, groups, labels = np.indices(rows.shape)
    return CountedPeople(
        groups.ravel(),
        labels.ravel().astype(np.int8),
        rows.ravel(),
        weight.ravel(),
        squares.ravel(),
        outcome.groups,
        outcome.n_rows,
        outcome.frame_kind,
    )


def _same(total: CellSums) -> CellSums:
    return total


def _changed() -> DataError:
    return DataError("The rows changed while they were read: read them again, when nobody writes to them.")
