r"""The Laplacian of a weighted graph, and its maximum spanning tree as a preconditioner.

A graph with edge weights :math:`w_{ij} > 0` whose nodes are tied to the ground by :math:`d_i > 0` has the symmetric
positive definite matrix

.. math:: M = \mathrm{diag}(d) + \sum_{ij} w_{ij} (e_i - e_j)(e_i - e_j)^T ,

its Laplacian with the ground as one more node, removed. Near the optimum of a linear program whose constraints are
differences of two variables, the weights of an interior-point iteration differ by many orders of magnitude, and the
edges with huge ones form a forest, as in network flow. The matrix T of the maximum spanning tree then holds nearly all
of M, the eigenvalues of :math:`T^{-1} M` cluster, and conjugate gradients preconditioned by T need few iterations
(Resende and Veiga, 1993). T is factorised without fill-in, leaves first; a solve is one sweep up and one down the tree.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import breadth_first_order, connected_components, minimum_spanning_tree
from scipy.sparse.linalg import splu

from fairlimits._util.types import Flags, Floats, Ints

Linear = Callable[[Floats], Floats]

# Heaviest edges, per point, among which the spanning tree is looked for first: sorting all edges would cost more than
# everything else, and the heaviest few connect nearly all nodes.
_HEAVY = 16


class Graph:
    """Points and edges whose weights change.

    Parameters
    ----------
    n_points : int
    first, second : ndarray of int
        The two points of each edge.
    """

    def __init__(self, n_points: int, first: Ints, second: Ints) -> None:
        self.n_points, self.first, self.second = n_points, first, second
        points = np.arange(n_points)
        # The ground is one more point, behind the others. Older releases of scipy find trees with int32 only.
        ends = np.concatenate([first, points]), np.concatenate([second, np.full(n_points, n_points)])
        self._from, self._to = (own.astype(np.int32) for own in ends)
        # The places of the weights in the matrix never change: they are computed once.
        rows, columns = np.concatenate([first, second, points]), np.concatenate([second, first, points])
        self._place, indptr = _by_row(rows, columns, n_points)
        self._matrix = sp.csr_array(
            (np.zeros(len(rows)), columns[self._place].astype(np.int32), indptr), shape=(n_points, n_points)
        )

    def differences(self, values: Floats) -> Floats:
        """Difference of the values at the two ends of each edge."""
        return np.asarray(values[self.first] - values[self.second])

    def divergence(self, flow: Floats) -> Floats:
        """What flows out of each point along its edges: the transpose of `differences`."""
        out = np.bincount(self.first, weights=flow, minlength=self.n_points)
        return np.asarray(out - np.bincount(self.second, weights=flow, minlength=self.n_points))

    def matrix(self, weights: Floats, ground: Floats) -> sp.csr_array:
        """The matrix M, valid until the next call overwrites it."""
        self._matrix.data = np.concatenate([-weights, -weights, ground + self._total(weights)])[self._place]
        return self._matrix

    def _edges(self, tied: Floats, chosen: Flags) -> sp.csr_array:
        """Some of the edges and ties to the ground, each with the length 1 / weight."""
        lengths = 1 / np.maximum(tied[chosen], np.finfo(np.float64).tiny)
        size = (self.n_points + 1, self.n_points + 1)
        return sp.csr_array((lengths, (self._from[chosen], self._to[chosen])), shape=size)

    def _total(self, weights: Floats) -> Floats:
        """Sum of the weights of each point's edges."""
        total = np.bincount(self.first, weights=weights, minlength=self.n_points)
        return np.asarray(total + np.bincount(self.second, weights=weights, minlength=self.n_points))

    def tree(self, weights: Floats, ground: Floats) -> Linear:
        """Return a solver for the matrix of the maximum spanning tree, the preconditioner."""
        n = self.n_points
        # Kruskal's algorithm in two passes: points that the heaviest edges connect need no lighter ones.
        tied = np.concatenate([weights, ground])
        heavy = np.zeros(len(tied), dtype=bool)
        heavy[np.argpartition(tied, -min(len(tied), _HEAVY * n))[-_HEAVY * n :]] = True
        _, part = connected_components(self._edges(tied, heavy), directed=False)
        spanning = minimum_spanning_tree(self._edges(tied, heavy | (part[self._from] != part[self._to])))
        order, parents = breadth_first_order(spanning, n, directed=False)
        both = spanning.tocoo()
        one, other = both.coords
        # Each point has one edge towards the ground: that to its parent.
        child = np.where(parents[one] == other, one, other)
        weight = np.zeros(n + 1)
        weight[child] = 1 / both.data
        return _sweeps(n, order[:0:-1].tolist(), parents.tolist(), weight.tolist(), ground.tolist())


def _by_row(rows: Ints, columns: Ints, size: int) -> tuple[Ints, Ints]:
    """Order of entries in a matrix that is stored by rows, and where each row starts."""
    order = np.lexsort((columns, rows))
    return order, np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=size))]).astype(np.int32)


def _sweeps(n: int, leaves_first: list[int], parent: list[int], weight: list[float], ground: list[float]) -> Linear:
    """Return a solver for the system of a tree whose root is the ground, point n.

    Eliminating a leaf adds the conductance of two resistors in series, w d / (w + d), to its parent's tie to the
    ground. Nothing is subtracted, so that ties of any size keep all their digits.
    """
    pivot, ratio = [1.0] * n, [0.0] * n
    for point in leaves_first:
        above = parent[point]
        if above == n:
            pivot[point] = ground[point]
        else:
            pivot[point] = weight[point] + ground[point]
            ratio[point] = weight[point] / pivot[point]
            ground[above] += ratio[point] * ground[point]
    order = np.array(leaves_first)
    position = np.empty(n + 1, dtype=np.int64)
    position[order] = np.arange(n)
    inner = order[np.array(parent)[order] < n]
    columns = position[np.array(parent)[inner]]
    entries = np.concatenate([np.ones(n), -np.array(ratio)[inner]])
    where = np.concatenate([np.arange(n), position[inner]]), np.concatenate([np.arange(n), columns])
    up = splu(
        sp.csc_array((entries, where), shape=(n, n)),
        permc_spec="NATURAL",
        diag_pivot_thresh=0.0,
        options={"SymmetricMode": True},
    )
    pivots = np.array(pivot)[order]

    def solve(values: Floats) -> Floats:
        found = np.empty(n)
        found[order] = up.solve(up.solve(values[order], trans="T") / pivots)
        return found

    return solve
