r"""The linear program of a limit: best accuracy under fairness notions, re-solved for any tolerances.

Accuracy is affine in the scores, so are all group rates, and a gap of at most eps is

- for two groups one row, :math:`-\epsilon \le r_a - r_b \le \epsilon`;
- for more, a row for each group and one more variable z: :math:`0 \le r_g - z \le \epsilon`.

Neighbour constraints are many and mostly slack, so they are added when they are violated: the optimum of a
program with some of its constraints is the optimum of the whole if it meets the others too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from fairlimits.arrays import Floats
from fairlimits.criteria import INDIVIDUAL, NOTIONS, Rate, affine_rates
from fairlimits.distribution import CellDistribution
from fairlimits.lp import Optimum, Program
from fairlimits.neighbours import Neighbourhood
from fairlimits.pairs import LazyPairs, times
from fairlimits.parametric import Line, Piece
from fairlimits.variables import Variables

# Probabilities are sums of masses: a difference below this share of their size is rounding.
_ROUNDING = 64 * float(np.finfo(np.float64).eps)

# Rows times variables up to which following the optimum pivot by pivot beats a solver call a point.
_FOLLOWED = 50_000


@dataclass(frozen=True)
class Solved:
    """The optimum at some tolerances.

    Parameters
    ----------
    x : ndarray of shape (n,)
        Scores of the variables.
    accuracy : float
        The optimal accuracy.
    gap : float
        What is left between the accuracy and its proven upper bound.
    duals : ndarray
        Multipliers of the rows of the rates.
    pair_pressure : float
        How fast accuracy rises with the tolerance of individual fairness.
    """

    x: Floats
    accuracy: float
    gap: float
    duals: Floats
    pair_pressure: float


@dataclass(frozen=True)
class _RateRows:
    """Rows ``offset + down * eps <= matrix . x (- z) <= offset + eps`` of one rate."""

    askers: tuple[str, ...]
    matrix: Floats
    offset: Floats
    down: float

    @property
    def spread(self) -> bool:
        """Whether each row is one group's rate against the common z, rather than a difference of two."""
        return self.down == 0


def _met_by_a_coin(matrix: Floats, value: Floats) -> Floats:
    """Correct the last digits of rows so that scores of 1/2 give them the value that they should.

    Deciding by a fair coin meets every notion exactly. Rounding takes that away from rows of tiny entries, and two
    of them then leave no rule at all.
    """
    corrected = matrix.copy()
    largest = np.abs(matrix).argmax(axis=1)
    corrected[np.arange(len(matrix)), largest] -= matrix.sum(axis=1) - 2 * value
    return corrected


