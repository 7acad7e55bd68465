"""Where the cells of a codebook start: a sample of the rows, its distinct points, and D^2 sampling among them."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from fairlimits._nearest import Floats32, squared_norms
from fairlimits.arrays import Floats, Ints
from fairlimits.errors import DataError

_SAMPLE_ROWS_PER_CELL = 64
_SAMPLE_LEAST, _SAMPLE_MOST = 65_536, 131_072
_SEEDING_ROWS_PER_CELL, _SEEDING_LEAST = 4, 8_192


class Rows(NamedTuple):
    """Rows, shape (n, d), and their weights, shape (n,), all above 0."""

    values: Floats32
    weights: Floats


def distinct_points(rows: Rows, cells: int, rng: np.random.Generator) -> tuple[Rows, Rows]:
    """Rows to fit, and distinct points among them to start from, at least `cells`.

    The points are those of a sample. If there is no need of one, or if it has too few, the points are all there
    are, with their weights, and stand for the rows.
    """
    size = min(max(_SAMPLE_ROWS_PER_CELL * cells, _SAMPLE_LEAST), _SAMPLE_MOST)
    if len(rows.values) > size:
        points = _merged([_sampled(rows, size, rng)])
        if len(points.values) >= cells:
            return rows, points
    parts = (slice(start, start + size) for start in range(0, len(rows.values), size))
    points = _merged([_merged([Rows(rows.values[part], rows.weights[part])]) for part in parts])
    if len(points.values) < cells:
        raise DataError(
            f"{cells} cells were asked for, but the rows have {len(points.values)} distinct points "
            f"and each cell needs one of its own; ask for at most {len(points.values)} cells."
        )
    return points, points


def seed(points: Rows, cells: int, rng: np.random.Generator) -> Floats32:
    """Greedy D^2 sampling: each centroid is the best of a few points drawn with chance weight times D^2.

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
        else:  # what is left differs from points taken by less than rounding
            candidates = np.setdiff1d(np.arange(len(values)), taken[:turn])[:1]
        distances = norms[:, None] + norms[candidates] - 2 * (values @ values[candidates].T)
        distances = np.minimum(np.maximum(distances, 0), nearest[:, None])
        best = int((points.weights @ distances).argmin())
        taken[turn] = candidates[best]
        nearest = distances[:, best]
        nearest[taken[turn]] = 0  # rounding may say otherwise
        potential = points.weights * nearest
    return points.values[taken]


def _sampled(rows: Rows, size: int, rng: np.random.Generator) -> Rows:
    """Rows drawn by weight, one from each of `size` equal shares of the total weight."""
    ends = np.cumsum(rows.weights)
    marks = (np.arange(size) + rng.random(size)) * (ends[-1] / size)
    drawn = np.minimum(np.searchsorted(ends, marks, side="right"), len(ends) - 1)
    index, times = np.unique(drawn, return_counts=True)
    weights: Floats = times.astype(np.float64)
    return Rows(rows.values[index], weights)


def _merged(parts: list[Rows]) -> Rows:
    """Distinct rows of all parts, each with the sum of its weights."""
    values = np.concatenate([part.values for part in parts]) + np.float32(0)  # -0 and 0 are one value
    weights = np.concatenate([part.weights for part in parts])
    keys = values.view(np.dtype((np.void, values.itemsize * values.shape[1]))).ravel()
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    merged: Floats = np.bincount(inverse.ravel(), weights).astype(np.float64)
    return Rows(values[first], merged)


def _drawn(potential: Floats, count: int, rng: np.random.Generator) -> Ints:
    """Indices drawn in proportion to `potential`; none of potential 0."""
    ends = np.cumsum(potential)
    index = np.searchsorted(ends, rng.random(count) * ends[-1], side="right")
    drawn: Ints = np.minimum(index, np.flatnonzero(potential)[-1])
    return drawn
