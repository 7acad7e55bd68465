"""What the benchmarks are run on, and how they are timed."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import TypeVar

import fairlimits as fl

Result = TypeVar("Result")


@cache
def adult(cells: int, seed: int) -> fl.CellDistribution:
    """Adult, its rows as they are, cut into cells."""
    return fl.discretize(fl.load_dataset("adult"), cells, generator=None, random_state=seed, partition="features")


def timed(
    call: Callable[[], Result], repeats: int = 1, clock: Callable[[], float] = time.perf_counter
) -> tuple[float, Result]:
    """Shortest time of some repeats, in seconds of a clock, and the last result."""
    best = float("inf")
    for _ in range(repeats):
        start = clock()
        result = call()
        best = min(best, clock() - start)
    return best, result


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Write a Markdown table."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def peak_megabytes() -> float:
    """Peak memory of this process; without that of the one that started it, which getrusage counts in."""
    status = Path("/proc/self/status")
    if status.exists():
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
