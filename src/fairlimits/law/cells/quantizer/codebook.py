r"""The codebook of cells: N centroids that stand for the rows with the least mean squared distance.

For rows :math:`x_1 .. x_n` with weights :math:`w_k`, and centroids :math:`c_1 .. c_N`, the distortion is

.. math:: D = \frac{\sum_k w_k \min_j |x_k - c_j|^2}{\sum_k w_k} .

Lloyd's iteration (the LBG algorithm of Linde, Buzo and Gray, 1980) moves every centroid to the mean of the
rows that are nearest to it, which cannot raise D, until a pass lowers D by less than a given share. Where it
ends depends on where it starts, so the start is drawn by D^2 sampling (k-means++, Arthur and Vassilvitskii,
2007) and then improved: the cells of largest error are split in two, and as many centroids, those whose removal raises
the distortion least, are dropped again (as in Fritzke's breathing k-means, 2020).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairlimits._util.progress import Progress, or_silent, silent
from fairlimits._util.types import Floats, Ints
from fairlimits.errors import DataError, InputError
from fairlimits.law.cells.quantizer.nearest import Floats32, Points, Sweep, Workers, nearest_labels, squared_norms
from fairlimits.law.cells.quantizer.rows import Rows, as_matrix, as_weights
from fairlimits.law.cells.quantizer.seeding import distinct_points, seed

DEFAULT_RELATIVE_ERROR = 1e-3


_SPLIT_SHARE = 4  # the first rounds of `_mend` split one cell in so many,
_SPLIT_DECAY = 4  # and later ones so many times fewer, as soon as that gains little
_SPLIT_OFFSET = 0.1  # of the cell's own standard deviation
_MENDING_ERROR = 2e-3  # relative gain that is little: finer gains are left to Lloyd's iteration


@dataclass(frozen=True, eq=False)
class Codebook:
    """Centroids of the cells, and how they were found.

    Attributes
    ----------
    centroids : ndarray of float32, shape (N, d)
        One centroid per cell; at least one row is nearest to each.
    distortion : float
        Weighted mean squared distance of the rows to their nearest centroid (D above).
    iterations : int
        Passes of Lloyd's iteration over all rows; those over a sample, before, are not counted.
    converged : bool
        Whether the last pass lowered the distortion by less than the wanted share.
    """

    centroids: NDArray[np.float32]
    distortion: float
    iterations: int
    converged: bool


class Passes(Protocol):
    """Rows that are not in memory, over which Lloyd's iteration makes passes."""

    def sweep(self, points: Points) -> Sweep:
        """Assign every row to its nearest point and sum over the cells."""
        ...

    def farthest(self, points: Points, centroids: Floats32) -> tuple[Floats, Floats32]:
        """Find the row of each point that is farthest from the centroid of the same number.

        Returns
        -------
        distances : ndarray of shape (N,)
            Its squared distance; 0 where a point has no row.
        rows : ndarray of float32, shape (N, d)
            The row.
        """
        ...


class _Run(NamedTuple):
    """Where Lloyd's iteration ended."""

    sweep: Sweep
    iterations: int
    converged: bool


def fit_codebook(
    rows: ArrayLike,
    cells: int,
    *,
    weights: ArrayLike | None = None,
    relative_error: float = DEFAULT_RELATIVE_ERROR,
    max_iterations: int = 300,
    random_state: int = 0,
    progress: Progress | None = None,
) -> Codebook:
    """Find `cells` centroids with a small mean squared distance to the rows.

    Parameters
    ----------
    rows : array_like of shape (n, d)
        Encoded rows, taken as float32.
    cells : int
        Number of cells, N.
    weights : array_like of shape (n,), optional
        Weight of each row, 1 by default. A row of weight w counts as w equal rows; one of weight 0 takes no
        part.
    relative_error : float, default=0.001
        Stop when ``(previous distortion - distortion) <= relative_error * distortion``. The paper uses 0.01.
    max_iterations : int, default=300
        Largest number of Lloyd passes over all rows, and in each run on the sample before them.
    random_state : int, default=0
        Seed. The same rows, weights and seed give the same codebook to the last bit, on any number of cores.
    progress : callable, optional
        Called with the fraction done and a few words.

    Returns
    -------
    Codebook

    Raises
    ------
    DataError
        If the rows have fewer distinct points than `cells`, or values or weights that cannot be used.

    Notes
    -----
    The start is drawn and improved on a sample, drawn by weight, of 64 rows per cell (at least 65,536 and at
    most 131,072); Lloyd's iteration over all rows follows. A centroid that loses its last row is placed on the row
    farthest from its centroid in a cell of large error.
    """
    check_settings(cells, relative_error, max_iterations)
    taken = _usable_rows(rows, weights, cells)
    report = or_silent(progress)
    rng = np.random.default_rng(random_state)
    report(0.0, "seeding cells")
    taken, points = distinct_points(taken, cells, rng)
    start = first_centroids(points, cells, relative_error, max_iterations, rng, report)
    return refine(taken, start, relative_error, max_iterations, report)


