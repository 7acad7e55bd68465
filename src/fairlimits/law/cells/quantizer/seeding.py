"""Where the cells of a codebook start: a sample of the rows, its distinct points, and D^2 sampling among them."""

from __future__ import annotations

import math

import numpy as np

from fairlimits._util.types import Floats, Ints
from fairlimits.errors import DataError
from fairlimits.law.cells.quantizer.nearest import Floats32, squared_norms
from fairlimits.law.cells.quantizer.rows import Rows

_SAMPLE_ROWS_PER_CELL = 64
_SAMPLE_LEAST, _SAMPLE_MOST = 65_536, 131_072
_SEEDING_ROWS_PER_CELL, _SEEDING_LEAST = 4, 8_192


def distinct_points(rows: Rows, cells: int, rng: np.random.Generator) -> tuple[Rows, Rows]:
    """Return rows to fit, and at least `cells` distinct points among them to start from.

    The points are those of a sample. If none is needed, or if it has too few distinct points, they are all distinct
    points, with their weights, and replace the rows.
    """
    size = sample_size(cells)
    if len(rows.values) > size:
        points = merged([_sampled(rows, size, rng)])
        if len(points.values) >= cells:
            return rows, points
    parts = (slice(start, start + size) for start in range(0, len(rows.values), size))
    points = merged([merged([Rows(rows.values[part], rows.weights[part])]) for part in parts])
    check_distinct(points, cells)
    return points, points


def sample_size(cells: int) -> int:
    """Return the size of the sample in which the start for a number of cells is searched."""
    return min(max(_SAMPLE_ROWS_PER_CELL * cells, _SAMPLE_LEAST), _SAMPLE_MOST)


def check_distinct(points: Rows, cells: int) -> None:
    """Refuse more cells than distinct points."""
    if len(points.values) < cells:
        raise DataError(
            f"{cells} cells were asked for, but the rows have {len(points.values)} distinct points "
            f"and each cell needs one of its own; ask for at most {len(points.values)} cells."
        )


def seed(points: Rows, cells: int, rng: np.random.Generator) -> Floats32:
    """Greedy D^2 sampling: each centroid is the best of a few points drawn in proportion to weight times D^2.

    The points must be distinct; then the centroids are.
    """
    size = max(_SEEDING_ROWS_PER_CELL * cells, _SEEDING_LEAST)
    if len(points.values) > size:
        chosen = np.sort(rng.choice(len(points.values), size, replace=False))
        points = Rows(points.values[chosen], points.weights[chosen])
    values = points.values - points.values.mean(axis=0, dtype=np.float64).astype(np.float32)
    norms = squared_norms(values.astype(np.float64))
    trials = 2 + int(math.log(cells))
    taken = np.empty(cells, dtype=np.int64)
    nearest = np.full(len(values), np.inf)
    potential = points.weights
    for turn in range(cells):
        if potential.any():
            candidates = _drawn(potential, trials, rng)
        else:  # the points left differ from those taken by less than rounding
            candidates = np.setdiff1d(np.arange(len(values)), taken[:turn])[:1]
        distances = norms[:, None] + norms[candidates] - 2 * (values @ values[candidates].T)
        distances = np.minimum(np.maximum(distances, 0), nearest[:, None])
        best = int((points.weights @ distances).argmin())
        taken[turn] = candidates[best]
        nearest = distances[:, best]
        nearest[taken[turn]] = 0  # rounding may leave more
        potential = points.weights * nearest
    return points.values[taken]


def _sampled(rows: Rows, size: int, rng: np.random.Generator) -> Rows:
    """Return rows drawn by weight, one from each of `size` equal shares of the total weight."""
    ends = np.cumsum(rows.weights)
    index, weights = drawn_at(sample_marks(float(ends[-1]), size, rng), ends)
    return Rows(rows.values[index], weights)


def sample_marks(total: float, size: int, rng: np.random.Generator) -> Floats:
    """Draw one mark in each of `size` equal shares of a total weight, in ascending order."""
    marks: Floats = (np.arange(size) + rng.random(size)) * (total / size)
    return marks


def drawn_at(marks: Floats, ends: Floats) -> tuple[Ints, Floats]:
    """Return the rows that marks fall on, by the running sums of weights `ends`, and how many fall on each."""
    drawn = np.minimum(np.searchsorted(ends, marks, side="right"), len(ends) - 1)
    index, times = np.unique(drawn, return_counts=True)
    return index, times.astype(np.float64)


def merged(parts: list[Rows]) -> Rows:
    """Return the distinct rows of all parts, each with the sum of its weights."""
    values = np.concatenate([part.values for part in parts]) + np.float32(0)  # -0 and 0 are one value
    weights = np.concatenate([part.weights for part in parts])
    keys = values.view(np.dtype((np.void, values.itemsize * values.shape[1]))).ravel()
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    merged: Floats = np.bincount(inverse.ravel(), weights).astype(np.float64)
    return Rows(values[first], merged)


def _drawn(potential: Floats, count: int, rng: np.random.Generator) -> Ints:
    """Return indices drawn in proportion to `potential`; none of potential 0."""
    ends = np.cumsum(potential)
    index = np.searchsorted(ends, rng.random(count) * ends[-1], side="right")
    drawn: Ints = np.minimum(index, np.flatnonzero(potential)[-1])
    return drawn
