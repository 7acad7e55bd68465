"""Table 2 by the paper's own method of multipliers, beside the exact optimum: slow, so on request only."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

import fairlimits as fl
from fairlimits.apps.paper import printed
from fairlimits.apps.paper.bench import Bench
from fairlimits.apps.paper.section import Found, Table, mean_and_deviation, number, signed, tolerances_of


class Entry(NamedTuple):
    """One map of Table 2."""

    pairing: str
    scenario: str
    relaxation: float


UNITS: Mapping[str, Entry] = {
    f"multipliers-{pairing}-{scenario}-{relaxation:g}": Entry(pairing, scenario, relaxation)
    for scenario in reversed(printed.SCENARIOS)
    for pairing in printed.PAIRINGS2
    for relaxation in printed.RELAXATIONS
}
"""A unit of work for each map, so that an interrupted run loses little; the faster scenario first."""

# The paper gives neither tau nor the numbers of steps; its own limit of time was half an hour per map.
_METHOD = fl.decorrelation.Multipliers(tau=1000.0, inner_steps=1000, max_iterations=2)
_QUICK = fl.decorrelation.Multipliers(tau=1000.0, inner_steps=20, max_iterations=1)


def measure(unit: str, bench: Bench) -> dict[str, Any]:
    """Run the method for one map."""
    pairing, scenario, relaxation = UNITS[unit]
    dist, method = bench.dist, _QUICK if bench.settings.quick else _METHOD
    asked = tolerances_of(pairing, relaxation)
    rule = fl.solve(dist, asked, aware=scenario == "aware")
    weights: dict[str, Any] = {
        "accuracy_weight": fl.decorrelation.ACCURACY_WEIGHT,
        "correlation_weight": fl.decorrelation.CORRELATION_WEIGHT,
    }
    start, start_cpu = time.perf_counter(), time.process_time()
    plan = fl.decorrelate(dist, rule, method="multipliers", multipliers=method, progress=bench.tell, **weights)
    seconds, cpu = time.perf_counter() - start, time.process_time() - start_cpu
    # A map that misses its constraints can look better than the optimum: compare at what it really attains.
    attained = {name: max(asked[name], plan.gaps[name]) for name in asked}
    fair = fl.decorrelate(dist, rule, tolerances=attained, distortion=None, **weights)
    return {
        "before": plan.rule_accuracy,
        "after": plan.accuracy,
        "baseline": plan.baseline_correlation,
        "correlation": plan.correlation,
        "violation": max(plan.gaps[name] - asked[name] for name in asked),
        "objective": plan.objective,
        "optimum": fair.objective,
        "iterations": plan.iterations,
        "converged": plan.converged,
        "seconds": seconds,
        "processor seconds": cpu,
    }


def rows_of(found: Found, name: str, scenario: str, pairing: str | None = None) -> list[Mapping[str, Any]]:
    """Return the maps that were made for a data set, of one pairing or of all."""
    return [
        found[unit][name]
        for unit, entry in UNITS.items()
        if entry.scenario == scenario and pairing in (None, entry.pairing) and name in found.get(unit, {})
    ]


def tables(found: Found) -> list[Table]:
    """Show every data set that was done, entry by entry."""
    shown = []
    names = dict.fromkeys(name for unit in UNITS for name in found.get(unit, {}))
    for name in names:
        rows = []
        for pairing in printed.PAIRINGS2:
            for scenario in printed.SCENARIOS:
                own = rows_of(found, name, scenario, pairing)
                if len(own) == len(printed.RELAXATIONS):
                    rows.append(_row(name, pairing, scenario, own))
        heads = ("", *("paper", "multipliers", "difference") * 2, "of the optimum’s", "of constraints", "a map")
        over = (
            ("", 1),
            ("correlation reduction", 3),
            ("accuracy reduction", 3),
            ("objective missed", 1),
            ("violation", 1),
            ("seconds", 1),
        )
        shown.append(Table(f"{printed.TITLES[name]}: by the paper’s method of multipliers", heads, rows, over))
    return shown


def _row(name: str, pairing: str, scenario: str, own: Sequence[Mapping[str, Any]]) -> list[str]:
    theirs = printed.TABLE2[name][pairing][scenario]
    reduction = mean_and_deviation([row["baseline"] - row["correlation"] for row in own])
    loss = mean_and_deviation([row["before"] - row["after"] for row in own])
    missed = float(np.mean([row["optimum"] - row["objective"] for row in own]))
    return [
        f"{pairing}, {scenario}",
        f"{number(theirs[0])} ({number(theirs[1])})",
        f"{number(reduction[0])} ({number(reduction[1])})",
        signed(reduction[0] - theirs[0]),
        f"{number(theirs[2])} ({number(theirs[3])})",
        f"{number(loss[0])} ({number(loss[1])})",
        signed(loss[0] - theirs[2]),
        number(missed, 2),
        f"{max(0.0, *(row['violation'] for row in own)):.0e}",
        number(float(np.mean([row["seconds"] for row in own])), 1),
    ]
