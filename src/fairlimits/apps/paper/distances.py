"""Which cells are alike, by the project's distance and by others, and how differently they are scored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.spatial.distance import pdist, squareform

import fairlimits as fl
from fairlimits._util.types import Floats
from fairlimits.law import cell_distances


def with_distances(dist: fl.CellDistribution, distances: Floats) -> fl.CellDistribution:
    """Return the same cells, compared by other distances."""
    return replace(dist, distances=distances)


def distances_of(dist: fl.CellDistribution) -> Mapping[str, Floats]:
    """Distances between all cells, by several measures.

    "frequencies" is the project's: categories differ by the total variation of their frequencies. "modes" is the
    paper's, word for word: they differ if the most frequent ones do (Hamming). "Euclidean" takes the encoded
    centres as points.
    """
    return {"frequencies": cell_distances(dist), "modes": _by_modes(dist), "Euclidean": _euclidean(dist)}


def _by_modes(dist: fl.CellDistribution) -> Floats:
    encoding, centres = _encoded(dist)
    total = np.zeros((dist.n_cells, dist.n_cells))
    features = 0
    for feature in encoding.features:
        own = centres[:, feature.start : feature.stop]
        if feature.kind == "categorical":
            mode = own.argmax(axis=1)
            total += mode[:, None] != mode[None, :]
        else:
            total += np.abs(own - own.T)
        # That a number is missing belongs to the number's own difference, and is not a further feature.
        features += feature.kind != "missing"
    return np.asarray(total / features)


def _euclidean(dist: fl.CellDistribution) -> Floats:
    encoding, centres = _encoded(dist)
    return np.asarray(squareform(pdist(centres)) / np.sqrt(len(encoding.features)))


def _encoded(dist: fl.CellDistribution) -> tuple[Any, Floats]:
    if dist.encoding is None or dist.centroids is None:
        raise fl.InputError("Distances by other measures need the cells' centres; make the cells with discretize.")
    return dist.encoding, np.asarray(dist.centroids, dtype=np.float64)


def neighbour_differences(dist: fl.CellDistribution, scores: Floats) -> Floats:
    """Differences of scores between neighbouring cells, the nearest 3.5% of all pairs."""
    distances = cell_distances(dist)
    first, second = np.triu_indices(dist.n_cells, 1)
    apart = distances[first, second]
    filled = dist.p() > 0
    near = (apart <= np.percentile(apart, fl.Neighbourhood().percentile)) & filled[first] & filled[second]
    return np.asarray(np.abs(scores[first[near]] - scores[second[near]]))
