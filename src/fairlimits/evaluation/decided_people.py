"""`group_rates`: how each group fares under anybody's decisions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np

from fairlimits._util.frames import kind_of
from fairlimits._util.suppression import check_suppress
from fairlimits._util.types import Floats
from fairlimits.data import Dataset, Sensitive, Stream, find_groups, open_rows
from fairlimits.errors import DataError, InputError
from fairlimits.evaluation.audits.audited_people import PeopleInParts
from fairlimits.evaluation.audits.predictions import check_columns, from_rows
from fairlimits.notions import CountedPeople, GroupRates, People, evaluate_scores, suppress_rates


def group_rates(
    labels: Any,
    predictions: Any,
    groups: Any = None,
    *,
    weights: Any = None,
    suppress: int | None = None,
    confidence: float = 0.95,
    **columns: Any,
) -> GroupRates:
    """Read how each group fares under decisions, with intervals, and who is lowest and highest.

    Parameters
    ----------
    labels : array-like of shape (n,), Dataset, or what `open_data` takes or returns with ``stream=True``
        What came true: 0 or 1, or truth values. Or people, whose labels and groups stand in columns; files and Dask
        DataFrames are counted part by part.
    predictions : array-like of shape (n,), or str
        What was decided: 0 or 1, truth values, or chances of deciding 1. Of people, the name of a column.
    groups : array-like of shape (n,) or (n, k), or data frame, optional
        Each person's group; of several columns, their combinations. Left out where people are given.
    weights : array-like of shape (n,), optional
        Weight of each person.
    suppress : int, optional
        Leave out counts and rates that rest on fewer people.
    confidence : float, default=0.95
        Of the intervals: Wilson's for rates, and ends put together from these for ratios and gaps.
    **columns
        How to read files, an Arrow dataset or a Dask DataFrame: see `estimate_outcome`.

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
    least = check_suppress(suppress)
    people, scores = (
        _in_columns(labels, predictions, weights, columns)
        if groups is None
        else _in_arrays(labels, predictions, groups, weights, columns)
    )
    (evaluation,) = evaluate_scores(scores, np.array([np.nan]), people, confidence=confidence)
    return suppress_rates(evaluation.by_group, least)


def _in_columns(rows: Any, predictions: Any, weights: Any, columns: Mapping[str, Any]) -> tuple[People, Floats]:
    """People of a table of any size, and decisions in a column of it."""
    if not columns and not isinstance(rows, Dataset | Stream):
        raise InputError(
            "Each person's group is missing: give groups; or, of a table, say which columns are the label and "
            "sensitive."
        )
    if weights is not None:
        raise InputError("Weights of people in a table are a column of it; name it with weight instead of weights.")
    if not isinstance(predictions, str):
        raise InputError("Predictions beside people in a table are a column of it; give its name.")
    found = open_rows(rows, **columns)
    if isinstance(found, Stream):
        check_columns([predictions], found.features, found.named)
        return PeopleInParts.of(found, found.only([predictions]), None).everybody()
    _, (model,), _ = from_rows(found, predictions, None)
    return found, model.scores[None]


def _in_arrays(
    labels: Any, predictions: Any, groups: Any, weights: Any, columns: Mapping[str, Any]
) -> tuple[People, Floats]:
    """People and decisions that come in arrays."""
    if columns:
        raise InputError(f"Groups are given beside labels; leave {', '.join(columns)} out.")
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
    return people, scores[None]


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
