"""q(x) = P(A, Y | x) by a user's own scikit-learn classifier: how it sees rows, is fitted and predicts."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from inspect import signature
from typing import Any, Protocol

import numpy as np
from threadpoolctl import threadpool_limits

from fairlimits._util.states import Checked, check_items, check_kinds
from fairlimits._util.types import Floats, Ints
from fairlimits.data import Encoding, Schema
from fairlimits.errors import InputError
from fairlimits.law.outcome.codes import Columns
from fairlimits.law.outcome.ensembles import distinct_rows
from fairlimits.law.outcome.splits import LEAST_CHANCE

TREE_MODELS = frozenset(
    {
        "CatBoostClassifier",
        "DecisionTreeClassifier",
        "ExtraTreesClassifier",
        "GradientBoostingClassifier",
        "HistGradientBoostingClassifier",
        "LGBMClassifier",
        "RandomForestClassifier",
        "XGBClassifier",
    }
)
"""Classifiers, and with them the classes derived from them, that see codes; all others see encoded features."""

# Trees of scikit-learn read single precision.
_LARGEST = float(np.finfo(np.float32).max)


class View(Protocol):
    """How a classifier sees rows; a given variable (the label), if there is one, is the last column."""

    @property
    def encoding(self) -> Encoding:
        """Encoding of the features, or of which only the medians are used."""
        ...

    def __call__(self, columns: Columns, n_rows: int, given: Ints | None) -> Floats:
        """Return rows as a matrix."""
        ...


@dataclass(frozen=True)
class CodesView(Checked):
    """A column for each feature in the order of the schema: numbers as they are, categories as their codes.

    Parameters
    ----------
    schema : Schema
        What the columns mean.
    encoding : Encoding
        Has the median of each numeric feature.
    missing : bool
        Whether a missing value is NaN; else it is the median of numbers and -1 of categories.
    """

    schema: Schema
    encoding: Encoding
    missing: bool

    def __call__(self, columns: Columns, n_rows: int, given: Ints | None) -> Floats:
        """Return rows as a matrix."""
        fill = {feature.name: feature.fill for feature in self.encoding.features if feature.kind == "numeric"}
        out = np.empty((n_rows, len(self.schema.features) + (given is not None)))
        for at, feature in enumerate(self.schema.features):
            values = np.asarray(columns[feature.name], dtype=np.float64)
            if feature.kind == "categorical":
                out[:, at] = np.where(values < 0, np.nan, values) if self.missing else values
            else:
                clipped = np.clip(values, -_LARGEST, _LARGEST)
                out[:, at] = clipped if self.missing else np.where(np.isnan(values), fill[feature.name], clipped)
        if given is not None:
            out[:, -1] = given
        return out

    def _check(self) -> None:
        check_kinds(self, schema=Schema, encoding=Encoding, missing=bool)


@dataclass(frozen=True)
class EncodedView(Checked):
    """Numbers scaled, a column for each category, no missing values."""

    encoding: Encoding

    def __call__(self, columns: Columns, n_rows: int, given: Ints | None) -> Floats:
        """Return rows as a matrix."""
        encoded = self.encoding.transform(columns, n_rows).astype(np.float64)
        return encoded if given is None else np.column_stack([encoded, given])

    def _check(self) -> None:
        check_kinds(self, encoding=Encoding)


def view_for(estimator: Any, schema: Schema, encoding: Encoding) -> View:
    """Return how a classifier sees rows: tree models (see `TREE_MODELS`) see codes, all others encoded features.

    A pipeline sees encoded features, whatever its last step, because the steps before may need numbers on one scale.
    """
    if not any(kind.__name__ in TREE_MODELS for kind in type(estimator).__mro__):
        return EncodedView(encoding)
    from sklearn.utils import get_tags

    return CodesView(schema, encoding, bool(get_tags(estimator).input_tags.allow_nan))


@dataclass(frozen=True)
class Chances(Checked):
    """A fitted classifier.

    Parameters
    ----------
    view : View
        How it sees rows.
    model : classifier or None
        None if there was at most one class to learn: then those in `present` are equally likely.
    present : ndarray of int
        The classes that were learned from.
    classes : int
        Number of all classes.
    """

    view: View
    model: Any
    present: Ints
    classes: int

    def predict(self, columns: Columns, n_rows: int, value: int | None) -> Floats:
        """Return the chance of each class in each row, (rows, classes), if a given variable has this value."""
        chances = np.zeros((n_rows, self.classes))
        if self.model is None:
            chances[:, self.present] = 1 / len(self.present)
        elif n_rows:
            given = None if value is None else np.full(n_rows, value, dtype=np.int64)
            with threadpool_limits(limits=1):
                chances[:, self.present] = self._asked(self.view(columns, n_rows, given))
        chances = np.maximum(chances, LEAST_CHANCE)
        return np.asarray(chances / chances.sum(axis=1, keepdims=True))

    def _asked(self, matrix: Floats) -> Floats:
        """Return the classifier's probabilities, checked, for it is not ours."""
        found = np.asarray(self.model.predict_proba(matrix))
        if found.shape != (len(matrix), len(self.present)) or not np.isfinite(found).all():
            raise InputError(
                f"The classifier {type(self.model).__name__} gave chances that are not one number for each row and "
                "class; fit it again, or give another one."
            )
        return found

    def _check(self) -> None:
        """Refuse classes that the classifier does not have."""
        check_kinds(self, view=(CodesView, EncodedView), present=np.ndarray, classes=int)
        present = self.present
        whole = present.ndim == 1 and len(present) > 0 and present.dtype.kind in "iu"
        if not whole or (present[1:] <= present[:-1]).any():
            raise InputError("the classes of a classifier are not there, or not in order")
        if not 0 <= present[0] <= present[-1] < self.classes:
            raise InputError(f"a classifier has the classes {present.tolist()} of {self.classes}")
        if self.model is None:
            return
        if not hasattr(self.model, "predict_proba"):
            raise InputError(f"a classifier is a {type(self.model).__name__}, which gives no chances")
        if not np.array_equal(getattr(self.model, "classes_", ()), present):
            raise InputError("a classifier has other classes than those it was learned from")


