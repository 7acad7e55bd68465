"""One solve of EA + EOd + IF at N = 2,048 against the full program given to HiGHS at once."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

import fairlimits as fl
from benchmarks.cases import adult, table, timed
from benchmarks.literal import FullProgram
from fairlimits.neighbours import Neighbourhood, neighbour_pairs

GROUP, INDIVIDUAL = 0.05, 0.1


def run(seeds: tuple[int, ...] = (0, 1, 2), cells: int = 2048) -> list[dict[str, Any]]:
    """Time both for each seed; building the program counts, finding the neighbours does not."""
    results = []
    for seed in seeds:
        dist = adult(cells, seed)
        pairs = len(neighbour_pairs(dist, Neighbourhood()).first)
        asked = {"EA": GROUP, "EOd": GROUP, "IF": INDIVIDUAL}
        ours, rule = timed(partial(fl.solve, dist, asked))
        full = FullProgram(dist, ("EA", "EOd"), aware=False)
        theirs, value = timed(partial(full.solve, GROUP, INDIVIDUAL))
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


def markdown(results: list[dict[str, Any]]) -> str:
    """Write the results as a table."""
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
        for row in results
    ]
    heads = ("cells", "pairs", "seed", "fairlimits", "baseline", "times faster", "difference")
    mean = float(np.mean([row["ratio"] for row in results]))
    return table(heads, rows) + f"\n\nMean: {mean:.1f} times faster."


if __name__ == "__main__":
    print(markdown(run()))
