"""What a report says of new people: rules made from one part of the rows, judged on the other."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from fairlimits._util.progress import Progress
from fairlimits._util.suppression import SUPPRESSED_TEXT
from fairlimits._util.types import Ints
from fairlimits.data import Dataset, Stream, set_aside_note
from fairlimits.decorrelation import Attack, decorrelate
from fairlimits.evaluation.judged_people import judged_people
from fairlimits.evaluation.reports.asked_for import AskedFor, find_asked_for
from fairlimits.evaluation.reports.by_group import Fares
from fairlimits.evaluation.reports.parts import (
    PRICED_AT,
    Decorrelated,
    HeldOutCost,
    HeldOutCurve,
    HeldOutFigure,
    SituationCost,
    SituationLine,
    finite,
)
from fairlimits.evaluation.reports.suppression import Suppression
from fairlimits.evaluation.reports.tried_maps import certificate_on
from fairlimits.evaluation.scenario_results import Scenarios
from fairlimits.evaluation.scenarios import compare
from fairlimits.law import Outcome, StreamedOutcome, discretize
from fairlimits.limits import ConstantRuleWarning, MarginWarning, Rule, UncertifiedWarning, frontier, solve
from fairlimits.notions import (
    NOTIONS,
    Estimate,
    Evaluation,
    Objective,
    Requirement,
    accuracy_difference,
    evaluate_scores,
    tally,
    title,
)

TOLERANCES = (0.0, 0.01, 0.02, 0.05, 0.1, 0.15, 0.2)
"""Tolerances of the held-out frontiers; `PRICED_AT` is among them."""

PAIRS = (("DP", "EA"), ("DP", "EOd"), ("EA", "EOd"))

_CONFIDENCE = 0.95

# Warnings that become notes of the report, and their text without figures.
_NOTED: dict[type[Warning], str] = {
    MarginWarning: "On the labels of the rows learned from, some gaps are wider than their tolerance by more than "
    "chance explains: the estimate is off there; give more rows, or other learners.",
    UncertifiedWarning: "Some tolerances could not be certified on the rows learned from; give more rows, or wider "
    "tolerances.",
}

# With more cells, less is known of the groups in each of them, and adversaries find more on new rows.
_MAPPED_CELLS = 128


@dataclass(frozen=True)
class HeldOut:
    """All figures of a report on rows that took no part in making the rules.

    Parameters
    ----------
    learned, tested : int
        Rows that the rules were made from, and rows that they were judged on.
    confidence : float
        Of all intervals.
    certified : float or None
        Confidence with which the rules were to keep their tolerances among people whom nobody has seen.
    calibration_error : float
        How far the estimates of P(A, Y | x) are from what came true, out of fold.
    learners : dict
        Learners that are averaged for each part of the estimate.
    best_seen, best_hidden : HeldOutFigure
        Accuracy of the best rules found without constraint.
    costs : tuple of HeldOutCost
    curves : tuple of HeldOutCurve
        Of single notions and of pairs.
    tolerances : dict
        Tolerances of the four situations.
    situations : tuple of SituationLine
    situation_costs : tuple of SituationCost
    fares : tuple of Fares
        How each group fares without the group seen: under the best rule, within the tolerances, and as asked for.
    asked_for : AskedFor or None
        What was asked for besides: another objective, or requirements.
    decorrelated : Decorrelated
    notes : tuple of str
        What could not be met, in words.
    set_aside : str or None
        Which groups are too small to be compared on held-out rows, if more are than in the table.
    """

    learned: int
    tested: int
    confidence: float
    certified: float | None
    calibration_error: float
    learners: dict[str, list[str]]
    best_seen: HeldOutFigure
    best_hidden: HeldOutFigure
    costs: tuple[HeldOutCost, ...]
    curves: tuple[HeldOutCurve, ...]
    tolerances: dict[str, float]
    situations: tuple[SituationLine, ...]
    situation_costs: tuple[SituationCost, ...]
    fares: tuple[Fares, ...]
    asked_for: AskedFor | None
    decorrelated: Decorrelated
    notes: tuple[str, ...]
    set_aside: str | None

    def cost(self, notion: str, tolerance: float, aware: bool) -> HeldOutCost:
        """Look up what a notion costs."""
        wanted = (notion, tolerance, aware)
        return next(own for own in self.costs if (own.notion, own.tolerance, own.aware) == wanted)


def find_held_out(
    outcome: Outcome | StreamedOutcome,
    test: Dataset | Stream,
    tolerances: Mapping[str, float],
    *,
    requirements: tuple[Requirement, ...],
    objective: Objective,
    counts: Ints,
    certified: float | None,
    withhold: Suppression,
    random_state: int,
    tell: Progress,
) -> HeldOut:
    """Make rules from an estimate, and judge them on rows that took no part in it.

    Parameters
    ----------
    outcome : Outcome
        Estimate on the rows to learn from.
    test : Dataset
        Rows to judge on.
    tolerances : mapping of str to float
        Of the four situations.
    requirements, objective
        What is asked for besides.
    counts : ndarray of int of shape (G, 2)
        Rows of the whole table, by group and label.
    certified : float, optional
        Confidence with which rules are to keep their tolerances among people whom nobody has seen.
    withhold : Suppression
        What to leave out.
    random_state : int
        Seed.
    tell : callable
        Called with the fraction done and a few words.
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", MarginWarning)
        warnings.simplefilter("ignore", ConstantRuleWarning)
        # No rows certify a tolerance of 0, which is among them; each rule is shown with the gaps that it came to.
        warnings.simplefilter("ignore", UncertifiedWarning)
        rules = _rules(outcome, certified, random_state, lambda done, words: tell(0.4 * done, words))
        tell(0.4, "judging on held-out rows")
        costs, curves, free, tested = _judge(rules, test, withhold)
        tell(0.5, "the four situations")
        warnings.simplefilter("always", UncertifiedWarning)
        found = compare(outcome, test, tolerances, certified=certified, random_state=random_state).suppressed(
            withhold.least, withhold.hidden
        )
        besides, besides_fares = find_asked_for(
            outcome, test, tolerances, requirements, objective, withhold, random_state
        )
    for own in caught:
        if not issubclass(own.category, tuple(_NOTED)):
            warnings.warn_explicit(own.message, own.category, own.filename, own.lineno, source=own.source)
    tell(0.7, "decorrelation")
    return HeldOut(
        learned=outcome.n_rows,
        tested=found.tested,
        confidence=_CONFIDENCE,
        certified=certified,
        calibration_error=found.calibration_error,
        learners={name: list(members) for name, members in outcome.chosen.items()},
        best_seen=_known(free[True]),
        best_hidden=_known(free[False]),
        costs=costs,
        curves=curves,
        tolerances=dict(tolerances),
        situations=_situations(found),
        situation_costs=tuple(
            SituationCost(own.key, own.name, own.plug_in, HeldOutFigure(*map(float, own.held_out)))
            for own in found.costs
        ),
        fares=(*_fares(free[False], found), *besides_fares),
        asked_for=besides,
        decorrelated=_decorrelated(outcome, test, withhold, random_state),
        notes=_notes(caught, withhold),
        set_aside=set_aside_note(
            outcome.groups, tested, " on held-out rows", beyond=counts, counted=withhold.least is None
        ),
    )


