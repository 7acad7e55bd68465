r"""Sweeps and breakpoints: how the optimum of a program changes with its tolerances.

The optimum of a linear program is concave and piecewise linear in the bounds of its rows. The duals at
one tolerance give the slope there, a tangent lies nowhere below the curve, and two tangents that meet *on*
the curve leave nothing to find between their points. Solving where tangents meet until all of them do finds
every breakpoint, so a frontier can be exact rather than sampled.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

import numpy as np

from fairlimits._util.progress import Progress
from fairlimits._util.types import Floats
from fairlimits.limits.programs import FairProgram, Solved
from fairlimits.notions import INDIVIDUAL

# Values are exact to about 1e-15 of their unit; a curve nearer to a line than this is that line.
_ON_LINE = 1e-12

Point: TypeAlias = tuple[float, Solved]
"""Position on the line, and the optimum there."""


def sweep(program: FairProgram, grid: Mapping[str, Floats], tell: Progress) -> list[Solved]:
    """Return the optimum at each point of the grid."""
    straight = _as_line(grid)
    if straight is not None and INDIVIDUAL not in grid:
        return program.solve_along(*straight)
    columns = {name: values.tolist() for name, values in grid.items()}
    total = len(next(iter(columns.values())))
    solved = []
    # From loose to tight: the dual simplex method repairs a basis faster where bounds have moved inwards.
    for done, point in enumerate(reversed(range(total)), 1):
        solved.append(program.solve({name: values[point] for name, values in columns.items()}))
        tell(done / total, f"tolerance {done} of {total}")
    return solved[::-1]


def _as_line(grid: Mapping[str, Floats]) -> tuple[dict[str, float], dict[str, float], Floats] | None:
    """Return start, direction and rising positions if the grid lies on one line, else None."""
    start = {name: float(values[0]) for name, values in grid.items()}
    move = {name: float(values[-1]) - start[name] for name, values in grid.items()}
    longest = max(move, key=lambda name: abs(move[name]))
    if not 0 < move[longest] < np.inf:
        return None
    at = (grid[longest] - start[longest]) / move[longest]
    if (np.diff(at) < 0).any():
        return None
    on_line = all(np.allclose(start[n] + at * move[n], grid[n], rtol=0, atol=1e-15) for n in grid)
    return (start, move, at) if on_line else None


def breakpoints(
    program: FairProgram, start: Mapping[str, float], move: Mapping[str, float], end: float, tell: Progress
) -> list[Point]:
    """Return every breakpoint of the optimum along ``start + at * move`` for ``at`` in [0, end]."""
    turns = program.turns_along(start, move, end)
    if turns is not None:
        return _corners(program, list(zip(turns[0].tolist(), turns[1], strict=True)))
    near = _ON_LINE * program.unit
    slopes: dict[float, float] = {}

    def solve_at(at: float) -> Point:
        tolerances = {name: start[name] + at * move[name] for name in start}
        solved = program.solve(tolerances)
        slopes[at] = program.slope(solved, tolerances, move)
        return at, solved

    first, last = solve_at(0.0), solve_at(end)
    if end == 0:
        return [first]
    found = [first, last]
    open_pieces = [(first, last)]
    while open_pieces:
        left, right = open_pieces.pop()
        (a, low), (b, high) = left, right
        rise_a, rise_b = slopes[a], slopes[b]
        if (
            low.value + rise_a * (b - a) <= high.value + near
            or high.value - rise_b * (b - a) <= low.value + near
            or rise_a - rise_b <= 0
        ):
            tell(min(a / end, 1.0), f"{len(found)} points of the frontier")
            continue
        at = a + (high.value - low.value - rise_b * (b - a)) / (rise_a - rise_b)
        if not a < at < b:
            continue
        middle = solve_at(at)
        found.append(middle)
        if low.value + rise_a * (at - a) > middle[1].value + near:
            open_pieces += [(left, middle), (middle, right)]
    return _corners(program, sorted(found, key=lambda point: point[0]))


def _corners(program: FairProgram, points: list[Point]) -> list[Point]:
    """Return the points without those that lie on the line between their neighbours."""
    kept: list[Point] = []
    for point in points:
        while len(kept) >= 2 and _on_chord(kept[-2], kept[-1], point, _ON_LINE * program.unit):
            kept.pop()
        kept.append(point)
    return kept


def without_flat_end(program: FairProgram, points: list[Point]) -> list[Point]:
    """Return the points up to where the value stops rising: beyond, the constraints are slack."""
    while len(points) >= 2 and points[-1][1].value <= points[-2][1].value + _ON_LINE * program.unit:
        points = points[:-1]
    return points


def _on_chord(left: Point, middle: Point, right: Point, near: float) -> bool:
    share = (middle[0] - left[0]) / (right[0] - left[0])
    chord = left[1].value + share * (right[1].value - left[1].value)
    return abs(middle[1].value - chord) <= near
