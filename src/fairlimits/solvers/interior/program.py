r"""A point near the optimum of a program with very many pair constraints, by a primal-dual interior-point method.

The program is

.. math:: \max_x c \cdot x \quad \text{subject to} \quad l \le G x \le u, \qquad G = (I;\; D F;\; R) ,

where I bounds the variables, D F takes the differences of the scores of pairs (F makes scores of variables, D is the
incidence matrix of the pairs), and R has the few dense rows of the rates. With slacks :math:`s_l = G x - l > 0`,
:math:`s_u = u - G x > 0` and duals z > 0, each iteration solves the Newton system

.. math:: G^T W G\, \Delta x = r, \qquad W = \mathrm{diag}(z_l / s_l + z_u / s_u) ,

twice: for Mehrotra's predictor, and for his corrector, which is weighed as by Colombo and Gondzio (2008). A fair coin
is strictly feasible, so the method stays primal feasible all the way. The matrix is a graph Laplacian and a term of low
rank, for R has few rows. So the system is solved by conjugate gradients; the preconditioner is a spanning tree
(`fairlimits.solvers.interior.laplacian`), with R put in by the Woodbury identity.

Nothing is proven here. What comes out says which constraints are active, so that the simplex method, which proves its
optimum, has little left to do.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, cg
from threadpoolctl import threadpool_limits

from fairlimits._util.types import Floats, Ints
from fairlimits.solvers.constraints import PairConstraints
from fairlimits.solvers.interior.laplacian import Graph, Linear

# Interior-point methods need 20 to 60 iterations whatever the size; beyond this one has stalled.
_ITERATIONS = 150

# Complementarity gap, as a share of what all scores can move, at which the active constraints can be told. A smaller
# one costs iterations whose systems are nearly singular, and the simplex method finishes faster from here.
_NEAR = 2e-6
# A point with a larger gap than this, where the method stalled, is worse as a start than none.
_FAR = 1e-2

# Equality rows have no interior: they are opened by this share of what their entries can move, well below `_NEAR`.
_ROOM = 1e-6

# Relative residual of the Newton systems: an inexact step is made up for by the next one, and the last digits of
# a system are the dearest. The preconditioner needs 10 to 30 iterations for it; far more mean that it has failed.
_RESIDUAL = 5e-2
_CG_ITERATIONS = 400

# Share of the way to the boundary that a step goes, as usual; and weights of the corrector that are tried.
_SHORT = 0.99
_WEIGHTS = 5


@dataclass(frozen=True, eq=False)
class Start:
    """Where the optimum probably lies.

    Parameters
    ----------
    columns : ndarray of int of shape (n,)
        -1 for a variable at its lower bound, 1 for one at its upper bound, 0 for one between.
    rows : ndarray of int of shape (m,)
        The same for the rows.
    pairs : ndarray of int
        Pairs that are tight, or nearly so.
    pair_rows : ndarray of int
        The same for these pairs.
    """

    columns: Ints
    rows: Ints
    pairs: Ints
    pair_rows: Ints


@dataclass(frozen=True, eq=False)
class _Point:
    """A point within, the multipliers of its lower and upper bounds, and the room that is left to these."""

    x: Floats
    duals: Floats
    room: Floats

    @property
    def products(self) -> float:
        """Sum of room times multiplier: how far value and bound are apart, once the multipliers add up."""
        return float(np.vdot(self.duals, self.room))


class InteriorProgram:
    """Maximise ``c x`` for x within a box, under rows and neighbour constraints.

    Parameters
    ----------
    cost : ndarray of shape (n,)
        Objective.
    box : tuple of ndarray of shape (n,)
        Bounds of the variables; those of scores lie between 0 and 1.
    rows : ndarray of shape (m, n)
        The rows of rates.
    bounds : tuple of ndarray of shape (m,)
        Their bounds.
    comparison : PairConstraints
        The points that are compared; no variable belongs to two of them.
    allowed : ndarray
        How far the scores of each pair may be apart.
    """

    def __init__(
        self,
        cost: Floats,
        box: tuple[Floats, Floats],
        rows: Floats,
        bounds: tuple[Floats, Floats],
        comparison: PairConstraints,
        allowed: Floats,
    ) -> None:
        # Scores lie between 0 and 1: pairs that may be 1 apart are no constraint.
        self._pairs: Ints = np.flatnonzero(allowed < 1)
        n_points, n_scores = comparison.forms.shape
        self._n, self._n_scores = len(cost), n_scores
        self._graph = Graph(n_points, comparison.first[self._pairs], comparison.second[self._pairs])
        forms = sp.csr_array(comparison.forms, copy=True)
        forms.resize((n_points, self._n))
        self._forms, self._back = forms, sp.csr_array(forms.T)
        size = np.abs(rows).sum(axis=1)
        unit = np.where(size > 0, size, 1.0)
        self._rows = rows / unit[:, None]
        lower, upper = (np.clip(bound / unit, -2.0, 2.0) for bound in bounds)
        tight = upper - lower < 2 * _ROOM
        lower, upper = np.where(tight, lower - _ROOM, lower), np.where(tight, upper + _ROOM, upper)
        near = allowed[self._pairs]
        self._low = np.concatenate([box[0], -near, lower])
        self._high = np.concatenate([box[1], near, upper])
        total = float(np.abs(cost).sum())
        self._cost = cost / total if total > 0 else cost
        in_point = np.diff(forms.indptr)
        entries = forms.tocoo()
        alone = in_point[entries.coords[0]] == 1
        # Variables that are a point of their own, that point, and what the variable counts there.
        self._alone = entries.coords[1][alone], entries.coords[0][alone], entries.data[alone]

    def start(self) -> Start | None:
        """Look for the optimum.

        Returns
        -------
        Start or None
            None if a fair coin does not lie well within, or the way was lost.
        """
        point = self._coin()
        if point is None:
            return None
        # Where rounding has the better of a step, the point before it is what was found. Products of a few thousand
        # numbers are too short for threads, which would only wait for each other.
        with np.errstate(all="ignore"), threadpool_limits(limits=1):
            for _ in range(_ITERATIONS):
                try:
                    after = self._after(point) if point.products >= _NEAR else None
                except np.linalg.LinAlgError:
                    break
                if after is None:
                    break
                point = after
        return self._read(point) if point.products < _FAR else None

    def _coin(self) -> _Point | None:
        """Let a fair coin decide; the variables that belong to rows alone find the middle of what is left to them."""
        low, high = self._low[: self._n], self._high[: self._n]
        x = (low + high) / 2
        count = len(self._rows)
        for column in range(self._n_scores, self._n):
            entry = self._rows[:, column]
            used = np.flatnonzero(entry)
            others = self._rows[used] @ x - entry[used] * x[column]
            ends = (np.stack([self._low, self._high])[:, -count:][:, used] - others) / entry[used]
            least = max(low[column], ends.min(axis=0).max(initial=-np.inf))
            x[column] = (least + min(high[column], ends.max(axis=0).min(initial=np.inf))) / 2
        room = self._room(x)
        if room.min() < _ROOM / 2:
            return None
        return _Point(x, 1e-2 / self._n / room, room)

    def _forward(self, x: Floats) -> Floats:
        return np.concatenate([x, self._graph.differences(self._forms @ x), self._rows @ x])

    def _adjoint(self, values: Floats) -> Floats:
        scores, flow, rows = np.split(values, [self._n, len(values) - len(self._rows)])
        return np.asarray(scores + self._back @ self._graph.divergence(flow) + rows @ self._rows)

    def _room(self, x: Floats) -> Floats:
        values = self._forward(x)
        return np.stack([values - self._low, self._high - values])

    def _after(self, point: _Point) -> _Point | None:
        """Take one step: towards the optimum first, then as far as the way back to the middle allows."""
        duals, room = point.duals, point.room
        weights = (duals / room).sum(axis=0)
        if not (np.isfinite(weights).all() and weights.min() > 0):
            return None
        solve = self._newton(weights)
        step = solve(self._cost)
        if step is None:
            return None
        moved = self._forward(step)
        along = np.stack([moved, -moved])
        change = -duals - duals * along / room
        primal, dual = _longest(room, along), _longest(duals, change)
        mean = point.products / room.size
        reached = float(np.vdot(room + primal * along, duals + dual * change)) / room.size
        centre = (reached / mean) ** 3 * mean
        aim = (centre - along * change) / room
        correction = solve(self._adjoint(aim[0] - aim[1]))
        if correction is None:
            return None
        corrected = self._forward(correction)
        back = np.stack([corrected, -corrected])
        change_back = aim - duals * back / room
        weights = np.linspace(min(primal * dual, 0.9), 1, _WEIGHTS)
        primal, weight = max((_longest(room, along + w * back), w) for w in weights)
        x = point.x + _shortened(primal) * (step + weight * correction)
        dual, weight = max((_longest(duals, change + w * change_back), w) for w in weights)
        after = _Point(x, duals + _shortened(dual) * (change + weight * change_back), self._room(x))
        return after if after.room.min() > 0 and after.duals.min() > 0 else None

    def _newton(self, weights: Floats) -> _Newton:
        """Prepare to solve the system of a step, whose matrix is ``G^T diag(weights) G``."""
        graph, forms, back, rows = self._graph, self._forms, self._back, self._rows
        own, edges, heavy = np.split(weights, [self._n, len(weights) - len(rows)])
        matrix = graph.matrix(edges, np.zeros(graph.n_points))
        # A point's tie to the ground is that of its variables in a row; points without variables are nobody's.
        loose = forms.power(2) @ (1 / own)
        tie = 1 / np.where(loose > 0, loose, 1.0)
        tree = graph.tree(edges, tie)
        variable, of_point, counts = self._alone

        def without_rows(values: Floats) -> Floats:
            free = values / own
            at = forms @ free
            points = tree(tie * at)
            found = free + (back @ (tie * (points - at))) / own
            # The same, without the digits that the difference loses.
            found[variable] = points[of_point] / counts
            return np.asarray(found)

        images = np.stack([without_rows(row) for row in rows], axis=1) if len(rows) else np.zeros((self._n, 0))
        # Rows that say the same leave no inverse once both are pressed hard; any one that is nearly it will do.
        inverse = np.linalg.pinv(np.diag(1 / heavy) + rows @ images, hermitian=True)

        def precondition(values: Floats) -> Floats:
            found = without_rows(values)
            return np.asarray(found - images @ (inverse @ (rows @ found)))

        def multiply(values: Floats) -> Floats:
            return np.asarray(own * values + back @ (matrix @ (forms @ values)) + (heavy * (rows @ values)) @ rows)

        return _Newton(self._n, multiply, precondition)

    def _read(self, point: _Point) -> Start:
        """Tell tight constraints from loose ones: those with more multiplier than room, each in its own unit."""
        pressed = point.duals * self._n > point.room
        state = pressed[1].astype(np.int64) - pressed[0]
        columns, pairs, rows = np.split(state, [self._n, len(state) - len(self._rows)])
        slack = point.room.min(axis=0)[self._n : self._n + len(pairs)]
        # Pairs that are nearly tight are likely to be needed, too.
        count = min(len(pairs), int(np.count_nonzero(pairs)) + self._n)
        inside = np.argpartition(np.where(pairs != 0, -1.0, slack), count - 1)[:count] if count else np.zeros(0, int)
        inside = np.sort(inside)
        return Start(columns, rows, self._pairs[inside], pairs[inside])


@dataclass(frozen=True)
class _Newton:
    """Solves the system of a step by preconditioned conjugate gradients."""

    size: int
    multiply: Linear
    precondition: Linear

    def __call__(self, values: Floats) -> Floats | None:
        """Solve for these values; None where rounding has left nothing to go by."""
        matrix, inverse = (
            LinearOperator((self.size, self.size), matvec=apply, dtype=np.float64)
            for apply in (self.multiply, self.precondition)
        )
        found, _ = cg(matrix, values, rtol=_RESIDUAL, maxiter=_CG_ITERATIONS, M=inverse)
        return found if np.isfinite(found).all() else None


def _longest(values: Floats, change: Floats) -> float:
    """How much of a change keeps all values at 0 or above; 1 at most."""
    return min(1.0, 1 / max(float((-change / values).max()), 1e-300))


def _shortened(step: float) -> float:
    return step if step == 1.0 else _SHORT * step
