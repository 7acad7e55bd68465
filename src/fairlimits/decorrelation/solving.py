"""`decorrelate`: from a rule to the map that hides the group from it at the least loss."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from fairlimits._util.progress import Progress, or_silent
from fairlimits._util.suggestions import did_you_mean
from fairlimits._util.types import Floats
from fairlimits.decorrelation.distortion import best_map, least_goal, traded_goal
from fairlimits.decorrelation.exact import SLACK, Exact, ExactProgram
from fairlimits.decorrelation.maps import full_maps, largest_difference, two_point_entries
from fairlimits.decorrelation.multipliers import Multipliers, run_multipliers
from fairlimits.decorrelation.problems import Problem, Targets
from fairlimits.decorrelation.results import Choice, Decorrelation, Method
from fairlimits.decorrelation.weights import ACCURACY_WEIGHT, CORRELATION_WEIGHT, check_weight
from fairlimits.errors import InputError
from fairlimits.law import MOST_CELLS, CellDistribution, Neighbourhood
from fairlimits.limits import Rule, Variables, by_group
from fairlimits.notions import INDIVIDUAL, check_tolerances, group_gaps
from fairlimits.solvers import MISSED


def decorrelate(
    dist: CellDistribution,
    rule: Rule,
    *,
    accuracy_weight: float = ACCURACY_WEIGHT,
    correlation_weight: float = CORRELATION_WEIGHT,
    method: Method = "exact",
    tolerances: Mapping[str, float] | None = None,
    distortion: Literal["least"] | None = "least",
    distortion_weight: float | None = None,
    neighbours: Neighbourhood | None = None,
    multipliers: Multipliers | None = None,
    progress: Progress | None = None,
) -> Decorrelation:
    r"""Find a map of people to cells from which the group cannot be told, at the least loss.

    The map maximises ``accuracy_weight * accuracy - correlation_weight * correlation`` of the rule on mapped
    people within the tolerances, problems (5) and (31) of the paper. If the rule sees the group, each group
    has a map of its own, into cells scored as one of the groups.

    Parameters
    ----------
    dist : CellDistribution
        The joint law of cell, group and label.
    rule : Rule
        The rule that decides on the mapped people, on the cells of `dist`.
    accuracy_weight, correlation_weight : float, default=15.0 and 25.0
        The weights, at least 0; by default those of the paper. Only their ratio matters to the exact map.
    method : {"exact", "multipliers"}, default="exact"
        "exact" finds the proven optimum by linear programming, "multipliers" runs the paper's own method,
        which ends near it at best.
    tolerances : mapping of str to float, optional
        Largest gaps after the map; by default those of the rule, which can always be kept.
    distortion : {"least"} or None, default="least"
        "least" chooses the map that moves people least among all optimal ones. None gives the map with two
        targets that proves the optimum, in milliseconds, and throws the features away. Only for "exact".
    distortion_weight : float, optional
        Trades distortion in: the map maximises the objective less this weight times the mean distance that
        people are moved. Only for "exact".
    neighbours : Neighbourhood, optional
        What individual fairness (IF) compares; by default what the rule's did.
    multipliers : Multipliers, optional
        Settings of the method "multipliers".
    progress : callable, optional
        Called with the fraction done and a few words.

    Returns
    -------
    Decorrelation

    Raises
    ------
    InfeasibleError
        If no map meets the tolerances that were given in place of the rule's.

    Notes
    -----
    Distances between cells are those of individual fairness; where they are not known for all cells, any
    move counts 1. Cells, and groups of a cell, without mass are not targets.

    The optimum takes milliseconds. The least distortion took, on the cells of Adult, 2 s for demographic parity at
    1,024 cells (aware, 512 cells: 0.8 s), and 4 s for three notions with individual fairness at 512; time grows with
    about the square of the number of cells, to a minute at 4,096. So does memory: a map of 16,384 cells, the most
    allowed, has 2 GB.

    Examples
    --------
    >>> from fairlimits import CellDistribution, solve
    >>> dist = CellDistribution.from_mass([[[2, 1], [1, 0]], [[0, 1], [2, 3]]])
    >>> plan = decorrelate(dist, solve(dist, {"DP": 0.1}))
    >>> round(plan.baseline_correlation, 3), round(plan.correlation, 3)
    (1.167, 0.0)
    """
    weights = check_weight(accuracy_weight), check_weight(correlation_weight)
    if method not in get_args(Method):
        raise InputError(
            f"The method is {method!r}; use {' or '.join(get_args(Method))}.{did_you_mean(method, get_args(Method))}"
        )
    if distortion not in ("least", None):
        raise InputError(f"distortion is {distortion!r}; use 'least' or None.")
    problem = make_problem(dist, rule, tolerances, neighbours)
    tell = or_silent(progress)
    program = ExactProgram(problem)
    unit, shares = scaled(*weights)
    exact = program.solve(*shares)
    if method == "multipliers":
        if distortion_weight is not None:
            raise InputError("The multipliers take no distortion_weight; leave it out, or use method='exact'.")
        settings = Multipliers() if multipliers is None else multipliers
        if not isinstance(settings, Multipliers):
            raise InputError(f"The settings are {settings!r}; give them as Multipliers(tau=...).")
        found = _by_multipliers(problem, weights, settings, tell)
    else:
        if multipliers is not None:
            raise InputError("Settings of the multipliers were given; use them with method='multipliers'.")
        found = _by_programs(program, exact, weights, distortion, distortion_weight, tell)
    plan = Decorrelation(
        distribution=dist,
        scores=rule.scores,
        aware=rule.aware,
        tolerances=problem.tolerances,
        neighbours=problem.neighbours,
        accuracy_weight=weights[0],
        correlation_weight=weights[1],
        maps=full_maps(problem, found.targets, found.entries),
        optimum=unit * exact.objective,
        method=method,
        choice=found.choice,
        distortion_weight=None if distortion_weight is None else float(distortion_weight),
        optimality_gap=found.gap,
        converged=found.converged,
        iterations=found.iterations,
    )
    tell(1.0, "map done")
    return plan


@dataclass(frozen=True, eq=False)
class _Found:
    """Entries of a map, and how they were found."""

    targets: Targets
    entries: Floats
    choice: Choice
    gap: float
    converged: bool = True
    iterations: int = 0


def _by_multipliers(problem: Problem, weights: tuple[float, float], settings: Multipliers, tell: Progress) -> _Found:
    end = run_multipliers(problem, settings, *weights, tell)
    return _Found(problem.targets, end.entries, "last iterate", math.nan, end.converged, end.iterations)


def _by_programs(
    program: ExactProgram,
    exact: Exact,
    weights: tuple[float, float],
    distortion: Literal["least"] | None,
    distortion_weight: float | None,
    tell: Progress,
) -> _Found:
    targets = program.problem.targets
    unit, shares = scaled(*weights)
    if distortion is None:
        if distortion_weight is not None:
            raise InputError("distortion=None leaves no distortion to weigh; leave out distortion_weight.")
        return _Found(targets, two_point_entries(program, exact, targets), "two points", unit * exact.optimum.gap)
    merged = targets.merged()
    if distortion_weight is not None:
        goal = traded_goal(program, *shares, check_weight(distortion_weight) / unit)
        entries, gap = best_map(program, exact, goal, merged, tell)
        return _Found(merged, entries, "distortion traded", unit * gap)
    if _nobody_need_move(program.problem, exact, shares):
        return _Found(targets, np.eye(len(targets)), "least distortion", 0.0)
    entries, gap = best_map(program, exact, least_goal(program, *shares), merged, tell)
    return _Found(merged, entries, "least distortion", gap)


def _nobody_need_move(problem: Problem, exact: Exact, weights: tuple[float, float]) -> bool:
    """Whether the rule's own scores, on people as they are, are optimal already."""
    variables, scores = problem.variables, problem.own_scores
    accuracy = variables.base + float(variables.cost @ scores)
    if weights[0] * accuracy - weights[1] * largest_difference(problem.laws) < exact.objective - SLACK:
        return False
    gaps = group_gaps(problem.dist.rates, by_group(problem.scores, variables.aware, problem.dist.n_groups))
    if any(gap > problem.tolerances.get(name, math.inf) + MISSED for name, gap in gaps.items()):
        return False
    comparison = problem.comparison
    return comparison is None or comparison.gap(scores) <= problem.tolerances[INDIVIDUAL] + MISSED


