"""A model's predictions, as columns or arrays of decisions or scores, read into one number from 0 to 1 per row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from fairlimits._util.types import Floats
from fairlimits.data import Dataset
from fairlimits.errors import InputError

Predictions: TypeAlias = ArrayLike | str | Sequence[str] | Mapping[str, ArrayLike]

Threshold: TypeAlias = float | Literal["auto"] | None
"""Where scores begin to decide 1: a number, "auto" for `HALF`, or None to take scores as chances of deciding 1."""

HALF = 0.5
"""Scores from 0 to 1 decide 1 at or above it, unless another threshold is asked for."""

# Name of a model that comes as a bare array.
_NAMELESS = "model"


@dataclass(frozen=True, eq=False)
class Decided:
    """A model's decisions.

    Parameters
    ----------
    name : str
    scores : ndarray
        Probability of deciding 1: of shape (n,) for rows, (N,) or (N, G) for cells.
    how : str
        How predictions became decisions, in words.
    """

    name: str
    scores: Floats
    how: str


def from_rows(
    data: Dataset, predictions: Predictions, threshold: Threshold
) -> tuple[Dataset, tuple[Decided, ...], bool]:
    """Read predictions for rows.

    Returns
    -------
    people : Dataset
        The rows without columns of predictions; with them, if nothing else is there to see.
    models : tuple of Decided
    alone : bool
        Whether predictions are all that there is to see.
    """
    check_threshold(threshold)
    columns = _named_columns(data, predictions)
    people, alone = data, False
    if columns is None:
        given = by_name(predictions)
    else:
        given = {name: _column(data, name) for name in columns}
        alone = set(data.columns) == set(columns)
        for name in () if alone else columns:
            people, _ = people.take_out(name)
    models = tuple(read_decisions(name, values, ((data.n_rows,),), threshold) for name, values in given.items())
    return people, models, alone


def by_name(predictions: Any) -> Mapping[str, ArrayLike]:
    """Predictions by the model's name."""
    if not isinstance(predictions, Mapping):
        return {_NAMELESS: predictions}
    if not predictions:
        raise InputError("No predictions were given; give those of at least one model.")
    odd = [name for name in predictions if not isinstance(name, str)]
    if odd:
        raise InputError(f"A model is named {odd[0]!r}; give every model a name that is text.")
    return predictions


def check_threshold(threshold: Threshold) -> None:
    """Refuse a threshold that no score can be compared with."""
    if threshold is None or (isinstance(threshold, str) and threshold == "auto"):
        return
    number = isinstance(threshold, int | float | np.number) and not isinstance(threshold, bool)
    if not (number and np.isfinite(threshold)):
        raise InputError(
            f'The threshold is {threshold!r}; it must be a finite number, "auto" or None.',
            shell=f"--threshold is {threshold!r}; it must be a finite number, such as 0.5.",
        )


@dataclass(frozen=True)
class Reach:
    """What is known of a model's predictions, wherever they are: those of two parts of a table add up.

    Parameters
    ----------
    low, high : float
        The lowest and the highest.
    missing : int
        How many are missing.
    decisions : bool
        Whether all are 0 or 1.
    """

    low: float
    high: float
    missing: int
    decisions: bool

    @classmethod
    def of(cls, scores: Floats) -> Reach:
        """Look at predictions."""
        known = scores[~np.isnan(scores)]
        low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 0.0)
        return cls(low, high, len(scores.ravel()) - len(known), bool(np.isin(known, (0, 1)).all()))

    def __add__(self, other: Reach) -> Reach:
        return Reach(
            min(self.low, other.low),
            max(self.high, other.high),
            self.missing + other.missing,
            self.decisions and other.decisions,
        )


