r"""Sifting: linear programs of a few dense rows and very many bounded variables, solved as a sequence of small ones.

The program is to maximise :math:`c \cdot x` under :math:`0 \le x \le 1` and :math:`L \le A x \le U` with m rows and n
variables, m small. Its Lagrangian dual

.. math:: g(y) = \sum_j \max(0, c_j - a_j \cdot y) + \sum_k \max(y_k L_k, y_k U_k)

is a convex, piecewise linear function of m duals. Given y, a variable is at the bound that the sign of its reduced
cost :math:`r_j = c_j - a_j \cdot y` says. This sign cannot change while every dual moves by less than
:math:`|r_j| / \|a_j\|_1`. So within a box around y (a trust region, as in the boxstep method of Marsten, Hogan and
Blankenship, 1975) only the variables with the smallest ratios count: the restricted master has these alone, the others
fixed at their bounds, and rows may be missed at a price that keeps the duals within the box. Its
duals are the minimum of g over the box. Once they lie inside it and no row is missed, its optimum is that of all
variables, which weak duality proves (`fairlimits.solvers.proofs`). The first y is that of a random sample of the
variables. Where a great many variables tie, they are decided in bundles; where steps stall, variables at the wrong
bound join the master until it holds (sifting proper).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fairlimits._util.types import Flags, Floats, Ints
from fairlimits.errors import InfeasibleError, SolverError
from fairlimits.solvers.lp import Program
from fairlimits.solvers.proofs import FEASIBILITY, Ending, Failure, Optimum, certificate

# Variables of the sample, and of a restricted master: HiGHS solves so many in tens of milliseconds, and a sample of n
# gets the duals right to about 1 / sqrt(n), near enough for a few steps.
_SAMPLE = 20_000
_AT_ONCE = 20_000

# Masters after which the method has stalled: it needs fewer than 20 where it comes to an end.
_STEPS = 100
_ROUNDS = 200

# Where all variables are in the master, the box has no end; this one is beyond any dual of rates. And rates lie within
# 0 and 1, so no row is missed by as much as `_FARTHEST`.
_LONGEST_STEP = 1e3
_FARTHEST = 10.0

# Reduced costs below this share of their variable's size are rounding, hence ties; more tied variables than `_BUNDLES`
# would make the master large again.
_TIED = 1e-9
_BUNDLES = 5_000

# Factor by which a master grows that is infeasible because of the variables left out of it.
_GROWTH = 8


@dataclass(frozen=True)
class _Bundles:
    """Variables in an order, and where each bundle of them starts."""

    order: Ints
    starts: Ints


class SiftedProgram:
    """Maximise ``c x`` under bounds of x and of a few rows; re-solved from the last duals.

    Parameters
    ----------
    cost : ndarray of shape (n,)
        Objective.
    matrix : ndarray of shape (m, n)
        The rows.
    free : int
        How many of the last variables belong to the rows rather than to cells: they are always solved for.

    Notes
    -----
    All variables lie between 0 and 1.
    """

    def __init__(self, cost: Floats, matrix: Floats, free: int) -> None:
        self._cost, self._matrix, self._free = cost, matrix, free
        # Size of each column: its reduced cost is small or large relative to that.
        self._size = np.abs(cost) + np.abs(matrix).sum(axis=0)
        self._duals: Floats | None = None
        self._lower, self._upper = np.zeros(len(matrix)), np.zeros(len(matrix))

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self._matrix)

    def set_row_bounds(self, lower: Floats, upper: Floats) -> None:
        """Give all rows new bounds."""
        self._lower, self._upper = lower, upper

    def solve(self) -> Optimum:
        """Solve the program.

        Raises
        ------
        InfeasibleError
            No point meets all rows.
        SolverError
            No optimum could be proven.
        """
        duals = self._from_sample() if self._duals is None else self._duals
        found = self._by_boxsteps(duals)
        if found is None:
            found = self._by_growing_master(duals)
        self._duals = found.duals
        return found

    def _by_boxsteps(self, duals: Floats) -> Optimum | None:
        """Move the duals in steps so short that no variable outside the master can change its bound.

        Within such a step the master is all that counts. Rows may be missed at a price that keeps the duals within the
        step; once none is, and the duals are within, the optimum of the master is that of all.
        """
        for _ in range(_STEPS):
            inside, step = self._doubtful(duals, _AT_ONCE, _TIED)
            point = (self._reduced(duals) > 0).astype(np.float64)
            bundles = self._bundles(inside, duals)
            master, missed = self._solve_in_box(point, inside, bundles, duals, step)
            if missed <= FEASIBILITY:
                count = len(bundles.starts)
                point[bundles.order] = np.repeat(master.x[:count], np.diff([*bundles.starts, len(bundles.order)]))
                found = self._checked(point, master.duals)
                if isinstance(found, Optimum):
                    return found
            if np.abs(master.duals - duals).max(initial=0.0) <= 1e-9 * step:
                return None
            duals = master.duals
        return None

    def _bundles(self, inside: Flags, duals: Floats) -> _Bundles:
        """Put the variables of a master in bundles that are decided alike: one each, unless a great many are tied."""
        n = len(self._cost) - self._free
        near = np.abs(self._reduced(duals)) < _TIED * self._size
        near[n:] = False
        tied, order = np.flatnonzero(inside & near), np.flatnonzero(inside & ~near)
        cells = len(tied)
        if cells <= _BUNDLES or not self.n_rows:
            order = np.flatnonzero(inside)
            return _Bundles(order, np.arange(len(order)))
        # Those that are alike in all rows come together, so that bundles can do what their members could.
        direction = self._matrix[:, tied] / self._size[tied]
        pattern = np.ldexp(1.0, np.arange(self.n_rows)) @ (direction != 0)
        varied = direction[int(direction.var(axis=1).argmax())]
        tied = tied[np.lexsort((varied, pattern))]
        starts = np.unique(np.linspace(0, cells, _BUNDLES, endpoint=False).astype(np.int64))
        return _Bundles(np.concatenate([tied, order]), np.concatenate([starts, np.arange(cells, cells + len(order))]))

    def _by_growing_master(self, duals: Floats) -> Optimum:
        """Solve a master; variables that its duals find at the wrong bound join it."""
        point = (self._reduced(duals) > 0).astype(np.float64)
        count = _AT_ONCE
        inside, _ = self._doubtful(duals, count)
        failure = Failure(Ending.UNSOLVED, "it was not tried")
        for _ in range(_ROUNDS):
            try:
                master = self._solve_master(point, inside)
            except InfeasibleError:
                if inside.all():
                    raise
                # Variables outside the master keep it from meeting its rows: let more of them in.
                count *= _GROWTH
                inside, _ = self._doubtful(duals, count)
                continue
            point[inside] = master.x
            found = self._checked(point, master.duals)
            if isinstance(found, Optimum):
                return found
            failure = found
            if inside.all():
                break
            reduced = self._reduced(master.duals)
            wrong = np.flatnonzero(np.where(reduced > 0, point < 1, point > 0) & (reduced != 0) & ~inside)
            # Those that matter most join; none leaves, so that this comes to an end.
            inside[wrong[np.argsort(-np.abs(reduced[wrong]), kind="stable")[:count]]] = True
        raise SolverError(f"The linear program was not solved: {failure.reason}.")

    def _from_sample(self) -> Floats:
        """Duals of the program of a random sample of the variables."""
        n = len(self._cost) - self._free
        chosen = np.sort(np.random.default_rng(0).choice(n, min(_SAMPLE, n), replace=False))
        weight = n / len(chosen)
        columns = np.concatenate([chosen, np.arange(n, n + self._free)])
        factor = np.concatenate([np.full(len(chosen), weight), np.ones(self._free)])
        program = Program(self._cost[columns] * factor, np.zeros(len(columns)), np.ones(len(columns)))
        program.add_dense_rows(self._matrix[:, columns] * factor, self._lower, self._upper)
        try:
            return program.solve().duals
        except (InfeasibleError, SolverError):
            # What is infeasible for a sample may be feasible for all.
            return np.zeros(self.n_rows)

    def _reduced(self, duals: Floats) -> Floats:
        return np.asarray(self._cost - duals @ self._matrix)

    def _doubtful(self, duals: Floats, count: int, tied: float = 0.0) -> tuple[Flags, float]:
        """Find those variables whose reduced cost is smallest for their size.

        There are `count` of them, and on top of those all whose reduced cost is below `tied` for their size.

        Returns
        -------
        inside : ndarray of bool of shape (n,)
        step : float
            How far every dual can move before another variable's reduced cost can change its sign.
        """
        inside = np.ones(len(self._cost), dtype=bool)
        n = len(self._cost) - self._free
        if count >= n:
            return inside, np.inf
        doubt = np.abs(self._reduced(duals)[:n]) / np.maximum(self._size[:n], np.finfo(np.float64).tiny)
        bound = doubt < tied
        rest = np.flatnonzero(~bound)
        inside[:n] = bound
        if count >= len(rest):
            return np.ones(len(self._cost), dtype=bool), np.inf
        order = np.argpartition(doubt[rest], count)
        inside[rest[order[:count]]] = True
        return inside, float(doubt[rest[order[count]]])

    def _solve_master(self, point: Floats, inside: Flags) -> Optimum:
        """Solve the master of some variables; all others stay where they are."""
        others = self._matrix[:, ~inside] @ point[~inside]
        count = int(inside.sum())
        program = Program(self._cost[inside], np.zeros(count), np.ones(count))
        program.add_dense_rows(self._matrix[:, inside], self._lower - others, self._upper - others)
        return program.solve()

    def _solve_in_box(
        self, point: Floats, inside: Flags, bundles: _Bundles, duals: Floats, step: float
    ) -> tuple[Optimum, float]:
        """Solve the master with duals within a step; return by how much rows were missed, too."""
        others = self._matrix[:, ~inside] @ point[~inside]
        count, rows = len(bundles.starts), self.n_rows
        step = min(step, _LONGEST_STEP)
        gain = np.add.reduceat(self._cost[bundles.order], bundles.starts)
        # A row's value may be raised or lowered at a price; no dual is then beyond the price.
        cost = np.concatenate([gain, duals - step, -duals - step])
        program = Program(cost, np.zeros(len(cost)), np.concatenate([np.ones(count), np.full(2 * rows, _FARTHEST)]))
        bundled = np.add.reduceat(self._matrix[:, bundles.order], bundles.starts, axis=1)
        matrix = np.hstack([bundled, np.eye(rows), -np.eye(rows)])
        program.add_dense_rows(matrix, self._lower - others, self._upper - others)
        found = program.solve()
        return found, float(np.abs(found.x[count:]).max(initial=0.0))

    def _checked(self, point: Floats, duals: Floats) -> Optimum | Failure:
        return certificate(
            self._cost,
            (np.zeros_like(point), np.ones_like(point)),
            point,
            self._matrix @ point,
            duals,
            self._reduced(duals),
            (self._lower, self._upper),
        )
