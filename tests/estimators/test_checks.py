"""scikit-learn's own checks pass, but for the exceptions that the classes document."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.utils.estimator_checks import parametrize_with_checks

from fairlimits import ConstrainedBayesClassifier, Decorrelator

ESTIMATORS = [
    ConstrainedBayesClassifier(estimator=LogisticRegression(), n_jobs=1),
    ConstrainedBayesClassifier(partition="features", randomize=False),
    Decorrelator(),
]


@parametrize_with_checks(ESTIMATORS, expected_failed_checks=lambda own: dict(own.expected_failed_checks))  # type: ignore[untyped-decorator]
def test_checks_pass(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


@pytest.mark.parametrize("kind", [ConstrainedBayesClassifier, Decorrelator])
def test_exceptions_are_documented(kind: Any) -> None:
    assert "expected_failed_checks" in kind.__doc__
    assert list(kind.expected_failed_checks) == ["check_sample_weight_equivalence_on_dense_data"]
    assert all(len(reason) > 20 for reason in kind.expected_failed_checks.values())
