"""`audit`: judge models on held-out rows, beside the best rules that could be found without those rows."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from fairlimits._util.callers import outside
from fairlimits._util.progress import Progress, or_silent
from fairlimits._util.suppression import check_suppress
from fairlimits.data import column_doubts, open_rows
from fairlimits.errors import DataError, InputError
from fairlimits.evaluation.audits.audited_people import AuditedPeople, split_people
from fairlimits.evaluation.audits.comparisons import BeatenWarning
from fairlimits.evaluation.audits.held_out import Judged
from fairlimits.evaluation.audits.on_cells import audit_cells
from fairlimits.evaluation.audits.paths import find_rules
from fairlimits.evaluation.audits.predictions import Predictions, Threshold
from fairlimits.evaluation.audits.reach import with_reach
from fairlimits.evaluation.audits.results import Audit
from fairlimits.evaluation.audits.sentences import beaten_words
from fairlimits.evaluation.ceilings import Study
from fairlimits.law import CellDistribution, Outcome, StreamedOutcome, estimate_outcome
from fairlimits.notions import (
    INDIVIDUAL,
    NOTIONS,
    RESAMPLES,
    check_confidence,
    check_names,
    check_resamples,
    enough_rows,
)

# With fewer held-out rows an interval of anything is as wide as what it is about.
_LEAST_ROWS = 30

# Share of the work that is learning; and of the rest, solving.
_LEARNED, _SOLVED = 0.8, 0.75


def audit(
    data: Any,
    predictions: Predictions,
    *,
    notions: str | Sequence[str] = tuple(NOTIONS),
    threshold: Threshold = "auto",
    aware: bool = False,
    test_size: float = 0.3,
    estimator: Any = None,
    suppress: int | None = None,
    ceiling: bool = False,
    confidence: float = 0.95,
    resamples: int = RESAMPLES,
    random_state: int = 0,
    progress: Progress | None = None,
    **columns: Any,
) -> Audit:
    """Say where models stand, and how much of their loss is avoidable at the same fairness.

    Rules are made from one part of the rows; models and rules are judged on the other. With a `CellDistribution` all
    figures are plug-in figures of it, exact and without intervals.

    Parameters
    ----------
    data : Dataset, CellDistribution, or what `open_data` takes or returns with ``stream=True``
        The people, or their law. Of rows that are not in memory all that are held out are counted, part by part.
    predictions : str, sequence of str, array-like, or mapping of str to array-like
        One or several models, which must not have learned from these people. Names are columns of the data set; they
        are taken out of the features. An array is one model, a mapping one for each name: decisions, 0 or 1, or
        scores, one per row; for a `CellDistribution` of shape (N,) or, for a model that sees the group, (N, G); of rows
        that are not in memory always columns. If the data has no column besides predictions, these are what the rules
        are made from.
    notions : str or sequence of str, default=("DP", "EA", "EOp", "PE", "EOd")
        The group notions to compare at.
    threshold : float, "auto" or None, default="auto"
        Scores at or above it decide 1, whatever their scale. "auto" is 0.5 for scores from 0 to 1, and refuses others.
        None takes scores as chances of deciding 1, those of a randomised rule. Decisions of 0 and 1 stay as they
        are.
    aware : bool, default=False
        Compare with rules that see the group; by default with rules that do not.
    test_size : float, default=0.3
        Share of the rows to judge on.
    estimator : scikit-learn classifier, optional
        What to learn with; see `estimate_outcome`.
    suppress : int, optional
        Leave out counts and rates that rest on fewer people, in all that is shown and written.
    ceiling : bool, default=False
        Whether to find what no rule passes at each model's gaps, too (see `fairlimits.ceiling`): how much of its
        distance from perfect accuracy is out of reach, was found reachable, or is unknown.
    confidence : float, default=0.95
        Of the intervals.
    resamples : int, default=1000
        How often the rows are drawn anew, with the models matched again each time.
    random_state : int, default=0
        Seed.
    progress : callable, optional
        Called with the fraction done and a few words.
    **columns
        How to read `data` that is a path, an Arrow dataset or a Dask DataFrame: see `estimate_outcome`.

    Returns
    -------
    Audit

    Warns
    -----
    BeatenWarning
        If a model is better than the best rule we found at its own gap, beyond what chance explains.

    Examples
    --------
    >>> import fairlimits as fl
    >>> from sklearn.linear_model import LogisticRegression
    >>> data = fl.load_dataset("adult").take(range(3_000))
    >>> degree = (data.columns["education-num"] >= 13).astype(int)  # stands for a model
    >>> quick = LogisticRegression(max_iter=500)
    >>> found = fl.audit(data, {"degree": degree}, notions=["DP"], estimator=quick, resamples=200)
    >>> found.to_frame().column_names[:4]
    ['model', 'notion', 'rate of the gap', 'lowest']
    >>> found["degree"].gaps["DP"].low < found["degree"].gaps["DP"].high
    True
    """
    names = _check_notions(notions)
    check_confidence(confidence)
    check_resamples(resamples)
    check_suppress(suppress)
    if isinstance(data, CellDistribution):
        if ceiling:
            raise InputError("A ceiling rests on people who are alike, and cells have none; give the Dataset.")
        return audit_cells(data, predictions, names, threshold, aware).suppressed(suppress)
    tell = or_silent(progress)
    rows = open_rows(data, **columns)
    everybody, learn, _, people, alone = split_people(rows, predictions, threshold, test_size, random_state)
    assert people is not None
    counts = people.counts
    if counts.sum() < _LEAST_ROWS:
        raise DataError(
            f"Only {int(counts.sum())} rows are held out to judge on, and {_LEAST_ROWS} are the least; give more rows, "
            "or a larger test size."
        )
    outcome = estimate_outcome(
        learn,
        estimator=estimator,
        random_state=random_state,
        progress=lambda done, words: tell(_LEARNED * done, words),
    )
    found = audit_on(
        outcome,
        people,
        names,
        aware=aware,
        alone=alone,
        confidence=confidence,
        resamples=resamples,
        random_state=random_state,
        progress=lambda done, words: tell(_LEARNED + (1 - _LEARNED) * done, words),
    )
    if not alone:
        found = replace(found, doubts=column_doubts(everybody, hidden=not aware))
    if ceiling:
        found = with_reach(found, Study.of(everybody, random_state=random_state), confidence)
    return found.suppressed(suppress)


def audit_on(
    outcome: Outcome | StreamedOutcome,
    people: AuditedPeople,
    notions: tuple[str, ...],
    *,
    aware: bool,
    alone: bool = False,
    confidence: float = 0.95,
    resamples: int = RESAMPLES,
    random_state: int = 0,
    progress: Progress | None = None,
) -> Audit:
    """Audit models with an estimate that is there already: the one way in which models are compared with rules.

    Parameters
    ----------
    outcome : Outcome or StreamedOutcome
        Estimate on the rows to learn from.
    people : AuditedPeople
        All rows, those held out among them, and what models decided on them.
    notions, aware, confidence, resamples, random_state, progress
        See `audit`.
    alone : bool
        Whether the rules are made from the predictions, for want of other features.
    """
    tell = or_silent(progress)
    counts = people.counts
    known = tuple(name for name in notions if enough_rows(name, counts))
    rules = find_rules(outcome, known, people, aware, random_state, lambda done, words: tell(_SOLVED * done, words))
    tell(_SOLVED, "judging on held-out rows")
    judged = Judged(people, rules, confidence, resamples, random_state)
    result = Audit(
        models=judged.models(notions),
        notions=notions,
        aware=aware,
        best=judged.best,
        curves=judged.curves(),
        groups=people.groups,
        counts=counts,
        learned=outcome.n_rows,
        confidence=confidence,
        alone=alone,
    )
    for model in result.models:
        if model.too_low:
            warnings.warn(beaten_words(model, aware), BeatenWarning, stacklevel=outside())
    return result


def _check_notions(notions: str | Sequence[str]) -> tuple[str, ...]:
    names = check_names([notions] if isinstance(notions, str) else notions)
    if not names:
        raise InputError(f"No notion was given; name at least one of {', '.join(NOTIONS)}.")
    if INDIVIDUAL in names:
        raise InputError(
            "Individual fairness (IF) compares people one by one, and decisions alone have no gap in it; choose among "
            f"{', '.join(NOTIONS)}."
        )
    return names
