"""`evaluate`: what rules and frontiers are worth on rows that took no part in making them.

A limit read on its own rows is optimistic. The same rule on other rows shows what it is worth: its accuracy there is a
lower bound, up to chance, of what can be reached at its gaps. It is not an upper bound: a better rule may exist.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeAlias, overload

import numpy as np

from fairlimits._util.progress import Progress, or_silent
from fairlimits._util.suppression import check_suppress
from fairlimits.data import open_rows
from fairlimits.decorrelation import Decorrelation
from fairlimits.errors import InputError
from fairlimits.evaluation.judged_people import judged_people
from fairlimits.limits import CellPolicy, Frontier, Rule
from fairlimits.notions import ACCURACY, Evaluation, evaluate_scores, suppress_evaluation

OneRule: TypeAlias = Rule | Decorrelation


@overload
def evaluate(
    rule: OneRule,
    rows: Any,
    *,
    suppress: int | None = ...,
    confidence: float = ...,
    progress: Progress | None = ...,
    **columns: Any,
) -> Evaluation: ...


@overload
def evaluate(
    rule: Frontier,
    rows: Any,
    *,
    suppress: int | None = ...,
    confidence: float = ...,
    progress: Progress | None = ...,
    **columns: Any,
) -> Frontier: ...


def evaluate(
    rule: OneRule | Frontier,
    rows: Any,
    *,
    suppress: int | None = None,
    confidence: float = 0.95,
    progress: Progress | None = None,
    **columns: Any,
) -> Evaluation | Frontier:
    """Evaluate a rule, a frontier or a decorrelation on rows that took no part in making it.

    Parameters
    ----------
    rule : Rule, Frontier or Decorrelation
        What to evaluate. A decorrelation is evaluated as its rule after the map.
    rows : Dataset, or what `open_data` takes or returns with ``stream=True``
        The rows: none of them may have been seen by generator, cells, estimate or rule. Take them from
        `Dataset.split` or `Stream.split`, or read them with `Dataset.read_like`. Files and Dask DataFrames are read by
        the schema of the rule, part by part.
    suppress : int, optional
        Leave out counts and rates that rest on fewer people, and others from which they could be worked out.
    confidence : float, default=0.95
        Of the intervals.
    progress : callable, optional
        Called with the fraction done and a few words.
    **columns
        How to read files or a Dask DataFrame: ``client``, ``unseen`` and ``missing_sensitive`` of `open_data`.

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
    >>> held_out = fl.evaluate(rule, test)
    >>> held_out.accuracy.low < held_out.accuracy.value < held_out.accuracy.high
    True
    """
    least = check_suppress(suppress)
    made = rule if isinstance(rule, Rule | Frontier) else None
    people, scores = judged_people(policies_of(rule), open_rows(rows, **columns), or_silent(progress))
    points = evaluate_scores(
        scores,
        np.atleast_1d(rule.plug_in if isinstance(rule, Frontier) else rule.accuracy),
        people,
        requirements=() if made is None else made.requirements,
        objective=ACCURACY if made is None else made.objective,
        confidence=confidence,
    )
    points = tuple(suppress_evaluation(own, least) for own in points)
    return replace(rule, held_out=points) if isinstance(rule, Frontier) else points[0]


def policies_of(rule: OneRule | Frontier) -> list[CellPolicy]:
    """How people are decided: one policy, or that of each point of a frontier."""
    if isinstance(rule, Frontier):
        return [own.policy for own in rule.rules]
    if isinstance(rule, Rule):
        return [rule.policy]
    if isinstance(rule, Decorrelation):
        return [CellPolicy(rule.distribution, rule.mapped_scores, rule.aware)]
    raise InputError(f"{type(rule).__name__} cannot be evaluated; give a rule, a frontier or a decorrelation.")
