r"""The codebook of cells: N centroids that stand for the rows with the least mean squared distance.

For rows :math:`x_1 .. x_n` with weights :math:`w_k`, and centroids :math:`c_1 .. c_N`, the distortion is

.. math:: D = \frac{\sum_k w_k \min_j |x_k - c_j|^2}{\sum_k w_k} .

Lloyd's iteration (the LBG algorithm of Linde, Buzo and Gray, 1980) moves every centroid to the mean of the
rows that are nearest to it, which cannot raise D, until a pass lowers D by less than a given share. Where it
ends depends on where it starts, so the start is drawn by D^2 sampling (k-means++, Arthur and Vassilvitskii,
2007) and then mended: the cells of largest error are split in two, and as many centroids as that made too many,
those that are missed least, are dropped again (as in Fritzke's breathing k-means, 2020).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairlimits._nearest import Floats32, Points, Sweep, Workers, nearest_labels, squared_norms
from fairlimits._seeding import Rows, distinct_points, seed
from fairlimits.arrays import Floats, Ints
from fairlimits.errors import DataError, InputError
from fairlimits.progress import Progress, silent

DEFAULT_RELATIVE_ERROR = 1e-3


_SPLIT_SHARE = 4  # the first rounds of mending split one cell in so many,
_SPLIT_DECAY = 4  # and later ones so many times fewer, as soon as that gains little
_SPLIT_OFFSET = 0.1  # of the cell's own standard deviation
_MENDING_ERROR = 2e-3  # what little means: finer gains are Lloyd's work
_LARGEST = 1e15  # squares of larger values leave single precision


@dataclass(frozen=True, eq=False)
class Codebook:
    """Centroids of the cells, and how they were found.

    Attributes
    ----------
    centroids : ndarray of float32, shape (N, d)
        One centroid a cell; at least one row is nearest to each.
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
        Largest number of Lloyd passes over all rows, and of each run on the sample before.
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
    Start and mending work on a sample, drawn by weight, of 64 rows a cell (at least 65,536 and at most
    131,072); Lloyd's iteration over all rows follows. A centroid that loses its last row is placed on the row
    farthest from its centroid in a cell of large error.
    """
    _check_settings(cells, relative_error, max_iterations)
    taken = _usable_rows(rows, weights, cells)
    report = progress or silent
    rng = np.random.default_rng(random_state)
    with Workers() as workers:
        report(0.0, "seeding cells")
        taken, points = distinct_points(taken, cells, rng)
        lloyd = _Lloyd(workers, max(relative_error, _MENDING_ERROR), max_iterations)
        run = lloyd.run(points, seed(points, cells, rng))
        run = _mend(run, points, lloyd, rng, report)
        last = replace(lloyd, relative_error=relative_error, report=report)
        run = last.run(taken, run.sweep.points.centroids)
    report(1.0, "cells found")
    return Codebook(run.sweep.points.centroids, run.sweep.distortion, run.iterations, run.converged)


def assign(rows: ArrayLike, centroids: ArrayLike) -> Ints:
    """Index of the centroid nearest to each row.

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
    """Weighted mean squared distance of the rows to their nearest centroid.

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
    share = _weights(weights, len(values))
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

    def run(self, rows: Rows, start: Floats32) -> _Run:
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
                converged = True  # only the rounding of centroids is left; the earlier ones are no worse
                break
            now = after
            converged = gain <= self.relative_error * now.distortion and not now.empty.size
            if self.report:
                self.report(1 - 0.4 * 0.7**iterations, f"pass {iterations}, distortion {now.distortion:.6g}")
        while now.empty.size:
            # Every seed lies off its centroid, so each turn lowers the distortion strictly: this ends.
            now = self._sweep(rows, _reseeded(rows, now, now.points.centroids))
        return _Run(now, iterations, converged)

    def _sweep(self, rows: Rows, centroids: Floats32) -> Sweep:
        return self.workers.sweep(rows.values, rows.weights, Points(centroids))


def _moved(rows: Rows, sweep: Sweep) -> Floats32:
    """Centroids at the means of their cells, and those of empty cells at seeds."""
    centroids = sweep.points.centroids.copy()
    filled = sweep.mass > 0
    centroids[filled] = sweep.sums[filled] / sweep.mass[filled, None]
    return _reseeded(rows, sweep, centroids) if sweep.empty.size else centroids


def _reseeded(rows: Rows, sweep: Sweep, centroids: Floats32) -> Floats32:
    """Place each empty cell's centroid on the farthest row of a cell, those of largest error first.

    At most one seed a cell is taken: equal rows share a cell, so no two seeds are equal. Empty cells that are
    left over have their turn after the next assignment.
    """
    centroids = centroids.copy()
    empty = list(sweep.empty)
    for cell in np.argsort(-sweep.errors, kind="stable"):
        if not empty:
            break
        members = np.flatnonzero(sweep.labels == cell)
        distances = squared_norms(rows.values[members] - centroids[cell].astype(np.float64))
        if distances.size and distances.max() > 0:
            centroids[empty.pop(0)] = rows.values[members[distances.argmax()]]
    return centroids


def _mend(run: _Run, points: Rows, lloyd: _Lloyd, rng: np.random.Generator, report: Progress) -> _Run:
    """Move centroids from where they are missed least to where the error is largest, while that pays.

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
    """Give each of the `count` cells of largest error a second centroid, a little aside of its own."""
    centroids = sweep.points.centroids
    worst = np.argsort(-sweep.errors, kind="stable")[:count]
    spread = np.sqrt(sweep.errors[worst] / sweep.mass[worst] / centroids.shape[1])
    aside = _SPLIT_OFFSET * spread[:, None] * rng.standard_normal((count, centroids.shape[1]))
    return np.concatenate([centroids, (centroids[worst] + aside).astype(np.float32)])


