r"""A point near the optimum of a program with very many pair constraints, by a primal-dual interior-point method.

The program is

.. math:: \max_x c \cdot x \quad \text{subject to} \quad l \le G x \le u, \qquad G = (I;\; D F;\; R) ,

where I bounds the variables, D F takes the differences of the scores of pairs (F makes scores of variables, D is the
incidence matrix of the pairs), and R has the few dense rows of the rates. With slacks :math:`s_l = G x - l > 0`,
:math:`s_u = u - G x > 0` and duals z > 0, each iteration solves the Newton system

.. math:: G^T W G\, \Delta x = r, \qquad W = \mathrm{diag}(z_l / s_l + z_u / s_u) ,

twice: for Mehrotra's predictor, and for his corrector, which is weighted as by Colombo and Gondzio (2008). A fair coin
is strictly feasible, so the method stays primal feasible all the way. The matrix is a graph Laplacian and a term of low
rank, for R has few rows. So the system is solved by conjugate gradients; the preconditioner is a spanning tree
(`fairlimits.solvers.interior.laplacian`), with R put in by the Woodbury identity.

Nothing is proven here. The result says which constraints are probably active, so that the simplex method, which proves
its optimum, has little left to do.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator, cg
from threadpoolctl import threadpool_limits

from fairlimits._util.types import Floats, Ints
from fairlimits.solvers.constraints import PairConstraints
from fairlimits.solvers.interior.laplacian import Graph, Linear
from fairlimits.solvers.layouts import Layout

# Interior-point methods need 20 to 60 iterations whatever the size; beyond this one has stalled.
_ITERATIONS = 150

# Complementarity gap, as a share of what all scores together can change the objective by, at which the active
# constraints can be told. A smaller one costs iterations whose systems are nearly singular, and the simplex method
# finishes faster from here.
_NEAR = 2e-6
# A point with a larger gap than this, where the method stalled, is a worse start than none.
_FAR = 1e-2

# Equality rows have no interior: they are widened by this share of the sum of their entries' sizes, well below `_NEAR`.
_ROOM = 1e-6

# Relative residual of the Newton systems: the next step makes up for an inexact one, and the last digits of a system
# cost most. With the preconditioner, 10 to 30 iterations are enough; far more mean that it has failed.
_RESIDUAL = 5e-2
_CG_ITERATIONS = 400

# Share of the way to the boundary that a step goes, as usual; and how many shares of the corrector are tried, from the
# product of the predictor's step lengths on, but never from more than `_MOST_PREDICTED` (Colombo and Gondzio).
_SHORT = 0.99
_WEIGHTS, _MOST_PREDICTED = 5, 0.9


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
    """An interior point, the duals of its lower and upper bounds, and their slacks, both of shape (2, bounds)."""

    x: Floats
    duals: Floats
    slack: Floats

    @property
    def gap(self) -> float:
        """Complementarity gap: sum of slack times dual, the distance of value and bound once the duals are feasible."""
        return float(np.vdot(self.duals, self.slack))


class InteriorProgram:
    """Maximise ``c x`` for x within a box, under rows and pair constraints.

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
        # Scores lie between 0 and 1: pairs that may be 1 apart constrain nothing.
        self._pairs: Ints = np.flatnonzero(allowed < 1)
        n_points, n_scores = comparison.forms.shape
        self._n, self._n_scores = len(cost), n_scores
        # What has bounds: the rows of G.
        self._layout = Layout({"variables": (self._n,), "pairs": (len(self._pairs),), "rows": (len(rows),)})
        self._graph = Graph(n_points, comparison.first[self._pairs], comparison.second[self._pairs])
        forms = sp.csr_array(comparison.forms, copy=True)
        forms.resize((n_points, self._n))
        self._forms, self._back = forms, sp.csr_array(forms.T)
        self._rows, row_lower, row_upper = _scaled_rows(rows, bounds)
        near = allowed[self._pairs]
        self._lower = np.concatenate([box[0], -near, row_lower])
        self._upper = np.concatenate([box[1], near, row_upper])
        total = float(np.abs(cost).sum())
        self._cost = cost / total if total > 0 else cost
        self._alone = _alone_in_point(forms)

    def start(self) -> Start | None:
        """Look for the optimum.

        Returns
        -------
        Start or None
            None if a fair coin is not strictly feasible, or the method stalled far from the optimum.
        """
        point = self._centre()
        if point is None:
            return None
        # Where rounding spoils an iteration, the point before it is the result. Products of a few thousand numbers are
        # too short for threads, which would only wait for each other.
        with np.errstate(all="ignore"), threadpool_limits(limits=1):
            for _ in range(_ITERATIONS):
                try:
                    after = self._iterate(point) if point.gap >= _NEAR else None
                except np.linalg.LinAlgError:
                    break
                if after is None:
                    break
                point = after
        return self._read(point) if point.gap < _FAR else None

    def _centre(self) -> _Point | None:
        """Let a fair coin decide; auxiliary variables go to the middle of the interval that the rows leave them."""
        variables, rows = self._layout.block("variables"), self._layout.block("rows")
        lower, upper = self._lower[variables], self._upper[variables]
        x = (lower + upper) / 2
        for column in range(self._n_scores, self._n):
            entry = self._rows[:, column]
            used = np.flatnonzero(entry)
            others = self._rows[used] @ x - entry[used] * x[column]
            ends = (np.stack([self._lower[rows], self._upper[rows]])[:, used] - others) / entry[used]
            least = max(lower[column], ends.min(axis=0).max(initial=-np.inf))
            x[column] = (least + min(upper[column], ends.max(axis=0).min(initial=np.inf))) / 2
        slack = self._slacks(x)
        if slack.min() < _ROOM / 2:
            return None
        return _Point(x, 1e-2 / self._n / slack, slack)

    def _forward(self, x: Floats) -> Floats:
        """Return G x."""
        return np.concatenate([x, self._graph.differences(self._forms @ x), self._rows @ x])

    def _adjoint(self, values: Floats) -> Floats:
        """Return the transpose of G times values."""
        of_variables, flow, of_rows = self._blocks(values)
        return np.asarray(of_variables + self._back @ self._graph.divergence(flow) + of_rows @ self._rows)

    def _blocks(self, values: NDArray[Any]) -> tuple[NDArray[Any], ...]:
        """Values of the variables, the pairs and the rows."""
        return tuple(values[self._layout.block(name)] for name in self._layout.shapes)

    def _slacks(self, x: Floats) -> Floats:
        values = self._forward(x)
        return np.stack([values - self._lower, self._upper - values])

    def _iterate(self, point: _Point) -> _Point | None:
        """Take one step: Mehrotra's predictor, and as much of his corrector as makes the step longest."""
        duals, slack = point.duals, point.slack
        weights = (duals / slack).sum(axis=0)
        if not (np.isfinite(weights).all() and weights.min() > 0):
            return None
        solve = self._newton(weights)
        predictor = solve(self._cost)
        if predictor is None:
            return None
        slack_change = _both_sides(self._forward(predictor))
        dual_change = -duals - duals * slack_change / slack
        primal_step, dual_step = _longest(slack, slack_change), _longest(duals, dual_change)
        reached = float(np.vdot(slack + primal_step * slack_change, duals + dual_step * dual_change))
        # The centring parameter is the cube of the share of the gap that the predictor alone would leave.
        centred = (reached / point.gap) ** 3 * point.gap / slack.size
        target = (centred - slack_change * dual_change) / slack
        corrector = solve(self._adjoint(target[0] - target[1]))
        if corrector is None:
            return None
        slack_correction = _both_sides(self._forward(corrector))
        dual_correction = target - duals * slack_correction / slack
        shares = np.linspace(min(primal_step * dual_step, _MOST_PREDICTED), 1, _WEIGHTS)
        primal_step, share = max((_longest(slack, slack_change + w * slack_correction), w) for w in shares)
        x = point.x + _shortened(primal_step) * (predictor + share * corrector)
        dual_step, share = max((_longest(duals, dual_change + w * dual_correction), w) for w in shares)
        after = _Point(x, duals + _shortened(dual_step) * (dual_change + share * dual_correction), self._slacks(x))
        return after if after.slack.min() > 0 and after.duals.min() > 0 else None

    def _newton(self, weights: Floats) -> _Newton:
        """Prepare to solve the system of an iteration, whose matrix is ``G^T diag(weights) G``."""
        graph, forms, back, rows = self._graph, self._forms, self._back, self._rows
        of_variables, of_pairs, of_rows = self._blocks(weights)
        laplacian = graph.matrix(of_pairs, np.zeros(graph.n_points))
        # A point's tie to the ground is that of its variables in series; points without variables get any.
        loose = forms.power(2) @ (1 / of_variables)
        tie = 1 / np.where(loose > 0, loose, 1.0)
        tree = graph.tree(of_pairs, tie)
        variable, of_point, counts = self._alone

        def without_rows(values: Floats) -> Floats:
            free = values / of_variables
            at = forms @ free
            points = tree(tie * at)
            x = free + (back @ (tie * (points - at))) / of_variables
            # The same value without cancellation.
            x[variable] = points[of_point] / counts
            return np.asarray(x)

        images = np.stack([without_rows(row) for row in rows], axis=1) if len(rows) else np.zeros((self._n, 0))
        # Redundant rows leave a singular matrix once both have large weights; a pseudo-inverse will do.
        inverse = np.linalg.pinv(np.diag(1 / of_rows) + rows @ images, hermitian=True)

        def precondition(values: Floats) -> Floats:
            x = without_rows(values)
            return np.asarray(x - images @ (inverse @ (rows @ x)))

        def multiply(x: Floats) -> Floats:
            return np.asarray(of_variables * x + back @ (laplacian @ (forms @ x)) + (of_rows * (rows @ x)) @ rows)

        return _Newton(self._n, multiply, precondition)

    def _read(self, point: _Point) -> Start:
        """Tell tight constraints from loose ones: those whose dual is larger than their slack, each in its unit."""
        pressed = point.duals * self._n > point.slack
        columns, pairs, rows = self._blocks(pressed[1].astype(np.int64) - pressed[0])
        slack = point.slack.min(axis=0)[self._layout.block("pairs")]
        # Pairs that are nearly tight are likely to be needed, too.
        count = min(len(pairs), int(np.count_nonzero(pairs)) + self._n)
        inside = np.argpartition(np.where(pairs != 0, -1.0, slack), count - 1)[:count] if count else np.zeros(0, int)
        inside = np.sort(inside)
        return Start(columns, rows, self._pairs[inside], pairs[inside])