def _notes(caught: Sequence[warnings.WarningMessage], withhold: Suppression) -> tuple[str, ...]:
    """Which tolerances could not be met, in words; without gaps where those of few people are left out."""
    noted = [own for own in caught if own.category in _NOTED]
    if withhold.least is None:
        return tuple(dict.fromkeys(str(own.message) for own in noted))
    return tuple(dict.fromkeys(_NOTED[own.category] for own in noted))


_Key = tuple[tuple[str, ...], bool]


def _rules(
    outcome: Outcome | StreamedOutcome, certified: float | None, random_state: int, tell: Progress
) -> dict[_Key, tuple[Rule, ...]]:
    """Rules at all tolerances, by notions and by whether they see the group; without notions, one alone."""
    rules: dict[_Key, tuple[Rule, ...]] = {}
    several = [*((name,) for name in NOTIONS), *PAIRS]
    for aware in (True, False):
        rules[(), aware] = (solve(outcome, {}, aware=aware, random_state=random_state),)
        for done, names in enumerate(several):
            tell(0.5 * ((not aware) + done / len(several)), f"frontier of {' and '.join(names)}")
            curve = frontier(outcome, names, TOLERANCES, aware=aware, confidence=certified, random_state=random_state)
            rules[names, aware] = curve.rules
    return rules


def _judge(
    rules: Mapping[_Key, tuple[Rule, ...]], test: Dataset | Stream, withhold: Suppression
) -> tuple[tuple[HeldOutCost, ...], tuple[HeldOutCurve, ...], dict[bool, Evaluation], Ints]:
    every = [rule for own in rules.values() for rule in own]
    people, scores = judged_people([rule.policy for rule in every], test)
    plug_in = np.array([rule.accuracy for rule in every])
    judged = [withhold.evaluation(own) for own in evaluate_scores(scores, plug_in, people)]
    start, costs, curves = 0, [], []
    free: dict[bool, int] = {}
    for (names, aware), own in rules.items():
        part = range(start, start + len(own))
        start = part.stop
        if not names:
            free[aware] = part[0]
            continue
        curves.append(_curve(names, aware, [judged[k] for k in part], own))
        if len(names) > 1:
            continue
        for k, tolerance in zip(part, TOLERANCES, strict=True):
            if tolerance in PRICED_AT:
                lost = accuracy_difference(people, scores[free[aware]], scores[k], _CONFIDENCE)
                gap = HeldOutFigure.of(judged[k].gaps[names[0]])
                costs.append(
                    HeldOutCost(
                        notion=names[0],
                        title=title(names[0]),
                        tolerance=tolerance,
                        aware=aware,
                        accuracy=_known(judged[k]),
                        gap=gap,
                        at_most=_at_most(every[k], judged[k], names[0]),
                        cost=HeldOutFigure(*map(float, lost)),
                        constant=every[k].is_constant,
                    )
                )
    best = {aware: judged[k] for aware, k in free.items()}
    return tuple(costs), tuple(curves), best, tally(people, scores[:1]).counts