class FairProgram:
    """Best accuracy under some notions, kept in the solver and re-solved for any tolerances.

    Parameters
    ----------
    dist : CellDistribution
    notions : tuple of str
        Short names of the notions that are constrained.
    aware : bool
        Whether the rule sees the group.
    neighbourhood : Neighbourhood
        What individual fairness compares, if it is among the notions.
    """

    def __init__(
        self, dist: CellDistribution, notions: tuple[str, ...], aware: bool, neighbourhood: Neighbourhood
    ) -> None:
        self.variables = Variables(dist, aware)
        self.notions = notions
        n = len(self.variables)
        # Each rate is constrained once, by the smallest tolerance of the notions that ask for it.
        askers: dict[Rate, list[str]] = {}
        for name in notions:
            for rate in NOTIONS[name].rates if name in NOTIONS else ():
                askers.setdefault(rate, []).append(name)
        found = (self._rate_rows(dist, rate, tuple(names)) for rate, names in askers.items())
        self._rates = [rows for rows in found if rows is not None]
        extra = sum(rows.spread for rows in self._rates)
        blocks, z = [np.zeros((0, n + extra))], n
        for rows in self._rates:
            block = np.zeros((len(rows.offset), n + extra))
            block[:, :n] = rows.matrix
            if rows.spread:
                block[:, z] = -1
                z += 1
            blocks.append(block)
        matrix = np.concatenate(blocks)
        self._offset = np.concatenate([np.zeros(0), *(rows.offset for rows in self._rates)])
        self._down = np.concatenate([np.zeros(0), *(np.full(len(r.offset), r.down) for r in self._rates)])
        self._rate_of_row = np.repeat(np.arange(len(self._rates)), [len(r.offset) for r in self._rates])
        self._program = Program(
            np.concatenate([self.variables.cost, np.zeros(extra)]), np.zeros(n + extra), np.ones(n + extra)
        )
        if len(matrix):
            self._program.add_dense_rows(matrix, self._offset, self._offset)
        self._pairs = LazyPairs(self.variables.compare(neighbourhood)) if INDIVIDUAL in notions else None

    def _rate_rows(self, dist: CellDistribution, rate: Rate, askers: tuple[str, ...]) -> _RateRows | None:
        rates = affine_rates(dist, rate)
        constant = rates.constant[rates.defined]
        if len(constant) < 2:
            return None
        matrix = self.variables.coefficients(rates.coefficient)[rates.defined]
        if len(constant) == 2:
            difference = matrix[:1] - matrix[1:]
            # Where the groups are alike, what is left is rounding, and no constraint.
            size = self.variables.coefficients(rates.size)[rates.defined].sum(axis=0)
            difference[np.abs(difference) <= _ROUNDING * size] = 0
            offset = constant[1:] - constant[:1]
            offset[np.abs(offset) <= _ROUNDING] = 0
            return _RateRows(askers, _met_by_a_coin(difference, offset), offset, down=-1.0)
        return _RateRows(askers, _met_by_a_coin(matrix, 0.5 - constant), -constant, down=0.0)

    def solve(self, tolerances: Mapping[str, float]) -> Solved:
        """Find the optimum at some tolerances, starting from the last one found.

        Parameters
        ----------
        tolerances : mapping of str to float
            One for each notion of the program.
        """
        lower, upper = self._row_bounds(tolerances)
        if self._pairs is None:
            self._program.set_row_bounds(lower, upper)
            optimum = self._program.solve()
        else:
            optimum = self._pairs.solve(self._program, lower, upper, tolerances[INDIVIDUAL])
        return self._solved(optimum)

    def solve_along(self, start: Mapping[str, float], move: Mapping[str, float], at: Floats) -> list[Solved]:
        """Find the optimum at tolerances ``start + at * move``, for each of the rising numbers `at`."""
        traced = self._follow(start, move, float(at[-1]))
        if traced is not None:
            pieces, line = traced
            found = self._program.certify(pieces, line, at)
            if found is not None:
                return [self._solved(optimum) for optimum in found]
        return [self.solve({name: start[name] + t * move[name] for name in start}) for t in at.tolist()]

    def turns_along(
        self, start: Mapping[str, float], move: Mapping[str, float], end: float
    ) -> tuple[Floats, list[Solved]] | None:
        """Every point between 0 and `end` where the optimum on that line turns, and the ends themselves.

        Returns
        -------
        tuple of ndarray and list of Solved, or None
            None if the program is not small enough to be followed pivot by pivot.
        """
        traced = self._follow(start, move, end)
        if traced is None:
            return None
        pieces, line = traced
        at = np.array([*(piece.start for piece in pieces), end])
        found = self._program.certify(pieces, line, at)
        return None if found is None else (at, [self._solved(optimum) for optimum in found])

    def _follow(
        self, start: Mapping[str, float], move: Mapping[str, float], end: float
    ) -> tuple[list[Piece], Line] | None:
        """Pieces of the optimum along a line of tolerances, if they can be followed pivot by pivot."""
        if self._pairs is not None or len(self._offset) * len(self.variables) > _FOLLOWED:
            return None
        stop = {name: start[name] + end * move[name] for name in start}
        if not all(self._leads_throughout(rows, start, stop) for rows in self._rates):
            return None
        lower, upper = self._row_bounds(start)
        lower_end, upper_end = self._row_bounds(stop)
        if not (np.isfinite(upper_end).all() and end > 0):
            return None
        line = Line(lower, upper, (lower_end - lower) / end, (upper_end - upper) / end)
        pieces = self._program.follow(line, end)
        return None if pieces is None else (pieces, line)

    @staticmethod
    def _leads_throughout(rows: _RateRows, start: Mapping[str, float], stop: Mapping[str, float]) -> bool:
        """Whether one notion sets a rate's limit all the way, so that the limit moves on a line."""
        least, least_end = (min(ends[name] for name in rows.askers) for ends in (start, stop))
        return any(start[name] == least and stop[name] == least_end for name in rows.askers)

    def _row_bounds(self, tolerances: Mapping[str, float]) -> tuple[Floats, Floats]:
        by_rate = np.array([min(tolerances[name] for name in rows.askers) for rows in self._rates])
        eps = by_rate[self._rate_of_row] if len(by_rate) else by_rate
        return self._offset + times(self._down, eps), self._offset + eps

    def _solved(self, optimum: Optimum) -> Solved:
        rows = len(self._offset)
        return Solved(
            x=optimum.x[: len(self.variables)],
            accuracy=self.variables.base + optimum.value,
            gap=optimum.gap,
            duals=optimum.duals[:rows],
            pair_pressure=0.0 if self._pairs is None else self._pairs.pressure(optimum.duals[rows:]),
        )

    def slope(self, solved: Solved, tolerances: Mapping[str, float], move: Mapping[str, float]) -> float:
        """How fast accuracy rises when each notion's tolerance rises at the rate that `move` gives.

        It is a slope of the concave curve at that point: exact between two breakpoints, and between the left
        and the right derivative at one.
        """
        # At the upper bound the row moves with the tolerance, at the lower one against it (or not at all).
        felt = np.where(solved.duals > 0, solved.duals, solved.duals * self._down)
        pressures = np.bincount(self._rate_of_row, weights=felt, minlength=len(self._rates))
        total = solved.pair_pressure * move.get(INDIVIDUAL, 0.0)
        for rows, pressure in zip(self._rates, pressures.tolist(), strict=True):
            tightest = min(tolerances[name] for name in rows.askers)
            leaders = (name for name in rows.askers if tolerances[name] == tightest)
            total += pressure * min(move.get(name, 0.0) for name in leaders)
        return float(total)
