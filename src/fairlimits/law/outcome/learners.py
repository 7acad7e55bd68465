"""Learners of class probabilities: each turns rows of mixed features, and what else is given, into chances of classes.

Three kinds are tried by default, because none is best everywhere: boosting that knows categories, boosting on half of
the features at a time with categories as codes, and logistic regression. A user's own scikit-learn classifier takes
their place if one is given.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from inspect import signature
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline
from threadpoolctl import threadpool_limits

from fairlimits._util.types import Floats, Ints
from fairlimits.data import Encoding, Schema, category_columns
from fairlimits.errors import InputError

Columns: TypeAlias = Mapping[str, NDArray[Any]]

# Scikit-learn's logistic regression stops short of the optimum with its default of 100.
_MOST_STEPS = 1_000


@dataclass(frozen=True)
class Given:
    """A variable that is known beside the features: the label, or the group.

    Parameters
    ----------
    values : ndarray of int of shape (n,)
        Its value in each row, from 0.
    size : int
        Number of values that it can take.
    """

    values: Ints
    size: int


class View(Protocol):
    """How a learner sees rows; what is given is None if nothing is."""

    def __call__(self, columns: Columns, n_rows: int, given: Given | None) -> Floats:
        """Write rows as a matrix."""
        ...


@dataclass(frozen=True)
class CodesView:
    """Numbers as they are, categories as their codes, missing values as NaN; what is given comes last."""

    schema: Schema

    def __call__(self, columns: Columns, n_rows: int, given: Given | None) -> Floats:
        """Write rows as a matrix."""
        parts = []
        for feature in self.schema.features:
            values = np.asarray(columns[feature.name], dtype=np.float64)
            parts.append(np.where(values < 0, np.nan, values) if feature.kind == "categorical" else values)
        if given is not None:
            parts.append(given.values.astype(np.float64))
        return np.column_stack(parts) if parts else np.zeros((n_rows, 0))

    def categories(self, given: Given | None) -> list[int]:
        """Columns that hold categories."""
        sizes = [len(feature.categories) for feature in self.schema.features]
        if given is not None:
            sizes.append(given.size)
        return category_columns(sizes)


@dataclass(frozen=True)
class EncodedView:
    """Numbers scaled, a column for each category; what is given comes last, a column for each value."""

    encoding: Encoding

    def __call__(self, columns: Columns, n_rows: int, given: Given | None) -> Floats:
        """Write rows as a matrix."""
        encoded = self.encoding.transform(columns, n_rows).astype(np.float64)
        if given is None:
            return encoded
        return np.hstack([encoded, np.eye(given.size)[given.values]])


class Rows:
    """Rows to be estimated: those alike are estimated once, and a view of them is worked out once for all learners.

    Parameters
    ----------
    columns : mapping of str to ndarray
        Features coded as in `Dataset.columns`.
    n_rows : int
    """

    def __init__(self, columns: Columns, n_rows: int) -> None:
        self._columns, self._kind_of = _distinct(columns, n_rows)
        self._kinds = int(self._kind_of.max(initial=-1)) + 1
        self._seen: dict[tuple[int, int | None, int | None], Floats] = {}

    def seen_by(self, view: View, value: int | None, size: int | None) -> Floats:
        """Matrix of the distinct rows, all with one value of what is given."""
        key = (id(view), value, size)
        if key not in self._seen:
            given = None
            if value is not None and size is not None:
                given = Given(np.full(self._kinds, value, dtype=np.int64), size)
            self._seen[key] = view(self._columns, self._kinds, given)
        return self._seen[key]

    def each(self, estimates: Floats) -> Floats:
        """Give every row the estimate of its kind."""
        return estimates[self._kind_of]

    def __len__(self) -> int:
        return len(self._kind_of)


def _distinct(columns: Columns, n_rows: int) -> tuple[Columns, Ints]:
    """Rows without repetitions, and which of them each row is.

    Where features are categories, most people have somebody who is just like them.
    """
    if not columns or n_rows == 0:
        return columns, np.zeros(n_rows, dtype=np.int64)
    matrix = np.column_stack([np.asarray(values, dtype=np.float64) for values in columns.values()])
    # As bytes, so that missing values are alike too.
    _, first, kind = np.unique(matrix.view(f"V{matrix.strides[0]}")[:, 0], return_index=True, return_inverse=True)
    return {name: values[first] for name, values in columns.items()}, kind


@dataclass(frozen=True)
class Learner:
    """A classifier to be fitted, and how it sees rows.

    Parameters
    ----------
    name : str
        What it is called in tables.
    view : View
        How it sees rows.
    make : callable
        Makes the unfitted classifier from what is given and a seed.
    """

    name: str
    view: View
    make: Callable[[Given | None, int], Any]

    def fit(
        self,
        columns: Columns,
        target: Ints,
        classes: int,
        weight: Floats,
        given: Given | None,
        random_state: int,
    ) -> Chances:
        """Learn the chances of the classes 0 to `classes` - 1."""
        counted = weight > 0
        present = np.unique(target[counted])
        if len(present) < 2:
            # Where no row counts, nothing is known of the classes.
            return Chances(self.view, None, present if len(present) else np.arange(classes), classes)
        matrix = self.view(columns, len(target), given)[counted]
        model = self.make(given, random_state)
        # Threads of one fit wait for each other at every step; fits run side by side instead.
        with threadpool_limits(limits=1):
            model.fit(matrix, target[counted], **{weight_argument(model): weight[counted]})
        return Chances(self.view, model, np.asarray(model.classes_, dtype=np.int64), classes)


@dataclass(frozen=True)
class Chances:
    """A fitted learner.

    Parameters
    ----------
    view : View
        How it sees rows.
    model : classifier or None
        None if there was no more than one class to be learned: then those present are equally likely.
    present : ndarray of int
        The classes that were.
    classes : int
        Number of classes, also those that were not.
    """

    view: View
    model: Any
    present: Ints
    classes: int

    def predict(self, rows: Rows, value: int | None, size: int | None) -> Floats:
        """Chance of each class in each row, of shape (rows, classes), if what is given has a value out of `size`."""
        chances = np.zeros((len(rows), self.classes))
        if self.model is None:
            chances[:, self.present] = 1 / len(self.present)
        elif len(rows):
            with threadpool_limits(limits=1):
                chances[:, self.present] = rows.each(self.model.predict_proba(rows.seen_by(self.view, value, size)))
        return chances


def default_learners(schema: Schema, encoding: Encoding) -> tuple[Learner, ...]:
    """Learners that are tried where the user gives none."""
    codes, encoded = CodesView(schema), EncodedView(encoding)

    def boosting(given: Given | None, random_state: int) -> Any:
        return HistGradientBoostingClassifier(
            learning_rate=0.05,
            max_iter=200,
            categorical_features=codes.categories(given) or None,
            early_stopping=False,
            random_state=random_state,
        )

    def subspaces(given: Given | None, random_state: int) -> Any:
        return HistGradientBoostingClassifier(
            learning_rate=0.05, max_iter=250, max_features=0.5, early_stopping=False, random_state=random_state
        )

    def logistic(given: Given | None, random_state: int) -> Any:
        return LogisticRegression(max_iter=_MOST_STEPS)

    return (
        Learner("boosting", codes, boosting),
        Learner("boosting on half the features", codes, subspaces),
        Learner("logistic regression", encoded, logistic),
    )


def weight_argument(estimator: Any) -> str:
    """Name of the argument of fit that takes the weights: a pipeline hands them to its last step."""
    if not isinstance(estimator, Pipeline):
        return "sample_weight"
    name, last = estimator.steps[-1]
    return f"{name}__{weight_argument(last)}"


def own_learner(estimator: Any, encoding: Encoding) -> Learner:
    """Wrap a user's scikit-learn classifier; it sees numbers scaled and a column for each category."""
    if isinstance(estimator, type):
        raise InputError(f"The estimator is the class {estimator.__name__}; give an instance, {estimator.__name__}().")
    for needed in ("fit", "predict_proba", "get_params"):
        if not hasattr(estimator, needed):
            raise InputError(
                f"The estimator {estimator!r} has no {needed}; give a scikit-learn classifier with probabilities, "
                "such as LogisticRegression()."
            )

    last = estimator
    while isinstance(last, Pipeline):
        last = last.steps[-1][1]
    parameters = signature(last.fit).parameters
    if "sample_weight" not in parameters and not any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
        raise InputError(f"The estimator {last!r} takes no weights; give one whose fit has sample_weight.")

    def make(given: Given | None, random_state: int) -> Any:
        model = clone(estimator)
        seeds = [name for name in model.get_params() if name == "random_state" or name.endswith("__random_state")]
        return model.set_params(**dict.fromkeys(seeds, random_state))

    return Learner(type(estimator).__name__, EncodedView(encoding), make)
