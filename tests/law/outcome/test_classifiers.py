"""How a user's own classifier sees rows: trees by codes, all others encoded."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from fairlimits import estimate_outcome
from fairlimits.data import Dataset, Encoding
from fairlimits.errors import InputError
from fairlimits.law.outcome.classifiers import Chances, CodesView, EncodedView, view_for

TABLE = pa.table(
    {
        "x": [1.0, None, 3.0, 1e300] * 20,
        "c": ["b", "a", "c", None] * 20,
        "sex": ["f", "m", "m", "f", "f"] * 16,
        "hired": [0, 1, 1, 0, 1, 0, 1, 0] * 10,
    }
)
DATA = Dataset.from_frame(TABLE, label="hired", sensitive="sex")


class LGBMClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Known by its name alone: the package does without LightGBM."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> LGBMClassifier:
        self.classes_, self.columns_ = np.unique(y), X.shape[1]
        return self

    def predict_proba(self, X: Any) -> Any:
        assert X.shape[1] == self.columns_ <= 3
        return np.full((len(X), len(self.classes_)), 1 / len(self.classes_))


class Forest(RandomForestClassifier):  # type: ignore[misc]
    """A user's own kind of forest."""


TREES = [
    DecisionTreeClassifier(),
    ExtraTreesClassifier(3),
    Forest(3),
    GradientBoostingClassifier(n_estimators=3),
    HistGradientBoostingClassifier(max_iter=3),
    RandomForestClassifier(3),
    LGBMClassifier(),
]
OTHERS = [LogisticRegression(), GaussianNB(), make_pipeline(StandardScaler(), DecisionTreeClassifier())]


@pytest.mark.parametrize("estimator", TREES, ids=lambda own: type(own).__name__)
def test_tree_models_see_codes(estimator: Any) -> None:
    view = view_for(estimator, DATA.schema, Encoding.fit(DATA))
    assert isinstance(view, CodesView)
    rows = view({"x": np.array([1.0, np.nan]), "c": np.array([2, -1])}, 2, np.array([0, 1]))
    missing = isinstance(estimator, DecisionTreeClassifier | HistGradientBoostingClassifier | ExtraTreesClassifier)
    missing |= isinstance(estimator, RandomForestClassifier)
    expected = [[1, 2, 0], [np.nan, np.nan, 1]] if missing else [[1, 2, 0], [3, -1, 1]]
    np.testing.assert_array_equal(rows, expected)
    found = estimate_outcome(DATA, estimator=estimator, folds=2)
    assert found.q.sum(axis=(1, 2)) == pytest.approx(1)
    assert (found.q > 0).all()
    # Missing values, and categories, that no row has had.
    new = pa.table({"x": [None, 2.0], "c": ["z", None]})
    assert found.model.predict(new).sum(axis=(1, 2)) == pytest.approx(1)


@pytest.mark.parametrize("estimator", OTHERS, ids=lambda own: type(own).__name__)
def test_others_see_encoded_features(estimator: Any) -> None:
    view = view_for(estimator, DATA.schema, Encoding.fit(DATA))
    assert isinstance(view, EncodedView)
    rows = view(DATA.columns, 80, np.ones(80, dtype=np.int64))
    # The number, whether it is missing, four categories, and what is given.
    assert rows.shape == (80, 1 + 1 + 4 + 1)
    assert np.isfinite(rows).all()
    found = estimate_outcome(DATA, estimator=estimator, folds=2)
    assert found.q.sum(axis=(1, 2)) == pytest.approx(1)


class Astray(LogisticRegression):  # type: ignore[misc]
    """Its numbers are damaged."""

    def predict_proba(self, X: Any) -> Any:
        """Return nothing that is a chance."""
        return np.full((len(X), 2), np.nan)


def test_chances_that_are_not_numbers_are_refused() -> None:
    with pytest.raises(InputError, match="The classifier Astray gave chances that are not one number"):
        estimate_outcome(DATA, estimator=Astray(), folds=2)


@pytest.mark.parametrize(
    "changed",
    [
        {"present": np.array([0, 5])},
        {"present": np.array([1, 0])},
        {"present": np.array([0.0, 1.0])},
        {"present": np.array([[0, 1]])},
        {"present": np.zeros(0, dtype=np.int64)},
        {"classes": 1},
        {"classes": None},
        {"model": "a classifier"},
        {"model": LogisticRegression()},
        {"view": None},
    ],
)
def test_what_a_file_says_of_a_classifier_is_checked(changed: dict[str, Any]) -> None:
    fitted = LogisticRegression().fit([[0.0], [1.0]], [0, 1])
    state = Chances(EncodedView(Encoding.fit(DATA)), fitted, np.array([0, 1]), 2).__getstate__()
    Chances.__new__(Chances).__setstate__(state)
    with pytest.raises((InputError, TypeError)):
        Chances.__new__(Chances).__setstate__(state | changed)
