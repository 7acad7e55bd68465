"""Fitted estimators in files, without pickle: a file that holds types nobody trusts is refused unread."""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any
from zipfile import ZIP_DEFLATED

from sklearn.base import BaseEstimator

from fairlimits._util.storage import write_whole
from fairlimits.data import EncodedFeature, Encoding, Feature, Schema
from fairlimits.decorrelation import Plan
from fairlimits.errors import FileError, InputError, MissingExtraError
from fairlimits.estimators.classifier import ConstrainedBayesClassifier
from fairlimits.estimators.decorrelator import Decorrelator
from fairlimits.law import (
    CellDistribution,
    Chances,
    CodesView,
    EncodedView,
    Neighbourhood,
    Origin,
    OutcomeCells,
    OutcomeModel,
    Space,
)
from fairlimits.limits import Frontier, PointwiseFrontier, PointwiseRule, Rule
from fairlimits.notions import Costs, Difference, Limit, Objective, Rate, Ratio

_OWN: tuple[type, ...] = (
    CellDistribution,
    Chances,
    CodesView,
    ConstrainedBayesClassifier,
    Costs,
    Decorrelator,
    Difference,
    EncodedFeature,
    EncodedView,
    Encoding,
    Feature,
    Frontier,
    Limit,
    Neighbourhood,
    Objective,
    Origin,
    OutcomeCells,
    OutcomeModel,
    Plan,
    PointwiseFrontier,
    PointwiseRule,
    Rate,
    Ratio,
    Rule,
    Schema,
    Space,
)

TRUSTED: tuple[str, ...] = (
    *(f"{own.__module__}.{own.__qualname__}" for own in _OWN),
    # Inside scikit-learn's boosting. What a partial calls has to be trusted by itself.
    "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
    "sklearn.utils.validation.check_array",
    "functools.partial",
)
"""What a file may hold beside the types that skops trusts by itself: numbers, arrays and scikit-learn's estimators."""


def save_estimator(estimator: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted estimator, or a `PointwiseRule`, to one file, without pickle.

    Parameters
    ----------
    estimator : estimator or PointwiseRule
        A `ConstrainedBayesClassifier`, a `Decorrelator`, or a scikit-learn estimator that holds them, such as a
        pipeline. Rows of the fit are not written.
    path : path
        The file; its name is used as it is, and ends in ``.skops`` by custom.
    """
    if not isinstance(estimator, BaseEstimator | PointwiseRule):
        raise InputError(
            f"A {type(estimator).__name__} is no estimator; give a fitted estimator or a PointwiseRule. Most other "
            "results have a save of their own."
        )
    skops = _skops()
    with write_whole(path) as temporary:
        try:
            skops.dump(estimator, temporary, compression=ZIP_DEFLATED)
        except (TypeError, AttributeError, NotImplementedError) as error:
            raise InputError(
                f"This {type(estimator).__name__} cannot be saved without pickle ({error}); leave out what is no plain "
                "estimator, such as functions of your own."
            ) from error


def load_estimator(path: str | os.PathLike[str], *, trusted: Sequence[str] = ()) -> Any:
    """Read what `save_estimator` wrote.

    Parameters
    ----------
    path : path
        The file.
    trusted : sequence of str, optional
        Types to be trusted beside those of fairlimits and scikit-learn, by their full names, such as
        "mypackage.MyClassifier": what a file holds of them is run when it is read.

    Raises
    ------
    FileError
        If the file is not there, is damaged, or holds types that are not trusted; nothing of it is run then.
    """
    if isinstance(trusted, str):
        raise InputError(f"trusted is {trusted!r}; give a list of names of types.")
    skops, file = _skops(), Path(path)
    if not file.is_file():
        raise FileError(f"There is no file {file}; check the name.")
    try:
        content = file.read_bytes()
        strange = sorted(set(skops.get_untrusted_types(data=content)) - {*TRUSTED, *trusted})
    except Exception as error:
        raise _damaged(file) from error
    if strange:
        raise FileError(
            f"{file} holds types that are not trusted: {', '.join(strange)}. If you trust whoever made the file, name "
            "them in trusted=."
        )
    try:
        found = skops.loads(content, trusted=[*TRUSTED, *trusted])
    except Exception as error:
        raise _damaged(file) from error
    if not isinstance(found, BaseEstimator | PointwiseRule):
        raise FileError(f"{file} holds a {type(found).__name__}, no estimator; give a file that save_estimator wrote.")
    return found


def _damaged(file: Path) -> FileError:
    return FileError(f"{file} is not a file that save_estimator wrote, or it is damaged; save the estimator again.")


def _skops() -> ModuleType:
    # Not at the top: it imports all of scikit-learn, which would double the time that importing fairlimits takes.
    try:
        return import_module("skops.io")
    except ImportError as error:
        raise MissingExtraError("Saving estimators needs the package skops; install it: pip install skops.") from error
