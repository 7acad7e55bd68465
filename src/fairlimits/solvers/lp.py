r"""The only file that talks to HiGHS: a linear program in, a proven optimum or an error out.

The program is

.. math:: \max_x c \cdot x \quad \text{subject to} \quad l \le x \le u,\; L \le A x \le U .

Every result is proven in `fairlimits.solvers.proofs` before it is returned.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import highspy
import numpy as np
import scipy.sparse as sp

from fairlimits._util.types import Flags, Floats, Ints
from fairlimits.errors import InfeasibleError, SolverError
from fairlimits.solvers.proofs import Ending, Failure, Optimum, certificates

# Rounding errors of sums of rates and scores; a row that must be missed by more cannot be met.
_ROUNDING = 1e-12

_OPTIONS: dict[str, Any] = {
    "output_flag": False,
    # The programs are re-solved from their last basis, and there is little in them to presolve.
    "presolve": "off",
    "solver": "simplex",
    "threads": 1,
    # Devex needs a third fewer iterations than steepest edge on pair constraints.
    "simplex_dual_edge_weight_strategy": 1,
    "primal_feasibility_tolerance": 1e-9,
    "dual_feasibility_tolerance": 1e-10,
    # Rows are scaled to a largest entry of 1 (below), so entries this small are rounding.
    "small_matrix_value": 1e-12,
}


# Rows are scaled up by at most the inverse of this: a million equal cells.
_SMALLEST_ROW = 1e-7

# What is tried, from scratch and in this order, where the solver's answer cannot be proven: masses that differ by ten
# orders of magnitude and more need other options, or looser ones. The proof stays as strict.
_RETRIES: tuple[dict[str, Any], ...] = (
    {},
    {"presolve": "on"},
    # Rows are scaled already, and scaling them again can hide a point where little room is left.
    {"simplex_scale_strategy": 0},
    {"primal_feasibility_tolerance": 1e-7},
    {"presolve": "on", "simplex_strategy": 4, "simplex_scale_strategy": 0, "dual_feasibility_tolerance": 1e-7},
)


_ENDINGS = {
    highspy.HighsModelStatus.kInfeasible: Ending.INFEASIBLE,
    highspy.HighsModelStatus.kTimeLimit: Ending.STOPPED,
    highspy.HighsModelStatus.kIterationLimit: Ending.STOPPED,
}

_BINARY_OPTIONS: dict[str, Any] = {
    "output_flag": False,
    "threads": 1,
    "random_seed": 0,
    "mip_feasibility_tolerance": 1e-9,
    "primal_feasibility_tolerance": 1e-9,
}


@dataclass(frozen=True)
class Draft:
    """The solver's answer before it has been checked."""

    x: Floats
    duals: Floats


