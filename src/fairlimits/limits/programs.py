r"""The linear program of a limit: the best rule under notions and requirements, re-solved for any tolerances.

Accuracy is affine in the scores, so are all group rates, and a gap of at most eps is

- for two groups one row, :math:`-\epsilon \le r_a - r_b \le \epsilon`;
- for more, a row for each group and one more variable z: :math:`0 \le r_g - z \le \epsilon`.

Neighbour constraints are many and mostly slack, so they are added when they are violated: the optimum of a
program with some of its constraints is the optimum of the whole if it meets the others too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from fairlimits._util.types import Floats
from fairlimits.law import CellDistribution, Neighbourhood
from fairlimits.limits.variables import Variables
from fairlimits.notions import ACCURACY, INDIVIDUAL, NOTIONS, ROUNDING, Objective, Rate, Requirement, Rows
from fairlimits.solvers import LazyPairs, Line, Optimum, Piece, Program, SiftedProgram, times

SIFTED = 40_000
"""Variables from which on a few are solved for at a time."""

# Rows times variables up to which following the optimum pivot by pivot beats a solver call a point.
_FOLLOWED = 50_000


@dataclass(frozen=True)
class Solved:
    """The optimum at some tolerances.

    Parameters
    ----------
    x : ndarray of shape (n,)
        Scores of the variables.
    value : float
        The optimal value of the objective, such as accuracy.
    gap : float
        What is left between the value and its proven upper bound.
    duals : ndarray
        Multipliers of the rows of the rates.
    pair_pressure : float
        How fast the value rises with the tolerance of individual fairness.
    """

    x: Floats
    value: float
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
    """The best rule under some notions, kept in the solver and re-solved for any tolerances.

    Parameters
    ----------
    dist : CellDistribution
    notions : tuple of str
        Short names of the notions that are constrained.
    aware : bool
        Whether the rule sees the group.
    neighbourhood : Neighbourhood
        What individual fairness compares, if it is among the notions.
    requirements : sequence of Requirement
        What else the rule must keep, at any tolerances.
    objective : Objective
        What is maximised.
    rows : sequence of Rows
        Further rows, the same at any tolerances.
    """

    def __init__(
        self,
        dist: CellDistribution,
        notions: tuple[str, ...],
        aware: bool,
        neighbourhood: Neighbourhood,
        requirements: Sequence[Requirement] = (),
        objective: Objective = ACCURACY,
        rows: Sequence[Rows] = (),
    ) -> None:
        self.variables = Variables(dist, aware)
        self.objective, self.requirements = objective, tuple(requirements)
        zero, one = objective.credit(dist.rates)
        # The proof of an optimum is absolute: credits of any size are brought to 1.
        self.unit = max(zero, one)
        gain = one / self.unit * dist.mass[:, :, 1] - zero / self.unit * dist.mass[:, :, 0]
        self._cost = self.variables.forms(gain.T[None])[0]
        self._base = objective.base(dist.rates)
        self.notions = notions
        n = len(self.variables)
        # Each rate is constrained once, by the smallest tolerance of the notions that ask for it.
        askers: dict[Rate, list[str]] = {}
        for name in notions:
            for rate in NOTIONS[name].rates if name in NOTIONS else ():
                askers.setdefault(rate, []).append(name)
        found = (self._rate_rows(dist, rate, tuple(names)) for rate, names in askers.items())
        self._rates = [each for each in found if each is not None]
        fixed = [*(requirement.rows(dist.rates) for requirement in self.requirements), *rows]
        extra = sum(each.spread for each in self._rates) + sum(bool(own.shared.any()) for own in fixed)
        blocks, z = [np.zeros((0, n + extra))], n
        for rate_rows in self._rates:
            block = np.zeros((len(rate_rows.offset), n + extra))
            block[:, :n] = rate_rows.matrix
            if rate_rows.spread:
                block[:, z] = -1
                z += 1
            blocks.append(block)
        for own in fixed:
            block = np.zeros((len(own.lower), n + extra))
            block[:, :n] = _met_by_a_coin(self._without_rounding(own), own.coin)
            if own.shared.any():
                block[:, z] = own.shared
                z += 1
            blocks.append(block)
        matrix = np.concatenate(blocks)
        self._fixed_lower = np.concatenate([np.zeros(0), *(own.lower for own in fixed)])
        self._fixed_upper = np.concatenate([np.zeros(0), *(own.upper for own in fixed)])
        self._offset = np.concatenate([np.zeros(0), *(rows.offset for rows in self._rates)])
        self._down = np.concatenate([np.zeros(0), *(np.full(len(r.offset), r.down) for r in self._rates)])
        self._rate_of_row = np.repeat(np.arange(len(self._rates)), [len(r.offset) for r in self._rates])
        self._pairs = LazyPairs(self.variables.compare(neighbourhood)) if INDIVIDUAL in notions else None
        cost = np.concatenate([self._cost, np.zeros(extra)])
        self._sifted = SiftedProgram(cost, matrix, extra) if n > SIFTED and self._pairs is None else None
        if self._sifted is None:
            self._program = Program(cost, np.zeros(n + extra), np.ones(n + extra))
            if len(matrix):
                at_once = np.concatenate([self._offset, self._fixed_lower])
                self._program.add_dense_rows(matrix, at_once, at_once)

    def _without_rounding(self, rows: Rows) -> Floats:
        """Forms of the variables; where rates of groups that are alike cancel, nothing is left."""
        forms = self.variables.forms(rows.coefficient)
        forms[np.abs(forms) <= ROUNDING * self.variables.forms(rows.size)] = 0
        return forms

    def _rate_rows(self, dist: CellDistribution, rate: Rate, askers: tuple[str, ...]) -> _RateRows | None:
        rates = dist.rates.of(rate)
        constant = rates.constant[rates.defined]
        if len(constant) < 2:
            return None
        matrix = self.variables.coefficients(rates.coefficient)[rates.defined]
        if len(constant) == 2:
            difference = matrix[:1] - matrix[1:]
            # Where the groups are alike, what is left is rounding, and no constraint.
            size = self.variables.coefficients(rates.size)[rates.defined].sum(axis=0)
            difference[np.abs(difference) <= ROUNDING * size] = 0
            offset = constant[1:] - constant[:1]
            offset[np.abs(offset) <= ROUNDING] = 0
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
        if self._sifted is not None:
            self._sifted.set_row_bounds(lower, upper)
            optimum = self._sifted.solve()
        elif self._pairs is None:
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
        if (
            self._sifted is not None
            or self._pairs is not None
            or self._program.n_rows * len(self.variables) > _FOLLOWED
        ):
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
        lower, upper = self._offset + times(self._down, eps), self._offset + eps
        return np.concatenate([lower, self._fixed_lower]), np.concatenate([upper, self._fixed_upper])

    def _solved(self, optimum: Optimum) -> Solved:
        rows = len(self._offset) + len(self._fixed_lower)
        return Solved(
            x=optimum.x[: len(self.variables)],
            value=self._base + self.unit * optimum.value,
            gap=self.unit * optimum.gap,
            duals=self.unit * optimum.duals[: len(self._offset)],
            pair_pressure=0.0 if self._pairs is None else self.unit * self._pairs.pressure(optimum.duals[rows:]),
        )

    def slope(self, solved: Solved, tolerances: Mapping[str, float], move: Mapping[str, float]) -> float:
        """How fast the value rises when each notion's tolerance rises at the rate that `move` gives.

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
