"""`evaluate`: what rules and frontiers are worth on rows that took no part in making them.

A limit read on its own rows is optimistic. The same rule on other rows shows what it is worth: its accuracy there is a
lower bound, up to chance, of what can be reached at its gaps. It is not an upper bound: a better rule may exist.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TypeAlias, overload

import numpy as np

from fairlimits._util.suppression import check_suppress
from fairlimits._util.types import Floats
from fairlimits.data import Dataset
from fairlimits.decorrelation import Decorrelation
from fairlimits.errors import InputError
from fairlimits.limits import CellPolicy, Frontier, Rule, policies_on
from fairlimits.notions import ACCURACY, RESAMPLES, Evaluation, evaluate_scores, suppress_evaluation

OneRule: TypeAlias = Rule | Decorrelation


@overload
def evaluate(
    rule: OneRule,
    rows: Dataset,
    *,
    suppress: int | None = ...,
    confidence: float = ...,
    resamples: int = ...,
    random_state: int = ...,
) -> Evaluation: ...


@overload
def evaluate(
    rule: Frontier,
    rows: Dataset,
    *,
    suppress: int | None = ...,
    confidence: float = ...,
    resamples: int = ...,
    random_state: int = ...,
) -> Frontier: ...


def evaluate(
    rule: OneRule | Frontier,
    rows: Dataset,
    *,
    suppress: int | None = None,
    confidence: float = 0.95,
    resamples: int = RESAMPLES,
    random_state: int = 0,
) -> Evaluation | Frontier:
    """Evaluate a rule, a frontier or a decorrelation on rows that took no part in making it.

    Parameters
    ----------
    rule : Rule, Frontier or Decorrelation
        What to evaluate. A decorrelation is evaluated as its rule after the map.
    rows : Dataset
        The rows: none of them may have been seen by generator, cells, estimate or rule. Take them from
        `Dataset.split`, or read them with `Dataset.read_like`.
    suppress : int, optional
        Leave out counts and rates that rest on fewer people, and others from which they could be worked out.
    confidence : float, default=0.95
        Of the intervals.
    resamples : int, default=1000
        How often the rows are drawn anew for the intervals.
    random_state : int, default=0
        Seed of the resampling.

    Returns
    -------
    Evaluation or Frontier
        Every figure with its interval; for a frontier, the frontier with the evaluations of its rules as ``held_out``.

    Examples
    --------
    >>> import fairlimits as fl
    >>> from sklearn.linear_model import LogisticRegression
    >>> data = fl.load_dataset("adult").take(range(3_000))
    >>> learn, test = data.split(0.3, random_state=0)
    >>> rule = fl.solve(fl.estimate_outcome(learn, estimator=LogisticRegression(max_iter=500)), {"DP": 0.1})
    >>> held_out = fl.evaluate(rule, test, resamples=200)
    >>> held_out.accuracy.low < held_out.accuracy.value < held_out.accuracy.high
    True
    """
    least = check_suppress(suppress)
    made = rule if isinstance(rule, Rule | Frontier) else None
    points = evaluate_scores(
        row_scores(rule, rows),
        np.atleast_1d(rule.plug_in if isinstance(rule, Frontier) else rule.accuracy),
        rows,
        requirements=() if made is None else made.requirements,
        objective=ACCURACY if made is None else made.objective,
        confidence=confidence,
        resamples=resamples,
        random_state=random_state,
    )
    points = tuple(suppress_evaluation(own, least) for own in points)
    return replace(rule, held_out=points) if isinstance(rule, Frontier) else points[0]


def row_scores(rule: OneRule | Frontier, rows: Dataset) -> Floats:
    """Probability of deciding 1, of shape (points, n), for each row and rule."""
    if isinstance(rule, Frontier):
        return policies_on([own.policy for own in rule.rules], rows)
    if isinstance(rule, Rule):
        return policies_on([rule.policy], rows)
    if isinstance(rule, Decorrelation):
        return policies_on([CellPolicy(rule.distribution, rule.mapped_scores, rule.aware)], rows)
    raise InputError(f"{type(rule).__name__} cannot be evaluated; give a rule, a frontier or a decorrelation.")
