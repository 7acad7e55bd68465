r"""Frontiers: the optimal accuracy as a function of the tolerance, sampled or exact.

The optimum of a linear program is concave and piecewise linear in the bounds of its rows. The multipliers at
one tolerance give the slope there, a tangent lies nowhere below the curve, and two tangents that meet *on*
the curve leave nothing to find between their points. Solving where tangents meet until all of them do finds
every breakpoint, so a frontier can be exact rather than sampled.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import matplotlib.pyplot as plt
import numpy as np
import pyarrow as pa
from matplotlib.axes import Axes
from numpy.typing import ArrayLike

from fairlimits.arrays import Floats
from fairlimits.criteria import INDIVIDUAL, check_names, group_gaps
from fairlimits.distribution import CellDistribution
from fairlimits.errors import FileError, InputError
from fairlimits.look import colour_of, figure_style
from fairlimits.neighbours import Neighbourhood
from fairlimits.program import FairProgram, Solved
from fairlimits.progress import Progress, silent
from fairlimits.solve import Rule, bayes_accuracy, by_group, check_tolerances, individual_gap, solve
from fairlimits.storage import nest, read_archive, unnest, write_archive

Tolerances: TypeAlias = ArrayLike | Mapping[str, Any]

DEFAULT_TOLERANCES = np.linspace(0, 0.2, 41)

_KIND = "frontier"

# Accuracies are exact to about 1e-15; a curve nearer to a line than this is that line.
_ON_LINE = 1e-12


@dataclass(frozen=True, eq=False, repr=False)
class Frontier:
    """Optimal accuracy at a row of tolerances.

    Parameters
    ----------
    distribution : CellDistribution
        What the rules were solved on: all figures are plug-in figures of it.
    grid : mapping of str to ndarray of shape (P,)
        Tolerance of each notion at each point.
    accuracy : ndarray of shape (P,)
        Optimal accuracy.
    scores : ndarray of shape (P, N) or (P, N, G)
        Scores of an optimal rule. Between two breakpoints of an exact frontier, the same mix of the two
        rules is optimal.
    aware : bool
        Whether the rules see the group.
    neighbours : Neighbourhood
        What individual fairness compares.
    bayes_accuracy : float
        Accuracy of the best rule without constraints.
    exact : bool
        Whether the points are all breakpoints of the curve, so that straight lines between them are exact.
    """

    distribution: CellDistribution
    grid: Mapping[str, Floats]
    accuracy: Floats
    scores: Floats
    aware: bool
    neighbours: Neighbourhood
    bayes_accuracy: float
    exact: bool

    @property
    def notions(self) -> tuple[str, ...]:
        """Names of the notions that are constrained."""
        return tuple(self.grid)

    @property
    def tolerances(self) -> Floats | Mapping[str, Floats]:
        """Tolerances as one array where all notions share them, else one array for each notion."""
        first, *others = self.grid.values()
        return first if all(np.array_equal(first, other) for other in others) else self.grid

    @cached_property
    def gaps(self) -> dict[str, Floats]:
        """Attained gap of every notion at each point, constrained or not (see `Rule.gaps`)."""
        scores = by_group(self.scores, self.aware, self.distribution.n_groups)
        individual = [individual_gap(self.distribution, point, self.aware, self.neighbours) for point in self.scores]
        return {**group_gaps(self.distribution, scores), INDIVIDUAL: np.array(individual)}

    def __len__(self) -> int:
        return len(self.accuracy)

    def rule(self, point: int) -> Rule:
        """Solve for the rule at one point, with its shadow prices."""
        tolerances = {name: float(values[point]) for name, values in self.grid.items()}
        return solve(self.distribution, tolerances, aware=self.aware, neighbours=self.neighbours)

    def to_frame(self) -> pa.Table:
        """Tolerances, accuracy, its loss and every attained gap as a table, a row for each point."""
        columns = {f"tolerance {name}": values for name, values in self.grid.items()}
        columns |= {"accuracy": self.accuracy, "loss": self.bayes_accuracy - self.accuracy}
        return pa.table(columns | {f"gap {name}": values for name, values in self.gaps.items()})

    def plot(self, ax: Axes | None = None, **options: Any) -> Axes:
        """Draw accuracy against the tolerance of the notion that moves.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        **options
            Passed on to matplotlib's ``plot``, such as ``label`` or ``color``.
        """
        with figure_style():
            if ax is None:
                ax = plt.subplots(figsize=(5.6, 3.6))[1]
            moving = [name for name, values in self.grid.items() if np.ptp(values) > 0] or list(self.grid)
            fixed = [f"{name} = {self.grid[name][0]:g}" for name in self.grid if name not in moving]
            label = " + ".join(moving) + (f" ({', '.join(fixed)})" if fixed else "")
            given = {"label": label, "color": colour_of(label), **options}
            ax.plot(self.grid[moving[0]], self.accuracy, **given)
            ax.set_xlabel(f"tolerance: largest gap allowed, {' and '.join(moving)}")
            ax.set_ylabel("accuracy (plug-in)")
        return ax

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the frontier and its distribution to one file (``.npz``, without pickle)."""
        inner, arrays = self.distribution._pack()
        header = {
            "distribution": inner,
            "notions": list(self.grid),
            "aware": self.aware,
            "neighbours": self.neighbours.to_dict(),
            "bayes_accuracy": self.bayes_accuracy,
            "exact": self.exact,
        }
        own = {"grid": np.stack(list(self.grid.values())), "accuracy": self.accuracy, "scores": self.scores}
        write_archive(path, _KIND, header, own | nest("distribution", arrays))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Frontier:
        """Read what `save` wrote."""
        header, arrays = read_archive(path, _KIND)
        try:
            dist = CellDistribution._unpack(header["distribution"], unnest("distribution", arrays))
            names, grid = check_names(header["notions"]), np.asarray(arrays["grid"], dtype=np.float64)
            accuracy = np.asarray(arrays["accuracy"], dtype=np.float64)
            scores, aware = np.asarray(arrays["scores"], dtype=np.float64), bool(header["aware"])
            cells = (dist.n_cells, dist.n_groups) if aware else (dist.n_cells,)
            if grid.shape != (len(names), len(accuracy)) or scores.shape != (len(accuracy), *cells):
                raise FileError("The file's frontier does not fit its cells; save it again.")
            return cls(
                distribution=dist,
                grid=dict(zip(names, grid, strict=True)),
                accuracy=accuracy,
                scores=scores,
                aware=aware,
                neighbours=Neighbourhood(**header["neighbours"]),
                bayes_accuracy=float(header["bayes_accuracy"]),
                exact=bool(header["exact"]),
            )
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            raise FileError(f"The file's frontier is damaged ({error}); save it again.") from error

    def __repr__(self) -> str:
        what = f"{' + '.join(self.grid)}, {'aware' if self.aware else 'unaware'}"
        points = f"{len(self)} {'breakpoints' if self.exact else 'points'}"
        return f"Frontier({what}, {points}, accuracy {self.accuracy.min():.4f} to {self.accuracy.max():.4f})"


