"""The rules of the chosen tolerances in words: how they decide, and whom they decide otherwise."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass

from fairlimits.evaluation.reports.suppression import Suppression
from fairlimits.law import Outcome, StreamedOutcome
from fairlimits.limits import solve
from fairlimits.notions import Objective, Requirement


@dataclass(frozen=True)
class ExplainedRule:
    """The best rule within the chosen tolerances, in words; plug-in.

    Parameters
    ----------
    aware : bool
        Whether it sees the group.
    sentences : tuple of str
        How it decides, and what each constraint adds or takes; then how many of each group change.
    groups : tuple of str
        Those whose shares are shown; others are suppressed.
    changed : mapping of str to tuple of float
        Share of each of them that stays yes, becomes yes, becomes no, stays no, and is decided by lot.
    """

    aware: bool
    sentences: tuple[str, ...]
    groups: tuple[str, ...]
    changed: Mapping[str, tuple[float, ...]]


def explain_rules(
    outcome: Outcome | StreamedOutcome,
    tolerances: Mapping[str, float],
    requirements: tuple[Requirement, ...],
    objective: Objective,
    certified: float | None,
    withhold: Suppression,
    random_state: int,
) -> tuple[ExplainedRule, ...]:
    """Explain the rules with the group hidden and seen."""
    found = []
    for aware in (False, True):
        with warnings.catch_warnings():
            # Tolerances that could not be certified, or are missed on labels, are reported for the situations.
            warnings.simplefilter("ignore", UserWarning)
            rule = solve(
                outcome,
                tolerances,
                aware=aware,
                requirements=requirements,
                objective=objective,
                confidence=None if requirements else certified,
                random_state=random_state,
            )
        own = rule.explain()
        people = outcome.counts.sum(axis=1)
        shown = []
        for g, name in enumerate(rule.groups):
            shares = (withhold.share(float(each[g]), float(people[g])) for each in own.changed.values())
            if name not in withhold.hidden and not any(isinstance(each, str) for each in shares):
                shown.append(g)
        sentences = (*own.rule_words, *(own.change_words[g] for g in shown))
        changed = {name: tuple(float(each[g]) for g in shown) for name, each in own.changed.items()}
        found.append(ExplainedRule(aware, sentences, tuple(rule.groups[g] for g in shown), changed))
    return tuple(found)
