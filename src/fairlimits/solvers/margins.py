r"""Programs whose constraints keep room for errors that depend on the solution: an interior-point method.

.. math::

    \max_x\; g \cdot x \quad\text{subject to}\quad |\mu_i(x) - \mu_j(x)| + c_{ij} \sqrt{v_i(x) + v_j(x)} \le e_{ij} ,
    \quad 0 \le x \le 1 ,

for pairs (i, j) of means :math:`\mu = A x + b` whose estimates have variances

.. math::

    v_i(x) = \kappa_i \Bigl( \sum_k u_{ik} x_k^2 + w_{ik} (1 - x_k)^2 - m_i(x)^2 \Bigr) , \quad m = u x + w (1 - x) .

A square root of a sum of variances is a norm of an affine function of x, so this is a convex program (of second-order
cones). Its second derivatives are a diagonal matrix and one whose rank is three times the number of means, so a step
costs little more than passing over the coefficients. The result is not proven: callers that need more have to check it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import TypeAlias

import numpy as np
from scipy.linalg import lu_factor, lu_solve

from fairlimits._util.types import Floats, Ints

# Newton steps, of which 7 to 11 are usual; beyond this the method has stalled, and its best point is taken.
_STEPS = 40

# Largest residual of the optimality conditions, in units of a mean coefficient of the objective: callers know variances
# to fewer digits than that. As measured, no constraint is missed by more than 1e-5 (``docs/benchmarks/ablation.md``).
_LEFT = 1e-4

# Share of the way to the boundary that a step goes, as usual, and rounds of iterative refinement of its equations.
_INSIDE, _REFINED = 0.99, 2

# Where nothing varies, a norm has no derivative: this share of what a pair may differ by keeps it above 0.
_SMOOTH = 1e-3


@dataclass(frozen=True, eq=False)
class Means:
    """Some means that depend on the same variables.

    Parameters
    ----------
    columns : ndarray of int of shape (n,)
        The variables that they depend on; no other means do.
    matrix : ndarray of shape (r, n)
        Coefficients of the means that are compared.
    offset : ndarray of shape (r,)
        Their constants.
    ones, zeros : ndarray of shape (r, n)
        Shares of each variable's people whose value is x, and whose value is 1 - x.
    scale : ndarray of shape (r,)
        Variance of an estimated mean for a variance of 1 among people.
    """

    columns: Ints
    matrix: Floats
    offset: Floats
    ones: Floats
    zeros: Floats
    scale: Floats

    def values(self, x: Floats) -> tuple[Floats, Floats]:
        """Means, and variances of their estimates."""
        own = x[self.columns]
        mean = self.ones @ own + self.zeros @ (1 - own)
        spread = self.ones @ own**2 + self.zeros @ (1 - own) ** 2 - mean**2
        return self.matrix @ own + self.offset, self.scale * np.maximum(spread, 0)

    def slopes(self, x: Floats) -> tuple[Floats, Floats]:
        """How the variances change with the variables, and how the people's means do."""
        own = x[self.columns]
        mean = self.ones @ own + self.zeros @ (1 - own)
        plain = self.ones - self.zeros
        each = self.ones * own - self.zeros * (1 - own) - mean[:, None] * plain
        return 2 * self.scale[:, None] * each, plain


@dataclass(frozen=True, eq=False)
class Compared:
    """Pairs of means, counted over all `Means`, that may differ by `limit`, with room for `reach` standard errors."""

    first: Ints
    second: Ints
    limit: Floats
    reach: Floats


def solve_with_margins(gain: Floats, means: Sequence[Means], compared: Compared) -> tuple[Floats, Floats]:
    """Find the best variables between 0 and 1.

    Parameters
    ----------
    gain : ndarray of shape (n,)
        The objective.
    means : sequence of Means
        Each variable belongs to one of them.
    compared : Compared
        Which means are compared; a point at which all are alike without error must exist inside the bounds.

    Returns
    -------
    x : ndarray of shape (n,)
    weight : ndarray
        For each pair, how much one more standard error of room would cost.
    """
    return _Interior(gain, means, compared).solve()


_Point: TypeAlias = tuple[Floats, Floats, Floats, Floats, Floats]
"""Variables, slacks, their multipliers, and those of the bounds below and above; or how all of these move."""