def first_centroids(
    points: Rows,
    cells: int,
    relative_error: float,
    max_iterations: int,
    rng: np.random.Generator,
    report: Progress = silent,
) -> Floats32:
    """Find centroids for distinct points, which stand for many more rows (see `fit_codebook`)."""
    with Workers() as workers:
        lloyd = _Lloyd(workers, max(relative_error, _MENDING_ERROR), max_iterations)
        run = lloyd.run(points, seed(points, cells, rng))
        return _mend(run, points, lloyd, rng, report).sweep.points.centroids


def refine(
    rows: Rows | Passes, start: Floats32, relative_error: float, max_iterations: int, report: Progress = silent
) -> Codebook:
    """Move centroids by Lloyd's iteration over all rows, in memory or not (see `fit_codebook`)."""
    with Workers() as workers:
        run = _Lloyd(workers, relative_error, max_iterations, report).run(rows, start)
    report(1.0, "cells found")
    return Codebook(run.sweep.points.centroids, run.sweep.distortion, run.iterations, run.converged)


def assign(rows: ArrayLike, centroids: ArrayLike) -> Ints:
    """Return the index of the centroid nearest to each row.

    Distances are compared as double precision gives them, ties go to the lowest index, and a row's cell does not
    depend on the rows around it: batches of any size give the same answer.

    Parameters
    ----------
    rows : array_like of shape (n, d)
        Encoded rows, taken as float32.
    centroids : array_like of shape (N, d)
        Centroids, taken as float32.

    Returns
    -------
    ndarray of int64, shape (n,)
    """
    return nearest_labels(*_rows_and_points(rows, centroids))


def distortion(rows: ArrayLike, centroids: ArrayLike, weights: ArrayLike | None = None) -> float:
    """Return the weighted mean squared distance of the rows to their nearest centroid.

    Parameters
    ----------
    rows : array_like of shape (n, d)
        Encoded rows, taken as float32; at least one.
    centroids : array_like of shape (N, d)
        Centroids, taken as float32.
    weights : array_like of shape (n,), optional
        Weight of each row, 1 by default; at least one above 0.
    """
    values, points = _rows_and_points(rows, centroids)
    share = as_weights(weights, len(values))
    used = share > 0
    if not used.any():
        raise DataError("There is no row with a weight above 0; a mean distance needs at least one.")
    if not used.all():
        values, share = values[used], share[used]
    with Workers() as workers:
        return workers.sweep(values, share, points).distortion


@dataclass(frozen=True)
class _Lloyd:
    """Lloyd's iteration with its stopping rule."""

    workers: Workers
    relative_error: float
    max_iterations: int
    report: Progress | None = None

    def run(self, rows: Rows | Passes, start: Floats32) -> _Run:
        """Iterate from `start`; no cell of the result is empty.

        The rows must have at least as many distinct points as there are centroids.
        """
        now = self._sweep(rows, start)
        iterations, converged = 0, False
        while not converged and iterations < self.max_iterations:
            after = self._sweep(rows, _moved(rows, now))
            iterations += 1
            gain = now.distortion - after.distortion
            if gain <= 0 and not now.empty.size:
                converged = True  # only the rounding of centroids is left; the earlier centroids are no worse
                break
            now = after
            converged = gain <= self.relative_error * now.distortion and not now.empty.size
            if self.report:
                self.report(1 - 0.4 * 0.7**iterations, f"pass {iterations}, distortion {now.distortion:.6g}")
        while now.empty.size:
            # Every seed lies off its centroid, so each turn lowers the distortion strictly: this ends.
            now = self._sweep(rows, _reseeded(rows, now, now.points.centroids))
        return _Run(now, iterations, converged)

    def _sweep(self, rows: Rows | Passes, centroids: Floats32) -> Sweep:
        if isinstance(rows, Rows):
            return self.workers.sweep(rows.values, rows.weights, Points(centroids))
        return rows.sweep(Points(centroids))


def _moved(rows: Rows | Passes, sweep: Sweep) -> Floats32:
    """Return centroids moved to the means of their cells, and those of empty cells to seeds."""
    centroids = sweep.points.centroids.copy()
    filled = sweep.mass > 0
    centroids[filled] = sweep.sums[filled] / sweep.mass[filled, None]
    return _reseeded(rows, sweep, centroids) if sweep.empty.size else centroids


def _reseeded(rows: Rows | Passes, sweep: Sweep, centroids: Floats32) -> Floats32:
    """Place each empty cell's centroid on the farthest row of a cell, those of largest error first.

    At most one seed per cell is taken: equal rows share a cell, so no two seeds are equal. Empty cells that are
    left over are reseeded after the next assignment.
    """
    farthest = _farthest(rows, sweep, centroids)
    centroids = centroids.copy()
    empty = list(sweep.empty)
    for cell in np.argsort(-sweep.errors, kind="stable"):
        if not empty:
            break
        distance, row = farthest(int(cell))
        if distance > 0:
            centroids[empty.pop(0)] = row
    return centroids


