r"""The most even of all optima of a linear program: where people tie, chance decides, not the solver.

A program can have many optima: where the group is seen, equalized odds can leave a whole group worth neither 1 nor 0.
A simplex method then returns a corner, some of the tied points at 1 and the others at 0, which says nothing about
points that took no part. Complementary slackness describes all optima by any one pair of an optimum x and its duals:
points whose reduced cost is not 0 stay where they are, and rows with a dual other than 0 stay at their bound. Among
these the entropy

.. math:: \max_x \sum_{v \in F} m_v h(x_v), \qquad h(x) = -x \log x - (1 - x) \log(1 - x),

over the tied points F, each with its mass :math:`m_v`, has one maximum, and in it a score depends only on what the
point adds to the rows: with Lagrange multipliers w of the rows, :math:`x_v = 1 / (1 + e^{(A^T w)_v / m_v})`. So alike
points are decided alike. A logarithmic barrier of small weight keeps rows that have room off their bounds. The dual is
a smooth convex function of w, minimised by Newton's method. What is found is proven like any other optimum, or the
corner is kept.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.special import expit

from fairlimits._util.types import Flags, Floats, Ints
from fairlimits.solvers.proofs import Optimum, certificate

# What a point may be worth, per unit of its mass, and still be a tie: moving all of them changes the value by less than
# this.
_TIE = 1e-9

# Weight of a row's barrier beside the entropy of the points in the row: enough to keep the row off its bounds.
_BARRIER = 0.01

# A row nearer to its bound is held there, whether it has a dual or not: what other rows imply has no room.
_AT_BOUND = 1e-9

_NEWTON_STEPS = 60
_SETTLED = 1e-12

# A step is halved until the slope along it has fallen to this share; shorter ones than the last lead nowhere.
_LESS_STEEP, _SHORTEST = 0.9, 1e-10

# Directions in which the dual is flat, because rows depend on each other, are those with less than this curvature.
_RANK = 1e-13

# A row that no point can bring to a bound gets this much room beyond what the points can reach.
_ROOM = 1.0


def most_even(optimum: Optimum, cost: Floats, matrix: Floats, bounds: tuple[Floats, Floats], mass: Floats) -> Optimum:
    """Return the most even optimum, or the one that is given if there is no other or none that can be proven.

    Parameters
    ----------
    optimum : Optimum
        A proven optimum of the program.
    cost : ndarray of shape (n,)
        The objective.
    matrix : ndarray of shape (m, n)
        The rows.
    bounds : tuple of ndarray of shape (m,)
        Bounds of the rows.
    mass : ndarray of shape (k,)
        What each of the first k variables, the scores, counts; the others are auxiliary, and all lie in [0, 1].
    """
    # A point that is worth nothing even without constraints is left where it is: no constraint made a tie of it.
    count = len(mass)
    tied = np.flatnonzero((np.abs(optimum.reduced[:count]) <= _TIE * mass) & (np.abs(cost[:count]) > _TIE * mass))
    lower, upper = bounds
    activity = matrix @ optimum.x
    held = (optimum.duals != 0) | (np.minimum(activity - lower, upper - activity) <= _AT_BOUND)
    # As many points as rows that hold them have no room to move.
    if len(tied) <= int(held.sum()):
        return optimum
    point = _spread_out(optimum, matrix, lower, upper, held, tied, mass)
    box = np.zeros_like(cost), np.ones_like(cost)
    proven = certificate(cost, box, point, matrix @ point, optimum.duals, optimum.reduced, bounds)
    return proven if isinstance(proven, Optimum) else optimum


def _spread_out(
    optimum: Optimum, matrix: Floats, lower: Floats, upper: Floats, held: Flags, tied: Ints, mass: Floats
) -> Floats:
    """Scores with the most entropy among the optima, not proven yet."""
    x, extra = optimum.x.copy(), slice(len(mass), None)
    x[tied] = x[extra] = 0.0
    there = np.flatnonzero(matrix[:, tied].any(axis=1) | matrix[:, extra].any(axis=1))
    # A group's rates change by as much as its mass is small: rows in units of mass make all groups alike to Newton.
    unit = 1 / np.maximum((np.abs(matrix[np.ix_(there, tied)]) / mass[tied]).max(axis=1), 1.0)
    rows = unit[:, None] * matrix[there]
    fixed = rows @ x
    target = unit * (matrix[there] @ optimum.x) - fixed
    low, high = unit * lower[there] - fixed, unit * upper[there] - fixed
    face = _Face(sp.csr_array(rows[:, tied]), mass[tied], rows[:, extra], held[there], target, low, high, unit)
    x[tied], auxiliary = face.solve()
    # A level below all rates may come out below 0, where 0 does as well.
    x[extra] = np.clip(auxiliary, 0.0, 1.0)
    return x


@dataclass(frozen=True, eq=False)
class _Face:
    """Tied points under rows ``A x + B z``, some held at a target, the others between bounds."""

    points: sp.csr_array
    mass: Floats
    auxiliary: Floats
    held: Flags
    target: Floats
    lower: Floats
    upper: Floats
    unit: Floats

    def solve(self) -> tuple[Floats, Floats]:
        """Find the scores, and the auxiliary variables that go with them."""
        reach = np.asarray(abs(self.points).sum(axis=1)) + np.abs(self.auxiliary).sum(axis=1) + _ROOM
        lower, upper = np.maximum(self.lower, -reach), np.minimum(self.upper, reach)
        # Auxiliary variables are not priced, so multipliers are orthogonal to their columns.
        q, _ = np.linalg.qr(self.auxiliary, mode="complete")
        free = q[:, self.auxiliary.shape[1] :]
        multipliers = free @ self._newton(free, lower, upper)
        scores = self._scores(multipliers)
        level, _ = self._levels(multipliers, lower, upper)
        auxiliary = np.linalg.lstsq(self.auxiliary, level - self.points @ scores, rcond=None)[0]
        return scores, auxiliary

    def _scores(self, multipliers: Floats) -> Floats:
        return np.asarray(expit(-(self.points.T @ multipliers) / self.mass))

    def _levels(self, multipliers: Floats, lower: Floats, upper: Floats) -> tuple[Floats, Floats]:
        """Value of each row that its multiplier asks for, and how fast it moves with the multiplier."""
        barrier, width = _BARRIER * self.unit, np.where(self.held, 1.0, upper - lower)
        force = multipliers * width / barrier
        large = np.sqrt(force**2 + 4) + np.abs(force)
        # The shares of the room below and above that a multiplier leaves, without differences of large numbers.
        most, least = 2 / (2 + 4 / large), 2 / (2 + large)
        below, above = np.where(force > 0, most, least), np.where(force > 0, least, most)
        level = np.where(self.held, self.target, lower + below * width)
        rate = np.where(self.held, 0.0, width**2 / barrier / (1 / below**2 + 1 / above**2))
        return level, rate

    def _newton(self, free: Floats, lower: Floats, upper: Floats) -> Floats:
        """Minimise the dual over multipliers in the span of `free`."""

        def slope_at(where: Floats) -> tuple[Floats, Floats, Floats]:
            scores = self._scores(free @ where)
            level, rate = self._levels(free @ where, lower, upper)
            return free.T @ (level - self.points @ scores), scores, rate

        at = np.zeros(free.shape[1])
        slope, scores, rate = slope_at(at)
        for _ in range(_NEWTON_STEPS):
            if np.abs(slope).max(initial=0.0) <= _SETTLED:
                break
            weight = scores * (1 - scores) / self.mass
            curved = (self.points * weight[None]) @ self.points.T
            curvature = free.T @ (curved.toarray() + np.diag(rate)) @ free
            step = -np.linalg.lstsq(curvature, slope, rcond=_RANK)[0]
            # Along a line the slope of a convex function only rises: a step may go beyond the lowest point, not to
            # where the function rises as fast as it fell. Values themselves would drown in rounding.
            fall, length = float(slope @ step), 1.0
            while length > _SHORTEST:
                moved = slope_at(at + length * step)
                if abs(float(moved[0] @ step)) <= _LESS_STEEP * abs(fall):
                    break
                length /= 2
            else:
                break
            at, (slope, scores, rate) = at + length * step, moved
        return at
