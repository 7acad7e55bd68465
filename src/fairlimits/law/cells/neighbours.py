r"""Which cells are alike: the mixed distance between cells and the pairs that individual fairness compares.

The distance of two cells is the mean over features of

- :math:`|x_i - x_j|` for a number, scaled to variance 1/2; where some are missing, the median stands in for them,
  and the difference between the cells' shares of missing values comes on top,
- the total variation :math:`\frac12 \sum_c |f_i(c) - f_j(c)|` between the cells' category frequencies,
  which is the Hamming distance when both cells are pure.

Cells within :math:`\eta` of each other are neighbours, and
:math:`e^{-\theta d_{ij}^2} |t_i - t_j| \le \epsilon` must hold for their scores.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal, get_args
from weakref import WeakKeyDictionary

import numpy as np
from scipy.spatial.distance import cdist, pdist, squareform

from fairlimits._util.states import Checked
from fairlimits._util.types import Floats, Ints
from fairlimits.data import Encoding
from fairlimits.errors import InputError
from fairlimits.law.cells.distributions import CellDistribution
from fairlimits.law.cells.pairwise import CityBlock, Distances, Given, pairs_within, pairs_within_percentile

Mode = Literal["mean", "each", "all", "paper"]

# Beyond, whole numbers are no floats.
_LARGEST = 2**1000

MOST_CELLS = 16_384
"""Cells that are all compared with each other, 134 million pairs; beyond, give the neighbours as a sparse graph."""


@dataclass(frozen=True)
class Neighbourhood(Checked):
    """Which cells individual fairness compares, and how strictly.

    Parameters
    ----------
    percentile : float, default=3.5
        Two cells are neighbours if their distance is at most this percentile of all distances.
    eta : float, optional
        The largest distance between neighbours; overrides the percentile.
    theta : float, default=1.0
        How fast the constraint loosens with distance.
    mode : {"mean", "each", "all", "paper"}, default="mean"
        What is compared when the rule sees the group. "mean": the average score of a cell's people. "each":
        the scores of each group by themselves. "all": the scores of every group with those of every group,
        in the same cell too, so that like people of two groups are decided alike. "paper": the paper's
        weighting by P(X | A), which is almost no constraint; for reproduction only.

    Examples
    --------
    >>> import fairlimits as fl
    >>> dist = fl.CellDistribution.from_mass([[[2, 1], [1, 0]], [[0, 1], [2, 3]]], distances=[[0.0, 0.1], [0.1, 0.0]])
    >>> alike = fl.Neighbourhood(eta=0.2, theta=1.0)
    >>> rule = fl.solve(dist, {"IF": 0.25}, neighbours=alike)
    >>> round(rule.gaps["IF"], 3)
    0.25
    """

    percentile: float = 3.5
    eta: float | None = None
    theta: float = 1.0
    mode: Mode = "mean"

    def __post_init__(self) -> None:
        for name in ("percentile", "eta", "theta"):
            value = getattr(self, name)
            if name == "eta" and value is None:
                continue
            if isinstance(value, bool) or not isinstance(value, int | float | np.number):
                raise InputError(f"{name} is {value!r}; give a number.")
            if isinstance(value, int) and abs(value) > _LARGEST:
                raise InputError(f"{name} is too large a whole number; give one that a float can hold.")
        if not 0 <= self.percentile <= 100:
            raise InputError(f"The percentile is {self.percentile}; it must lie between 0 and 100.")
        if self.eta is not None and not (math.isfinite(self.eta) and self.eta >= 0):
            raise InputError(f"eta is {self.eta}; it must be a distance of at least 0.")
        if not (math.isfinite(self.theta) and self.theta >= 0):
            raise InputError(f"theta is {self.theta}; it must be a number of at least 0.")
        if self.mode not in get_args(Mode):
            raise InputError(f"The mode is {self.mode!r}; it must be one of {', '.join(get_args(Mode))}.")

    def to_dict(self) -> dict[str, Any]:
        """Return the neighbourhood as plain data."""
        return {"percentile": self.percentile, "eta": self.eta, "theta": self.theta, "mode": self.mode}


@dataclass(frozen=True, eq=False)
class Pairs:
    """Pairs of cells i < j that are neighbours.

    Parameters
    ----------
    first, second : ndarray of int of shape (B,)
        The cells.
    distance : ndarray of shape (B,)
        Their distance.
    """

    first: Ints
    second: Ints
    distance: Floats


def can_compare(dist: CellDistribution) -> bool:
    """Whether the cells of a distribution can be compared with each other."""
    if dist.distances is not None:
        return True
    return dist.centroids is not None and dist.n_cells <= MOST_CELLS


def cell_distances(dist: CellDistribution) -> Floats:
    """Distances between all cells, as an (N, N) array."""
    if isinstance(dist.distances, np.ndarray):
        return dist.distances
    return np.asarray(squareform(pdist(_points(dist), "cityblock")))


# Sweeps solve many programs on one distribution; its pairs are the same for all of them.
_known: WeakKeyDictionary[CellDistribution, dict[Neighbourhood, Pairs]] = WeakKeyDictionary()


def neighbour_pairs(dist: CellDistribution, neighbourhood: Neighbourhood) -> Pairs:
    """Pairs of cells that are neighbours and both have mass.

    Parameters
    ----------
    dist : CellDistribution
    neighbourhood : Neighbourhood

    Returns
    -------
    Pairs
    """
    known = _known.setdefault(dist, {})
    if neighbourhood not in known:
        known[neighbourhood] = _find_pairs(dist, neighbourhood)
    return known[neighbourhood]


def nearest_cell(dist: CellDistribution, cells: Ints, among: Ints) -> Ints | None:
    """For each of `cells` the nearest one `among` others; None where distances are not known for all."""
    if isinstance(dist.distances, np.ndarray):
        return np.asarray(among[dist.distances[np.ix_(cells, among)].argmin(axis=1)])
    if dist.centroids is None or dist.encoding is None:
        return None
    weighted = _weighted_centroids(dist.centroids, dist.encoding)
    return np.asarray(among[cdist(weighted[cells], weighted[among], "cityblock").argmin(axis=1)])


def _find_pairs(dist: CellDistribution, neighbourhood: Neighbourhood) -> Pairs:
    if not can_compare(dist):
        why = "none" if dist.centroids is None else f"more than {MOST_CELLS:,} cells"
        raise InputError(
            f"Individual fairness needs distances between cells, and this distribution has {why}; "
            "pass distances= to CellDistribution.from_mass, or use discretize with fewer cells."
        )
    eta = neighbourhood.eta
    if dist.distances is not None and not isinstance(dist.distances, np.ndarray):
        # A sparse graph names the neighbours itself; a percentile of distances it lacks has no meaning.
        first, second = (np.asarray(axis, dtype=np.int64) for axis in dist.distances.coords)
        distance: Floats = dist.distances.data
        near = np.arange(len(distance)) if eta is None else np.flatnonzero(distance <= eta)
        first, second, distance = first[near], second[near], distance[near]
    else:
        distances = _distances(dist)
        first, second, distance = (
            pairs_within_percentile(distances, neighbourhood.percentile)
            if eta is None
            else pairs_within(distances, eta)
        )
    filled = dist.mass.sum(axis=(1, 2)) > 0
    keep = filled[first] & filled[second]
    return Pairs(first[keep], second[keep], distance[keep])


def _distances(dist: CellDistribution) -> Distances:
    if isinstance(dist.distances, np.ndarray):
        return Given(dist.distances)
    return CityBlock(_points(dist))


def _points(dist: CellDistribution) -> Floats:
    """Points between which the city-block distance is the mixed distance of the cells."""
    if dist.centroids is None or dist.encoding is None:
        raise InputError("The distances of all cells are needed, and this distribution does not have them.")
    return _weighted_centroids(dist.centroids, dist.encoding)


def _weighted_centroids(centroids: Any, encoding: Encoding) -> Floats:
    """Centroids scaled so that the city-block distance between them is the mixed distance."""
    weights = np.ones(encoding.n_columns)
    for feature in encoding.features:
        if feature.kind == "categorical":
            # Entries are frequencies times sqrt(1/2); half the sum of frequency differences is wanted.
            weights[feature.start : feature.stop] = math.sqrt(0.5)
    # That a number is missing belongs to the number's own difference, and is not a further feature.
    features = sum(feature.kind != "missing" for feature in encoding.features)
    return np.asarray(centroids, dtype=np.float64) * weights / features