def _farthest(rows: Rows | Passes, sweep: Sweep, centroids: Floats32) -> Callable[[int], tuple[float, Floats32 | None]]:
    """Return a function from a cell to the largest squared distance of a row to its centroid, and that row."""
    if not isinstance(rows, Rows):
        distances, found = rows.farthest(sweep.points, centroids)
        return lambda cell: (float(distances[cell]), found[cell])

    def look(cell: int) -> tuple[float, Floats32 | None]:
        members = np.flatnonzero(sweep.labels == cell)
        if not members.size:
            return 0.0, None
        distances = squared_norms(rows.values[members] - centroids[cell].astype(np.float64))
        return float(distances.max()), rows.values[members[distances.argmax()]]

    return look


def _mend(run: _Run, points: Rows, lloyd: _Lloyd, rng: np.random.Generator, report: Progress) -> _Run:
    """Move centroids from where they reduce the error least to where it is largest, while that lowers the distortion.

    Each round splits some cells, runs Lloyd's iteration, drops as many centroids and runs it again. After a
    round that gains little, fewer are split.
    """
    cells = len(run.sweep.points)
    splits = start = min(max(1, cells // _SPLIT_SHARE), cells - 1, len(points.values) - cells)
    while splits and run.sweep.distortion > 0:
        report(0.2 + 0.4 * (1 - math.log2(2 * splits) / math.log2(2 * start)), "placing cells")
        grown = lloyd.run(points, _split(run.sweep, splits, rng))
        trial = lloyd.run(points, _thinned(grown.sweep, splits))
        gain = run.sweep.distortion - trial.sweep.distortion
        if gain > 0:
            run = trial
        if gain <= _MENDING_ERROR * run.sweep.distortion:
            splits //= _SPLIT_DECAY
    return run


def _split(sweep: Sweep, count: int, rng: np.random.Generator) -> Floats32:
    """Give each of the `count` cells of largest error a second centroid, a little beside its own."""
    centroids = sweep.points.centroids
    worst = np.argsort(-sweep.errors, kind="stable")[:count]
    spread = np.sqrt(sweep.errors[worst] / sweep.mass[worst] / centroids.shape[1])
    aside = _SPLIT_OFFSET * spread[:, None] * rng.standard_normal((count, centroids.shape[1]))
    return np.concatenate([centroids, (centroids[worst] + aside).astype(np.float32)])


def _thinned(sweep: Sweep, count: int) -> Floats32:
    """Drop the `count` centroids whose removal raises the distortion least.

    A dropped centroid's rows go to its neighbours. Dropping the nearest of them too would then cost more than was
    computed, so it is kept.
    """
    centroids = sweep.points.centroids64
    spared = np.zeros(len(centroids), dtype=bool)
    dropped: list[int] = []
    for cell in np.argsort(sweep.margins, kind="stable"):
        if len(dropped) == count:
            break
        if not spared[cell]:
            dropped.append(cell)
            distances = squared_norms(centroids - centroids[cell])
            distances[dropped] = np.inf
            spared[distances.argmin()] = True
    return np.delete(sweep.points.centroids, dropped, axis=0)


def check_enough_rows(rows: int, cells: int) -> None:
    """Refuse more cells than rows that count."""
    if rows < cells:
        raise DataError(
            f"{cells} cells were asked for, but there are {rows} rows with a weight above 0; "
            f"N cannot be larger than the rows: ask for at most {rows} cells."
        )


def _usable_rows(rows: ArrayLike, weights: ArrayLike | None, cells: int) -> Rows:
    values = as_matrix(rows, "rows")
    share = as_weights(weights, len(values))
    used = share > 0
    check_enough_rows(int(used.sum()), cells)
    return Rows(values, share) if used.all() else Rows(values[used], share[used])


def check_settings(cells: int, relative_error: float, max_iterations: int = 1) -> None:
    """Refuse settings of `fit_codebook` that make no sense."""
    for name, number in (("cells", cells), ("max_iterations", max_iterations)):
        if isinstance(number, bool) or not isinstance(number, int | np.integer) or number < 1:
            raise InputError(f"{name} is {number!r}; it must be a whole number of at least 1.")
    if not 0 <= relative_error < math.inf:
        raise InputError(f"relative_error is {relative_error!r}; it must be 0 or above, such as 0.001.")


def _rows_and_points(rows: ArrayLike, centroids: ArrayLike) -> tuple[Floats32, Points]:
    values, places = as_matrix(rows, "rows"), as_matrix(centroids, "centroids")
    if not len(places):
        raise DataError("There are no centroids; at least one is needed.")
    if values.shape[1] != places.shape[1]:
        raise DataError(
            f"The rows have {values.shape[1]} columns and the centroids {places.shape[1]}; "
            "encode the rows with the encoding that the centroids were fitted on."
        )
    return values, Points(places)
