r"""The parametric dual simplex method: the optimum of a linear program as its right-hand side moves along a line.

The program of `fairlimits.solvers.lp` with K rows (K small) and row bounds :math:`L + t L', U + t U'` for t from 0 to
an end. With the row activities as variables of their own, :math:`A x - y = 0`, a basis B that is dual feasible stays so
for all t, for t is not in the objective; and the basic variables

.. math:: x_B(t) = -B^{-1} N\, x_N(t)

are linear in t, for the nonbasic ones sit at bounds that are. So the optimal point is linear in t until a basic
variable meets a bound (the primal ratio test over t). It leaves the basis, the dual ratio test over the reduced costs
chooses the one that enters, and the next piece begins: every breakpoint of the optimal value is found, in order. The
inverse of the basis is kept explicitly (K x K) and updated by rank one, so a pivot costs O(K n).

Nothing here is trusted: `certify` proves every point afterwards, by weak duality.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fairlimits._util.types import Flags, Floats, Ints
from fairlimits.solvers.lp import Program
from fairlimits.solvers.proofs import Failure, Optimum

# Pivot elements below this are rounding (entries of rows are rates, of order 1); without a larger one the path cannot
# be followed, and HiGHS solves point by point.
_SMALLEST_PIVOT = 1e-9

# Ratios that differ by less are a degenerate tie; a basic variable that moves slower than this does not move.
_TIE = 1e-12

# Rank-one updates after which the inverse is computed anew: rounding grows with each, and a new inverse of a K x K
# matrix costs about as much as one pivot.
_REFRESH = 32

# Pivots per variable, plus a constant, after which the method is taken to cycle: it visits each a few times.
_PIVOTS_PER_VARIABLE, _PIVOTS_BESIDES = 20, 100


@dataclass(frozen=True)
class Line:
    """Row bounds along a line: ``lower + t * lower_move`` to ``upper + t * upper_move``."""

    lower: Floats
    upper: Floats
    lower_move: Floats
    upper_move: Floats


@dataclass(frozen=True)
class Piece:
    """A stretch of t on which the optimal point is linear and the duals are constant.

    Parameters
    ----------
    start, stop : float
        Where the piece begins and ends.
    basic : ndarray of int
        Columns that move on the piece.
    at_zero, move : ndarray
        Their values: ``at_zero + t * move``.
    rest : ndarray of shape (n,)
        Values of the other variables; arbitrary for those that move.
    duals : ndarray of shape (K,)
        Duals of the rows.
    """

    start: float
    stop: float
    basic: Ints
    at_zero: Floats
    move: Floats
    rest: Floats
    duals: Floats

    def point(self, t: float) -> Floats:
        """Give the optimal point at t."""
        x = self.rest.copy()
        x[self.basic] = self.at_zero + t * self.move
        return x


def follow(program: Program, line: Line, end: float) -> list[Piece] | None:
    """Follow the optimum of a program while its row bounds move along a line, from t = 0 to `end`.

    Only for programs of few, dense rows. Nothing is proven yet: `certify` the points that are used.

    Returns
    -------
    list of Piece or None
        None if the path cannot be followed: no variable can enter, the basis is singular, or there were too many
        pivots. Then solve point by point.
    """
    rows = len(program.dense)
    if program.n_rows != rows or not rows:
        return None
    program.set_row_bounds(line.lower, line.upper)
    program.solve()
    basic, at_upper = program.basis()
    if len(basic) != rows:
        return None
    return _follow(program.cost, program.dense, program.box, line, basic, at_upper, end)


def certify(program: Program, pieces: list[Piece], line: Line, at: Floats) -> list[Optimum] | None:
    """Prove the points of some pieces, at rising `at` on the line; None if one of them is not optimal."""
    starts = np.array([piece.start for piece in pieces])
    chosen = [pieces[k] for k in np.searchsorted(starts, at, side="right") - 1]
    x = np.stack([piece.point(t) for piece, t in zip(chosen, at.tolist(), strict=True)])
    np.clip(x, *program.box, out=x)
    bounds = line.lower + at[:, None] * line.lower_move, line.upper + at[:, None] * line.upper_move
    proven = program.prove_points(x, np.stack([piece.duals for piece in chosen]), bounds)
    return None if isinstance(proven, Failure) else proven


def _follow(
    cost: Floats,
    matrix: Floats,
    box: tuple[Floats, Floats],
    line: Line,
    basic: Ints,
    at_upper: Flags,
    end: float,
) -> list[Piece] | None:
    """Follow the optimum from an optimal basis at t = 0, in which row activities are numbered behind the n columns."""
    rows, columns = matrix.shape
    state = _State(cost, matrix, box, line, basic, at_upper)
    pieces: list[Piece] = []
    t = 0.0
    for pivot in range(_PIVOTS_PER_VARIABLE * (columns + rows) + _PIVOTS_BESIDES):
        if pivot % _REFRESH == 0 and not state.refresh():
            return None
        values, stop, leaving, above = state.next_stop(t)
        if stop > t or stop >= end:
            seen = state.basic < columns
            rest = state.value[:columns, 0].copy()
            pieces.append(
                Piece(t, min(stop, end), state.basic[seen], values[seen, 0], values[seen, 1], rest, state.duals)
            )
        if stop >= end:
            return pieces
        t = stop
        if not state.pivot(leaving, above):
            return None
    return None


class _State:
    """A basis and all that follows from it: updated at each pivot, and computed anew once in a while.

    Quantities that are linear in t are pairs in a last axis: the value at t = 0, and the move.
    """

    def __init__(
        self,
        cost: Floats,
        matrix: Floats,
        box: tuple[Floats, Floats],
        line: Line,
        basic: Ints,
        at_upper: Flags,
    ) -> None:
        rows, columns = matrix.shape
        self.matrix = np.hstack([matrix, -np.eye(rows)])
        self.columns = np.ascontiguousarray(self.matrix.T)
        self.cost = np.concatenate([cost, np.zeros(rows)])
        # Bounds of all variables: [lower or upper, variable, value or move].
        self.bound = np.zeros((2, columns + rows, 2))
        self.bound[:, :columns, 0] = box
        self.bound[:, columns:, 0] = line.lower, line.upper
        self.bound[:, columns:, 1] = line.lower_move, line.upper_move
        self.basic = basic.copy()
        # Which way a variable can go: up from its lower bound (1), down from its upper one (-1), basic (0).
        self.way = np.where(at_upper, -1.0, 1.0)
        self.way[basic] = 0
        tied = (self.bound[0, :, 0] == self.bound[1, :, 0]) & (self.way != 0)
        if tied.any():
            # Rows whose bounds coincide at the start may be nonbasic at either; the sign of their dual says at which.
            duals = np.linalg.lstsq(self.columns[basic], self.cost[basic], rcond=None)[0]
            self.way[tied] = np.where((self.cost - duals @ self.matrix)[tied] >= 0, -1.0, 1.0)
        self.ratios = np.empty(columns + rows)

    def refresh(self) -> bool:
        """Compute everything from the basis; False if the basis is singular."""
        try:
            self.inverse = np.linalg.inv(self.matrix[:, self.basic])
        except np.linalg.LinAlgError:
            return False
        self.duals = self.cost[self.basic] @ self.inverse
        self.reduced = self.cost - self.duals @ self.matrix
        self.value = np.where((self.way < 0)[:, None], self.bound[1], self.bound[0])
        self.value[self.basic] = 0
        self.load = self.matrix @ self.value
        return True

    def next_stop(self, t: float) -> tuple[Floats, float, int, bool]:
        """Find which basic variable meets a bound first.

        Returns
        -------
        values : ndarray of shape (K, 2)
            The basic variables.
        stop : float
            Where one of them meets a bound; infinite if none does.
        leaving : int
            Its place in the basis.
        above : bool
            Whether it is its upper bound.
        """
        values = -(self.inverse @ self.load)
        low, high = (self.bound[:, self.basic] - values).tolist()
        stop, leaving, above = np.inf, 0, False
        for k, ((below, below_move), (room, room_move)) in enumerate(zip(low, high, strict=True)):
            if room_move < -_TIE and -room / room_move < stop:
                stop, leaving, above = -room / room_move, k, True
            if below_move > _TIE and -below / below_move < stop:
                stop, leaving, above = -below / below_move, k, False
        return values, max(stop, t), leaving, above

    def pivot(self, leaving: int, above: bool) -> bool:
        """Take a basic variable out at a bound, and let the one that costs least enter; False if there is none."""
        row = self.inverse[leaving] @ self.matrix
        # A variable can enter if its move pulls the leaving one back; the one with the least cost per pull does.
        pull = row * self.way if above else row * -self.way
        ratios = self.ratios
        ratios.fill(np.inf)
        np.divide(np.abs(self.reduced), pull, out=ratios, where=pull > _SMALLEST_PIVOT)
        cheapest = ratios.min()
        if cheapest == np.inf:
            return False
        # Among ties the strongest pull: the safest pivot, and the longest way to the next one.
        tied = (ratios <= cheapest + _TIE).nonzero()[0]
        entering = int(tied[0] if len(tied) == 1 else tied[pull[tied].argmax()])
        left = int(self.basic[leaving])
        step = self.reduced[entering] / row[entering]
        self.duals = self.duals + step * self.inverse[leaving]
        self.reduced -= step * row
        self.load -= self.columns[entering][:, None] * self.value[entering]
        self.value[entering] = 0
        self.value[left] = self.bound[int(above), left]
        self.load += self.columns[left][:, None] * self.value[left]
        column = self.inverse @ self.columns[entering]
        self.inverse[leaving] /= column[leaving]
        column[leaving] = 0
        self.inverse -= column[:, None] * self.inverse[leaving]
        self.way[left], self.way[entering] = (-1.0 if above else 1.0), 0.0
        self.basic[leaving] = entering
        return True
