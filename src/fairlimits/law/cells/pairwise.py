"""Pairs of points that are close to each other, found by blocks of distances, never all at once."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple, Protocol

import numpy as np
from scipy.spatial.distance import cdist

from fairlimits._util.types import Floats, Ints

_BLOCK = 1 << 20  # distances held at a time: 8 MB
_SAMPLE = 1 << 16  # pairs that a percentile is estimated from


class Distances(Protocol):
    """Distances between points, computed as needed."""

    def __len__(self) -> int:
        """Count the points."""
        ...

    def block(self, rows: slice, columns: slice) -> Floats:
        """Return the distances of some points to some others."""
        ...

    def between(self, first: Ints, second: Ints) -> Floats:
        """Return the distances of single pairs."""
        ...


class CityBlock:
    """City-block distances of points.

    Parameters
    ----------
    points : ndarray of shape (N, d)
    """

    def __init__(self, points: Floats) -> None:
        self._points = points

    def __len__(self) -> int:
        return len(self._points)

    def block(self, rows: slice, columns: slice) -> Floats:
        """Return the distances of some points to some others."""
        return np.asarray(cdist(self._points[rows], self._points[columns], "cityblock"))

    def between(self, first: Ints, second: Ints) -> Floats:
        """Return the distances of single pairs."""
        total = np.zeros(len(first))
        for column in self._points.T:  # all columns at once would be an array of pairs times columns
            total += np.abs(column[first] - column[second])
        return total


class Given:
    """Distances that are given as an array.

    Parameters
    ----------
    distances : ndarray of shape (N, N)
    """

    def __init__(self, distances: Floats) -> None:
        self._distances = distances

    def __len__(self) -> int:
        return len(self._distances)

    def block(self, rows: slice, columns: slice) -> Floats:
        """Return the distances of some points to some others."""
        return self._distances[rows, columns]

    def between(self, first: Ints, second: Ints) -> Floats:
        """Return the distances of single pairs."""
        return np.asarray(self._distances[first, second])


class Found(NamedTuple):
    """Pairs i < j in ascending order, shape (B,) each, and their distances."""

    first: Ints
    second: Ints
    distance: Floats


def pairs_within(distances: Distances, radius: float) -> Found:
    """Return the pairs of points that are at most `radius` apart."""
    return _pairs_below(distances, math.nextafter(radius, math.inf))[0]


def pairs_within_percentile(distances: Distances, percentile: float) -> Found:
    """Return the pairs of points whose distance is at most a percentile, as by `numpy.percentile`, of all distances.

    A bound a little above the percentile is estimated from a sample, and the pairs below it are collected. If the
    percentile is not among them, the next bound is higher.
    """
    pairs = len(distances) * (len(distances) - 1) // 2
    if not pairs:
        return pairs_within(distances, 0.0)
    rank = (pairs - 1) * (float(percentile) / 100)
    lower, upper = math.floor(rank), math.ceil(rank)
    for bound in _bounds(distances, pairs, float(percentile) / 100):
        found, equal = _pairs_below(distances, bound)
        if len(found.distance) + equal > upper:
            break
    ends = _at_ranks(found.distance, (lower, upper), bound)
    # Interpolated between the two values next to the rank, as numpy does on all distances, to the last bit.
    radius = float(np.quantile(ends, rank - lower))
    if radius >= bound:
        # Pairs exactly at the bound were only counted: there may be many of them, and they are seldom wanted.
        return pairs_within(distances, radius)
    near = found.distance <= radius
    return Found(found.first[near], found.second[near], found.distance[near])


def _bounds(distances: Distances, pairs: int, share: float) -> Iterator[float]:
    """Yield rising bounds that very likely exceed a quantile of all distances; the last one certainly does."""
    if pairs > _BLOCK:
        rng = np.random.default_rng(0)
        first = rng.integers(len(distances), size=_SAMPLE)
        second = (first + rng.integers(1, len(distances), size=_SAMPLE)) % len(distances)
        sample = np.sort(distances.between(first, second))
        # Six standard deviations above the share, and a few pairs more where the share is next to 0.
        while (beyond := share + 6 * math.sqrt(share / _SAMPLE) + 9 / _SAMPLE) < 1:
            yield float(sample[int(beyond * _SAMPLE)])
            share = 2 * beyond
    yield math.inf


def _pairs_below(distances: Distances, bound: float) -> tuple[Found, int]:
    """Return the pairs that are less than `bound` apart, and how many are exactly `bound` apart."""
    size = len(distances)
    blocks: list[Found] = []
    equal = start = 0
    while start < size:
        stop = min(size, start + max(1, _BLOCK // (size - start)))
        found, ties = _block_below(distances, slice(start, stop), bound)
        blocks.append(found)
        equal += ties
        start = stop
    return Found(*(np.concatenate(parts) for parts in zip(*blocks, strict=True))), equal


def _block_below(distances: Distances, rows: slice, bound: float) -> tuple[Found, int]:
    block = distances.block(rows, slice(rows.start, len(distances)))
    near, at = block < bound, block == bound
    for flags in (near, at):  # each pair once
        square = flags[:, : len(flags)]
        square[:] = np.triu(square, 1)
    first, second = np.nonzero(near)
    return Found(first + rows.start, second + rows.start, block[near]), int(np.count_nonzero(at))


def _at_ranks(values: Floats, ranks: tuple[int, int], beyond: float) -> list[float]:
    """Return the values of some ranks, from 0 for the smallest; `beyond` for ranks past the last value."""
    there = [rank for rank in ranks if rank < len(values)]
    ordered = np.partition(values, there) if there else values
    return [float(ordered[rank]) if rank < len(values) else beyond for rank in ranks]