class Program:
    """A linear program that is kept in the solver and re-solved from its last basis.

    Parameters
    ----------
    cost : ndarray of shape (n,)
        Objective to maximise, c.
    lower, upper : ndarray of shape (n,)
        Finite bounds of the variables.
    """

    def __init__(self, cost: Floats, lower: Floats, upper: Floats) -> None:
        self._cost, self._lower, self._upper = cost, lower, upper
        # The solver's tolerances are absolute, and masses of many cells are tiny: scale both.
        largest = float(np.abs(cost).max(initial=0.0))
        self._cost_scale = 1 / largest if largest > 0 else 1.0
        self._dense = np.zeros((0, len(cost)))
        # Sparse rows come in blocks, which are put together when they are next needed as one.
        self._blocks = [sp.csr_array((0, len(cost)))]
        self._row_scale = np.zeros(0)
        self._row_lower = np.zeros(0)
        self._row_upper = np.zeros(0)
        self._highs: Any = highspy.Highs()
        for name, value in _OPTIONS.items():
            if self._highs.setOptionValue(name, value) != highspy.HighsStatus.kOk:
                raise SolverError(f"HiGHS refused the option {name}={value}; fairlimits needs highspy >= 1.13.")
        model = highspy.HighsLp()
        model.num_col_, model.num_row_ = len(cost), 0
        model.col_cost_ = -self._cost_scale * cost
        model.col_lower_, model.col_upper_ = lower, upper
        self._highs.passModel(model)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self._row_lower)

    @property
    def cost(self) -> Floats:
        """The objective."""
        return self._cost

    @property
    def box(self) -> tuple[Floats, Floats]:
        """Bounds of the variables."""
        return self._lower, self._upper

    @property
    def dense(self) -> Floats:
        """The dense rows."""
        return self._dense

    @property
    def _sparse(self) -> sp.csr_array:
        """All sparse rows."""
        if len(self._blocks) > 1:
            self._blocks = [sp.csr_array(sp.vstack(self._blocks, format="csr"))]
        return self._blocks[0]

    @property
    def n_columns(self) -> int:
        """Number of variables."""
        return len(self._cost)

    def add_dense_rows(self, matrix: Floats, lower: Floats, upper: Floats) -> None:
        """Add rows with mostly non-zero entries; all dense rows come before the first sparse one."""
        if self._sparse.shape[0]:
            raise SolverError("Dense rows must be added before sparse ones.")
        columns = np.tile(np.arange(matrix.shape[1], dtype=np.int32), matrix.shape[0])
        starts = np.arange(matrix.shape[0], dtype=np.int32) * matrix.shape[1]
        scale = self._append(lower, upper, np.abs(matrix).max(axis=1, initial=0.0))
        scaled = matrix * scale[:, None]
        self._highs.addRows(len(lower), lower * scale, upper * scale, scaled.size, starts, columns, scaled.ravel())
        self._dense = np.vstack([self._dense, matrix])

    def add_sparse_rows(self, matrix: sp.csr_array, lower: Floats, upper: Floats) -> None:
        """Add rows with few entries."""
        sizes = np.diff(matrix.indptr)
        largest = np.zeros(matrix.shape[0])
        if len(matrix.data):
            largest[sizes > 0] = np.maximum.reduceat(np.abs(matrix.data), matrix.indptr[:-1][sizes > 0])
        scale = self._append(lower, upper, largest)
        data = matrix.data * np.repeat(scale, sizes)
        self._highs.addRows(
            len(lower),
            lower * scale,
            upper * scale,
            len(data),
            matrix.indptr[:-1].astype(np.int32),
            matrix.indices.astype(np.int32),
            data,
        )
        self._blocks.append(matrix)

    def add_columns(self, cost: Floats, lower: Floats, upper: Floats, matrix: sp.csc_array) -> None:
        """Add variables behind the others; `matrix` has their entries in all rows that are there."""
        data = matrix.data * self._row_scale[matrix.indices]
        self._highs.addCols(
            len(cost),
            -self._cost_scale * cost,
            lower,
            upper,
            len(data),
            matrix.indptr[:-1].astype(np.int32),
            matrix.indices.astype(np.int32),
            data,
        )
        dense = self._dense.shape[0]
        rows = matrix.tocsr()
        self._dense = np.hstack([self._dense, rows[:dense].toarray()])
        self._blocks = [sp.csr_array(sp.hstack([self._sparse, rows[dense:]], format="csr"))]
        self._cost = np.concatenate([self._cost, cost])
        self._lower = np.concatenate([self._lower, lower])
        self._upper = np.concatenate([self._upper, upper])

    def set_cost(self, cost: Floats) -> None:
        """Give all variables a new objective."""
        self._cost = cost.copy()
        columns = np.arange(len(cost), dtype=np.int32)
        self._highs.changeColsCost(len(cost), columns, -self._cost_scale * cost)

    def _append(self, lower: Floats, upper: Floats, largest: Floats) -> Floats:
        scale = _row_scale(largest)
        self._row_lower = np.concatenate([self._row_lower, lower])
        self._row_upper = np.concatenate([self._row_upper, upper])
        self._row_scale = np.concatenate([self._row_scale, scale])
        return scale

    def set_row_bounds(self, lower: Floats, upper: Floats) -> None:
        """Give all rows new bounds."""
        changed = np.flatnonzero((lower != self._row_lower) | (upper != self._row_upper)).astype(np.int32)
        if len(changed):
            self._row_lower, self._row_upper = lower.copy(), upper.copy()
            scale = self._row_scale[changed]
            self._highs.changeRowsBounds(len(changed), changed, lower[changed] * scale, upper[changed] * scale)

    def drop_rows(self, rows: Ints) -> None:
        """Remove some of the sparse rows."""
        dense = self._dense.shape[0]
        self._highs.deleteRows(len(rows), rows.astype(np.int32))
        keep = np.ones(self.n_rows, dtype=bool)
        keep[rows] = False
        self._row_lower, self._row_upper = self._row_lower[keep], self._row_upper[keep]
        self._row_scale = self._row_scale[keep]
        self._blocks = [self._sparse[keep[dense:]]]

    def start_at(self, columns: Ints, rows: Ints) -> None:
        """Let the next solve begin where variables and rows lie: -1 at the lower bound, 1 at the upper, 0 between."""
        known = highspy.HighsBasisStatus
        status = {-1: known.kLower, 0: known.kBasic, 1: known.kUpper}
        basis = highspy.HighsBasis()
        # A guess need not be a basis; the solver makes one of it.
        basis.valid, basis.alien = True, True
        basis.col_status = [status[state] for state in columns.tolist()]
        basis.row_status = [status[state] for state in rows.tolist()]
        self._highs.setBasis(basis)

    def solve(self) -> Optimum:
        """Solve the program from its last basis.

        Returns
        -------
        Optimum

        Raises
        ------
        InfeasibleError
            No point meets all rows.
        SolverError
            Any other end than a proven optimum, named in the message.
        """
        return self.prove(self.draft())

    def prove(self, draft: Draft | Failure) -> Optimum:
        """Prove that the solver's last answer is optimal; where that fails, solve again from scratch."""
        answer = draft if isinstance(draft, Failure) else self._checked(draft)
        for options in _RETRIES:
            if isinstance(answer, Optimum):
                return answer
            answer = self._from_scratch(options)
        if isinstance(answer, Optimum):
            return answer
        if answer.ending is Ending.INFEASIBLE or self._is_infeasible():
            raise InfeasibleError("No decision rule meets all constraints; relax one of them.")
        raise SolverError(f"The linear program was not solved: {answer.reason}.")

    def _is_infeasible(self) -> bool:
        """Whether it is proven that every point misses a row by more than rounding.

        The program that lets every row be missed by t and asks for the least t is always feasible; the bound of its
        proven optimum is what any point misses.
        """
        n, rows = self.n_columns, self.n_rows
        matrix = sp.csr_array(sp.vstack([sp.csr_array(self._dense), self._sparse], format="csr"))
        below, above = np.isfinite(self._row_lower), np.isfinite(self._row_upper)
        point = np.clip(0.0, self._lower, self._upper)
        reach = np.maximum(self._row_lower - matrix @ point, matrix @ point - self._row_upper).max(initial=0.0)
        elastic = Program(np.append(np.zeros(n), -1.0), np.append(self._lower, 0.0), np.append(self._upper, reach))
        open_ = np.full(rows, np.inf)
        for kept, sign, low, high in ((below, 1.0, self._row_lower, open_), (above, -1.0, -open_, self._row_upper)):
            block = sp.hstack([matrix[kept], np.full((int(kept.sum()), 1), sign)], format="csr")
            elastic.add_sparse_rows(sp.csr_array(block), low[kept], high[kept])
        for options in _RETRIES:
            answer = elastic._from_scratch(options)
            if isinstance(answer, Optimum):
                return -(answer.value + answer.gap) > _ROUNDING
        return False

    def _from_scratch(self, options: Mapping[str, Any]) -> Optimum | Failure:
        # A basis that was good for the last bounds can be a bad start for these.
        self._highs.clearSolver()
        usual = {name: self._highs.getOptionValue(name)[1] for name in options}
        for name, value in options.items():
            self._highs.setOptionValue(name, value)
        draft = self.draft()
        for name, value in usual.items():
            self._highs.setOptionValue(name, value)
        return draft if isinstance(draft, Failure) else self._checked(draft)

    @property
    def iterations(self) -> int:
        """Iterations of the last solve."""
        return int(self._highs.getInfo().simplex_iteration_count)

    def draft(self, most_iterations: int | None = None) -> Draft | Failure:
        """Run the solver from its last basis, and return its answer, not checked yet, or what went wrong.

        Parameters
        ----------
        most_iterations : int, optional
            Iterations after which it is left unfinished.
        """
        if not self.n_rows:
            return Draft(np.where(self._cost > 0, self._upper, self._lower), np.zeros(0))
        if most_iterations is not None:
            self._highs.setOptionValue("simplex_iteration_limit", most_iterations)
        self._highs.run()
        status = self._highs.getModelStatus()
        if most_iterations is not None:
            self._highs.setOptionValue("simplex_iteration_limit", highspy.kHighsIInf)
            if status == highspy.HighsModelStatus.kIterationLimit:
                return Failure(Ending.STOPPED, "HiGHS was stopped before it had finished")
        if status != highspy.HighsModelStatus.kOptimal:
            ending = _ENDINGS.get(status, Ending.UNSOLVED)
            return Failure(ending, f"HiGHS ended with the status {self._highs.modelStatusToString(status)!r}")
        solution = self._highs.getSolution()
        x = np.clip(np.array(solution.col_value), self._lower, self._upper)
        duals = np.array(solution.row_dual)
        duals *= self._row_scale
        duals /= -self._cost_scale
        return Draft(x, duals)

    def _checked(self, draft: Draft) -> Optimum | Failure:
        proven = self.prove_points(draft.x[None], draft.duals[None], (self._row_lower[None], self._row_upper[None]))
        return proven if isinstance(proven, Failure) else proven[0]

    def prove_points(self, x: Floats, duals: Floats, bounds: tuple[Floats, Floats]) -> list[Optimum] | Failure:
        """Prove that points are optimal, each for row bounds of its own, or say what is wrong with one.

        Parameters
        ----------
        x : ndarray of shape (P, n)
            The points.
        duals : ndarray of shape (P, m)
            Duals of the rows at each of them.
        bounds : tuple of ndarray of shape (P, m)
            Bounds of the rows.
        """
        dense = self._dense.shape[0]
        activity = x @ self._dense.T
        reduced = self._cost - duals[:, :dense] @ self._dense
        if self._sparse.shape[0]:
            activity = np.concatenate([activity, (self._sparse @ x.T).T], axis=1)
            reduced = reduced - (self._sparse.T @ duals[:, dense:].T).T
        return certificates(self._cost, self.box, x, activity, duals, reduced, bounds)

    def basis(self) -> tuple[Ints, Flags]:
        """Return which variables are basic now, and which of the others are at their upper bound.

        Row activities count as variables, numbered behind the columns.
        """
        basis = self._highs.getBasis()
        status = np.array([int(s) for s in (*basis.col_status, *basis.row_status)])
        known = highspy.HighsBasisStatus
        return np.flatnonzero(status == int(known.kBasic)), status == int(known.kUpper)