def _scaled_rows(rows: Floats, bounds: tuple[Floats, Floats]) -> tuple[Floats, Floats, Floats]:
    """Rows with entries that sum to 1 in size, and their bounds, finite and with an interior between them."""
    size = np.abs(rows).sum(axis=1)
    unit = np.where(size > 0, size, 1.0)
    # Activities of scores lie within 1 of 0, so bounds of 2 never bind.
    lower, upper = (np.clip(bound / unit, -2.0, 2.0) for bound in bounds)
    tight = upper - lower < 2 * _ROOM
    return rows / unit[:, None], np.where(tight, lower - _ROOM, lower), np.where(tight, upper + _ROOM, upper)


def _alone_in_point(forms: sp.csr_array) -> tuple[Ints, Ints, Floats]:
    """Variables that are a point of their own, that point, and the variable's coefficient there."""
    entries = forms.tocoo()
    alone = np.diff(forms.indptr)[entries.coords[0]] == 1
    return entries.coords[1][alone], entries.coords[0][alone], entries.data[alone]


def _both_sides(change: Floats) -> Floats:
    """Changes of the slacks of lower and upper bounds, given the change of G x."""
    return np.stack([change, -change])


@dataclass(frozen=True)
class _Newton:
    """Solves the system of an iteration by preconditioned conjugate gradients."""

    size: int
    multiply: Linear
    precondition: Linear

    def __call__(self, values: Floats) -> Floats | None:
        """Solve for these values; None where rounding has left nothing to go by."""
        matrix, inverse = (
            LinearOperator((self.size, self.size), matvec=apply, dtype=np.float64)
            for apply in (self.multiply, self.precondition)
        )
        x, _ = cg(matrix, values, rtol=_RESIDUAL, maxiter=_CG_ITERATIONS, M=inverse)
        return x if np.isfinite(x).all() else None


def _longest(values: Floats, change: Floats) -> float:
    """How much of a change keeps all values at 0 or above; 1 at most."""
    return min(1.0, 1 / max(float((-change / values).max()), 1e-300))


def _shortened(step: float) -> float:
    return step if step == 1.0 else _SHORT * step