class _Interior:
    """Mehrotra's method with slacks r for the constraints: f(x) + r = 0, a multiplier for each, and for the bounds."""

    def __init__(self, gain: Floats, means: Sequence[Means], compared: Compared) -> None:
        size = float(np.abs(gain).mean())
        self._gain, self._means = gain / (size if size > 0 else 1.0), means
        ends = list(accumulate((len(own.offset) for own in means), initial=0))
        self._places = [slice(start, end) for start, end in pairwise(ends)]
        self._pairs, self._rows = len(compared.limit), ends[-1]
        # Where the rows of each of the means are: of itself, its variance and the mean of people's values.
        parts = np.arange(3) * self._rows
        self.at = [np.add.outer(parts, np.arange(own.start, own.stop)).ravel() for own in self._places]
        first, second = np.tile(compared.first, 2), np.tile(compared.second, 2)
        at = np.arange(len(first))
        self._sum = np.zeros((len(first), self._rows))
        self._sum[at, first] = self._sum[at, second] = 1.0
        sign = np.repeat([1.0, -1.0], self._pairs)
        self._apart = np.zeros((len(first), self._rows))
        self._apart[at, first], self._apart[at, second] = sign, -sign
        self._limit, self._reach = np.tile(compared.limit, 2), np.tile(compared.reach, 2)
        self._least = (_SMOOTH * self._limit / np.maximum(self._reach, 1)) ** 2

    def solve(self) -> tuple[Floats, Floats]:
        n, gain = len(self._gain), self._gain
        x = 0.5 + 0.25 * np.sign(gain)
        value, _ = self._values(x)
        slack, dual = np.maximum(-value, 0.05), np.full(len(value), 0.02 * n / self._pairs)
        below, above = 0.5 + np.maximum(-gain, 0) / 2, 0.5 + np.maximum(gain, 0) / 2
        best, least = (x, dual), np.inf
        for _ in range(_STEPS):
            value, norm = self._values(x)
            newton = _Newton(self, x, slack, dual, below, above, norm)
            missed = value + slack
            slope = newton.transposed(self._coefficients(dual, norm)) - gain - below + above
            complement = (slack @ dual + below @ x + above @ (1 - x)) / (len(slack) + 2 * n)
            left = complement + float(np.abs(slope).mean()) + 10 * max(float(value.max()), 0.0)
            if left < least:
                best, least = (x, dual * norm), left
            if left < _LEFT or not np.isfinite(left):
                break
            x, slack, dual, below, above = newton.step(slope, missed, complement)
        x, weight = best
        return np.clip(x, 0, 1), weight[: self._pairs] + weight[self._pairs :]

    def _values(self, x: Floats) -> tuple[Floats, Floats]:
        """Constraints, at most 0 where they are met, and the standard errors in them."""
        found = [own.values(x) for own in self._means]
        mean, variance = (np.concatenate(own) for own in zip(*found, strict=True))
        norm = np.sqrt(self._sum @ variance + self._least)
        return self._reach * norm + self._apart @ mean - self._limit, norm

    def _coefficients(self, dual: Floats, norm: Floats) -> Floats:
        """Derivatives of the constraints by means and variances, weighted with multipliers."""
        return np.concatenate([dual @ self._apart, (dual * self._reach / (2 * norm)) @ self._sum, np.zeros(self._rows)])


