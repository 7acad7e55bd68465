"""A fitted model's scores as the only feature that a rule sees."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from fairlimits.data import Feature, Table, read_numbers
from fairlimits.errors import InputError

SCORES = "scores"
"""The choice of `prefit` where X holds scores already."""

Prefit: TypeAlias = Any | Literal["scores"] | None

# Chances of 0 and 1 have no finite log-odds.
_SURE = 1e-9


def as_rows(prefit: Prefit, X: Any) -> Any:
    """Return X as rows; scores may come as a mere list of numbers."""
    is_scores = isinstance(prefit, str) and prefit == SCORES
    return np.reshape(np.asarray(X), (-1, 1)) if is_scores and np.ndim(X) == 1 else X


def check_scores(prefit: Prefit) -> None:
    """Refuse what gives no scores."""
    if isinstance(prefit, str):
        if prefit != SCORES:
            raise InputError(f"prefit is {prefit!r}; give a fitted classifier, or 'scores' if X holds its scores.")
    elif not (hasattr(prefit, "predict_proba") or hasattr(prefit, "decision_function")):
        raise InputError(
            f"prefit is {prefit!r}, which has neither predict_proba nor decision_function; give a fitted classifier, "
            "or 'scores' if X holds its scores."
        )


def score_feature(prefit: Prefit, table: Table, X: Any) -> tuple[Feature, dict[str, NDArray[Any]]]:
    """Read the score of each row: the only column of X, or what a fitted model says of X.

    Chances are taken as log-odds, which is what a logistic regression on them needs to see.
    """
    check_scores(prefit)
    if isinstance(prefit, str):
        if len(table.names) != 1:
            raise InputError(f"X has {len(table.names)} columns; with prefit='scores' it is one column of scores.")
        name, values = table.names[0], read_numbers(table.names[0], table.column(table.names[0]))
    elif hasattr(prefit, "predict_proba"):
        chances = np.asarray(_said(prefit, "predict_proba", X), dtype=np.float64)
        if chances.ndim != 2 or chances.shape[1] != 2:
            raise InputError(f"The chances of prefit have shape {chances.shape}; give a classifier of two classes.")
        name, values = "log-odds", np.asarray(logit(np.clip(chances[:, 1], _SURE, 1 - _SURE)))
    else:
        name, values = "score", np.asarray(_said(prefit, "decision_function", X), dtype=np.float64)
        if values.ndim != 1:
            raise InputError(f"The scores of prefit have shape {values.shape}; give a classifier of two classes.")
    return Feature(name, "numeric"), {name: values}


def _said(prefit: Any, method: str, X: Any) -> Any:
    try:
        check_is_fitted(prefit)
    except NotFittedError:
        raise InputError(
            f"prefit is {prefit!r}, which is not fitted; fit it first. If clone or a grid search is what unfitted it, "
            "wrap it: prefit=FrozenEstimator(model), from sklearn.frozen."
        ) from None
    return getattr(prefit, method)(X)
