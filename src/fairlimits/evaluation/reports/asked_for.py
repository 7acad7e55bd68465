"""The rule that was asked for besides: another objective, or requirements beyond the notions, on new people."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from fairlimits.data import Dataset, Stream
from fairlimits.evaluation.judged_people import judged_people
from fairlimits.evaluation.reports.by_group import Fares
from fairlimits.evaluation.reports.parts import Figure, HeldOutFigure
from fairlimits.evaluation.reports.suppression import Suppression
from fairlimits.law import Outcome, StreamedOutcome
from fairlimits.limits import solve
from fairlimits.notions import ACCURACY, NOTIONS, Costs, Estimate, Evaluation, Objective, Requirement, evaluate_scores


@dataclass(frozen=True)
class AskedRule:
    """Held-out figures of the best rule for an objective, within tolerances and requirements.

    Parameters
    ----------
    aware : bool
        Whether it sees the group.
    value : HeldOutFigure
        What it is best at; of costs, the expected cost of a person.
    plug_in : float
        The same on the law that it was made from.
    accuracy : HeldOutFigure
    gaps, attained : dict
        Gaps in the group notions, and what each requirement is about.
    constant : bool
        Whether everybody gets the same score.
    """

    aware: bool
    value: Figure
    plug_in: float
    accuracy: Figure
    gaps: dict[str, Figure]
    attained: dict[str, Figure]
    constant: bool


@dataclass(frozen=True)
class AskedFor:
    """An objective and requirements in words, and the best rules for them within the tolerances.

    Where the objective `is_cost`, the value of a rule is the expected cost of a person.
    """

    objective: str
    is_cost: bool
    requirements: tuple[str, ...]
    rules: tuple[AskedRule, ...]


def find_asked_for(
    outcome: Outcome | StreamedOutcome,
    test: Dataset | Stream,
    tolerances: Mapping[str, float],
    requirements: tuple[Requirement, ...],
    objective: Objective,
    withhold: Suppression,
    random_state: int,
) -> tuple[AskedFor | None, tuple[Fares, ...]]:
    """Find the rules that were asked for, and how groups fare under the one that does not see them; none by default.

    Parameters
    ----------
    outcome, test
        The law, and rows that took no part in it.
    tolerances : mapping of str to float
        Of the four situations; the rules keep them too.
    requirements : tuple of Requirement
        What the rules must keep besides.
    objective : Objective
        What they are best at.
    withhold : Suppression
        What to leave out.
    random_state : int
        Seed.
    """
    if objective == ACCURACY and not requirements:
        return None, ()
    rules = [
        solve(
            outcome,
            tolerances,
            aware=aware,
            requirements=requirements,
            objective=objective,
            random_state=random_state,
        )
        for aware in (False, True)
    ]
    people, scores = judged_people([rule.policy for rule in rules], test)
    judged = evaluate_scores(
        scores,
        np.array([rule.accuracy for rule in rules]),
        people,
        requirements=requirements,
        objective=objective,
    )
    judged = tuple(withhold.evaluation(own) for own in judged)
    is_cost = isinstance(objective, Costs)
    sign = -1 if is_cost else 1
    lines = tuple(
        AskedRule(
            rule.aware,
            HeldOutFigure.of(_value(own, sign)),
            sign * float(rule.value),
            HeldOutFigure.of(own.accuracy),
            {name: HeldOutFigure.of(own.gaps[name]) for name in NOTIONS},
            {text: HeldOutFigure.of(each) for text, each in own.attained.items()},
            rule.is_constant,
        )
        for rule, own in zip(rules, judged, strict=True)
    )
    held = [*(f"{name} at most {value:g}" for name, value in tolerances.items()), *map(str, requirements)]
    words = f"the best rule for {objective}" + (f" with {', '.join(held)}" if held else "")
    return AskedFor(str(objective), is_cost, tuple(map(str, requirements)), lines), (Fares.of(words, judged[0]),)


def _value(own: Evaluation, sign: int) -> Estimate:
    """The value of what a rule is best at; a cost is given as such, not as minus a cost."""
    if own.value is None:
        return own.accuracy
    low, high = sorted(sign * end for end in (own.value.low, own.value.high))
    return Estimate(sign * own.value.value, low, high)
