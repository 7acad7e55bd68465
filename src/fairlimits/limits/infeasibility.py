"""What to give up where no rule meets all constraints: the smallest relaxation of each that restores feasibility.

A looser bound leaves more rules, so feasibility is monotone in every bound, and the smallest relaxation is found by
bisection, one linear program per step.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from fairlimits.errors import InfeasibleError
from fairlimits.law import CellDistribution, Neighbourhood
from fairlimits.limits.programs import FairProgram
from fairlimits.notions import Requirement

# New bounds have five decimals, rounded to the safe side, but for errors of binary fractions below the noise.
_UNIT = 1e5
_NOISE = 1e-6
_STEPS = 20


@dataclass(frozen=True)
class Asked:
    """Everything that is asked of a rule.

    Parameters
    ----------
    tolerances : mapping of str to float
    requirements : tuple of Requirement
    aware : bool
    neighbours : Neighbourhood
    """

    tolerances: Mapping[str, float]
    requirements: tuple[Requirement, ...]
    aware: bool
    neighbours: Neighbourhood


def explained(dist: CellDistribution, asked: Asked) -> InfeasibleError:
    """Return the error that says what to relax, and by how much.

    Its ``relaxations`` maps each constraint that alone can restore feasibility to its new text.
    """
    enough, never = {}, []
    for name, value in asked.tolerances.items():
        eased = _smallest(lambda by, n=name, v=value: _feasible(dist, asked, {n: v + by}, {}), 1.0)  # type: ignore[misc]
        if eased is None:
            never.append(f"{name} <= {value:g}")
        else:
            enough[f"{name} <= {value:g}"] = f"{name} <= {math.ceil((value + eased) * _UNIT - _NOISE) / _UNIT:g}"
    for place, requirement in enumerate(asked.requirements):
        eased = _smallest(
            lambda by, k=place, requirement=requirement: _feasible(dist, asked, {}, {k: requirement.eased(by)}),  # type: ignore[misc]
            requirement.room,
        )
        if eased is None:
            never.append(str(requirement))
        else:
            left = math.floor((requirement.room - eased) * _UNIT + _NOISE) / _UNIT
            enough[str(requirement)] = str(requirement.eased(requirement.room - max(left, 0.0)))
    if enough:
        words = "; ".join(f"{before} would have to become {after}" for before, after in enough.items())
        message = f"No decision rule meets all constraints. Relaxing one is enough: {words}."
        if never:
            message += f" Relaxing only {' or '.join(never)} is not."
    else:
        together = _smallest(
            lambda by: _feasible(
                dist,
                asked,
                {name: value + by for name, value in asked.tolerances.items()},
                {k: requirement.eased(by) for k, requirement in enumerate(asked.requirements)},
            ),
            1.0,
        )
        message = "No decision rule meets all constraints, and relaxing one of them is not enough."
        if together is not None:
            message += f" Relaxing all of them by {math.ceil(together * _UNIT - _NOISE) / _UNIT:g} is."
    error = InfeasibleError(message)
    error.relaxations = enough
    return error


def _feasible(
    dist: CellDistribution, asked: Asked, tolerances: Mapping[str, float], requirements: Mapping[int, Requirement]
) -> bool:
    """Return whether there is a rule once some of the constraints are replaced."""
    eased = {**asked.tolerances, **tolerances}
    others = [requirements.get(k, requirement) for k, requirement in enumerate(asked.requirements)]
    try:
        FairProgram(dist, tuple(eased), asked.aware, asked.neighbours, others).solve(eased)
    except InfeasibleError:
        return False
    return True


def _smallest(feasible: Callable[[float], bool], room: float) -> float | None:
    """Return the smallest relaxation that is feasible; None if none up to `room` is."""
    if not feasible(room):
        return None
    low, high = 0.0, room
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if feasible(middle):
            high = middle
        else:
            low = middle
    return high