def _at_most(rule: Rule, judged: Evaluation, name: str) -> float | None:
    """Return what a gap is certified to be at most.

    A rule with a guarantee is certified on the rows that it was made from, any other on those that it is judged on.
    """
    held_out = finite(judged.at_most.get(name, np.nan))
    return held_out if rule.guarantee is None or held_out is None else finite(rule.guarantee.limits[name])


def _fares(free: Evaluation, found: Scenarios) -> tuple[Fares, ...]:
    best = Fares.of("the best rule, without constraint", free)
    if not found.tolerances:
        return (best,)
    asked = ", ".join(f"{name} at most {value:g}" for name, value in found.tolerances.items())
    return best, Fares.of(f"the best rule with {asked}", found.find(aware=False).evaluation)


def _area(found: Attack) -> HeldOutFigure | None:
    if math.isnan(found.auc):
        return None
    return HeldOutFigure(float(found.auc), float(found.low), float(found.high))


def _known(evaluation: Evaluation) -> HeldOutFigure:
    return HeldOutFigure(*map(float, evaluation.accuracy))


def _curve(names: tuple[str, ...], aware: bool, judged: list[Evaluation], rules: tuple[Rule, ...]) -> HeldOutCurve:
    return HeldOutCurve(
        notions=list(names),
        aware=aware,
        tolerances=list(TOLERANCES),
        plug_in=[own.plug_in for own in judged],
        accuracy=[own.accuracy.value for own in judged],
        low=[own.accuracy.low for own in judged],
        high=[own.accuracy.high for own in judged],
        gaps={name: [_value(own.gaps[name]) for own in judged] for name in names},
        constant=[rule.is_constant for rule in rules],
    )


def _value(gap: Estimate) -> float | str | None:
    """A gap without its interval; None where it is not estimable, a word where it is suppressed."""
    return SUPPRESSED_TEXT if gap.suppressed else finite(gap.value)


def _situations(found: Scenarios) -> tuple[SituationLine, ...]:
    return tuple(
        SituationLine(
            name=own.name,
            aware=own.aware,
            decorrelated=own.decorrelated,
            rule_fixed_before=own.fixed,
            plug_in=own.evaluation.plug_in,
            accuracy=_known(own.evaluation),
            gaps={name: HeldOutFigure.of(gap) for name, gap in own.evaluation.gaps.items()},
            correlation=finite(own.correlation),
            constant=own.constant,
        )
        for own in found.situations
    )


def _decorrelated(
    outcome: Outcome | StreamedOutcome, test: Dataset | Stream, withhold: Suppression, random_state: int
) -> Decorrelated:
    """Make the least-distorting map on the law, and try it on rows that took no part in it."""
    learn = outcome.data if isinstance(outcome, Outcome) else outcome.stream
    # A cell's people are sent to other cells: it has to be a kind of people, not of outcomes alone.
    cells = min(_MAPPED_CELLS, int(outcome.counts.sum()))
    dist = discretize(learn, cells, partition="blend", outcome=outcome, random_state=random_state)
    rule = solve(dist, {"DP": 0.0})
    plan = decorrelate(dist, rule)
    certificate = certificate_on(plan, test, random_state)
    people = dist.mass.sum(axis=2)
    law = people / np.where(people.sum(axis=0) > 0, people.sum(axis=0), 1.0)
    mapped = plan.maps[0] @ law
    # Cells in the order of the first group's share, so that a difference between groups shows as a slope.
    with np.errstate(invalid="ignore", divide="ignore"):
        order = np.argsort(np.nan_to_num(people[:, 0] / people.sum(axis=1)), kind="stable")
    shown = dist.counts is None or withhold.laws(dist.counts.sum(axis=2))
    before = certificate.best_attack(with_label=False, mapped=False)
    return Decorrelated(
        notion="DP",
        tolerance=0.0,
        cells=dist.n_cells,
        tested=certificate.test_rows,
        correlation_before=plan.baseline_correlation,
        correlation_after=plan.correlation,
        accuracy_before=plan.rule_accuracy,
        accuracy_after=plan.accuracy,
        categories_kept=finite(certificate.categories_kept),
        numbers_moved=finite(certificate.numbers_moved),
        auc_before=_area(before),
        auc_after=_area(certificate.worst),
        auc_with_label=_area(certificate.best_attack(with_label=True)),
        groups=list(dist.groups),
        law_before=law[order].T.tolist() if shown else SUPPRESSED_TEXT,
        law_after=mapped[order].T.tolist() if shown else SUPPRESSED_TEXT,
        words=certificate.summary(),
    )
