"""`save` and `load`: results and fitted estimators in files, without pickle.

Estimates, distributions, rules on cells, frontiers and maps are ``.npz`` archives of numbers. What holds a user's own
learners is written by skops, and sealed with a checksum as archives are: a file that holds types nobody trusts is
refused unread.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, TypeAlias
from zipfile import ZIP_DEFLATED, ZIP_STORED

from sklearn.base import BaseEstimator

from fairlimits._util.archives import archive_kind, read_sealed, seal, unpacks_within_limits
from fairlimits._util.storage import write_whole
from fairlimits.data import Dataset, Encoding, Schema
from fairlimits.decorrelation import Decorrelation
from fairlimits.errors import FileError, InputError, MissingExtraError
from fairlimits.estimators.classifier import ConstrainedBayesClassifier
from fairlimits.estimators.decorrelator import Decorrelator
from fairlimits.law import (
    CellDistribution,
    Chances,
    ClassifierLaw,
    CodesView,
    EncodedView,
    Neighbourhood,
    Origin,
    Outcome,
    OutcomeCells,
    OutcomeModel,
    Recalibration,
    Space,
)
from fairlimits.limits import CellPolicy, Determinism, Frontier, Guarantee, OnLabels, Rule
from fairlimits.notions import Costs, Difference, Limit, Objective, Ratio

_OWN: tuple[type, ...] = (
    CellDistribution,
    CellPolicy,
    Chances,
    ClassifierLaw,
    CodesView,
    ConstrainedBayesClassifier,
    Costs,
    Dataset,
    Decorrelator,
    Determinism,
    Difference,
    EncodedView,
    Encoding,
    Frontier,
    Guarantee,
    Limit,
    Neighbourhood,
    Objective,
    Origin,
    OnLabels,
    Outcome,
    OutcomeCells,
    OutcomeModel,
    Decorrelation,
    Recalibration,
    Ratio,
    Rule,
    Schema,
    Space,
)

TRUSTED: tuple[str, ...] = (
    *(f"{kind.__module__}.{kind.__qualname__}" for kind in _OWN),
    # Inside scikit-learn's boosting. The function that a partial calls has to be trusted separately.
    "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
    "sklearn.utils.validation.check_array",
    "functools.partial",
)
"""What a file may hold beside the types that skops trusts by itself: numbers, arrays and scikit-learn's estimators."""


Kept: TypeAlias = Outcome | CellDistribution | Rule | Frontier | Decorrelation

_ARCHIVES: dict[str, type[Kept]] = {
    "distribution": CellDistribution,
    "outcome": Outcome,
    "rule": Rule,
    "frontier": Frontier,
    "plan": Decorrelation,
}
"""Kinds of ``.npz`` archives."""

_ESTIMATOR = "estimator"


def save(thing: Any, path: str | os.PathLike[str]) -> None:
    """Write a result or a fitted estimator to one file, without pickle.

    Parameters
    ----------
    thing : Outcome, CellDistribution, Rule, Frontier, Decorrelation, or an estimator
        What to keep. Estimators are `ConstrainedBayesClassifier`, `Decorrelator`, or scikit-learn estimators that hold
        them, such as a pipeline. Rows of the fit are not written, except with an `Outcome`, which is about them.
    path : path
        The file; its name is used as it is, whatever its suffix.

    Examples
    --------
    >>> import fairlimits as fl
    >>> import tempfile
    >>> from pathlib import Path
    >>> dist = fl.CellDistribution.from_mass([[[2, 1], [1, 0]], [[0, 1], [2, 3]]])
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = Path(folder.name) / "rule.npz"
    >>> fl.save(fl.solve(dist, {"DP": 0.1}), path)
    >>> round(fl.load(path).gaps["DP"], 3)
    0.1
    >>> folder.cleanup()
    """
    if isinstance(thing, Outcome | CellDistribution | Rule | Frontier | Decorrelation) and not _holds_classifiers(
        thing
    ):
        thing.save(path)
        return
    if not isinstance(thing, BaseEstimator | Kept):
        raise InputError(
            f"A {type(thing).__name__} cannot be saved; give an estimate, distribution, rule, frontier, map or fitted "
            "estimator."
        )
    if isinstance(thing, Frontier):
        # Figures on people that took no part are not in an archive either; `evaluate` finds them again.
        thing = replace(thing, held_out=())
    skops = _skops()
    with write_whole(path) as temporary:
        try:
            skops.dump(thing, temporary, compression=ZIP_DEFLATED)
            if not unpacks_within_limits(temporary):
                skops.dump(thing, temporary, compression=ZIP_STORED)
        except (TypeError, AttributeError, NotImplementedError) as error:
            raise InputError(
                f"This {type(thing).__name__} cannot be saved without pickle ({error}); leave out what is not a plain "
                "estimator, such as functions of your own."
            ) from error
        seal(temporary, _ESTIMATOR)


def load(path: str | os.PathLike[str], *, trusted: Sequence[str] = ()) -> Any:
    """Read what `save`, or the ``save`` of a result, wrote.

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

    Examples
    --------
    >>> import fairlimits as fl
    >>> import tempfile
    >>> from pathlib import Path
    >>> dist = fl.CellDistribution.from_mass([[[2, 1], [1, 0]], [[0, 1], [2, 3]]])
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = Path(folder.name) / "cells.npz"
    >>> fl.save(dist, path)
    >>> fl.load(path).n_cells
    2
    >>> folder.cleanup()
    """
    if isinstance(trusted, str):
        raise InputError(f"trusted is {trusted!r}; give a list of names of types.")
    file = Path(path)
    kind = archive_kind(file)
    if kind in _ARCHIVES:
        return _ARCHIVES[kind].load(file)
    if kind != _ESTIMATOR:
        raise FileError(f"{file} holds a {kind}; load it with the class that it was saved from.")
    content = read_sealed(file)
    skops = _skops()
    try:
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
    if not isinstance(found, BaseEstimator | Kept):
        raise FileError(f"{file} holds a {type(found).__name__}, not an estimator; give a file that save wrote.")
    return found


def _holds_classifiers(thing: Any) -> bool:
    """Whether something was learned with a user's own classifier, which is not made of plain numbers."""
    if isinstance(thing, Outcome):
        return not thing.model.is_plain
    rule = thing.rules[0] if isinstance(thing, Frontier) else thing
    dist = rule.distribution if isinstance(rule, Rule | Decorrelation) else rule
    return isinstance(dist, CellDistribution) and dist.places is not None and not dist.places.model.is_plain


def _damaged(file: Path) -> FileError:
    return FileError(f"{file} is not a file that save wrote, or it is damaged; save what it held again.")


def _skops() -> ModuleType:
    # Not at the top: it imports all of scikit-learn, which would double the time that importing fairlimits takes.
    try:
        return import_module("skops.io")
    except ImportError as error:
        raise MissingExtraError("Saving estimators needs the package skops; install it: pip install skops.") from error
