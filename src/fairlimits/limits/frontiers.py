"""Frontiers: the optimal accuracy as a function of the tolerance, sampled or exact."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
from matplotlib.axes import Axes
from numpy.typing import ArrayLike

from fairlimits._util.plotting import axes_or_new, colour_of, figure_style
from fairlimits._util.progress import Progress, silent
from fairlimits._util.storage import nest, read_archive, unnest, write_archive
from fairlimits._util.types import Floats
from fairlimits.errors import FileError, InfeasibleError, InputError
from fairlimits.law import CellDistribution, Neighbourhood
from fairlimits.limits.breakpoints import breakpoints, sweep, without_flat_end
from fairlimits.limits.programs import FairProgram
from fairlimits.limits.rules import Rule, bayes_accuracy, by_group, individual_gap, infeasible, solve
from fairlimits.notions import (
    ACCURACY,
    INDIVIDUAL,
    Objective,
    Requirement,
    check_names,
    check_tolerances,
    group_gaps,
    read_objective,
    read_requirements,
)

Tolerances: TypeAlias = ArrayLike | Mapping[str, Any]

DEFAULT_TOLERANCES = np.linspace(0, 0.2, 41)

_KIND = "frontier"


@dataclass(frozen=True, eq=False, repr=False)
class Frontier:
    """Optimal accuracy (or another value) at a row of tolerances.

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
    requirements : tuple of Requirement
        What all rules keep besides.
    objective : Objective
        What the rules are best at: accuracy, if nothing else was asked for.
    """

    distribution: CellDistribution
    grid: Mapping[str, Floats]
    accuracy: Floats
    scores: Floats
    aware: bool
    neighbours: Neighbourhood
    bayes_accuracy: float
    exact: bool
    requirements: tuple[Requirement, ...] = ()
    objective: Objective = ACCURACY

    @cached_property
    def value(self) -> Floats:
        """What the rules are best at, at each point: accuracy, balanced accuracy or minus the expected cost."""
        if self.objective == ACCURACY:
            return self.accuracy
        return self.objective.value(
            self.distribution.rates, by_group(self.scores, self.aware, self.distribution.n_groups)
        )

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
        return {**group_gaps(self.distribution.rates, scores), INDIVIDUAL: np.array(individual)}

    def __len__(self) -> int:
        return len(self.accuracy)

    def rule(self, point: int) -> Rule:
        """Solve for the rule at one point, with its shadow prices."""
        tolerances = {name: float(values[point]) for name, values in self.grid.items()}
        return solve(
            self.distribution,
            tolerances,
            aware=self.aware,
            neighbours=self.neighbours,
            requirements=self.requirements,
            objective=self.objective,
        )

    def to_frame(self) -> pa.Table:
        """Tolerances, accuracy, its loss and every attained gap as a table, a row for each point."""
        columns = {f"tolerance {name}": values for name, values in self.grid.items()}
        columns |= {"accuracy": self.accuracy, "loss": self.bayes_accuracy - self.accuracy}
        if self.objective != ACCURACY:
            columns[str(self.objective)] = self.value
        return pa.table(columns | {f"gap {name}": values for name, values in self.gaps.items()})

    def plot(self, ax: Axes | None = None, **options: Any) -> Axes:
        """Draw accuracy, or what else the rules are best at, against the tolerance of the notion that moves.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        **options
            Passed on to matplotlib's ``plot``, such as ``label`` or ``color``.
        """
        with figure_style():
            ax = axes_or_new(ax)
            moving = [name for name, values in self.grid.items() if np.ptp(values) > 0] or list(self.grid)
            fixed = [f"{name} = {self.grid[name][0]:g}" for name in self.grid if name not in moving]
            label = " + ".join(moving) + (f" ({', '.join(fixed)})" if fixed else "")
            given = {"label": label, "color": colour_of(label), **options}
            ax.plot(self.grid[moving[0]], self.value, **given)
            ax.set_xlabel(f"tolerance: largest gap allowed, {' and '.join(moving)}")
            ax.set_ylabel(f"{self.objective.title} (plug-in)")
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
            "requirements": [str(own) for own in self.requirements],
            "objective": str(self.objective),
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
                requirements=read_requirements(header["requirements"]),
                objective=read_objective(header["objective"]),
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
    requirements: Iterable[Requirement | str] = (),
    objective: Objective | str = ACCURACY,
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
    requirements : iterable of Requirement or str, optional
        What all rules must keep besides, such as ``"selection rate <= 0.3"`` (see `solve`).
    objective : Objective or str, default="accuracy"
        What the rules are to be best at (see `solve`).
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
    kept, goal = read_requirements(requirements), read_objective(objective)
    program = FairProgram(dist, names, aware, hood, kept, goal)
    tell: Progress = progress if progress is not None else silent
    start: dict[str, float]
    try:
        if exact:
            start, move, end = _exact_range(program, names, tolerances, hood)
            points = breakpoints(program, start, move, end, tell)
            if tolerances is None:
                points = without_flat_end(program, points)
            grid = {name: np.array([start[name] + at * move[name] for at, _ in points]) for name in names}
            solved = [found for _, found in points]
        else:
            grid = tolerance_grid(names, DEFAULT_TOLERANCES if tolerances is None else tolerances)
            start = {name: float(values.min()) for name, values in grid.items()}
            solved = sweep(program, grid, tell)
    except InfeasibleError:
        # The first tolerances are the strictest.
        raise infeasible(program, start, hood) from None
    tell(1.0, "frontier done")
    variables = program.variables
    x = np.stack([point.x for point in solved])
    value = np.array([point.value for point in solved])
    return Frontier(
        distribution=dist,
        grid=grid,
        accuracy=value if goal == ACCURACY else variables.base + x @ variables.cost,
        scores=variables.expand(x),
        aware=aware,
        neighbours=hood,
        bayes_accuracy=bayes_accuracy(variables),
        exact=exact,
        requirements=kept,
        objective=goal,
    )


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
        free = solve(
            program.variables.dist,
            {},
            aware=program.variables.aware,
            neighbours=hood,
            requirements=program.requirements,
            objective=program.objective,
        )
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
