"""`compare_scenarios`: four situations side by side: the group seen or not, the features decorrelated from it or not.

Decorrelation with the rule free to adapt has a simple limit: correlation can be at most kappa exactly when the gap in
demographic parity can be at most kappa / 2 (``docs/decorrelation.md``). Beside that limit stands the paper's own way,
in which a rule is fixed first and its features are decorrelated afterwards.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from fairlimits._util.progress import Progress, or_silent
from fairlimits._util.suppression import check_suppress
from fairlimits._util.types import Floats
from fairlimits.data import Dataset, Stream, column_doubts, open_rows
from fairlimits.decorrelation import Decorrelation, decorrelate
from fairlimits.errors import InputError, SmallGroupsWarning
from fairlimits.evaluation.audits import audit_on, split_people
from fairlimits.evaluation.audits.predictions import Predictions, Threshold
from fairlimits.evaluation.ceilings import Study
from fairlimits.evaluation.evaluations import policies_of
from fairlimits.evaluation.judged_people import judged_people
from fairlimits.evaluation.scenario_results import Cost, Scenarios, Situation
from fairlimits.law import Outcome, StreamedOutcome, estimate_outcome
from fairlimits.limits import Rule, on_cells, solve
from fairlimits.notions import (
    INDIVIDUAL,
    RESAMPLES,
    People,
    accuracy_difference,
    check_confidence,
    check_resamples,
    check_tolerances,
    evaluate_scores,
    warn_of_nothing_to_compare,
)


def compare_scenarios(
    data: Any,
    tolerances: Mapping[str, float],
    *,
    correlation: float = 0.0,
    test_size: float = 0.3,
    estimator: Any = None,
    predictions: Predictions | None = None,
    threshold: Threshold = "auto",
    certify: bool = False,
    suppress: int | None = None,
    ceiling: bool = False,
    confidence: float = 0.95,
    resamples: int = RESAMPLES,
    random_state: int = 0,
    progress: Progress | None = None,
    **columns: Any,
) -> Scenarios:
    """Compare the four situations, on rows that took no part in making the rules.

    Rules on group notions are solved on up to 256 cells of an estimate of P(A, Y | x), learned from the rows to learn
    from. With individual fairness among the tolerances, and for the paper's fixed rule, the cells cut that estimate and
    the features.

    Parameters
    ----------
    data : Dataset, or what `open_data` takes or returns with ``stream=True``
        The people; they are split in rows to learn from and rows to evaluate on.
    tolerances : mapping of str to float
        Largest gap allowed for each notion.
    correlation : float, default=0
        Largest correlation of features and group that "decorrelated" allows, from 0 to 2.
    test_size : float, default=0.3
        Share of the rows to evaluate on.
    estimator : scikit-learn classifier, optional
        What to learn with; see `estimate_outcome`.
    predictions : str, sequence of str, array-like, or mapping of str to array-like, optional
        One or several models to place beside the limit, as in `audit`, at their own gaps in the group notions among
        the tolerances. They must not have learned from these rows.
    threshold : float, "auto" or None, default="auto"
        Where their scores begin to decide 1; see `audit`.
    certify : bool, default=False
        Whether tolerances are to hold with the confidence for people whom nobody has seen, where the features may
        depend on the group; see `solve`.
    suppress : int, optional
        Leave out counts and rates that rest on fewer people, in all that is shown and written.
    ceiling : bool, default=False
        Whether to find what no rule in each situation passes, too (see `fairlimits.ceiling`).
    confidence : float, default=0.95
        Of the intervals.
    resamples : int, default=1000
        How often the rows are drawn anew where models are placed beside the situations; see `audit`.
    random_state : int, default=0
        Seed.
    progress : callable, optional
        Called with the fraction done and a few words.
    **columns
        How to read `data` that is a path, an Arrow dataset or a Dask DataFrame: see `estimate_outcome`.

    Warns
    -----
    BeatenWarning
        If the model is better than the estimated limit beyond what chance explains.
    SmallGroupsWarning
        If no two groups have 30 rows behind a rate of some notion: it is left out.
    UncertifiedWarning
        If tolerances are to be certified and the rows cannot.

    Examples
    --------
    >>> import fairlimits as fl
    >>> from sklearn.linear_model import LogisticRegression
    >>> data = fl.load_dataset("adult").take(range(3_000))
    >>> found = fl.compare_scenarios(data, {"DP": 0.05}, estimator=LogisticRegression(max_iter=500))
    >>> found.to_frame().num_rows
    6
    """
    asked = check_tolerances(tolerances)
    if not 0 <= correlation <= 2:
        raise InputError(f"The correlation is {correlation!r}; it must lie between 0 and 2.")
    check_confidence(confidence)
    check_resamples(resamples)
    if certify and INDIVIDUAL in asked:
        raise InputError("Gaps of groups can be certified, individual fairness cannot; leave one of the two out.")
    check_suppress(suppress)
    tell = or_silent(progress)
    rows = open_rows(data, **columns)
    options: dict[str, Any] = {"confidence": confidence, "random_state": random_state}
    names = tuple(name for name in asked if name != INDIVIDUAL)
    if predictions is not None and not names:
        raise InputError("A model is compared at its gap in a group notion; give a tolerance for one, such as DP.")
    everybody, learn, test, audited, alone = split_people(rows, predictions, threshold, test_size, random_state)
    if alone:
        raise InputError("There is no feature besides the predictions; use audit, or give the features too.")
    outcome = estimate_outcome(
        learn, estimator=estimator, random_state=random_state, progress=lambda done, words: tell(0.8 * done, words)
    )
    found = compare(
        outcome,
        test,
        asked,
        correlation=correlation,
        certified=confidence if certify else None,
        progress=lambda done, words: tell(0.8 + 0.15 * done, words),
        **options,
    )
    found = replace(found, doubts=column_doubts(everybody, hidden=True))
    if ceiling:
        study = Study.of(everybody, random_state=random_state)
        found = replace(found, situations=tuple(_below(own, study, asked, correlation) for own in found.situations))
    if audited is not None:
        found = replace(found, audit=audit_on(outcome, audited, names, aware=True, resamples=resamples, **options))
    return found.suppressed(suppress)


def _below(own: Situation, study: Study, tolerances: Mapping[str, float], correlation: float) -> Situation:
    """Return a situation with its ceiling; there is none for a rule that was fixed before."""
    if own.fixed:
        return own
    asked = _decorrelated(tolerances, correlation) if own.decorrelated else tolerances
    return replace(own, ceiling=study.ceiling(asked, aware=own.aware))


def _decorrelated(tolerances: Mapping[str, float], correlation: float) -> dict[str, float]:
    """Tolerances of a rule whose features may have some correlation with the group, free to adapt."""
    return {**tolerances, "DP": min(tolerances.get("DP", np.inf), correlation / 2)}


def compare(
    outcome: Outcome | StreamedOutcome,
    test: Dataset | Stream,
    tolerances: Mapping[str, float],
    *,
    correlation: float = 0.0,
    certified: float | None = None,
    confidence: float = 0.95,
    random_state: int = 0,
    progress: Progress | None = None,
) -> Scenarios:
    """Compare the four situations, from an estimate that is there already (see `compare_scenarios`).

    Parameters
    ----------
    outcome : Outcome
        Estimate on the rows to learn from.
    test : Dataset
        Rows to evaluate on.
    certified : float, optional
        Confidence with which rules are to keep the tolerances among people whom nobody has seen.
    tolerances, correlation, confidence, random_state, progress
        See `compare_scenarios`.
    """
    tell = or_silent(progress)
    apart = _decorrelated(tolerances, correlation)
    found: list[tuple[bool, bool, bool, Rule | Decorrelation, float]] = []
    warn_of_nothing_to_compare(apart, outcome.groups, outcome.counts)
    tell(0.0, "cutting cells")
    # A map sends people to cells, which have to be kinds of people: those of individual fairness.
    dist = on_cells(outcome, [INDIVIDUAL], random_state)
    with warnings.catch_warnings():
        # Said once, for all situations.
        warnings.simplefilter("ignore", SmallGroupsWarning)
        for aware in (False, True):
            tell(0.3 + 0.25 * aware, f"solving, group {'seen' if aware else 'hidden'}")
            asked: dict[str, Any] = {"aware": aware, "random_state": random_state}
            fixed = solve(dist, tolerances, aware=aware)
            plan = decorrelate(dist, fixed, distortion=None)
            kept = solve(outcome, tolerances, confidence=certified, **asked)
            found += [
                (aware, False, False, kept, np.nan),
                (aware, True, False, solve(outcome, apart, **asked), correlation),
                (aware, True, True, plan, plan.correlation),
            ]
    tell(0.8, "evaluating on held-out rows")
    people, scores = judged_people([own for *_, rule, _ in found for own in policies_of(rule)], test)
    plug_in = np.array([rule.accuracy for *_, rule, _ in found])
    judged = evaluate_scores(scores, plug_in, people, confidence=confidence)
    situations = tuple(
        Situation(aware, apart_, fixed, evaluation, left, isinstance(rule, Rule) and rule.is_constant)
        for (aware, apart_, fixed, rule, left), evaluation in zip(found, judged, strict=True)
    )
    costs = _costs(situations, people, scores, confidence)
    return Scenarios(
        tolerances=dict(tolerances),
        correlation=correlation,
        situations=situations,
        costs=costs,
        learned=outcome.n_rows,
        tested=people.n_rows,
        calibration_error=outcome.calibration_error(),
    )


# Each cost, by a key for programs and in words; what it compares: the situation with more freedom, and the one with
# less, as (aware, decorrelated, fixed).
_COMPARED = (
    ("hiding", "Hiding the group", (True, False, False), (False, False, False)),
    ("hiding_decorrelated", "Hiding the group, features decorrelated", (True, True, False), (False, True, False)),
    ("decorrelating_hidden", "Decorrelating, group hidden", (False, False, False), (False, True, False)),
    ("decorrelating_seen", "Decorrelating, group seen", (True, False, False), (True, True, False)),
)


def _costs(situations: Sequence[Situation], people: People, scores: Floats, confidence: float) -> tuple[Cost, ...]:
    """What less freedom costs, from what each situation decides on the same people."""
    at = {(own.aware, own.decorrelated, own.fixed): position for position, own in enumerate(situations)}
    costs = []
    for key, name, more, less in _COMPARED:
        i, j = at[more], at[less]
        costs.append(
            Cost(
                key,
                name,
                situations[i].evaluation.plug_in - situations[j].evaluation.plug_in,
                accuracy_difference(people, scores[i], scores[j], confidence),
            )
        )
    return tuple(costs)
