"""The linear program of a limit: the best rule under notions and requirements, re-solved for any tolerances.

Accuracy is affine in the scores, and so are all group rates, whose rows `fairlimits.limits.rate_rows` compiles.
Neighbour constraints are many and mostly slack, so they are added when they are violated: the optimum of a program
with some of its constraints is the optimum of the whole if it meets the others too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from fairlimits._util.types import Floats
from fairlimits.law import CellDistribution, Neighbourhood
from fairlimits.limits.rate_rows import Correction, compile_rows
from fairlimits.limits.variables import Variables
from fairlimits.notions import ACCURACY, INDIVIDUAL, Objective, Requirement, Rows
from fairlimits.solvers import (
    LazyPairs,
    Line,
    Optimum,
    Piece,
    Program,
    SiftedProgram,
    certify,
    follow,
    most_even,
    round_optimum,
)

SIFTED = 200_000
"""Variables from which on sifting solves for a few at a time: plain simplex is as fast at 65,536 of them, and takes
three times as long or more at 262,144 (``docs/benchmarks/ablation.md``)."""

# Rows times variables up to which following the optimum pivot by pivot is faster than a solver call per point.
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
        Difference between the value and its proven upper bound.
    duals : ndarray
        Duals of the rows of the rates and requirements.
    pair_pressure : float
        How fast the value rises with the tolerance of individual fairness.
    optimum : Optimum
        What the solver found.
    """

    x: Floats
    value: float
    gap: float
    duals: Floats
    pair_pressure: float
    optimum: Optimum


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
        self.notions, self.objective, self.requirements = notions, objective, tuple(requirements)
        self._base = objective.base(dist.rates)
        # The proof of an optimum has an absolute precision, so the largest credit is scaled to 1.
        self.unit = max(objective.credit(dist.rates))
        fixed = [*(requirement.rows(dist.rates) for requirement in self.requirements), *rows]
        self.rate_rows = compile_rows(self.variables, notions, fixed)
        matrix, extra = self.rate_rows.matrix, self.rate_rows.n_auxiliary
        self.cost = np.concatenate([self._gain(), np.zeros(extra)])
        self._pairs = LazyPairs(self.variables.compare(neighbourhood)) if INDIVIDUAL in notions else None
        sifted = len(self.variables) > SIFTED and self._pairs is None
        self._sifted = SiftedProgram(self.cost, matrix, extra) if sifted else None
        if self._sifted is None:
            self._program = _in_solver(self.cost, matrix)

    def _gain(self) -> Floats:
        """What the scores add to the objective, in its unit."""
        dist = self.variables.dist
        zero, one = self.objective.credit(dist.rates)
        gain = one / self.unit * dist.mass[:, :, 1] - zero / self.unit * dist.mass[:, :, 0]
        return np.asarray(self.variables.forms(gain.T[None])[0])

    def solve(self, tolerances: Mapping[str, float], correction: Correction | None = None) -> Solved:
        """Find the optimum at some tolerances, starting from the last one found.

        Parameters
        ----------
        tolerances : mapping of str to float
            One for each notion of the program.
        correction : Correction, optional
            Where the rates of groups are taken to be, relative to the law.
        """
        lower, upper = self.rate_rows.lower(tolerances, correction), self.rate_rows.upper(tolerances, correction)
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
            found = certify(self._program, pieces, line, at)
            if found is not None:
                return [self._solved(optimum) for optimum in found]
        return [self.solve({name: start[name] + t * move[name] for name in start}) for t in at.tolist()]

    def turns_along(
        self, start: Mapping[str, float], move: Mapping[str, float], end: float
    ) -> tuple[Floats, list[Solved]] | None:
        """Find every breakpoint of the optimum along ``start + at * move`` for `at` from 0 to `end`, and both ends.

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
        found = certify(self._program, pieces, line, at)
        return None if found is None else (at, [self._solved(optimum) for optimum in found])

    def _follow(
        self, start: Mapping[str, float], move: Mapping[str, float], end: float
    ) -> tuple[list[Piece], Line] | None:
        """Return the pieces of the optimum along a line of tolerances, if they can be followed pivot by pivot."""
        if (
            self._sifted is not None
            or self._pairs is not None
            or self._program.n_rows * len(self.variables) > _FOLLOWED
        ):
            return None
        stop = {name: start[name] + end * move[name] for name in start}
        rows = self.rate_rows
        if not rows.moves_on_a_line(start, stop):
            return None
        lower, upper = rows.lower(start), rows.upper(start)
        lower_end, upper_end = rows.lower(stop), rows.upper(stop)
        if not (np.isfinite(upper_end).all() and end > 0):
            return None
        line = Line(lower, upper, (lower_end - lower) / end, (upper_end - upper) / end)
        pieces = follow(self._program, line, end)
        return None if pieces is None else (pieces, line)

    def _solved(self, optimum: Optimum) -> Solved:
        rows = len(self.rate_rows)
        return Solved(
            x=optimum.x[: len(self.variables)],
            value=self._base + self.unit * optimum.value,
            gap=self.unit * optimum.gap,
            duals=self.unit * optimum.duals[:rows],
            pair_pressure=0.0 if self._pairs is None else self.unit * self._pairs.pressure(optimum.duals[rows:]),
            optimum=optimum,
        )

    def scores(self, solved: Solved, tolerances: Mapping[str, float], correction: Correction | None = None) -> Floats:
        """Return the scores of the variables at an optimum: the most even one where there are several."""
        if self._pairs is not None:
            return solved.x
        bounds = self.rate_rows.lower(tolerances, correction), self.rate_rows.upper(tolerances, correction)
        found = most_even(solved.optimum, self.cost, self.rate_rows.matrix, bounds, self.variables.mass)
        return found.x[: len(self.variables)]

    def whole_scores(
        self, solved: Solved, tolerances: Mapping[str, float], correction: Correction | None = None
    ) -> Floats | None:
        """Return the best scores found that are all 0 or 1; None if none were. Not for individual fairness."""
        bounds = self.rate_rows.lower(tolerances, correction), self.rate_rows.upper(tolerances, correction)
        found = round_optimum(solved.optimum, self.cost, self.rate_rows.matrix, bounds, len(self.variables))
        return None if found is None else found.x[: len(self.variables)]

    def slope(self, solved: Solved, tolerances: Mapping[str, float], move: Mapping[str, float]) -> float:
        """Return how fast the value rises when each notion's tolerance rises at the rate that `move` gives.

        It is a slope of the concave curve at that point: exact between two breakpoints, and between the left
        and the right derivative at one.
        """
        of_pairs = solved.pair_pressure * move.get(INDIVIDUAL, 0.0)
        return of_pairs + self.rate_rows.slope(solved.duals, tolerances, move)


def _in_solver(cost: Floats, matrix: Floats) -> Program:
    """Return a program of variables between 0 and 1, and of rows whose bounds every solve sets anew."""
    program = Program(cost, np.zeros(len(cost)), np.ones(len(cost)))
    if len(matrix):
        program.add_dense_rows(matrix, np.zeros(len(matrix)), np.zeros(len(matrix)))
    return program
