"""The free scores of a rule: which cells (and groups) have mass, and what individual fairness compares."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from fairlimits._util.types import Flags, Floats, Ints
from fairlimits.law import CellDistribution, Neighbourhood, nearest_cell, neighbour_pairs
from fairlimits.solvers import PairConstraints


class Variables:
    """Which scores are free: those of cells (and groups) that have mass.

    Parameters
    ----------
    dist : CellDistribution
    aware : bool
        Whether the rule sees the group, and so has a score for each cell and group.
    """

    def __init__(self, dist: CellDistribution, aware: bool) -> None:
        self.dist, self.aware = dist, aware
        gain = dist.mass[:, :, 1] - dist.mass[:, :, 0]
        held = dist.mass.sum(axis=2)
        self.filled: Flags = held > 0 if aware else held.sum(axis=1) > 0
        self.cost: Floats = gain[self.filled] if aware else gain.sum(axis=1)[self.filled]
        self.mass: Floats = held[self.filled] if aware else held.sum(axis=1)[self.filled]
        self.base = float(dist.mass[:, :, 0].sum())
        self.cell: Ints = np.nonzero(self.filled)[0].astype(np.int64)
        self.group: Ints | None = np.nonzero(self.filled)[1].astype(np.int64) if aware else None

    def __len__(self) -> int:
        return len(self.cost)

    def accuracy(self, x: Floats) -> float:
        """Return the accuracy of scores of the variables."""
        return self.base + float(self.cost @ x)

    def coefficients(self, by_group: Floats) -> Floats:
        """Return coefficients (G, N) of group-wise scores as coefficients (G, n) of the variables."""
        if self.group is None:
            return by_group[:, self.filled]
        row = np.zeros((by_group.shape[0], len(self)))
        row[self.group, np.arange(len(self))] = by_group[self.group, self.cell]
        return row

    def forms(self, by_group: Floats) -> Floats:
        """Return linear forms (m, G, N) of group-wise scores as forms (m, n) of the variables."""
        if self.group is None:
            return np.asarray(by_group.sum(axis=1)[:, self.filled])
        return np.asarray(by_group[:, self.group, self.cell])

    def expand(self, x: Floats) -> Floats:
        """Return scores of all cells, of shape (..., N) or (..., N, G), from those of the variables, (..., n).

        A cell and group without mass takes the cell's mean score; a cell without mass takes the scores of
        its nearest cell, or the mean score of all people where distances are not known.
        """
        shape = self.filled.shape if self.aware else (*self.filled.shape, 1)
        scores = np.zeros((*x.shape[:-1], *shape))
        scores[..., self.filled.reshape(shape)] = x
        held = self.dist.mass.sum(axis=2)
        if not self.aware:
            held = held.sum(axis=1, keepdims=True)
        total = held.sum(axis=1)
        if self.aware:
            share = held / np.where(total > 0, total, 1)[:, None]
            mean = (scores * share).sum(axis=-1, keepdims=True)
            scores = np.where(self.filled, scores, mean)
        empty = np.flatnonzero(total == 0)
        if len(empty):
            nearest = nearest_cell(self.dist, empty, np.flatnonzero(total > 0))
            if nearest is not None:
                scores[..., empty, :] = scores[..., nearest, :]
            else:
                scores[..., empty, :] = (scores * held).sum(axis=(-1, -2))[..., None, None]
        # A mean of ones can be a rounding error above 1.
        np.clip(scores, 0, 1, out=scores)
        return scores if self.aware else scores[..., 0]

    def compare(self, neighbourhood: Neighbourhood) -> PairConstraints:
        """Return the constraints of individual fairness: which scores it compares, and how strictly."""
        pairs = neighbour_pairs(self.dist, neighbourhood)
        first, second, distance = pairs.first, pairs.second, pairs.distance
        n = len(self)
        if self.group is None or neighbourhood.mode in ("mean", "paper"):
            held = self.dist.mass.sum(axis=2)
            total = held.sum(axis=0 if neighbourhood.mode == "paper" else 1, keepdims=True)
            weight = np.ones(n) if self.group is None else (held / np.where(total > 0, total, 1))[self.filled]
            forms = sp.csr_array((weight, (self.cell, np.arange(n))), shape=(self.dist.n_cells, n))
        else:
            forms = sp.csr_array(sp.identity(n, format="csr"))
            first, second, distance = self._pairs_of_groups(first, second, distance, neighbourhood.mode == "all")
        with np.errstate(over="ignore"):
            # Multiplied in this order, theta = 0 compares all alike, however far apart.
            looseness = np.exp((np.sqrt(neighbourhood.theta) * distance) ** 2)
        binding = np.isfinite(looseness)
        return PairConstraints(forms, first[binding], second[binding], looseness[binding])

    def _pairs_of_groups(self, first: Ints, second: Ints, distance: Floats, across: bool) -> tuple[Ints, Ints, Floats]:
        """Return pairs of cells as pairs of variables: within each group, or also `across` groups."""
        groups = range(self.dist.n_groups)
        at = np.full(self.filled.shape, -1, dtype=np.int64)
        at[self.filled] = np.arange(len(self))
        parts = [(at[first, g], at[second, h], distance) for g in groups for h in groups if across or g == h]
        if across:
            same = np.zeros(self.dist.n_cells)
            parts += [(at[:, g], at[:, h], same) for g in groups for h in groups if g < h]
        i, j, d = (np.concatenate(part) for part in zip(*parts, strict=True))
        both = (i >= 0) & (j >= 0)
        return i[both], j[both], d[both]