@dataclass(frozen=True, eq=False)
class ClassifierLaw(Checked):
    """q(x) = P(Y | x) P(A | x, Y), both by classifiers, averaged over folds.

    Parameters
    ----------
    label, group : tuple of Chances
        For each fold, the classifier of the label, and of the group given features and label.
    """

    label: tuple[Chances, ...]
    group: tuple[Chances, ...]

    @property
    def folds(self) -> int:
        """Number of folds."""
        return len(self.label)

    def predict(self, columns: Columns, n_rows: int) -> Floats:
        """Estimate q, of shape (n_rows, G, 2)."""
        found = distinct_rows(columns, n_rows)
        kinds, n_kinds = columns, n_rows
        if found is not None:
            first, kind = found
            kinds, n_kinds = {name: values[first] for name, values in columns.items()}, len(first)
        # One limit around all, so that predictions in parallel do not restore each other's limits.
        with threadpool_limits(limits=1), ThreadPoolExecutor(os.cpu_count()) as pool:
            estimates = list(pool.map(lambda fold: self.predict_fold(fold, kinds, n_kinds), range(self.folds)))
        q = np.asarray(np.mean(estimates, axis=0))
        return q if found is None else q[kind]

    def predict_fold(self, fold: int, columns: Columns, n_rows: int) -> Floats:
        """Estimate q by the classifiers of one fold alone."""
        label = self.label[fold].predict(columns, n_rows, None)
        sides = [self.group[fold].predict(columns, n_rows, y) * label[:, [y]] for y in (0, 1)]
        return np.stack(sides, axis=2)

    def check_fits(self, groups: int) -> None:
        """Refuse classifiers that do not tell labels and groups apart."""
        sizes = {chances.classes for chances in self.label}, {chances.classes for chances in self.group}
        if sizes != ({2}, {groups}) or len(self.label) != len(self.group):
            raise InputError(f"classifiers of {sizes[0]} labels and {sizes[1]} groups do not fit {groups} groups")

    def _check(self) -> None:
        check_items(self, label=Chances, group=Chances)


def fit_chances(
    estimator: Any,
    view: View,
    columns: Columns,
    target: Ints,
    classes: int,
    weight: Floats,
    given: Ints | None,
    random_state: int,
) -> Chances:
    """Learn the chances of the classes 0 to `classes` - 1."""
    from sklearn.base import clone

    counted = np.flatnonzero(weight > 0)
    present = np.unique(target[counted])
    if len(present) < 2:
        # Where no row counts, nothing is known of the classes.
        return Chances(view, None, present if len(present) else np.arange(classes), classes)
    rows = {name: values[counted] for name, values in columns.items()}
    matrix = view(rows, len(counted), None if given is None else given[counted])
    model = clone(estimator)
    seeds = [name for name in model.get_params() if name == "random_state" or name.endswith("__random_state")]
    model.set_params(**dict.fromkeys(seeds, random_state))
    # Threads of one fit wait for each other at every step; fits run in parallel instead.
    with threadpool_limits(limits=1):
        model.fit(matrix, target[counted], **{weight_argument(model): weight[counted]})
    return Chances(view, model, np.asarray(model.classes_, dtype=np.int64), classes)


def weight_argument(estimator: Any) -> str:
    """Return the name of the argument of fit that takes the weights: a pipeline hands them to its last step."""
    from sklearn.pipeline import Pipeline

    if not isinstance(estimator, Pipeline):
        return "sample_weight"
    name, last = estimator.steps[-1]
    return f"{name}__{weight_argument(last)}"


def check_estimator(estimator: Any) -> None:
    """Refuse an estimator that cannot be fitted with weights, or gives no probabilities."""
    from sklearn.pipeline import Pipeline

    if isinstance(estimator, type):
        raise InputError(f"The estimator is the class {estimator.__name__}; give an instance, {estimator.__name__}().")
    needed: Sequence[str] = ("fit", "predict_proba", "get_params")
    for name in needed:
        if not hasattr(estimator, name):
            raise InputError(
                f"The estimator {estimator!r} has no {name}; give a scikit-learn classifier with probabilities, "
                "such as LogisticRegression()."
            )
    last = estimator
    while isinstance(last, Pipeline):
        last = last.steps[-1][1]
    parameters = signature(last.fit).parameters
    if "sample_weight" not in parameters and not any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
        raise InputError(f"The estimator {last!r} takes no weights; give one whose fit has sample_weight.")
