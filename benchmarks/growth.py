"""How a group-notion solve grows with the number of cells, 256 to a million: seconds and peak memory.

The cells are synthetic (their masses are drawn at random), so that only their number matters. Each size runs in a
process of its own, whose peak memory is that of Python with its libraries plus the solve.
"""

from __future__ import annotations

import json
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np

import fairlimits as fl
from benchmarks.cases import peak_megabytes, table, timed
from fairlimits._util.plotting import COLOURS, figure_style

SIZES = (256, 1024, 4096, 16384, 65536, 262144, 1000000)
ASKED = {"EA": 0.02, "EOd": 0.02}


def synthetic(cells: int, seed: int) -> fl.CellDistribution:
    """Cells whose shares of group and label vary as on a real table."""
    rng = np.random.default_rng(seed)
    weight = rng.gamma(2.0, size=cells)
    group = rng.beta(2, 2, size=cells)
    rate = np.clip(rng.beta(1, 3, size=cells)[:, None] + [[-0.03, 0.05]], 0, 1)
    share = np.stack([1 - group, group], axis=1)
    return fl.CellDistribution.from_mass((weight[:, None] * share)[:, :, None] * np.stack([1 - rate, rate], axis=2))


def measure(cells: int) -> dict[str, Any]:
    """Time solves of one size in this process."""
    hidden, seen = [], []
    for seed in range(3):
        dist = synthetic(cells, seed)
        hidden.append(timed(partial(fl.solve, dist, ASKED))[0])
        seen.append(timed(partial(fl.solve, dist, ASKED, aware=True))[0])
    return {
        "cells": cells,
        "hidden": float(np.mean(hidden)),
        "seen": float(np.mean(seen)),
        "peak MB": peak_megabytes(),
    }


def run() -> list[dict[str, Any]]:
    """Measure every size, each in a fresh process."""
    results = []
    for cells in SIZES:
        command = [sys.executable, "-m", "benchmarks.growth", str(cells)]
        answer = subprocess.run(command, capture_output=True, text=True, check=True)
        results.append(json.loads(answer.stdout))
    return results


def draw(results: list[dict[str, Any]], path: Path) -> None:
    """Draw seconds and peak memory against the number of cells."""
    cells = [row["cells"] for row in results]
    with figure_style():
        figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.2))
        left.loglog(cells, [row["seen"] for row in results], "o-", color=COLOURS["aware"], label="group seen")
        left.loglog(cells, [row["hidden"] for row in results], "s--", color=COLOURS["unaware"], label="group hidden")
        left.set_title("One solve, EA + EOd")
        left.set_ylabel("seconds")
        left.legend()
        right.semilogx(cells, [row["peak MB"] for row in results], "o-", color=COLOURS["EOd"])
        right.set_ylim(bottom=0)
        right.set_title("Peak memory of the process")
        right.set_ylabel("MB")
        for ax in (left, right):
            ax.set_xlabel("cells")
            ax.set_xticks(cells, [f"{size:,}" for size in cells], minor=False, rotation=30, ha="right")
            ax.minorticks_off()
        figure.savefig(path)
        plt.close(figure)


def markdown(results: list[dict[str, Any]]) -> str:
    """Write the results as a table."""
    rows = [
        (f"{row['cells']:,}", f"{row['hidden']:.4f} s", f"{row['seen']:.4f} s", f"{row['peak MB']:.0f} MB")
        for row in results
    ]
    return table(("cells", "group hidden", "group seen", "peak memory"), rows)


if __name__ == "__main__":
    print(json.dumps(measure(int(sys.argv[1]))) if len(sys.argv) > 1 else markdown(run()))