def frontier(
    dist: CellDistribution,
    notions: Sequence[str],
    tolerances: Tolerances | None = None,
    *,
    aware: bool = False,
    exact: bool = False,
    neighbours: Neighbourhood | None = None,
    progress: Progress | None = None,
) -> Frontier:
    """Trace the optimal accuracy over a range of tolerances.

    Parameters
    ----------
    dist : CellDistribution
        The joint law of cell, group and label.
    notions : sequence of str
        The notions to constrain, among DP, EA, EOp, PE, EOd and IF.
    tolerances : array-like, or mapping of str to array-like or number, optional
        An array moves all notions together. A mapping gives each notion its own array, all of one length,
        or a number that stays. By default 41 tolerances from 0 to 0.2.
        With ``exact=True``: a mapping of each notion to (start, stop) or a number that stays; by default
        all notions move together from 0 to where the constraints go slack.
    aware : bool, default=False
        Whether the rules may see the group.
    exact : bool, default=False
        Return every breakpoint of the curve instead of samples.
    neighbours : Neighbourhood, optional
        What individual fairness (IF) compares.
    progress : callable, optional
        Called with the fraction done and a few words.

    Returns
    -------
    Frontier
    """
    names = check_names([notions] if isinstance(notions, str) else notions)
    if not names:
        raise InputError("No notion was given; name at least one, such as ['DP'].")
    hood = Neighbourhood() if neighbours is None else neighbours
    program = FairProgram(dist, names, aware, hood)
    tell: Progress = progress if progress is not None else silent
    if exact:
        start, move, end = _exact_range(program, names, tolerances, hood)
        points = _breakpoints(program, start, move, end, tell)
        if tolerances is None:
            points = _without_flat_end(points)
        grid = {name: np.array([start[name] + at * move[name] for at, _ in points]) for name in names}
        solved = [found for _, found in points]
    else:
        grid = tolerance_grid(names, DEFAULT_TOLERANCES if tolerances is None else tolerances)
        solved = _sweep(program, grid, tell)
    tell(1.0, "frontier done")
    return Frontier(
        distribution=dist,
        grid=grid,
        accuracy=np.array([point.accuracy for point in solved]),
        scores=program.variables.expand(np.stack([point.x for point in solved])),
        aware=aware,
        neighbours=hood,
        bayes_accuracy=bayes_accuracy(program.variables),
        exact=exact,
    )


