"""`audit`: judge models on held-out rows, beside the best rules that could be found without those rows."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from fairlimits._util.progress import Progress, or_silent
from fairlimits._util.suppression import check_suppress
from fairlimits._util.types import Ints
from fairlimits.data import Dataset, Feature
from fairlimits.errors import DataError, InputError
from fairlimits.evaluation.audits.comparisons import BeatenWarning
from fairlimits.evaluation.audits.held_out import Judged
from fairlimits.evaluation.audits.on_cells import audit_cells
from fairlimits.evaluation.audits.paths import find_rules
from fairlimits.evaluation.audits.predictions import Decided, Predictions, Threshold, from_rows
from fairlimits.evaluation.audits.reach import with_reach
from fairlimits.evaluation.audits.results import Audit
from fairlimits.evaluation.audits.sentences import beaten_words
from fairlimits.evaluation.ceilings import Study
from fairlimits.law import CellDistribution, Outcome, estimate_outcome
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
    data: Dataset | CellDistribution,
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
) -> Audit:
    """Say where models stand, and how much of their loss is avoidable at the same fairness.

    Rules are made from one part of the rows; models and rules are judged on the other. With a `CellDistribution` all
    figures are plug-in figures of it, exact and without intervals.

    Parameters
    ----------
    data : Dataset or CellDistribution
        The people, or their law.
    predictions : str, sequence of str, array-like, or mapping of str to array-like
        One or several models, which must not have learned from these people. Names are columns of the data set; they
        are taken out of the features. An array is one model, a mapping one for each name: decisions, 0 or 1, or
        scores, one per row; for a `CellDistribution` of shape (N,) or, for a model that sees the group, (N, G). If the
        data has no column besides predictions, these are what the rules are made from.
    notions : str or sequence of str, default=("DP", "EA", "EOp", "PE", "EOd")
        The group notions to compare at.
    threshold : float, "auto" or None, default="auto"
        Scores at or above it decide 1, whatever their scale. "auto" is 0.5 for scores from 0 to 1, and refuses others.
        None takes scores as chances of deciding 1, as a rule that decides by lot. Decisions of 0 and 1 stay as they
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
    confidence, resamples, random_state
        See `evaluate`.
    progress : callable, optional
        Called with the fraction done and a few words.

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
    if not isinstance(data, Dataset):
        raise InputError(f"{type(data).__name__} cannot be audited; give a Dataset or a CellDistribution.")
    tell = or_silent(progress)
    people, models, alone = from_rows(data, predictions, threshold)
    learned, held = split_rows(people, test_size, random_state)
    learn, counts = people.take(learned), people.take(held).counts
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
        models,
        held,
        names,
        aware=aware,
        alone=alone,
        confidence=confidence,
        resamples=resamples,
        random_state=random_state,
        progress=lambda done, words: tell(_LEARNED + (1 - _LEARNED) * done, words),
    )
    if ceiling:
        found = with_reach(found, Study.of(people, random_state=random_state), confidence)
    return found.suppressed(suppress)


def audit_on(
    outcome: Outcome,
    people: Dataset,
    models: tuple[Decided, ...],
    held: Ints,
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
    outcome : Outcome
        Estimate on the rows to learn from.
    people : Dataset
        All rows.
    models : tuple of Decided
        Decisions on all of them.
    held : ndarray of int
        Which of the rows are held out, to judge on.
    notions, aware, confidence, resamples, random_state, progress
        See `audit`.
    alone : bool
        Whether the rules are made from the predictions, for want of other features.
    """
    tell = or_silent(progress)
    test = people.take(held)
    counts = test.counts
    known = tuple(name for name in notions if enough_rows(name, counts))
    rules = find_rules(
        outcome, known, people, models, aware, random_state, lambda done, words: tell(_SOLVED * done, words)
    )
    tell(_SOLVED, "judging on held-out rows")
    judged = Judged(test, _on(models, held), rules, confidence, resamples, random_state)
    result = Audit(
        models=judged.models(notions),
        notions=notions,
        aware=aware,
        best=judged.best,
        curves=judged.curves(),
        groups=people.groups,
        counts=counts,
        learned=outcome.data.n_rows,
        confidence=confidence,
        alone=alone,
    )
    for model in result.models:
        if model.too_low:
            warnings.warn(beaten_words(model, aware), BeatenWarning, stacklevel=3)
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


def _on(models: tuple[Decided, ...], rows: Ints) -> tuple[Decided, ...]:
    return tuple(replace(model, scores=model.scores[rows]) for model in models)


def split_rows(data: Dataset, test_size: float, random_state: int) -> tuple[Ints, Ints]:
    """Numbers of the rows to learn from and of those held out."""
    # The split is the data set's own; a column of numbers tells where its rows went.
    column = Feature("row", "numeric")
    schema = replace(data.schema, features=(column,), label="label", sensitive=("group",), weight=None)
    rows = Dataset(schema, {"row": np.arange(data.n_rows, dtype=np.float64)}, data.group, data.label)
    learned, held = (part.columns["row"].astype(np.int64) for part in rows.split(test_size, random_state))
    return learned, held
