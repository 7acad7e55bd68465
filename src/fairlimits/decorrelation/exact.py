r"""The optimum of the decorrelation problem, as a linear program in the scores after the map.

Whatever map attains scores t with entries in [lo, hi] = [min s, max s], two groups are at least
:math:`2 |E[t|g] - E[t|h]| / (hi - lo)` apart after it, and one map attains that for all pairs at once
(``docs/decorrelation.md`` has the proof). So the paper's problems (5) and (31), with a variable for each entry
of T, have the same optimum as

.. math::
    \max_{t, \kappa} \; \lambda \, \mathrm{accuracy}(t) - \beta \kappa \quad \text{subject to} \quad
    lo \le t \le hi, \quad 2 |E[t|g] - E[t|h]| \le (hi - lo) \kappa, \quad \text{fairness of } t .
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fairlimits._util.types import Flags, Floats, Ints
from fairlimits.decorrelation.problems import Problem
from fairlimits.errors import InfeasibleError
from fairlimits.limits import RateRows, compile_rows
from fairlimits.notions import INDIVIDUAL
from fairlimits.solvers import Layout, LazyPairs, Optimum, Program, times

LARGEST_CORRELATION = 2.0

# What the maps among which the least distorting one is sought may lose of the optimal objective, the larger weight
# taken as 1: 1e-9 at the paper's weights.
SLACK = 4e-11

# A point this near to a bound is at it, to the precision of the solver.
_AT_BOUND = 1e-9

# A correlation below this is 0 up to rounding.
_NO_CORRELATION = 1e-9

# Factor on the weight of the correlation in the test whether it is 0 at every optimum.
_LIGHTER = 1 - 1e-6


@dataclass(frozen=True, eq=False)
class Face:
    """All optimal points of the exact program, as tighter bounds of its columns, rows and pairs.

    Parameters
    ----------
    lower, upper : ndarray of shape (n,)
        Bounds of the columns.
    row_lower, row_upper : ndarray of shape (m,)
        Bounds of the rows.
    pairs : ndarray of int
        Neighbours whose scores must differ by all that is allowed.
    signs : ndarray
        In which direction they do.
    decorrelated : bool
        Whether the correlation is 0 all over.
    """

    lower: Floats
    upper: Floats
    row_lower: Floats
    row_upper: Floats
    pairs: Ints
    signs: Floats
    decorrelated: bool


@dataclass(frozen=True, eq=False)
class Exact:
    """A proven optimum of the exact program.

    Parameters
    ----------
    scores : ndarray of shape (n,)
        Score of each source after the map, t.
    correlation : float
        The least correlation that these scores can be attained with.
    accuracy : float
        Their accuracy.
    objective : float
        The optimal objective.
    optimum : Optimum
        What the solver found, with its proof.
    """

    scores: Floats
    correlation: float
    accuracy: float
    objective: float
    optimum: Optimum


class ExactProgram:
    """The exact program, kept in the solver and re-solved for any weights.

    Its `columns` are the scores t, the auxiliary variables of gaps of more than two groups, and last the correlation.
    Only the ratio of the weights matters, and what is proven is proven up to absolute tolerances: give weights of which
    the larger is 1.

    Parameters
    ----------
    problem : Problem
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.low, self.high = problem.box
        fair, parity = problem.rate_rows, compile_rows(problem.all_groups, ["DP"])
        self.columns = Layout(
            {
                "scores": (len(problem.variables),),
                "auxiliary of tolerances": (fair.n_auxiliary,),
                "auxiliary of the correlation": (parity.n_auxiliary,),
                "correlation": (1,),
            }
        )
        apart, apart_lower, apart_upper = self._correlation_rows(parity)
        self.matrix = np.vstack([np.zeros((len(fair), len(self.columns))), apart])
        self.matrix[: len(fair), : fair.matrix.shape[1]] = fair.matrix
        self.row_lower = np.concatenate([problem.bounds[0], apart_lower])
        self.row_upper = np.concatenate([problem.bounds[1], apart_upper])
        self.lower, self.upper = np.zeros(len(self.columns)), np.ones(len(self.columns))
        self.lower[self.columns.block("scores")], self.upper[self.columns.block("scores")] = self.low, self.high
        self.upper[self.columns.block("correlation")] = LARGEST_CORRELATION
        self._program = Program(self.cost(1.0, 1.0), self.lower, self.upper)
        if len(self.matrix):
            self._program.add_dense_rows(self.matrix, self.row_lower, self.row_upper)
        self.comparison = problem.comparison
        self._pairs = None if self.comparison is None else LazyPairs(self.comparison)

    def _correlation_rows(self, parity: RateRows) -> tuple[Floats, Floats, Floats]:
        """Rows that keep the correlation at least what the scores entail.

        The correlation times half the width of the box bounds the gap of demographic parity between all groups: its
        rows, with a bound that is a variable.
        """
        half, count, n = (self.high - self.low) / 2, len(parity), parity.n_scores
        rows = np.zeros((2 * count, len(self.columns)))
        rows[:, self.columns.block("scores")] = np.tile(parity.matrix[:, :n], (2, 1))
        rows[:, self.columns.block("auxiliary of the correlation")] = np.tile(parity.matrix[:, n:], (2, 1))
        correlation = self.columns.block("correlation").start
        for side, bound in ((slice(count), parity.upper), (slice(count, None), parity.lower)):
            rows[side, correlation] = -half * bound({"DP": 1.0})
        # All activities lie within 2 of 0, so bounds of 2 never bind, and are finite.
        far = np.repeat([0.0, 2.0], count)
        return rows, far - 2, far

    def cost(self, accuracy_weight: float, correlation_weight: float) -> Floats:
        """Objective of the columns."""
        cost = np.zeros(len(self.columns))
        cost[self.columns.block("scores")] = accuracy_weight * self.problem.variables.cost
        cost[self.columns.block("correlation")] = -correlation_weight
        return cost

    def solve(self, accuracy_weight: float, correlation_weight: float) -> Exact:
        """Find the optimum for some weights, starting from the last one found.

        Raises
        ------
        InfeasibleError
            If no map meets the tolerances.
        """
        self._program.set_cost(self.cost(accuracy_weight, correlation_weight))
        try:
            optimum = self._solve()
        except InfeasibleError:
            raise InfeasibleError(self._infeasible()) from None
        variables, scores = self.problem.variables, optimum.x[self.columns.block("scores")]
        return Exact(
            scores=scores,
            correlation=self._least_correlation(scores),
            accuracy=variables.base + float(variables.cost @ scores),
            objective=accuracy_weight * variables.base + optimum.value,
            optimum=optimum,
        )

    def _solve(self) -> Optimum:
        if self._pairs is None:
            return self._program.solve()
        return self._pairs.solve(self._program, self.row_lower, self.row_upper, self.problem.tolerances[INDIVIDUAL])

    def _least_correlation(self, scores: Floats) -> float:
        means = self.problem.laws @ scores
        return float(2 * np.ptp(means) / (self.high - self.low)) if self.high > self.low else 0.0

    def _infeasible(self) -> str:
        asked = ", ".join(f"{name} <= {eps:g}" for name, eps in self.problem.tolerances.items())
        return (
            f"No map meets {asked} with this rule, whose scores lie between {self.low:g} and {self.high:g}: "
            "relax a tolerance, or solve for a rule that meets these tolerances and decorrelate with that one."
        )

    def face(self, accuracy_weight: float, correlation_weight: float) -> Face:
        """Describe all optimal points for some weights.

        By weak duality a feasible point loses :math:`|r_j| |x_j - b_j|` for each column that leaves the bound b_j that
        its reduced cost r_j points to, and likewise for rows and their duals. So a feasible point is optimal exactly if
        it stays at all bounds whose reduced cost or dual is not 0. Those that are 0 up to rounding are told from others
        by what they could cost all together: less than `SLACK` and what is left between the optimum found and its
        bound. Where masses differ by ten orders of magnitude, the latter can be more than `SLACK`; and the optimum
        found must stay in its own face, for it may be the only point there.
        """
        # If even a lighter weight leaves no correlation, none is left at any optimum of this one.
        lighter = correlation_weight * _LIGHTER
        decorrelated = correlation_weight > 0 and self.solve(accuracy_weight, lighter).correlation <= _NO_CORRELATION
        optimum = self.solve(accuracy_weight, correlation_weight).optimum
        rows = len(self.matrix)
        duals, pair_duals = optimum.duals[:rows], optimum.duals[rows:]
        inside = np.zeros(0, dtype=np.int64) if self._pairs is None else self._pairs.inside
        allowed = self.allowed(inside)
        low = np.concatenate([self.lower, self.row_lower, -allowed])
        high = np.concatenate([self.upper, self.row_upper, allowed])
        prices = np.concatenate([optimum.reduced, duals, pair_duals])
        at = np.concatenate([optimum.x, self.matrix @ optimum.x, self._differences(optimum.x, inside)])
        left = np.where(prices > 0, high - at, at - low) > _AT_BOUND
        tight = _dear(np.abs(prices) * (high - low), SLACK + max(optimum.gap, 0.0)) & ~left
        of_column, of_row, of_pair = np.split(tight, [len(self.lower), len(self.lower) + rows])
        lower, upper = _tightened(self.lower, self.upper, optimum.reduced, of_column)
        if decorrelated:
            upper[self.columns.block("correlation")] = 0.0
        row_lower, row_upper = _tightened(self.row_lower, self.row_upper, duals, of_row)
        signs = np.sign(pair_duals[of_pair])
        return Face(lower, upper, row_lower, row_upper, inside[of_pair], signs, decorrelated)

    def _differences(self, x: Floats, pairs: Ints) -> Floats:
        """By how much the scores of some pairs of neighbours differ, with its sign."""
        if self.comparison is None:
            return np.zeros(0)
        return np.asarray(self.comparison.rows[pairs] @ x[self.columns.block("scores")])

    def allowed(self, pairs: Ints) -> Floats:
        """How far the scores of some pairs of neighbours may differ."""
        if self.comparison is None:
            return np.zeros(0)
        eps = np.array(self.problem.tolerances[INDIVIDUAL])
        return times(self.comparison.looseness[pairs], eps)


def _dear(losses: Floats, budget: float) -> Flags:
    """Which losses are left when the smallest, as many as stay within a budget all together, are set aside."""
    order = np.argsort(losses, kind="stable")
    dear = np.ones(len(losses), dtype=bool)
    dear[order[np.cumsum(losses[order]) <= budget]] = False
    return dear


def _tightened(lower: Floats, upper: Floats, prices: Floats, tight: Flags) -> tuple[Floats, Floats]:
    """Bounds, of which the tight ones are closed on the side that the dual points to."""
    return np.where(tight & (prices > 0), upper, lower), np.where(tight & (prices < 0), lower, upper)
