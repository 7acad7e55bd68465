"""`frontier`: trace the best rules over a range of tolerances, sampled or exact."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from fairlimits._util.memory import refuse_too_many, rows_that_fit
from fairlimits._util.progress import Progress, or_silent
from fairlimits._util.types import Floats
from fairlimits.errors import InfeasibleError, InputError
from fairlimits.law import CellDistribution, Neighbourhood
from fairlimits.limits.breakpoints import breakpoints, sweep, without_flat_end
from fairlimits.limits.certification import Uncertified, check_uncertified
from fairlimits.limits.determinism import check_randomize
from fairlimits.limits.frontiers import Frontier
from fairlimits.limits.laws import Law, estimated, on_cells
from fairlimits.limits.programs import FairProgram
from fairlimits.limits.solving import (
    check_certifiable,
    infeasible,
    make_rules,
    on_labels,
    solve,
    warn_if_constant,
    without_coins,
)
from fairlimits.notions import (
    ACCURACY,
    Objective,
    Requirement,
    check_names,
    check_tolerances,
    read_objective,
    read_requirements,
)

Tolerances: TypeAlias = ArrayLike | Mapping[str, Any]

DEFAULT_TOLERANCES = np.linspace(0, 0.2, 41)

# Of a point at least, beside its scores.
_POINT_BYTES = 2000


def frontier(
    law: Law | Any,
    notions: str | Sequence[str],
    tolerances: Tolerances | None = None,
    *,
    aware: bool = False,
    exact: bool = False,
    neighbours: Neighbourhood | None = None,
    requirements: Iterable[Requirement | str] = (),
    objective: Objective | str = ACCURACY,
    confidence: float | None = None,
    uncertified: Uncertified = "best",
    randomize: bool = True,
    random_state: int = 0,
    progress: Progress | None = None,
    **columns: Any,
) -> Frontier:
    """Trace the best rules over a range of tolerances.

    Parameters
    ----------
    law : Outcome, StreamedOutcome, CellDistribution, Dataset, or what `open_data` takes or returns with ``stream=True``
        The joint law of features, group and label (see `solve`).
    notions : str or sequence of str
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
    confidence : float, optional
        See `solve`: at each tolerance the accuracy that is certified there. The confidence is in each point by itself.
    uncertified : {"best", "raise", "constant"}, default="best"
        See `solve`.
    randomize : bool, default=True
        Whether the rules may decide by lot (see `solve`).
    random_state : int, default=0
        Seed of what has to be estimated or cut into cells first.
    progress : callable, optional
        Called with the fraction done and a few words.
    **columns
        How to read a `law` that is a path, an Arrow dataset or a Dask DataFrame: see `estimate_outcome`.

    Returns
    -------
    Frontier

    Examples
    --------
    >>> import fairlimits as fl
    >>> dist = fl.CellDistribution.from_mass([[[4, 1], [2, 0]], [[2, 2], [1, 2]], [[0, 1], [1, 4]]])
    >>> fl.frontier(dist, "DP", [0.0, 0.1, 0.2]).accuracy.round(3).tolist()
    [0.6, 0.65, 0.7]
    >>> curve = fl.frontier(dist, "DP", exact=True)
    >>> curve.tolerances.round(3).tolist()  # where the slope changes
    [0.0, 0.3]
    """
    names = check_names([notions] if isinstance(notions, str) else notions)
    if not names:
        raise InputError("No notion was given; name at least one, such as ['DP'].")
    hood = Neighbourhood() if neighbours is None else neighbours
    check_randomize(randomize, names)
    kept, goal = read_requirements(requirements), read_objective(objective)
    tell = or_silent(progress)
    known = estimated(law, random_state, progress, columns)
    check_certifiable(known, confidence, names, kept)
    if exact and confidence is not None:
        raise InputError("A certified frontier has no breakpoints; leave exact or confidence out.")
    if exact and not randomize:
        raise InputError("Rules without coins have no breakpoints; leave exact or randomize=False out.")
    program = FairProgram(on_cells(known, names, random_state, progress), names, aware, hood, kept, goal)
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
            grid = tolerance_grid(names, tolerances)
            _check_points(len(next(iter(grid.values()))), program)
            start = {name: float(values.min()) for name, values in grid.items()}
            solved = sweep(program, grid, tell)
    except InfeasibleError:
        # The first tolerances are the strictest.
        raise infeasible(program, start, hood) from None
    rules = make_rules(program, solved, _points(grid), hood)
    if not randomize:
        rules = without_coins(program, solved, rules)
    if not isinstance(known, CellDistribution):
        rules = on_labels(program, rules, known, confidence, check_uncertified(uncertified))
    else:
        warn_if_constant(rules)
    tell(1.0, "frontier done")
    return Frontier(rules, grid, exact)


def _check_points(points: int, program: FairProgram) -> None:
    """Refuse more points than there is memory for: each has a score for every cell, and some things beside."""
    dist = program.variables.dist
    fit = rows_that_fit(points, 24 * dist.n_cells * (dist.n_groups if program.variables.aware else 1) + _POINT_BYTES)
    if fit is not None:
        raise InputError(
            f"{points:,} points of a frontier on {dist.n_cells:,} cells take more memory than there is, and {fit:,} "
            "would fit; ask for fewer: a few dozen show the curve, and exact=True gives every breakpoint.",
            shell=f"--points {points} takes more memory than there is, and {fit:,} would fit; ask for fewer: a few "
            "dozen show the curve, and --exact gives every breakpoint.",
        )


def _points(grid: Mapping[str, Floats]) -> list[dict[str, float]]:
    """Tolerances of each point."""
    return [dict(zip(grid, point, strict=True)) for point in zip(*(v.tolist() for v in grid.values()), strict=True)]


def tolerance_grid(names: tuple[str, ...], tolerances: Tolerances | None) -> dict[str, Floats]:
    """Tolerances of each notion at each point, checked."""
    if tolerances is None:
        tolerances = DEFAULT_TOLERANCES
    given = _for_each(names, tolerances) if isinstance(tolerances, Mapping) else dict.fromkeys(names, tolerances)
    for values in given.values():
        refuse_too_many(values, "tolerances", _POINT_BYTES)
    try:
        arrays = {name: np.asarray(given[name], dtype=np.float64) for name in names}
    except (TypeError, ValueError, OverflowError):
        raise InputError("The tolerances are not numbers; give an array, or a number or an array per notion.") from None
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
    given = dict(zip(check_names(tolerances), tolerances.values(), strict=True))
    if set(given) != set(names):
        raise InputError(
            f"The tolerances are for {', '.join(given) or 'nothing'} and the notions are "
            f"{', '.join(names)}; give one for each notion."
        )
    return given


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
