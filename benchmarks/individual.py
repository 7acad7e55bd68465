"""One solve of EA + EOd + IF: at 2,048 cells against the full program given to HiGHS at once, then up to 8,192 cells.

The full program has a row for every pair of neighbours. At 2,048 cells it takes half a minute, beyond that too long to
be a baseline; what is measured there is how the seconds grow, each size in a process of its own, so that peak memory is
its own.
"""

from __future__ import annotations

import json
import subprocess
import sys
from functools import partial
from typing import Any

import numpy as np

import fairlimits as fl
from benchmarks.cases import adult, peak_megabytes, table, timed
from benchmarks.literal import FullProgram
from fairlimits.law import Neighbourhood, neighbour_pairs

ASKED = {"EA": 0.05, "EOd": 0.05, "IF": 0.1}
SIZES = (2048, 4096, 8192)


def against_all_at_once(seeds: tuple[int, ...] = (0, 1, 2), cells: int = SIZES[0]) -> list[dict[str, Any]]:
    """Time both for each seed; building the program counts, finding the neighbours does not."""
    results = []
    for seed in seeds:
        dist = adult(cells, seed)
        pairs = len(neighbour_pairs(dist, Neighbourhood()).first)
        ours, rule = timed(partial(fl.solve, dist, ASKED))
        full = FullProgram(dist, ("EA", "EOd"), aware=False)
        theirs, value = timed(partial(full.solve, ASKED["EA"], ASKED["IF"]))
        results.append(
            {
                "cells": cells,
                "pairs": pairs,
                "seed": seed,
                "seconds": ours,
                "baseline seconds": theirs,
                "ratio": theirs / ours,
                "difference": abs(rule.accuracy - value),
            }
        )
    return results


def measure(cells: int) -> dict[str, Any]:
    """Find the neighbours and solve, with the group hidden and seen; solving includes the shadow prices."""
    dist = adult(cells, 0)
    finding, pairs = timed(partial(neighbour_pairs, dist, Neighbourhood()))
    answer: dict[str, Any] = {"cells": cells, "pairs": len(pairs.first), "finding": finding}
    for name, aware in (("hidden", False), ("seen", True)):
        seconds, rule = timed(partial(fl.solve, dist, ASKED, aware=aware))
        answer |= {f"{name} seconds": seconds, f"{name} gap": rule.optimality_gap}
    return answer | {"peak MB": peak_megabytes()}


def run() -> dict[str, list[dict[str, Any]]]:
    """Measure both."""
    large = []
    for cells in SIZES:
        command = [sys.executable, "-m", "benchmarks.individual", str(cells)]
        large.append(json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout))
    return {"at once": against_all_at_once(), "large": large}


def markdown(results: dict[str, list[dict[str, Any]]]) -> str:
    """Write the results as tables."""
    rows = [
        (
            f"{row['cells']:,}",
            f"{row['pairs']:,}",
            str(row["seed"]),
            f"{row['seconds']:.2f} s",
            f"{row['baseline seconds']:.1f} s",
            f"{row['ratio']:.1f}",
            f"{row['difference']:.0e}",
        )
        for row in results["at once"]
    ]
    heads = ("cells", "pairs", "seed", "fairlimits", "baseline", "times faster", "difference")
    mean = float(np.mean([row["ratio"] for row in results["at once"]]))
    grown = [
        (
            f"{row['cells']:,}",
            f"{row['pairs']:,}",
            f"{row['finding']:.1f} s",
            f"{row['hidden seconds']:.1f} s",
            f"{row['seen seconds']:.1f} s",
            f"{max(row['hidden gap'], row['seen gap'], 0.0):.0e}",
            f"{row['peak MB']:,.0f} MB",
        )
        for row in results["large"]
    ]
    names = ("cells", "pairs", "finding pairs", "solve, group hidden", "solve, group seen", "proven to", "peak memory")
    return (
        f"{table(heads, rows)}\n\nMean: {mean:.1f} times faster than HiGHS on all pairs at once.\n\n"
        f"Larger ones, shadow prices included; every optimum is proven over all pairs:\n\n{table(names, grown)}"
    )


if __name__ == "__main__":
    print(json.dumps(measure(int(sys.argv[1]))) if len(sys.argv) > 1 else markdown(run()))