def _sweep(program: FairProgram, grid: Mapping[str, Floats], tell: Progress) -> list[Solved]:
    """Optimum at each point of the grid."""
    straight = _as_line(grid)
    if straight is not None and INDIVIDUAL not in grid:
        return program.solve_along(*straight)
    columns = {name: values.tolist() for name, values in grid.items()}
    total = len(next(iter(columns.values())))
    solved = []
    # From loose to tight: the dual simplex method mends a basis whose bounds have moved in faster.
    for done, point in enumerate(reversed(range(total)), 1):
        solved.append(program.solve({name: values[point] for name, values in columns.items()}))
        tell(done / total, f"tolerance {done} of {total}")
    return solved[::-1]


def _as_line(grid: Mapping[str, Floats]) -> tuple[dict[str, float], dict[str, float], Floats] | None:
    """Start, direction and rising positions if the grid lies on one line, else None."""
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


def tolerance_grid(names: tuple[str, ...], tolerances: Tolerances) -> dict[str, Floats]:
    """Tolerances of each notion at each point, checked."""
    given = _for_each(names, tolerances) if isinstance(tolerances, Mapping) else dict.fromkeys(names, tolerances)
    try:
        arrays = {name: np.asarray(given[name], dtype=np.float64) for name in names}
    except (TypeError, ValueError):
        raise InputError("The tolerances are no numbers; give an array, or a number or array a notion.") from None
    lengths = {array.shape[0] for array in arrays.values() if array.ndim == 1}
    if any(array.ndim > 1 for array in arrays.values()) or len(lengths) > 1 or 0 in lengths:
        raise InputError("The tolerances differ in length or are empty; give every notion as many as the others.")
    points = lengths.pop() if lengths else 1
    grid = {name: np.broadcast_to(array, (points,)).copy() for name, array in arrays.items()}
    for name, values in grid.items():
        if np.isnan(values).any() or (values < 0).any():
            raise InputError(f"A tolerance of {name} is negative or missing; every one must be at least 0.")
    return grid