def draft_binary(
    cost: Floats, matrix: Floats, bounds: tuple[Floats, Floats], binary: Flags, *, most_nodes: int, gap: float
) -> Floats | None:
    """Ask the solver for a good point of variables in [0, 1], some of them 0 or 1; None if it finds none.

    Nothing is proven: neither that the point meets the rows, nor how good it is.

    Parameters
    ----------
    cost : ndarray of shape (n,)
        Objective to maximise.
    matrix : ndarray of shape (m, n)
        The rows.
    bounds : tuple of ndarray of shape (m,)
        Bounds of the rows.
    binary : ndarray of bool of shape (n,)
        Which variables are 0 or 1.
    most_nodes : int
        Nodes of the search tree after which the best point so far is taken: a limit of time would give another point
        on a slower machine.
    gap : float
        How near to its own bound the solver may stop.
    """
    scale = _row_scale(np.abs(matrix).max(axis=1, initial=0.0))
    unit = float(np.abs(cost).max(initial=0.0)) or 1.0
    model = highspy.HighsLp()
    model.num_col_, model.num_row_ = len(cost), len(matrix)
    model.col_cost_ = -cost / unit
    model.col_lower_, model.col_upper_ = np.zeros(len(cost)), np.ones(len(cost))
    model.row_lower_, model.row_upper_ = scale * bounds[0], scale * bounds[1]
    rows = sp.csr_array(scale[:, None] * matrix)
    model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    model.a_matrix_.start_, model.a_matrix_.index_, model.a_matrix_.value_ = rows.indptr, rows.indices, rows.data
    kinds = highspy.HighsVarType
    model.integrality_ = [kinds.kInteger if flag else kinds.kContinuous for flag in binary.tolist()]
    highs: Any = highspy.Highs()
    options = {"mip_max_nodes": most_nodes, "mip_rel_gap": 0.0, "mip_abs_gap": gap / unit}
    for name, value in {**_BINARY_OPTIONS, **options}.items():
        highs.setOptionValue(name, value)
    highs.passModel(model)
    highs.run()
    if highs.getInfo().primal_solution_status != highspy.SolutionStatus.kSolutionStatusFeasible:
        return None
    found: Floats = np.clip(np.array(highs.getSolution().col_value), 0.0, 1.0)
    return found


def _row_scale(largest: Floats) -> Floats:
    """Factors that bring the largest entries of rows to 1."""
    # Up to a limit: what is left of a row whose entries cancel is rounding.
    return np.where(largest > 0, 1 / np.maximum(largest, _SMALLEST_ROW), 1.0)
