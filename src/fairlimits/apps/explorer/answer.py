"""What the page shows, as plain data: choices in, figures out, without a word about how they are shown."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypedDict

import numpy as np

from fairlimits.decorrelation import decorrelate
from fairlimits.errors import InputError
from fairlimits.law import CellDistribution
from fairlimits.limits import Rule, by_group, frontier, solve
from fairlimits.notions import INDIVIDUAL, check_tolerances, plug_in_rates

# Independent features leave no gap in demographic parity: correlation <= kappa is attainable where DP <= kappa / 2 is.
PARITY = "DP"

# Points of a curve that is too long to be followed exactly.
_SAMPLED = 21


@dataclass(frozen=True)
class Choices:
    """What a person has chosen.

    Parameters
    ----------
    tolerances : mapping of str to float
        Largest gap of each notion that is switched on.
    aware : bool
        Whether the rule sees the group.
    decorrelated : bool
        Whether the features must be independent of the group.
    moving : str
        The notion that the curve is drawn along: the one whose slider was moved last.
    """

    tolerances: Mapping[str, float]
    aware: bool
    decorrelated: bool
    moving: str

    @property
    def effective(self) -> dict[str, float]:
        """The tolerances that are solved for: independence of the features asks for parity."""
        return {**self.tolerances, PARITY: 0.0} if self.decorrelated else dict(self.tolerances)

    @property
    def others(self) -> dict[str, float]:
        """The tolerances that stay where they are while the moving one moves."""
        return {name: value for name, value in self.effective.items() if name != self.moving}


class Decorrelated(TypedDict):
    """What independence of the features costs, for a rule that adapts to it and for one that was fixed before."""

    free_accuracy: float
    limit: float
    correlation: float
    fixed_accuracy: float
    fixed_correlation: float


class Answer(TypedDict):
    """Figures of the best rule, on the cells that it was made on; None stands for what is not estimable."""

    tolerances: dict[str, float]
    aware: bool
    decorrelated: bool
    moving: str
    at: float | None
    accuracy: float
    best: float
    other_accuracy: float
    constant: bool
    gaps: dict[str, float | None]
    shadow_prices: dict[str, float]
    rates: dict[str, Any]
    decorrelation: Decorrelated | None


class Curve(TypedDict):
    """Best accuracy along the tolerance of one notion."""

    tolerance: list[float]
    accuracy: list[float]
    exact: bool


def read_choices(tolerances: Mapping[str, float | None], aware: bool, decorrelated: bool, moving: str) -> Choices:
    """Check what came from the page.

    Parameters
    ----------
    tolerances : mapping of str to float or None
        What the sliders of the notions that are switched on say; None for one whose number is being typed.
    aware, decorrelated, moving
        See `Choices`.
    """
    given = {name: value for name, value in tolerances.items() if value is not None}
    if empty := [name for name in tolerances if name not in given]:
        raise InputError(f"The tolerance of {empty[0]} is empty; give a number of at least 0.")
    return Choices(check_tolerances(given), aware, decorrelated, moving)


def best_rule(dist: CellDistribution, choices: Choices) -> Rule:
    """The rule that the page shows."""
    return solve(dist, choices.effective, aware=choices.aware)


def answer(dist: CellDistribution, choices: Choices) -> Answer:
    """Solve for what was chosen, with the group seen and hidden."""
    rule = best_rule(dist, choices)
    other = solve(dist, choices.effective, aware=not choices.aware)
    gaps = shown_gaps(rule.gaps)
    # A notion that is not switched on, but was moved last, is shown at the gap that the rule happens to have.
    return {
        "tolerances": dict(choices.tolerances),
        "aware": choices.aware,
        "decorrelated": choices.decorrelated,
        "moving": choices.moving,
        "at": choices.effective.get(choices.moving, gaps[choices.moving]),
        "accuracy": rule.accuracy,
        "best": rule.bayes_accuracy,
        "other_accuracy": other.accuracy,
        "constant": rule.is_constant,
        "gaps": gaps,
        "shadow_prices": {name: rule.shadow_prices[name] for name in choices.effective},
        "rates": plug_in_rates(dist.rates, by_group(rule.scores, choices.aware, dist.n_groups)).to_dict(),
        "decorrelation": _decorrelated(dist, choices, rule) if choices.decorrelated else None,
    }


def shown_gaps(gaps: Mapping[str, float]) -> dict[str, float | None]:
    """Gaps as JSON knows them: None where one is not estimable."""
    return {name: None if math.isnan(gap) else float(gap) for name, gap in gaps.items()}


def _decorrelated(dist: CellDistribution, choices: Choices, limit: Rule) -> Decorrelated:
    rule = solve(dist, choices.tolerances, aware=choices.aware)
    plan = decorrelate(dist, rule, distortion=None)
    return {
        "free_accuracy": rule.accuracy,
        "limit": limit.accuracy,
        "correlation": plan.baseline_correlation,
        "fixed_accuracy": plan.accuracy,
        "fixed_correlation": plan.correlation,
    }


def curve(dist: CellDistribution, moving: str, others: Mapping[str, float], aware: bool, end: float) -> Curve:
    """Best accuracy for the moving notion's tolerance from 0 to `end`, with the others where they are.

    Group notions give the exact curve; with individual fairness it has hundreds of corners, so it is sampled.
    """
    notions = [moving, *others]
    exact = INDIVIDUAL not in notions
    if exact:
        ranges = {moving: (0.0, end), **{name: (value, value) for name, value in others.items()}}
        found = frontier(dist, notions, tolerances=ranges, exact=True, aware=aware)
    else:
        # Concave curves bend most where the tolerance is small.
        grid = end * np.linspace(0, 1, _SAMPLED) ** 2
        found = frontier(dist, notions, tolerances={moving: grid, **others}, aware=aware)
    return {"tolerance": found.grid[moving].tolist(), "accuracy": found.accuracy.tolist(), "exact": exact}
