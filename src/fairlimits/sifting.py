r"""Linear programs of a few dense rows and very many bounded variables, solved on a few variables at a time.

At the optimum of K rows at most K variables lie between their bounds; all others are where the sign of their reduced
cost sends them. So a sample of the variables gives multipliers that are nearly right; the variables whose sign is in
doubt under these are solved for, all others stay at their bounds; and those that the next multipliers find at the wrong
bound join. No step makes the point worse, and in the end weak duality proves the optimum over all variables, as in
`fairlimits.lp`.
"""

from __future__ import annotations

import numpy as np

from fairlimits.arrays import Flags, Floats
from fairlimits.errors import InfeasibleError, SolverError
from fairlimits.lp import Optimum, Program, certificates

# Variables of the sample, and those solved for at a time.
_SAMPLE = 20_000
_AT_ONCE = 20_000

_ROUNDS = 200


class SiftedProgram:
    """Maximise ``c x`` under bounds of x and of a few rows; re-solved from the last multipliers.

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
        # What a column weighs: whether its reduced cost is small is a question of its size.
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
        point = (self._reduced(duals) > 0).astype(np.float64)
        count = _AT_ONCE
        inside = self._doubtful(duals, count)
        found: Optimum | str = "it was not tried"
        for _ in range(_ROUNDS):
            try:
                part = self._solve_part(point, inside)
            except InfeasibleError:
                if inside.all():
                    raise
                # The others stand in the way: solve for more of them.
                count *= 8
                inside = self._doubtful(duals, count)
                continue
            point, duals = point.copy(), part.duals
            point[inside] = part.x
            found = self._checked(point, duals)
            if isinstance(found, Optimum):
                self._duals = duals
                return found
            if inside.all():
                break
            reduced = self._reduced(duals)
            wrong = np.flatnonzero(np.where(reduced > 0, point < 1, point > 0) & (reduced != 0) & ~inside)
            # Those that matter most join; none leaves, so that this comes to an end.
            inside[wrong[np.argsort(-np.abs(reduced[wrong]), kind="stable")[:count]]] = True
        raise SolverError(f"The linear program was not solved: {found}.")

    def _from_sample(self) -> Floats:
        """Multipliers of the program of some variables that stand for all."""
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
            # What is not feasible for some may be for all.
            return np.zeros(self.n_rows)

    def _reduced(self, duals: Floats) -> Floats:
        return np.asarray(self._cost - duals @ self._matrix)

    def _doubtful(self, duals: Floats, count: int) -> Flags:
        """Those variables whose reduced cost is smallest for their size."""
        inside = np.ones(len(self._cost), dtype=bool)
        n = len(self._cost) - self._free
        if count < n:
            doubt = np.abs(self._reduced(duals)[:n]) / np.maximum(self._size[:n], np.finfo(np.float64).tiny)
            # No more than that many, also where a great many are tied.
            inside[:n] = False
            inside[np.argpartition(doubt, count)[:count]] = True
        return inside

    def _solve_part(self, point: Floats, inside: Flags) -> Optimum:
        """Solve for some variables; all others stay where they are."""
        others = self._matrix[:, ~inside] @ point[~inside]
        count = int(inside.sum())
        program = Program(self._cost[inside], np.zeros(count), np.ones(count))
        program.add_dense_rows(self._matrix[:, inside], self._lower - others, self._upper - others)
        return program.solve()

    def _checked(self, point: Floats, duals: Floats) -> Optimum | str:
        n = len(point)
        found = certificates(
            self._cost,
            (np.zeros(n), np.ones(n)),
            point[None],
            (self._matrix @ point)[None],
            duals[None],
            self._reduced(duals)[None],
            (self._lower[None], self._upper[None]),
        )
        return found if isinstance(found, str) else found[0]