def make_problem(
    dist: CellDistribution,
    rule: Rule,
    tolerances: Mapping[str, float] | None,
    neighbours: Neighbourhood | None,
) -> Problem:
    """Check what was passed in, and put the problem together."""
    if not isinstance(dist, CellDistribution) or not isinstance(rule, Rule):
        raise InputError(
            f"decorrelate takes a CellDistribution and a Rule, got {type(dist).__name__} and {type(rule).__name__}; "
            'make cells of the rows with discretize(data, cells=48, partition="blend"), and solve the rule on them.'
        )
    if dist.n_cells > MOST_CELLS:
        raise InputError(
            f"A map of {dist.n_cells:,} cells has {dist.n_cells**2:,} entries; use at most {MOST_CELLS:,} cells."
        )
    cells, groups = rule.scores.shape[0], rule.distribution.groups
    if cells != dist.n_cells:
        raise InputError(
            f"The rule is for {cells} cells and the distribution has {dist.n_cells}; solve for a rule on it."
        )
    if groups != dist.groups:
        raise InputError(
            f"The rule is for the groups {', '.join(groups)} and the distribution has {', '.join(dist.groups)}; "
            "solve for a rule on it."
        )
    if rule.requirements:
        raise InputError(
            f"The rule keeps {', '.join(map(str, rule.requirements))}, and a map keeps tolerances only; solve for a "
            "rule without requirements."
        )
    asked = check_tolerances(rule.tolerances if tolerances is None else tolerances)
    hood = rule.neighbours if neighbours is None else neighbours
    if not isinstance(hood, Neighbourhood):
        raise InputError(f"The neighbours are {hood!r}; give a Neighbourhood.")
    return Problem(Variables(dist, rule.aware), rule.scores, asked, hood)


def scaled(accuracy_weight: float, correlation_weight: float) -> tuple[float, tuple[float, float]]:
    """Return the larger weight, and both as shares of it."""
    unit = max(accuracy_weight, correlation_weight) or 1.0
    return unit, (accuracy_weight / unit, correlation_weight / unit)
