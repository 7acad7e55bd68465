"""Linear programs of few rows: frontiers, a great many cells, and the most even of several optima."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any

import highspy
import numpy as np
import scipy.sparse as sp

import fairlimits as fl
from benchmarks.ablation.highs import METHODS, Attempt, Task, limited, on_one_thread, patience, replaced
from benchmarks.ablation.lines import Line
from benchmarks.growth import synthetic
from fairlimits.law import Neighbourhood
from fairlimits.limits import breakpoints, programs
from fairlimits.limits.programs import FairProgram, Solved

HOOD = Neighbourhood()

SWEPT = (("DP",), ("EOd",), ("EA", "EOd"))
POINTS = np.linspace(0, 0.2, 41)
_BOTH = (("DP",), ("EA", "EOd"))
MANY = {65_536: _BOTH, 262_144: _BOTH, 1_000_000: (("EA", "EOd"),)}


@cache
def outcome_cells(cells: int) -> fl.CellDistribution:
    """Cells as a user has them by default: of an estimate on Adult."""
    return fl.discretize(_outcome().data, cells, outcome=_outcome())


@cache
def _outcome() -> fl.Outcome:
    return fl.estimate_outcome(fl.load_dataset("adult"))


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
    with replaced(programs, "_FOLLOWED", 0):
        others = {"simplex, warm": Attempt(_best_of(lambda: _swept(dist, notions, aware))[0], None)}
    tasks = [_task(program, tolerance) for tolerance in POINTS]
    others |= {method: limited(partial(_all_of, tasks, method), patience(ours)) for method in METHODS}
    yield Line("parametric, 41 tolerances", case, ours, others)
    seconds, corners = _best_of(lambda: _cornered(dist, notions, aware))
    with replaced(programs, "_FOLLOWED", 0):
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
    for cells, asked_of in MANY.items():
        for notions in asked_of:
            dist = synthetic(cells, 0)
            program = FairProgram(dist, notions, False, HOOD)
            asked = dict.fromkeys(notions, 0.02)
            seconds, solved = on_one_thread(lambda: program.solve(asked))  # noqa: B023
            ours, task = Attempt(seconds, solved.value), _task(program, 0.02)
            others = {method: limited(partial(task.solve, method), patience(ours)) for method in METHODS}
            yield Line("sifting", f"{'+'.join(notions)}, {cells:,} synthetic cells", ours, others)


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