class _Newton:
    """The equations of one step, in which second derivatives are D + J' H J: D diagonal, J of few rows."""

    def __init__(
        self, program: _Interior, x: Floats, slack: Floats, dual: Floats, below: Floats, above: Floats, norm: Floats
    ) -> None:
        self._x, self._slack, self._dual, self._below, self._above = x, slack, dual, below, above
        self._means, self._places, rows = program._means, program._places, program._rows
        reach, both = program._reach, program._sum
        self._columns = np.hstack([program._apart, both * (reach / (2 * norm))[:, None], np.zeros_like(both)])
        self._jacobian = []
        self._diagonal: Floats = np.asarray(below / x + above / (1 - x))
        weight = (dual * reach / (2 * norm)) @ both
        inner = np.zeros((3 * rows, 3 * rows))
        inner[rows : 2 * rows, rows : 2 * rows] = -(both * (dual * reach / (4 * norm**3))[:, None]).T @ both
        for own, place in zip(self._means, self._places, strict=True):
            curved, plain = own.slopes(x)
            self._jacobian.append(np.concatenate([own.matrix, curved, plain]))
            bent = weight[place] * own.scale
            self._diagonal[own.columns] += 2 * bent @ (own.ones + own.zeros)
            at = np.arange(place.start, place.stop) + 2 * rows
            inner[at, at] = -2 * bent
        self._inner = inner + (self._columns * (dual / slack)[:, None]).T @ self._columns
        self._at = program.at
        gram = np.zeros_like(inner)
        for own, at, block in zip(self._means, self._at, self._jacobian, strict=True):
            gram[np.ix_(at, at)] = (block / self._diagonal[own.columns]) @ block.T
        self._small = lu_factor(np.eye(3 * rows) + self._inner @ gram, check_finite=False)

    def times(self, x: Floats) -> Floats:
        """J x."""
        found = np.zeros(len(self._inner))
        for own, at, block in zip(self._means, self._at, self._jacobian, strict=True):
            found[at] = block @ x[own.columns]
        return found

    def transposed(self, y: Floats) -> Floats:
        """J' y."""
        found = np.zeros(len(self._x))
        for own, at, block in zip(self._means, self._at, self._jacobian, strict=True):
            found[own.columns] = y[at] @ block
        return found

    def _solved(self, right: Floats) -> Floats:
        """Solve with all second derivatives, by iterative refinement."""

        def once(own: Floats) -> Floats:
            first = own / self._diagonal
            small = lu_solve(self._small, self._inner @ self.times(first), check_finite=False)
            return np.asarray(first - self.transposed(small) / self._diagonal)

        x = once(right)
        for _ in range(_REFINED):
            left: Floats = np.asarray(right - self._diagonal * x)
            x = x + once(left - self.transposed(np.asarray(self._inner @ self.times(x))))
        return x

    def _direction(self, slope: Floats, missed: Floats, aims: tuple[Floats, Floats, Floats]) -> _Point:
        of_slack, of_below, of_above = aims
        x, slack, dual = self._x, self._slack, self._dual
        pull = self.transposed(np.asarray(((of_slack + dual * missed) / slack) @ self._columns))
        dx = self._solved(np.asarray(of_below / x - of_above / (1 - x) - slope - pull))
        ds = -missed - self._columns @ self.times(dx)
        return (
            dx,
            ds,
            (of_slack - dual * ds) / slack,
            (of_below - self._below * dx) / x,
            (of_above + self._above * dx) / (1 - x),
        )

    def step(self, slope: Floats, missed: Floats, complement: float) -> _Point:
        """The point after a step, of variables, slacks, their multipliers and those of the bounds."""
        x, slack, dual, below, above = self._x, self._slack, self._dual, self._below, self._above
        gaps = slack * dual, below * x, above * (1 - x)
        dx, ds, dl, db, da = self._direction(slope, missed, (-gaps[0], -gaps[1], -gaps[2]))
        first, second = self._lengths(dx, ds, dl, db, da, 1.0)
        ahead = (slack + first * ds) @ (dual + second * dl) + (below + second * db) @ (x + first * dx)
        ahead += (above + second * da) @ (1 - x - first * dx)
        aim = complement * max(float(ahead / (complement * sum(map(len, gaps)))) ** 3, 1e-4)
        aims = aim - gaps[0] - ds * dl, aim - gaps[1] - dx * db, aim - gaps[2] + dx * da
        dx, ds, dl, db, da = self._direction(slope, missed, aims)
        first, second = self._lengths(dx, ds, dl, db, da, _INSIDE)
        return x + first * dx, slack + first * ds, dual + second * dl, below + second * db, above + second * da

    def _lengths(self, dx: Floats, ds: Floats, dl: Floats, db: Floats, da: Floats, part: float) -> tuple[float, float]:
        """How far one can go, in variables and slacks, and in multipliers."""
        x = self._x
        return (
            _length(((x, dx), (1 - x, -dx), (self._slack, ds)), part),
            _length(((self._dual, dl), (self._below, db), (self._above, da)), part),
        )


def _length(moved: Sequence[tuple[Floats, Floats]], part: float) -> float:
    length = 1.0
    for value, move in moved:
        falls = move < 0
        if falls.any():
            length = min(length, part * float((-value[falls] / move[falls]).min()))
    return length