def _for_each(names: tuple[str, ...], tolerances: Mapping[str, Any]) -> dict[str, Any]:
    if set(tolerances) != set(names):
        raise InputError(
            f"The tolerances are for {', '.join(tolerances) or 'nothing'} and the notions are "
            f"{', '.join(names)}; give one for each notion."
        )
    return dict(tolerances)


def _exact_range(
    program: FairProgram, names: tuple[str, ...], tolerances: Tolerances | None, hood: Neighbourhood
) -> tuple[dict[str, float], dict[str, float], float]:
    """Where an exact frontier starts, how each tolerance moves, and how far."""
    if tolerances is None:
        # Beyond the gaps of the best unconstrained rule every constraint is slack.
        free = solve(program.variables.dist, {}, aware=program.variables.aware, neighbours=hood)
        end = max((free.gaps[name] for name in names if not math.isnan(free.gaps[name])), default=0.0)
        return dict.fromkeys(names, 0.0), dict.fromkeys(names, 1.0), end
    if not isinstance(tolerances, Mapping):
        raise InputError("An exact frontier takes {notion: (start, stop)}, not a list of tolerances.")
    start, move = {}, {}
    for name, given in _for_each(names, tolerances).items():
        try:
            ends = np.atleast_1d(np.asarray(given, dtype=np.float64))
        except (TypeError, ValueError):
            ends = np.zeros(0)
        if ends.shape not in ((1,), (2,)):
            raise InputError(f"The tolerance of {name} is {given!r}; give (start, stop) or one number.")
        if not np.isfinite(ends).all() or ends[-1] < ends[0]:
            raise InputError(f"The tolerances of {name} must be finite and rise from start to stop.")
        start[name], move[name] = float(ends[0]), float(ends[-1] - ends[0])
    return check_tolerances(start), move, 1.0 if any(move.values()) else 0.0


_Point: TypeAlias = tuple[float, Solved]


def _breakpoints(
    program: FairProgram, start: Mapping[str, float], move: Mapping[str, float], end: float, tell: Progress
) -> list[_Point]:
    """Every breakpoint of the accuracy along ``start + at * move`` for ``at`` in [0, end]."""
    turns = program.turns_along(start, move, end)
    if turns is not None:
        return _corners(list(zip(turns[0].tolist(), turns[1], strict=True)))
    slopes: dict[float, float] = {}

    def solve_at(at: float) -> _Point:
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
            low.accuracy + rise_a * (b - a) <= high.accuracy + _ON_LINE
            or high.accuracy - rise_b * (b - a) <= low.accuracy + _ON_LINE
            or rise_a - rise_b <= 0
        ):
            tell(min(a / end, 1.0), f"{len(found)} points of the frontier")
            continue
        at = a + (high.accuracy - low.accuracy - rise_b * (b - a)) / (rise_a - rise_b)
        if not a < at < b:
            continue
        middle = solve_at(at)
        found.append(middle)
        if low.accuracy + rise_a * (at - a) > middle[1].accuracy + _ON_LINE:
            open_pieces += [(left, middle), (middle, right)]
    return _corners(sorted(found, key=lambda point: point[0]))


def _corners(points: list[_Point]) -> list[_Point]:
    """Leave out points that lie on the line between their neighbours."""
    kept: list[_Point] = []
    for point in points:
        while len(kept) >= 2 and _on_chord(kept[-2], kept[-1], point):
            kept.pop()
        kept.append(point)
    return kept


def _without_flat_end(points: list[_Point]) -> list[_Point]:
    """Leave out points beyond the one where accuracy stops rising: there the constraints are slack."""
    while len(points) >= 2 and points[-1][1].accuracy <= points[-2][1].accuracy + _ON_LINE:
        points = points[:-1]
    return points


def _on_chord(left: _Point, middle: _Point, right: _Point) -> bool:
    share = (middle[0] - left[0]) / (right[0] - left[0])
    chord = left[1].accuracy + share * (right[1].accuracy - left[1].accuracy)
    return abs(middle[1].accuracy - chord) <= _ON_LINE
