"""`group_rates`: how each group fares under anybody's decisions."""

from __future__ import annotations

from typing import Any

import narwhals.stable.v1 as nw
import numpy as np

from fairlimits._util.frames import kind_of
from fairlimits._util.suppression import check_suppress
from fairlimits._util.types import Floats
from fairlimits.data import Sensitive, find_groups
from fairlimits.errors import DataError, InputError
from fairlimits.notions import RESAMPLES, CountedPeople, GroupRates, evaluate_scores, suppress_rates


def group_rates(
    labels: Any,
    predictions: Any,
    groups: Any,
    *,
    weights: Any = None,
    suppress: int | None = None,
    confidence: float = 0.95,
    resamples: int = RESAMPLES,
    random_state: int = 0,
) -> GroupRates:
    """Read how each group fares under decisions, with intervals, and who is lowest and highest.

    Parameters
    ----------
    labels : array-like of shape (n,)
        What came true: 0 or 1, or truth values.
    predictions : array-like of shape (n,)
        What was decided: 0 or 1, truth values, or chances of deciding 1.
    groups : array-like of shape (n,) or (n, k), or data frame
        Each person's group; of several columns, their combinations.
    weights : array-like of shape (n,), optional
        What each person counts.
    suppress : int, optional
        Leave out counts and rates that rest on fewer people.
    confidence : float, default=0.95
        Of the intervals: Wilson's for rates, on the scale of logarithms for ratios, and from resampled rows for gaps.
    resamples : int, default=1000
        Times that rows are drawn anew for the intervals of gaps.
    random_state : int, default=0
        Seed of these draws.

    Returns
    -------
    GroupRates
        Its `to_frame` gives a frame of the kind that came in: pandas, polars, or else an Arrow table.

    Examples
    --------
    >>> import numpy as np, fairlimits as fl
    >>> rng = np.random.default_rng(0)
    >>> group = rng.choice(["a", "b"], 2_000)
    >>> label = rng.random(2_000) < 0.4
    >>> decided = rng.random(2_000) < np.where(group == "a", 0.5, 0.3)
    >>> rates = fl.group_rates(label, decided, group)
    >>> gap = rates.gaps["DP"]
    >>> print(gap.lowest, gap.highest, round(gap.estimate.value, 3))
    b a 0.198
    """
    label = _numbers(labels, "labels")
    if not np.isin(label, (0, 1)).all():
        raise InputError("The labels are not all 0 or 1; compare them with the value that counts, labels == value.")
    scores = _numbers(predictions, "predictions")
    if ((scores < 0) | (scores > 1)).any():
        raise InputError(
            f"The predictions reach from {scores.min():g} to {scores.max():g}; give decisions, 0 or 1, or chances of "
            "deciding 1: scores of another scale are compared with a threshold first."
        )
    _same_length({"labels": label, "predictions": scores})
    sensitive = Sensitive.read(groups, len(label))
    names = tuple(f"group {at}" for at in range(len(sensitive.columns)))
    group, found = find_groups(sensitive.table(names, None), names)
    weight = _weights(weights, len(label))
    people = CountedPeople(
        group,
        label.astype(np.int8),
        (weight > 0).astype(np.int64),
        weight,
        weight**2,
        found,
        len(label),
        kind_of(groups, labels, predictions),
    )
    (evaluation,) = evaluate_scores(
        scores[None],
        np.array([np.nan]),
        people,
        confidence=confidence,
        resamples=resamples,
        random_state=random_state,
    )
    return suppress_rates(evaluation.by_group, check_suppress(suppress))


def _numbers(values: Any, name: str) -> Floats:
    if nw.dependencies.is_into_series(values):
        values = nw.from_native(values, series_only=True).to_numpy()
    try:
        numbers = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(
            f"The {name} are not numbers; compare them with the value that counts, {name} == value."
        ) from None
    if numbers.ndim != 1 or not len(numbers):
        raise DataError(f"The {name} have shape {numbers.shape}; give one for each person.")
    missing = int(np.isnan(numbers).sum())
    if missing:
        raise DataError(f"The {name} are missing {missing} times; leave these people out, or fill them in.")
    return numbers


def _weights(weights: Any, rows: int) -> Floats:
    if weights is None:
        return np.ones(rows)
    numbers = _numbers(weights, "weights")
    _same_length({"labels": np.empty(rows), "weights": numbers})
    if (numbers < 0).any() or not np.isfinite(numbers).all() or not numbers.any():
        raise DataError("The weights must be finite, 0 or above, and not all 0.")
    # Divided first, so that the sum of huge weights stays finite.
    return np.asarray(numbers / numbers.max())


def _same_length(columns: dict[str, Floats]) -> None:
    (first, some), (second, others) = columns.items()
    if len(some) != len(others):
        raise DataError(f"There are {len(some)} {first} and {len(others)} {second}; give them for the same people.")
