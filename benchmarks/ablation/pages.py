"""docs/benchmarks/ablation.md from what was measured: a line per program, what follows, and all that was tried."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from benchmarks.ablation.lines import Line, read
from benchmarks.cases import table

BAR = 3.0

_ABOUT = f"""Seconds are those of the processor (`time.process_time`), on one thread, one method after the other in one
process, so that ratios mean something on a machine that is shared. Other methods are stopped at four times what ours
took, or at two seconds: past the bar. A method that was stopped, or whose result is not proven as well as ours (linear
programs: by weak duality, within 1e-8), counts as slower. The bar was set before anything was measured: what is not at
least {BAR:.0f} times faster than the best of the others somewhere a user goes is taken out.

`python -m benchmarks.ablation` measures all of it again, and with names some of it; what was measured is kept in
`benchmarks/ablation/results.json`. Clarabel and ECOS have to be installed for it (`pip install clarabel ecos`).

Where users go: group notions are asked on 256 cells by default, and with more than two groups on up to 2,048. For
individual fairness the default is 256 blend cells, and users may have up to 16,384; the interior-point start begins at
1,500 variables."""


def markdown(kept: dict[str, list[Line]] | None = None) -> str:
    """Write the page, without its title."""
    found = read() if kept is None else kept
    lines = [line for own in found.values() for line in own]
    heads = ("ours", "program", "ours takes", "best other", "it takes", "ratio")
    rows = [(own.solver, own.case, str(own.ours), own.best, str(own.others[own.best]), _shown(own)) for own in lines]
    every = [(own.solver, own.case, name, str(each)) for own in lines for name, each in own.others.items()]
    said = "\n".join(f"- {text}" for text in conclusions(found))
    return "\n\n".join(
        [
            _ABOUT,
            table(heads, rows),
            f"What follows from it:\n\n{said}",
            "All that was tried:",
            table(("ours", "program", "other method", "it takes"), every),
        ]
    )


def _shown(line: Line) -> str:
    """The ratio; more than that, where all others were stopped or proved less."""
    least = "> " if line.others[line.best].failure else ""
    return f"{least}{line.ratio:.1f}"


def _range(lines: Iterable[Line]) -> str:
    ratios = sorted(line.ratio for line in lines)
    return f"{ratios[0]:.1f}" if len(ratios) == 1 else f"{ratios[0]:.1f} to {ratios[-1]:.1f}"


def _over(lines: Sequence[Line]) -> str:
    return f"{sum(line.ratio >= BAR for line in lines)} of {len(lines)} at least {BAR:.1f}"


def conclusions(found: dict[str, list[Line]]) -> list[str]:
    """What is decided, for each solver that was measured."""
    said = []
    if "parametric" in found:
        exact = [line for line in found["parametric"] if "breakpoints" in line.solver]
        grid = [line for line in found["parametric"] if "tolerances" in line.solver]
        said.append(
            f"The parametric method stays for exact frontiers ({_range(exact)} times faster, {_over(exact)}). For 41 "
            f"tolerances it gains {_range(grid)} over a warm-started simplex method, which alone would not keep it."
        )
    for name, text in _TEXTS.items():
        if name in found:
            said.append(text.format(range=_range(found[name]), over=_over(found[name])))
    return said


_TEXTS = {
    "ties": "Ties stay: HiGHS's quadratic program takes {range} times as long.",
    "coins": "Rules without coins: a core of the variables gains {range} over branch and bound on all ({over}).",
    "room": "Programs with room for errors: {range} ({over}).",
    "maps": "Maps: {range} ({over}).",
    "regression": "Logistic regression: {range} ({over}).",
    "sifting": "Sifting: {range} ({over}).",
    "interior": "The interior-point start: {range} ({over}).",
}
