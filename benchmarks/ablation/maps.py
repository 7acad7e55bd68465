"""The map that moves people least: by column generation, against HiGHS with all entries at once."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack

import fairlimits as fl
from benchmarks.ablation.alike import cells_of
from benchmarks.ablation.highs import METHODS, Attempt, limited, on_one_thread, patience, replaced
from benchmarks.ablation.lines import Line
from fairlimits.decorrelation import restricted_master
from fairlimits.solvers import lp

_CELLS = (256, 1024)


def maps() -> Iterator[Line]:
    """Maps of blend cells, which a user has for maps by default, with DP at 0."""
    for cells in _CELLS:
        for aware in (False, True):
            dist = cells_of(cells, "blend")
            rule = fl.solve(dist, {"DP": 0.0}, aware=aware)
            yield _line(dist, rule, f"DP, group {'seen' if aware else 'hidden'}, {cells:,} cells")


def _line(dist: fl.CellDistribution, rule: fl.Rule, case: str) -> Line:
    def timed() -> Attempt:
        seconds, plan = on_one_thread(lambda: fl.decorrelate(dist, rule))
        return Attempt(seconds, plan.distortion)

    ours, others = timed(), {}
    for name, options in METHODS.items():

        def at_once(options: dict[str, object] = options) -> Attempt:
            with ExitStack() as stack:
                stack.enter_context(replaced(restricted_master, "_FIRST_TARGETS", sys.maxsize))
                stack.enter_context(replaced(lp, "_OPTIONS", lp._OPTIONS | options))
                return timed()

        others[f"{name}, all entries"] = limited(at_once, patience(ours))
    return Line("map", case, ours, others)
