"""Rules without coins: a core of the variables first, against HiGHS's branch and bound on all of them at once.

HiGHS is given all variables in two ways: with the limits that ours has in each of its searches, which is what could
take its place; and told to stop once it has a point as good as ours, or nearly (by a billionth of all people), which
nobody knows beforehand. A point that is worse than ours by more than `_WORSE` counts as not found. Law and simulated
people with four and six groups, on the cells that users have.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial

import fairlimits as fl
from benchmarks.ablation.highs import Attempt, limited, on_one_thread, patience, replaced
from benchmarks.ablation.lines import Line
from benchmarks.ablation.room import outcome_of
from fairlimits.law import Neighbourhood
from fairlimits.limits import on_cells
from fairlimits.limits.programs import FairProgram
from fairlimits.solvers import Rounded, lp, round_optimum, rounding

_NAMES = ("Law, 2 groups", "simulated, 4 groups", "simulated, 6 groups")
_NOTIONS = (("DP",), ("EOd",), ("EA", "EOd"))

# Nodes that a search may take where nothing else ends it.
_ANY = 2_000_000_000
_AS_GOOD, _WORSE = 1e-9, 1e-5


def coins() -> Iterator[Line]:
    """One rule each, with the tolerances at 0.05."""
    for name in _NAMES:
        for notions in _NOTIONS:
            dist = on_cells(outcome_of(name), notions)
            for aware in (False, True):
                case = f"{name}, {dist.n_cells:,} cells, {'+'.join(notions)}, group {'seen' if aware else 'hidden'}"
                yield _rounded(dist, notions, aware, case)


def _rounded(dist: fl.CellDistribution, notions: tuple[str, ...], aware: bool, case: str) -> Line:
    program = FairProgram(dist, notions, aware, Neighbourhood())
    asked = dict.fromkeys(notions, 0.05)
    optimum, rows = program.solve(asked).optimum, program.rate_rows
    bounds = rows.lower(asked), rows.upper(asked)

    def search() -> Rounded | None:
        return round_optimum(optimum, program.cost, rows.matrix, bounds, len(program.variables))

    def whole(value: float, told: bool) -> Attempt:
        limits = {"_CORES": (len(program.variables),)} | ({"_NODES": _ANY, "_NEAR": 0.0} if told else {})
        target = {"objective_target": -(value - _AS_GOOD) / float(abs(program.cost).max())} if told else {}
        with ExitStack() as stack:
            for name, own in limits.items():
                stack.enter_context(replaced(rounding, name, own))
            stack.enter_context(replaced(lp, "_BINARY_OPTIONS", lp._BINARY_OPTIONS | target))
            seconds, found = on_one_thread(search)
        if found is None:
            return Attempt(seconds, None, "not found")
        worse = value - found.value
        return Attempt(seconds, found.value, f"worse by {worse:.0e}" if worse > _WORSE else "")

    seconds, found = on_one_thread(search)
    if found is None:
        raise SystemExit(f"{case}: no rule without coins was found; ask for a wider tolerance.")
    ours = Attempt(seconds, found.value)
    others = {
        "branch and bound on all": limited(partial(whole, found.value, False), patience(ours)),
        "branch and bound on all, told when it is as good": limited(partial(whole, found.value, True), patience(ours)),
    }
    return Line("without coins", f"{case} (within {found.bound - found.value:.0e})", ours, others)