def _thinned(sweep: Sweep, count: int) -> Floats32:
    """Drop the `count` centroids that are missed least.

    A dropped centroid's rows fall to its neighbours. The nearest of them is then missed more than it seemed: it
    is kept.
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
    values = _matrix(rows, "rows")
    share = _weights(weights, len(values))
    used = share > 0
    check_enough_rows(int(used.sum()), cells)
    return Rows(values, share) if used.all() else Rows(values[used], share[used])


def _check_settings(cells: int, relative_error: float, max_iterations: int) -> None:
    for name, number in (("cells", cells), ("max_iterations", max_iterations)):
        if isinstance(number, bool) or not isinstance(number, int | np.integer) or number < 1:
            raise InputError(f"{name} is {number!r}; it must be a whole number of at least 1.")
    if not 0 <= relative_error < math.inf:
        raise InputError(f"relative_error is {relative_error!r}; it must be 0 or above, such as 0.001.")


def _rows_and_points(rows: ArrayLike, centroids: ArrayLike) -> tuple[Floats32, Points]:
    values, places = _matrix(rows, "rows"), _matrix(centroids, "centroids")
    if not len(places):
        raise DataError("There are no centroids; at least one is needed.")
    if values.shape[1] != places.shape[1]:
        raise DataError(
            f"The rows have {values.shape[1]} columns and the centroids {places.shape[1]}; "
            "encode the rows with the encoding that the centroids were fitted on."
        )
    return values, Points(places)


def _matrix(given: ArrayLike, name: str) -> Floats32:
    try:
        with np.errstate(over="ignore"):  # what overflows becomes infinite and is refused below
            matrix = np.ascontiguousarray(given, dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise DataError(f"The {name} are not numbers ({error}); encode them first.") from error
    if matrix.ndim != 2 or matrix.shape[1] == 0:
        raise DataError(f"The {name} have shape {matrix.shape}; a table of one or more columns is needed.")
    if matrix.size and not (matrix.min() >= -_LARGEST and matrix.max() <= _LARGEST):  # so also for NaN
        bad = np.flatnonzero(~(np.abs(matrix) <= _LARGEST).all(axis=1))
        raise DataError(
            f"{len(bad)} of the {len(matrix)} {name}, the first at index {bad[0]}, hold values that are not "
            f"finite or beyond {_LARGEST:g}; fill or drop missing values, and scale large ones."
        )
    return matrix


def _weights(given: ArrayLike | None, rows: int) -> Floats:
    if given is None:
        return np.ones(rows)
    weights = np.asarray(given, dtype=np.float64)
    if weights.shape != (rows,):
        raise DataError(f"The weights have shape {weights.shape}; one a row is needed, shape ({rows},).")
    bad = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    if bad.size:
        raise DataError(
            f"{len(bad)} weights, the first at index {bad[0]}, are negative or not finite; each must be 0 or above."
        )
    return weights
