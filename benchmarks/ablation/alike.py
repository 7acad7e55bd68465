"""One solve with individual fairness on many cells: EA + EOd + IF on Adult.

Ours is the interior-point start of the simplex method. The others are HiGHS with pairs added as they are missed, which
is what the package does with fewer cells, by its simplex method (warm-started) and by its interior point method with
crossover; HiGHS with all pairs at once; and ours with its parts replaced: Newton systems by a dense Cholesky
factorisation, and conjugate gradients preconditioned by the diagonal instead of a spanning tree.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse.linalg import LinearOperator, cg

import fairlimits as fl
from benchmarks.ablation.highs import (
    METHODS,
    Attempt,
    Task,
    limited,
    on_one_thread,
    patience,
    replaced,
)
from benchmarks.ablation.lines import Line
from benchmarks.cases import adult
from fairlimits.law import Neighbourhood
from fairlimits.limits.programs import FairProgram, Solved
from fairlimits.solvers import difference_rows, lp, pairs, times
from fairlimits.solvers.interior.program import InteriorProgram

HOOD = Neighbourhood()
ASKED = {"EA": 0.05, "EOd": 0.05, "IF": 0.1}
SIZES = (2048, 4096, 8192)
PARTITIONS = ("blend", "features")

# What the package does with fewer cells, which is tried at every size; other methods that were stopped are not.
_USUAL = "simplex, pairs as they are missed"


def interior() -> Iterator[Line]:
    """Blend cells, which a user has for individual fairness by default, and cells of the features, as in the paper."""
    stopped: dict[str, set[str]] = {partition: set() for partition in PARTITIONS}
    for cells in SIZES:
        for partition in PARTITIONS:
            line = _one(cells_of(cells, partition), partition, stopped[partition])
            stopped[partition] |= {name for name, own in line.others.items() if own.failure} - {_USUAL}
            yield line


@cache
def cells_of(cells: int, partition: str) -> fl.CellDistribution:
    """Cells of Adult, of its features or blended with an estimate."""
    if partition == "features":
        return adult(cells, 0)
    return fl.discretize(fl.load_dataset("adult"), cells, partition="blend", random_state=0)


def _one(dist: fl.CellDistribution, partition: str, stopped: set[str]) -> Line:
    """Measure all methods but those that were stopped with fewer cells, which are left out."""
    program = FairProgram(dist, tuple(ASKED), False, HOOD)
    comparison = program.variables.compare(HOOD)

    def solve() -> Solved:
        return FairProgram(dist, tuple(ASKED), False, HOOD).solve(ASKED)

    def timed() -> Attempt:
        seconds, solved = on_one_thread(solve)
        return Attempt(seconds, solved.value)

    seconds, solved = on_one_thread(solve)
    ours = Attempt(seconds, solved.value)
    case = f"EA+EOd+IF, {dist.n_cells:,} {partition.removesuffix('s')} cells, {len(comparison.first):,} pairs"
    print(case, ours, flush=True)
    others: dict[str, Attempt] = {}

    def attempt(name: str, call: Callable[[], Attempt]) -> None:
        if name not in stopped:
            others[name] = limited(call, patience(ours))
            print("   ", name, others[name], flush=True)

    with replaced(pairs, "MANY_VARIABLES", sys.maxsize):
        attempt(_USUAL, timed)
        with replaced(lp, "_OPTIONS", lp._OPTIONS | METHODS["interior point, crossover"]):
            attempt("interior point, crossover, pairs as they are missed", timed)
    with replaced(InteriorProgram, "_newton", _by_cholesky):
        attempt("ours, by dense Cholesky", timed)
    with replaced(InteriorProgram, "_newton", _by_diagonal):
        attempt("ours, preconditioned by the diagonal", timed)
    allowed = times(comparison.looseness, np.array(ASKED["IF"]))
    rows = program.rate_rows
    every = difference_rows(comparison, np.arange(len(allowed)), len(program.cost))
    task = Task(program.cost, rows.matrix, rows.lower(ASKED), rows.upper(ASKED), every, allowed)
    for method in METHODS:
        attempt(f"{method}, all pairs", partial(task.solve, method))
    return Line("interior point", case, ours, others)


def _by_cholesky(self: InteriorProgram, weights: Any) -> Callable[[Any], Any]:
    """Solve the system of an iteration by a dense factorisation."""
    own, edges, heavy = self._blocks(weights)
    graph = self._graph.matrix(edges, np.zeros(self._graph.n_points))
    system = (self._back @ graph @ self._forms).toarray() + (self._rows.T * heavy) @ self._rows
    system[np.diag_indices_from(system)] += own
    factor = cho_factor(system, overwrite_a=True, check_finite=False)
    return lambda values: cho_solve(factor, values, check_finite=False)


def _by_diagonal(self: InteriorProgram, weights: Any) -> Callable[[Any], Any]:
    """Solve the system of an iteration by conjugate gradients preconditioned by the diagonal."""
    own, edges, heavy = self._blocks(weights)
    matrix = self._back @ self._graph.matrix(edges, np.zeros(self._graph.n_points)) @ self._forms
    diagonal = matrix.diagonal() + own + heavy @ self._rows**2
    shape = (self._n, self._n)

    def multiply(x: Any) -> Any:
        return own * x + matrix @ x + (heavy * (self._rows @ x)) @ self._rows

    def solve(values: Any) -> Any:
        inverse = LinearOperator(shape, matvec=lambda x: x / diagonal, dtype=np.float64)
        whole = LinearOperator(shape, matvec=multiply, dtype=np.float64)
        return cg(whole, values, rtol=5e-2, maxiter=20 * self._n, M=inverse)[0]

    return solve
