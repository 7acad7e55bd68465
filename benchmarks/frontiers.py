"""Frontiers of 41 points at N = 256 against scipy's linprog, and with individual fairness against full programs.

Baselines solve the same programs, each from scratch: `scipy.optimize.linprog` with its matrix built once, and for
individual fairness all neighbour constraints given to HiGHS at once, built and solved for each point.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from scipy.optimize import linprog

import fairlimits as fl
from benchmarks.cases import adult, table, timed
from benchmarks.literal import FullProgram, group_rows

TOLERANCES = np.linspace(0, 0.2, 41)
GROUP_CASES = [(notions, aware) for notions in (("DP",), ("DP", "EA"), ("EA", "EOd")) for aware in (False, True)]
PAIR_CASES = [(("EA", "EOd", "IF"), aware) for aware in (False, True)]


def by_linprog(dist: fl.CellDistribution, notions: tuple[str, ...], aware: bool) -> np.ndarray[Any, Any]:
    """Optimal accuracies by one call of linprog per tolerance."""
    cost, base, matrix, offset = group_rows(dist, notions, aware)
    stacked = np.vstack([matrix, -matrix])
    values = []
    for eps in TOLERANCES:
        bounds = np.concatenate([eps - offset, eps + offset])
        found = linprog(-cost, A_ub=stacked, b_ub=bounds, bounds=(0, 1), method="highs")
        values.append(base - found.fun)
    return np.array(values)


def by_full_programs(dist: fl.CellDistribution, notions: tuple[str, ...], aware: bool) -> np.ndarray[Any, Any]:
    """Optimal accuracies by building and solving the whole program for each tolerance."""
    return np.array([FullProgram(dist, notions, aware).solve(float(eps), float(eps)) for eps in TOLERANCES])


def run(seeds: tuple[int, ...] = (0, 1, 2)) -> list[dict[str, Any]]:
    """Time every case for each seed."""
    results = []
    for cases, baseline, repeats in ((GROUP_CASES, by_linprog, 3), (PAIR_CASES, by_full_programs, 1)):
        for notions, aware in cases:
            for seed in seeds:
                dist = adult(256, seed)
                ours, curve = timed(partial(fl.frontier, dist, notions, TOLERANCES, aware=aware), repeats)
                theirs, values = timed(partial(baseline, dist, notions, aware), min(repeats, 2))
                results.append(
                    {
                        "notions": "+".join(notions),
                        "aware": aware,
                        "seed": seed,
                        "seconds": ours,
                        "baseline seconds": theirs,
                        "ratio": theirs / ours,
                        "largest difference": float(np.abs(values - curve.accuracy).max()),
                    }
                )
    return results


def markdown(results: list[dict[str, Any]]) -> str:
    """Write the results as a table, means over seeds, with the geometric mean of the group cases."""
    rows, ratios = [], []
    for name, aware in dict.fromkeys((row["notions"], row["aware"]) for row in results):
        chosen = [row for row in results if (row["notions"], row["aware"]) == (name, aware)]
        ours, theirs, ratio = (
            float(np.mean([row[key] for row in chosen])) for key in ("seconds", "baseline seconds", "ratio")
        )
        if "IF" not in name:
            ratios.append(ratio)
        worst = max(row["largest difference"] for row in chosen)
        group = "seen" if aware else "hidden"
        rows.append((name, group, f"{ours * 1e3:.1f} ms", f"{theirs * 1e3:.0f} ms", f"{ratio:.1f}", f"{worst:.0e}"))
    heads = ("notions", "group", "fairlimits", "baseline", "times faster", "largest difference")
    mean = float(np.exp(np.mean(np.log(ratios))))
    return table(heads, rows) + f"\n\nGeometric mean over the group-notion cases: {mean:.1f} times faster."


if __name__ == "__main__":
    print(markdown(run()))
