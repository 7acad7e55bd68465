"""Nearest of many points, exactly and on all cores: the arithmetic under `fairlimits.law.cells.quantizer.codebook`.

For a row x and points c_1 .. c_N, with m the mean of the points, z = x - m and g_j = c_j - m::

    |x - c_j|^2 = |z|^2 + score_j,        score_j = |g_j|^2 - 2 z . g_j

so the nearest point has the lowest score, and scores are one single-precision matrix product. Its rounding error
is at most ``(d + 8) u (2 |z| G + G^2)`` with u = 2^-24, d columns and G = max_j |g_j| (d + 1 products and sums,
and the roundings of z, g_j and |g_j|^2, which are relative to their size). Wherever the two lowest scores differ by
less than twice that, the distances in question are computed again in double precision, as ``sum((x - c_j)^2)``. So
the answer is the one that double precision gives, for every row, ties going to the lowest index; it does not
depend on how rows are batched, on the number of threads or on the BLAS behind numpy.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array

from fairlimits._util.threads import ONE_BLAS_THREAD
from fairlimits._util.threads import usable_cores as _usable_cores
from fairlimits._util.types import Floats, Ints

Floats32: TypeAlias = NDArray[np.float32]
Item = TypeVar("Item")
Answer = TypeVar("Answer")

_SLAB = 8192  # rows whose double-precision copy is held at a time
_TILE_SCORES = 1 << 19  # scores held at a time by a thread: 2 MB, which stays in cache
_BLOCKS = 16  # separately summed parts of the rows: a constant, so that sums do not depend on the cores
_UNIT = 2.0**-24  # unit roundoff of single precision


class Points:
    """Points among which the nearest is searched, prepared for the matrix product.

    Parameters
    ----------
    centroids : ndarray of float32, shape (N, d)
        The points c_j.
    """

    def __init__(self, centroids: Floats32) -> None:
        self.centroids = centroids
        self.centroids64: Floats = centroids.astype(np.float64)
        self._mean: Floats32 = self.centroids64.mean(axis=0).astype(np.float32)
        offsets = centroids - self._mean
        squares = np.square(offsets, dtype=np.float64).sum(axis=1)
        # One more row, multiplied by a column of ones, adds |g_j|^2 without a pass of its own.
        self._matrix: Floats32 = np.vstack([-2 * offsets.T, squares]).astype(np.float32)
        self._radius = float(np.sqrt(squares.max()))
        self._kept = threading.local()

    def __len__(self) -> int:
        return len(self.centroids)

    def nearest(self, rows: Floats32) -> tuple[Ints, Floats32]:
        """Return the index of the nearest point of each row, and how much farther the second nearest is.

        Returns
        -------
        labels : ndarray of int64, shape (n,)
            Exact; the lowest index on a tie.
        margin : ndarray of float32, shape (n,)
            Squared distance of the second nearest less that of the nearest, to single precision; infinite when
            there is one point.
        """
        count, columns = rows.shape
        labels = np.empty(count, dtype=np.int64)
        margin = np.empty(count, dtype=np.float32)
        tile = max(64, min(4096, _TILE_SCORES // len(self)))
        shifted, scores = self._tiles(tile, columns)
        for start in range(0, count, tile):
            part = slice(start, min(start + tile, count))
            size = part.stop - start
            np.subtract(rows[part], self._mean, out=shifted[:size, :columns])
            np.matmul(shifted[:size], self._matrix, out=scores[:size])
            labels[part], margin[part] = self._settle(rows[part], shifted[:size, :columns], scores[:size])
        return labels, margin

    def _tiles(self, tile: int, columns: int) -> tuple[Floats32, Floats32]:
        """Return memory for a tile, reused by the thread: fresh memory costs a page fault for every page."""
        if not hasattr(self._kept, "tiles"):
            shifted = np.ones((tile, columns + 1), dtype=np.float32)
            self._kept.tiles = shifted, np.empty((tile, len(self)), dtype=np.float32)
        tiles: tuple[Floats32, Floats32] = self._kept.tiles
        return tiles

    def _settle(self, rows: Floats32, shifted: Floats32, scores: Floats32) -> tuple[Ints, Floats32]:
        every = np.arange(len(rows))
        labels = scores.argmin(axis=1)
        lowest = scores[every, labels]
        scores[every, labels] = np.inf
        margin = scores.min(axis=1) - lowest
        scores[every, labels] = lowest
        norms = np.sqrt(np.einsum("ij,ij->i", shifted, shifted))
        unsure = 2.02 * (rows.shape[1] + 8) * _UNIT * (2 * norms * self._radius + self._radius**2)
        unsure += np.finfo(np.float32).tiny  # products this small are lost altogether
        close = np.flatnonzero(margin <= unsure)
        if close.size:
            rivals = scores[close] <= (lowest[close] + unsure[close])[:, None]
            row, point = np.nonzero(rivals)
            distances = np.empty(len(row))
            for start in range(0, len(row), _SLAB):
                pairs = slice(start, start + _SLAB)
                distances[pairs] = squared_norms(rows[close[row[pairs]]] - self.centroids64[point[pairs]])
            # Sorted by row, then distance, then index: the first pair of each row is its nearest point.
            order = np.lexsort((point, distances, row))
            first = np.searchsorted(row, np.arange(len(close)))
            labels[close] = point[order][first]
        return labels, margin


def nearest_labels(rows: Floats32, points: Points) -> Ints:
    """Return the nearest point of each row, using threads where there are enough rows."""
    if len(rows) <= _SLAB:  # starting threads takes longer
        return points.nearest(rows)[0]
    with Workers() as workers:
        return workers.labels(rows, points)


def squared_norms(differences: Floats) -> Floats:
    """Return the sum of squares of each row."""
    result: Floats = np.einsum("ij,ij->i", differences, differences)
    return result


@dataclass(frozen=True)
class Sweep:
    """Result of one pass over weighted rows, for the cells of their nearest points.

    Attributes
    ----------
    points : Points
        The N points.
    labels : ndarray of int64, shape (n,)
        Nearest point of each row; empty where the rows are not in memory.
    mass : ndarray of float64, shape (N,)
        Sum of the weights in each cell.
    sums : ndarray of float64, shape (N, d)
        Weighted sum of the rows in each cell.
    errors : ndarray of float64, shape (N,)
        Weighted sum of squared distances to the cell's point.
    margins : ndarray of float64, shape (N,)
        By how much the sum of squared distances would grow if the point were dropped.
    """

    points: Points
    labels: Ints
    mass: Floats
    sums: Floats
    errors: Floats
    margins: Floats

    @cached_property
    def distortion(self) -> float:
        """Weighted mean of the squared distance."""
        return float(self.errors.sum() / self.mass.sum())

    @cached_property
    def empty(self) -> Ints:
        """Indices of points to which no row is nearest."""
        return np.flatnonzero(self.mass == 0)


class Workers:
    """Threads that share passes over rows; a context manager.

    While one is open, BLAS is held to one thread: the threads here replace its own.
    """

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(max_workers=min(_BLOCKS, _usable_cores()))

    def __enter__(self) -> Workers:
        ONE_BLAS_THREAD.__enter__()
        return self

    def __exit__(self, *exception: object) -> None:
        self._pool.shutdown(cancel_futures=True)
        ONE_BLAS_THREAD.__exit__(*exception)

    def labels(self, rows: Floats32, points: Points) -> Ints:
        """Return the nearest point of each row."""
        labels = np.empty(len(rows), dtype=np.int64)

        def find(part: slice) -> None:
            labels[part] = points.nearest(rows[part])[0]

        self._share(find, _slabs(0, len(rows)))
        return labels

    def sweep(self, rows: Floats32, weights: Floats, points: Points) -> Sweep:
        """Assign every row and sum over the cells, in double precision and in a fixed order.

        All weights must be above 0.
        """
        labels = np.empty(len(rows), dtype=np.int64)

        def add_up(block: slice) -> Totals:
            return Totals.of(rows[block], weights[block], points, labels[block])

        totals = Totals.zero(points)
        for block in self._share(add_up, _blocks(len(rows))):
            totals += block
        return Sweep(points, labels, totals.mass, totals.sums, totals.errors, totals.margins)

    def _share(self, work: Callable[[Item], Answer], items: Iterable[Item]) -> list[Answer]:
        return list(self._pool.map(work, items))


@dataclass
class Totals:
    """Sums over the cells of the rows seen so far; see `Sweep`."""

    mass: Floats
    sums: Floats
    errors: Floats
    margins: Floats

    @classmethod
    def zero(cls, points: Points) -> Totals:
        """Return the sums over no row."""
        cells = len(points)
        return cls(np.zeros(cells), np.zeros(points.centroids.shape), np.zeros(cells), np.zeros(cells))

    @classmethod
    def of(cls, rows: Floats32, weights: Floats, points: Points, labels: Ints) -> Totals:
        """Assign rows, whose weights must be above 0, and sum over the cells; `labels` are filled in."""
        totals = cls.zero(points)
        room = np.empty((2, min(_SLAB, len(rows)), rows.shape[1]))
        for part in _slabs(0, len(rows)):
            labels[part], margin = points.nearest(rows[part])
            totals._add(rows[part], weights[part], labels[part], margin, points, room)
        return totals

    def _add(
        self, rows: Floats32, weights: Floats, labels: Ints, margin: Floats32, points: Points, room: Floats
    ) -> None:
        cells = len(points)
        values, nearest = room[:, : len(rows)]
        values[:] = rows
        # One entry per column: the product adds each row, times its weight, to the row of its cell.
        membership = csc_array((weights, labels, np.arange(len(rows) + 1)), shape=(cells, len(rows)))
        self.sums += membership @ values
        values -= np.take(points.centroids64, labels, axis=0, out=nearest, mode="clip")
        self.mass += np.bincount(labels, weights, cells)
        self.errors += np.bincount(labels, weights * squared_norms(values), cells)
        self.margins += np.bincount(labels, weights * margin, cells)

    def __add__(self, other: Totals) -> Totals:
        return Totals(
            self.mass + other.mass,
            self.sums + other.sums,
            self.errors + other.errors,
            self.margins + other.margins,
        )


def _slabs(start: int, stop: int) -> Iterator[slice]:
    return (slice(at, min(at + _SLAB, stop)) for at in range(start, stop, _SLAB))


def _blocks(rows: int) -> list[slice]:
    slabs = -(-rows // _SLAB)
    bounds = [min(slabs * block // _BLOCKS * _SLAB, rows) for block in range(_BLOCKS + 1)]
    return [slice(start, stop) for start, stop in pairwise(bounds) if start < stop]