@dataclass(frozen=True)
class Deciding:
    """How predictions become decisions.

    Parameters
    ----------
    name : str
        The model.
    threshold : float or None
        Where scores begin to decide 1; None for what is a chance of deciding 1 already.
    how : str
        The same in words.
    """

    name: str
    threshold: float | None
    how: str

    @classmethod
    def of(cls, name: str, reach: Reach, threshold: Threshold) -> Deciding:
        """Find out how predictions become decisions, by what is known of them."""
        if reach.missing:
            raise InputError(
                f"The predictions of {name!r} are missing {reach.missing} times; leave these rows out, or say what was "
                "decided."
            )
        if reach.decisions:
            return cls(name, None, "decisions as given")
        chances = reach.low >= 0 and reach.high <= 1
        found = f"The predictions of {name!r} reach from {reach.low:g} to {reach.high:g}"
        if threshold is None:
            if not chances:
                raise InputError(
                    f"{found}, so they are not chances of deciding 1; give decisions, 0 or 1, or scores from 0 to 1."
                )
            return cls(name, None, "scores taken as chances of deciding 1")
        if threshold == "auto":
            if not chances:
                wanted = f"{found}, and no threshold says where they begin to decide 1; give one, such as "
                at = f"{_between(reach.low, reach.high):g}"
                raise InputError(
                    f"{wanted}threshold={at}, or decisions, 0 or 1.",
                    shell=f"{wanted}--threshold {at}, or decisions, 0 or 1.",
                )
            threshold = HALF
        # A threshold beyond all scores decides all alike: a mistake, usually about their scale.
        if not (0 <= threshold <= 1 if chances else reach.low <= threshold <= reach.high):
            scale = "0 to 1" if chances else f"{reach.low:g} to {reach.high:g}"
            raise InputError(
                f"The threshold is {threshold:g}, and the scores of {name!r} are on a scale from {scale}: all would be "
                "decided alike; give a threshold on that scale."
            )
        return cls(name, float(threshold), f"scores decided 1 at {threshold:g} or above")

    def __call__(self, scores: Floats) -> Floats:
        """Turn scores into chances of deciding 1."""
        return scores if self.threshold is None else (scores >= self.threshold).astype(np.float64)


def read_decisions(name: str, values: Any, shapes: tuple[tuple[int, ...], ...], threshold: Threshold) -> Decided:
    """Turn predictions into probabilities of deciding 1."""
    scores = _scores(name, values)
    if scores.shape not in shapes:
        wanted = " or ".join(map(str, shapes))
        raise InputError(f"The predictions of {name!r} have shape {scores.shape}, and {wanted} is needed.")
    deciding = Deciding.of(name, Reach.of(scores), threshold)
    return Decided(name, deciding(scores), deciding.how)


def read_columns(data: Dataset, names: Sequence[str]) -> list[Floats]:
    """Predictions that are columns of a table, as they stand there."""
    return [_scores(name, _column(data, name)) for name in names]


def _scores(name: str, values: Any) -> Floats:
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(_is_text(name, values)) from None


def _between(low: float, high: float) -> float:
    """A round number in the middle of scores, as an example."""
    middle = (low + high) / 2
    if not np.isfinite(middle) or low <= 0 <= high:
        return 0.0
    return float(f"{middle:.2g}") if low <= float(f"{middle:.2g}") <= high else middle


def _named_columns(data: Dataset, predictions: Any) -> tuple[str, ...] | None:
    """Names of the columns that hold predictions; None if these are not names."""
    names = [predictions] if isinstance(predictions, str) else predictions
    if not isinstance(names, list | tuple) or not all(isinstance(name, str) for name in names):
        return None
    if len(names) == data.n_rows and not set(names) & set(data.columns):
        raise InputError(_is_text(_NAMELESS, names))
    schema = data.schema
    return check_columns(names, tuple(data.columns), (schema.label, schema.weight, *schema.sensitive))


def check_columns(names: Sequence[str], features: Sequence[str], taken: Sequence[str | None]) -> tuple[str, ...]:
    """Check that columns of predictions are there, and have no other part."""
    if not names:
        raise InputError("No predictions were given; give those of at least one model.")
    for name in names:
        if name not in features:
            why = "is the label, the weight or sensitive" if name in taken else "is not in the table"
            raise InputError(
                f"The column {name!r} {why}, so no predictions can be read from it; the other columns are "
                f"{', '.join(features)}."
            )
    if len(set(names)) < len(names):
        raise InputError(f"A column is named twice in {', '.join(names)}; name each model's column once.")
    return tuple(names)


def _column(data: Dataset, name: str) -> Any:
    """Values of a column of predictions; truth values and numbers that were read as categories count as numbers."""
    values = data.columns[name]
    feature = next(own for own in data.schema.features if own.name == name)
    if feature.kind == "numeric":
        return values
    categories = [np.nan if own is None else own for own in feature.categories]
    return np.array(categories, dtype=object)[values]


def _is_text(name: str, values: Any) -> str:
    found = np.unique([str(value) for value in np.ravel(np.asarray(values, dtype=object))])
    shown = ", ".join(map(repr, found[:3].tolist()))
    return (
        f"The predictions of {name!r} are not numbers (they hold {shown}); write 1 where the model decided for the "
        "positive label and 0 elsewhere, or give its scores, which are numbers."
    )
