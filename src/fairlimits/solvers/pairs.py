r"""Constraint generation: pair constraints that enter a linear program only where they are violated.

The program is to maximise :math:`c \cdot x` under few rows and, for very many pairs of points (i, j),

.. math:: |f_i \cdot x - f_j \cdot x| \le \epsilon \, l_{ij} ,

nearly all of them slack at the optimum. The program with the pairs of a set S only is a relaxation: if its optimum
meets the pairs outside S too, it is the optimum of the whole, with duals of 0 for them. So S grows in rounds, each by
the pairs that are the worst violated one of a point, and the dual simplex method goes on from its last basis. A pair
that has become slack leaves S, once at most, so that the rounds come to an end.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from fairlimits._util.types import Floats, Ints
from fairlimits.solvers.constraints import PairConstraints
from fairlimits.solvers.interior.program import InteriorProgram
from fairlimits.solvers.lp import Draft, Program
from fairlimits.solvers.proofs import Ending, Failure, Optimum

MISSED = 1e-9
"""A neighbour constraint missed by less is met, to the precision of the solver."""

FEW_PAIRS = 8
"""Pairs for each variable up to which all of them enter at once: rounds would cost more than they save."""

MANY_VARIABLES = 1_500
PATIENCE = 2
"""Variables from which on the simplex method is told where to begin, once it has made so many iterations per point: it
may be done before (``docs/benchmarks/ablation.md`` has what that gains from 2,048 variables on)."""


class LazyPairs:
    """Pair constraints that enter the program when they are violated.

    Parameters
    ----------
    comparison : PairConstraints
        All pairs that are compared; their scores are the first variables of the program.
    """

    def __init__(self, comparison: PairConstraints) -> None:
        self._comparison = comparison
        self._inside: Ints = np.zeros(0, dtype=np.int64)
        # A pair is taken out at most once, so that the rounds come to an end.
        self._returned = np.zeros(len(comparison.first), dtype=bool)

    @property
    def inside(self) -> Ints:
        """Pairs that are in the program now, in the order of their rows."""
        return self._inside

    def solve(self, program: Program, lower: Floats, upper: Floats, tolerance: float) -> Optimum:
        """Solve the program, adding violated pairs in rounds until none is left.

        Parameters
        ----------
        program : Program
            The rows of the pairs come last in it.
        lower, upper : ndarray
            Bounds of all rows before them.
        tolerance : float
            The tolerance of individual fairness.
        """
        allowed = times(self._comparison.looseness, np.array(tolerance))
        variables = self._comparison.forms.shape[1]
        patience: int | None = None
        if not len(self._inside):
            if len(allowed) <= FEW_PAIRS * variables:
                self._add(program, np.arange(len(allowed)), allowed)
            elif variables >= MANY_VARIABLES and len(program.dense) == len(lower):
                patience = PATIENCE * self._comparison.forms.shape[0]
        while True:
            bound = allowed[self._inside]
            program.set_row_bounds(np.concatenate([lower, -bound]), np.concatenate([upper, bound]))
            # Only the last point need be proven; the others serve to find violated pairs.
            draft = program.draft(patience)
            if patience is not None:
                patience -= program.iterations
                if patience <= 0 or (isinstance(draft, Failure) and draft.ending is Ending.STOPPED):
                    patience = None
                    self._begin_near(program, lower, upper, allowed)
                    continue
            point = program.prove(draft) if isinstance(draft, Failure) else draft
            excess, missed = self._missed(point.x, allowed)
            if not len(missed) and isinstance(point, Draft):
                # The proof may need another solve, which finds another point: look at its pairs too.
                point = program.prove(point)
                excess, missed = self._missed(point.x, allowed)
            if not len(missed) and isinstance(point, Optimum):
                return point
            self._drop_slack(program, excess[self._inside], bound, len(lower))
            self._add(program, self._worst(missed, excess), allowed)

    def _begin_near(self, program: Program, lower: Floats, upper: Floats, allowed: Floats) -> None:
        """Start anew near the optimum; if the interior-point method does not find where that is, change nothing."""
        found = InteriorProgram(
            program.cost, program.box, program.dense, (lower, upper), self._comparison, allowed
        ).start()
        if found is not None:
            program.drop_rows(np.arange(len(lower), program.n_rows))
            self._inside = np.zeros(0, dtype=np.int64)
            self._add(program, found.pairs, allowed)
            program.start_at(found.columns, np.concatenate([found.rows, found.pair_rows]))

    def pressure(self, duals: Floats) -> float:
        """Derivative of the optimum in the tolerance, from the duals of the pairs inside."""
        return float(np.abs(duals) @ self._comparison.looseness[self._inside])

    def _missed(self, x: Floats, allowed: Floats) -> tuple[Floats, Ints]:
        """By how much each pair is missed, and which of those outside the program are."""
        excess = self._comparison.differences(x[: self._comparison.forms.shape[1]]) - allowed
        violated = excess > MISSED
        violated[self._inside] = False
        return excess, np.flatnonzero(violated)

    def _worst(self, missed: Ints, excess: Floats) -> Ints:
        """Of the missed pairs, those that are the worst one of at least one of their two points."""
        order = missed[np.argsort(-excess[missed], kind="stable")]
        worst = np.zeros(len(order), dtype=bool)
        for points in (self._comparison.first, self._comparison.second):
            worst[np.unique(points[order], return_index=True)[1]] = True
        return order[worst]

    def _add(self, program: Program, pairs: Ints, allowed: Floats) -> None:
        program.add_sparse_rows(
            difference_rows(self._comparison, pairs, program.n_columns), -allowed[pairs], allowed[pairs]
        )
        self._inside = np.concatenate([self._inside, pairs])

    def _drop_slack(self, program: Program, excess: Floats, bound: Floats, before: int) -> None:
        """Take out pairs that are slack by half their bound: they slow down every later iteration."""
        slack = np.flatnonzero((excess < -0.5 * bound) & ~self._returned[self._inside])
        if len(slack):
            self._returned[self._inside[slack]] = True
            program.drop_rows(before + slack)
            self._inside = np.delete(self._inside, slack)


def difference_rows(comparison: PairConstraints, pairs: Ints, columns: int) -> sp.csr_array:
    """Difference of the two scores of each pair, as rows of a program with `columns` variables."""
    rows = comparison.rows[pairs]
    rows.resize((len(pairs), columns))
    return rows


def times(factor: Floats, tolerance: Floats) -> Floats:
    """Multiply so that an infinite tolerance times a factor of 0 is 0."""
    with np.errstate(invalid="ignore", over="ignore"):
        return np.asarray(np.where(factor == 0, 0.0, factor * tolerance))
