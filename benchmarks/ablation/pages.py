"""docs/benchmarks/ablation.md from what was measured: a line per program, what follows, and all that was tried."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from benchmarks.ablation.lines import Line, read
from benchmarks.cases import table

BAR = 3.0

_ABOUT = f"""Seconds are those of the processor (`time.process_time`), on one thread, one method after the other in one
process, so that ratios mean something on a machine that is shared. Other methods are stopped at four times what ours
took, or at two seconds: past the bar. A method that was stopped, or whose result is not proven as well as ours (linear
programs: by weak duality, within 1e-8), counts as slower. The bar was set before anything was measured: what is not at
least {BAR:.0f} times faster than the best of the others somewhere a user goes is taken out, as a Newton's method for
logistic regression was, which gained 1.4 to 2.2 over scikit-learn's on Adult and Law.

`python -m benchmarks.ablation` measures all of it again, and with names some of it; what was measured is kept in
`benchmarks/ablation/results.json`: the parametric method, ties and sifting in a run before the others. Clarabel
(0.11.1) and ECOS (2.0.14) have to be installed for it (`pip install clarabel ecos`).

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


def _of(lines: Sequence[Line], *words: str) -> list[Line]:
    """Lines whose solver or case has one of some words."""
    return [line for line in lines if any(word in f"{line.solver}, {line.case}" for word in words)]


def _over(lines: Sequence[Line]) -> str:
    return f"{sum(line.ratio >= BAR for line in lines)} of {len(lines)} at least {BAR:.1f}"


def conclusions(found: dict[str, list[Line]]) -> list[str]:
    """What is decided, for each solver that was measured."""
    return [_DECIDED[name](lines) for name, lines in found.items()]


def _parametric(lines: list[Line]) -> str:
    exact, grid = _of(lines, "breakpoints"), _of(lines, "tolerances")
    return (
        f"The parametric method stays for exact frontiers ({_range(exact)} times faster, {_over(exact)}). For 41 "
        f"tolerances it gains {_range(grid)} over a warm-started simplex method, which alone would not keep it."
    )


def _ties(lines: list[Line]) -> str:
    return f"Ties stay: HiGHS's quadratic program takes {_range(lines)} times as long."


def _coins(lines: list[Line]) -> str:
    six, fewer = _of(lines, "6 groups"), _of(lines, "2 groups", "4 groups")
    return (
        "Rules without coins: trying a core of the variables first stays for what it gains with six groups "
        f"({_range(six)} over HiGHS's branch and bound on all of them, {_over(six)}); with two and four groups it "
        f"gains {_range(fewer)}."
    )


def _room(lines: list[Line]) -> str:
    two, more = _of(lines, "2 groups"), _of(lines, "4 groups", "6 groups")
    return (
        f"Room for errors stays: with two groups and 256 cells the best other takes {_range(two)} times as long "
        f"({_over(two)}), with four and six groups, and the cells that there are then, {_range(more)} times as long or "
        "longer. What each reached is computed for all alike: no constraint is missed by more than 1e-5, and no "
        "objective lies farther below its bound than 4e-5 of what it can change by."
    )


def _maps(lines: list[Line]) -> str:
    small, large = _of(lines, " 256 cells"), _of(lines, " 1,024 cells")
    return (
        f"Taking in the entries of a map as they promise something stays: at 1,024 cells it is {_range(large)} times "
        f"faster than HiGHS with all entries at once; at 256 cells it gains {_range(small)}."
    )


def _sifting(lines: list[Line]) -> str:
    many, fewer = _of(lines, "262,144", "1,000,000"), _of(lines, "65,536")
    return (
        f"Sifting stays for programs of 262,144 variables and more ({_range(many)} times faster). At 65,536 it gains "
        f"{_range(fewer)}, so it begins at 200,000; that number was chosen after seeing these figures."
    )


def _interior(lines: list[Line]) -> str:
    blend, features = _of(lines, "blend"), _of(lines, "feature cells")
    return (
        f"The interior-point start stays: it is {_range(blend)} times faster than adding pairs as they are missed on "
        f"blend cells, which individual fairness has by default, and {_range(features)} on cells of the features. With "
        "all pairs at once HiGHS was stopped by every method at 2,048 cells, and was not tried with more. Dense "
        "Cholesky in the place of conjugate gradients, or the diagonal in the place of the spanning tree, makes it as "
        "slow as what it replaces, or slower. At 8,192 blend cells (1.2 million pairs) ours took 27 s; the others, "
        "slower by more than the bar at 4,096, have not been run there yet."
    )


_DECIDED: dict[str, Callable[[list[Line]], str]] = {
    "parametric": _parametric,
    "ties": _ties,
    "coins": _coins,
    "room": _room,
    "maps": _maps,
    "sifting": _sifting,
    "interior": _interior,
}
