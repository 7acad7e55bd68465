"""Every hand-written solver against the best that HiGHS offers for the same programs, to the same proof.

Seconds are those of the processor (`time.process_time`), on one thread, one method after the other in one process, so
that ratios mean something on a machine that is shared. A method that was stopped, or whose point weak duality does not
prove within 1e-8, as all our optima are, counts as slower. The bar was set before anything was measured: what is not at
least 3 times faster than the best of HiGHS somewhere a user goes is taken out.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import highspy
import numpy as np
import scipy.sparse as sp
from scipy.linalg import cho_factor, cho_solve

import fairlimits as fl
from benchmarks.cases import adult, table
from benchmarks.growth import synthetic
from benchmarks.highs_methods import METHODS, Attempt, Task, limited, on_one_thread, patience
from fairlimits.law import Neighbourhood
from fairlimits.limits import breakpoints, programs
from fairlimits.limits.programs import FairProgram, Solved
from fairlimits.solvers import difference_rows, pairs, times
from fairlimits.solvers.interior.program import InteriorProgram

HOOD = Neighbourhood()
BAR = 3.0

SWEPT = (("DP",), ("EOd",), ("EA", "EOd"))
POINTS = np.linspace(0, 0.2, 41)
MANY = (65_536, 262_144)
ALIKE = (2048, 4096)


@dataclass(frozen=True)
class Line:
    """One program, ours and what else was tried."""

    solver: str
    case: str
    ours: Attempt
    others: dict[str, Attempt]

    @property
    def best(self) -> str:
        """The fastest other method whose result is proven; where none is, the one that was stopped first."""
        proven = {name: own for name, own in self.others.items() if not own.failure}
        known = proven or self.others
        return min(known, key=lambda name: known[name].seconds)

    @property
    def ratio(self) -> float:
        """How many times as long the best of them takes."""
        return self.others[self.best].seconds / self.ours.seconds


@cache
def outcome_cells(cells: int) -> fl.CellDistribution:
    """Cells as a user has them by default: of an estimate on Adult."""
    return fl.discretize(_outcome().data, cells, outcome=_outcome())


@cache
def _outcome() -> fl.Outcome:
    return fl.estimate_outcome(fl.load_dataset("adult"))


@contextmanager
def without(module: Any, name: str, value: Any) -> Iterator[None]:
    """Give a setting another value for a while."""
    usual = getattr(module, name)
    setattr(module, name, value)
    try:
        yield
    finally:
        setattr(module, name, usual)


def _swept(dist: fl.CellDistribution, notions: tuple[str, ...], aware: bool) -> tuple[FairProgram, list[Solved]]:
    program = FairProgram(dist, notions, aware, HOOD)
    return program, program.solve_along(dict.fromkeys(notions, 0.0), dict.fromkeys(notions, 0.2), POINTS / 0.2)


def _cornered(dist: fl.CellDistribution, notions: tuple[str, ...], aware: bool) -> list[Any]:
    program = FairProgram(dist, notions, aware, HOOD)
    return breakpoints.breakpoints(
        program, dict.fromkeys(notions, 0.0), dict.fromkeys(notions, 0.2), 1.0, lambda *_: None
    )


def _task(program: FairProgram, tolerance: float) -> Task:
    asked = dict.fromkeys(program.notions, tolerance)
    rows = program.rate_rows
    return Task(program.cost, rows.matrix, rows.lower(asked), rows.upper(asked))


def parametric() -> Iterator[Line]:
    """Frontiers: 41 tolerances, and every breakpoint."""
    for cells in (256, 1024):
        for notions in SWEPT:
            for aware in (False, True):
                yield from _frontier(cells, notions, aware)


def _frontier(cells: int, notions: tuple[str, ...], aware: bool) -> Iterator[Line]:
    dist = outcome_cells(cells)
    case = f"{'+'.join(notions)}, group {'seen' if aware else 'hidden'}, {cells:,} cells"
    seconds, (program, _) = _best_of(lambda: _swept(dist, notions, aware))
    ours = Attempt(seconds, None)
    with without(programs, "_FOLLOWED", 0):
        others = {"simplex, warm": Attempt(_best_of(lambda: _swept(dist, notions, aware))[0], None)}
    tasks = [_task(program, tolerance) for tolerance in POINTS]
    others |= {method: limited(partial(_all_of, tasks, method), patience(ours)) for method in METHODS}
    yield Line("parametric, 41 tolerances", case, ours, others)
    seconds, corners = _best_of(lambda: _cornered(dist, notions, aware))
    with without(programs, "_FOLLOWED", 0):
        slow, same = _best_of(lambda: _cornered(dist, notions, aware))
    for at, found in same:
        values = np.array([own.value for _, own in corners])
        assert abs(float(np.interp(at, [where for where, _ in corners], values)) - found.value) <= 1e-9
    warm = {"simplex, warm": Attempt(slow, None)}
    yield Line(f"parametric, {len(corners)} breakpoints", case, Attempt(seconds, None), warm)


def _all_of(tasks: list[Task], method: str) -> Attempt:
    attempts = [task.solve(method) for task in tasks]
    failed = [own.failure for own in attempts if own.failure]
    words = f"{len(failed)} of {len(attempts)} not proven" if failed else ""
    return Attempt(sum(own.seconds for own in attempts), None, words)


def _best_of(call: Callable[[], Any], repeats: int = 3) -> tuple[float, Any]:
    """The shortest of some calls, for those that take milliseconds."""
    runs = [on_one_thread(call) for _ in range(repeats)]
    return min(seconds for seconds, _ in runs), runs[-1][1]


def sifting() -> Iterator[Line]:
    """One solve with a great many cells."""
    for cells in MANY:
        for notions in (("DP",), ("EA", "EOd")):
            dist = synthetic(cells, 0)
            program = FairProgram(dist, notions, False, HOOD)
            asked = dict.fromkeys(notions, 0.02)
            seconds, solved = on_one_thread(lambda: program.solve(asked))  # noqa: B023
            ours, task = Attempt(seconds, solved.value), _task(program, 0.02)
            others = {method: limited(partial(task.solve, method), patience(ours)) for method in METHODS}
            yield Line("sifting", f"{'+'.join(notions)}, {cells:,} synthetic cells", ours, others)


def interior() -> Iterator[Line]:
    """One solve with individual fairness on many cells: EA + EOd + IF on Adult."""
    asked = {"EA": 0.05, "EOd": 0.05, "IF": 0.1}
    for cells in ALIKE:
        dist = adult(cells, 0)

        def solve(dist: fl.CellDistribution = dist) -> Solved:
            return FairProgram(dist, tuple(asked), False, HOOD).solve(asked)

        program = FairProgram(dist, tuple(asked), False, HOOD)
        seconds, solved = on_one_thread(solve)
        ours = Attempt(seconds, solved.value)

        def timed(solve: Callable[[], Solved] = solve) -> Attempt:
            return Attempt(on_one_thread(solve)[0], None)

        with without(pairs, "MANY_VARIABLES", sys.maxsize):
            others = {"simplex, pairs as they are missed": limited(timed, patience(ours))}
        with without(InteriorProgram, "_newton", _by_cholesky):
            others["our interior point by dense Cholesky"] = limited(timed, patience(ours))
        comparison = program.variables.compare(HOOD)
        allowed = times(comparison.looseness, np.array(asked["IF"]))
        rows = program.rate_rows
        every = difference_rows(comparison, np.arange(len(allowed)), len(program.cost))
        task = Task(program.cost, rows.matrix, rows.lower(asked), rows.upper(asked), every, allowed)
        others |= {f"{method}, all pairs": limited(partial(task.solve, method), patience(ours)) for method in METHODS}
        yield Line("interior point", f"{cells:,} cells, {len(allowed):,} pairs", ours, others)


def _by_cholesky(self: InteriorProgram, weights: Any) -> Callable[[Any], Any]:
    """Solve the system of a step by a dense factorisation, instead of by conjugate gradients and a spanning tree."""
    own, edges, heavy = np.split(weights, [self._n, len(weights) - len(self._rows)])
    graph = self._graph.matrix(edges, np.zeros(self._graph.n_points))
    system = (self._back @ graph @ self._forms).toarray() + (self._rows.T * heavy) @ self._rows
    system[np.diag_indices_from(system)] += own
    factor = cho_factor(system, overwrite_a=True, check_finite=False)
    return lambda values: cho_solve(factor, values, check_finite=False)


def ties() -> Iterator[Line]:
    """The most even of all optima, where a whole group ties: by HiGHS as a quadratic program."""
    for cells in (256, 1024):
        for notions in (("EOd",), ("EA", "EOd")):
            program = FairProgram(outcome_cells(cells), notions, True, HOOD)
            asked = dict.fromkeys(notions, 0.05)
            found = program.solve(asked)
            seconds, _ = _best_of(lambda: program.scores(found, asked))  # noqa: B023
            task = _task(program, 0.05)
            slow, failure = on_one_thread(lambda: _least_squares(program, found, task))  # noqa: B023
            others = {"quadratic program": Attempt(slow, None, failure)}
            yield Line("ties", f"{'+'.join(notions)}, group seen, {cells:,} cells", Attempt(seconds, None), others)


def _least_squares(program: FairProgram, found: Solved, task: Task) -> str:
    """Least sum of mass times squared distance from 1/2 among all optima; what was wrong with it, if anything."""
    optimum, mass = found.optimum, program.variables.mass
    n, extra = len(mass), len(task.cost) - len(mass)
    tied = np.append(np.abs(optimum.reduced[:n]) <= 1e-9 * mass, np.ones(extra, dtype=bool))
    held = optimum.duals != 0
    activity = task.rows @ optimum.x
    model = highspy.HighsModel()
    lp = model.lp_
    lp.num_col_, lp.num_row_ = len(task.cost), len(task.rows)
    lp.col_cost_ = np.append(-mass, np.zeros(extra))
    lp.col_lower_, lp.col_upper_ = np.where(tied, 0.0, optimum.x), np.where(tied, 1.0, optimum.x)
    lp.row_lower_ = np.where(held, activity, task.lower)
    lp.row_upper_ = np.where(held, activity, task.upper)
    matrix = sp.csr_array(task.rows)
    lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    lp.a_matrix_.start_, lp.a_matrix_.index_, lp.a_matrix_.value_ = matrix.indptr, matrix.indices, matrix.data
    hessian = model.hessian_
    hessian.dim_, hessian.format_ = len(task.cost), highspy.HessianFormat.kTriangular
    hessian.start_, hessian.index_ = np.arange(len(task.cost) + 1), np.arange(len(task.cost))
    hessian.value_ = np.append(2 * mass, np.full(extra, 1e-9))
    solver: Any = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    solver.setOptionValue("time_limit", 30.0)
    solver.passModel(model)
    solver.run()
    status = solver.getModelStatus()
    if status != highspy.HighsModelStatus.kOptimal:
        return f"not solved: {solver.modelStatusToString(status)}"
    point = np.clip(np.array(solver.getSolution().col_value), 0, 1)
    missed = np.maximum(task.lower - task.rows @ point, task.rows @ point - task.upper).max(initial=0.0)
    lost = optimum.value - float(task.cost @ point)
    return "" if missed <= 1e-8 and lost <= 1e-8 else f"not proven: misses a row by {missed:.0e}, {lost:.0e} lost"


SOLVERS = {"parametric": parametric, "sifting": sifting, "interior": interior, "ties": ties}


def run(names: tuple[str, ...] = tuple(SOLVERS)) -> list[Line]:
    """Measure all of them, or some."""
    found = []
    for name in names:
        for line in SOLVERS[name]():
            print(line.solver, line.case, line.ours, {key: str(own) for key, own in line.others.items()}, flush=True)
            found.append(line)
    return found


def markdown(lines: list[Line]) -> str:
    """Write the results as a table, with all that was tried below it."""
    rows = [
        (own.solver, own.case, str(own.ours), own.best, str(own.others[own.best]), f"{own.ratio:.1f}") for own in lines
    ]
    heads = ("ours", "program", "ours takes", "best other", "it takes", "ratio")
    every = [(own.solver, own.case, name, str(each)) for own in lines for name, each in own.others.items()]
    return (
        f"{(__doc__ or '').partition(chr(10))[2].strip()}\n\n{table(heads, rows)}\n\nAll that was tried:\n\n"
        f"{table(('ours', 'program', 'other method', 'it takes'), every)}"
    )


if __name__ == "__main__":
    print(markdown(run(tuple(sys.argv[1:]) or tuple(SOLVERS))))
