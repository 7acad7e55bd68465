"""Published post-processors of a score that need to see the group: group thresholds and label flips."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin

from benchmarks.peers.bases import Estimates
from benchmarks.peers.splits import Floats, Setting, Split, peer

Decide = Callable[[], Floats]
"""Gives the probability of deciding 1 for each test row, expected over the method's randomness."""

PostProcessor = Callable[[Split, Setting, Estimates], Decide]

_NAMES = {"DP": "demographic_parity", "EOd": "equalized_odds"}


class _GivenScores(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """An estimator whose only feature is the score that another one gave."""

    def fit(self, X: Any, y: Any) -> _GivenScores:
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def predict_proba(self, X: Any) -> Floats:
        scores = np.asarray(X)[:, 0]
        return np.column_stack([1.0 - scores, scores])


def fairlearn(split: Split, setting: Setting, estimates: Estimates) -> Decide:
    """Fit fairlearn's ThresholdOptimizer."""
    model = peer("fairlearn.postprocessing").ThresholdOptimizer(
        estimator=_GivenScores(),
        constraints=_NAMES[setting.criterion],
        objective="accuracy_score",
        prefit=True,
        predict_method="predict_proba",
        tol=setting.eps or None,
    )
    label, group = _learned(split, estimates)
    model.fit(estimates.fit[:, None], label, sensitive_features=group)

    def decide() -> Floats:
        # The public predict draws at random; this is the probability that it draws with.
        chances = model._pmf_predict(estimates.test[:, None], sensitive_features=split.test.group)
        return np.asarray(chances)[:, 1]

    return decide


def error_parity(split: Split, setting: Setting, estimates: Estimates) -> Decide:
    """Fit error-parity's RelaxedThresholdOptimizer."""
    model = peer("error_parity").RelaxedThresholdOptimizer(
        predictor=np.ravel, constraint=_NAMES[setting.criterion], tolerance=setting.eps, seed=0
    )
    label, group = _learned(split, estimates)
    model.fit(estimates.fit, label, group=group)

    def decide() -> Floats:
        decided = np.empty(len(split.test.label))
        for value, classifier in model._realized_classifier.group_to_clf.items():
            rows = split.test.group == value
            decided[rows] = _chance(classifier, estimates.test[rows])
        return decided

    return decide


def _chance(classifier: Any, scores: Floats) -> Floats:
    """Probability that one of error-parity's randomised classifiers decides 1."""
    if hasattr(classifier, "probabilities"):
        parts = zip(classifier.probabilities, classifier.classifiers, strict=True)
        return np.asarray(sum(weight * _chance(part, scores) for weight, part in parts))
    if hasattr(classifier, "target_fpr"):
        return np.full(len(scores), float(classifier.target_fpr))
    return np.asarray(classifier(scores), dtype=float)


def aif360(split: Split, setting: Setting, estimates: Estimates) -> Decide:
    """Fit aif360's EqOddsPostprocessing, which flips decisions made at one half."""
    # On import aif360 warns of every optional package that is not there.
    logging.disable(logging.WARNING)
    try:
        module = peer("aif360.algorithms.postprocessing")
    finally:
        logging.disable(logging.NOTSET)
    label, group = _learned(split, estimates)
    model = module.EqOddsPostprocessing([{"group": 0}], [{"group": 1}])
    model.fit(_labelled(label, group), _labelled((estimates.fit > 0.5).astype(int), group))

    def decide() -> Floats:
        kept_1, raised_1, kept_0, raised_0 = model.model_params.x
        positive = estimates.test > 0.5
        one = np.where(positive, kept_1, raised_1)
        other = np.where(positive, kept_0, raised_0)
        return np.asarray(np.clip(np.where(split.test.group == 1, one, other), 0.0, 1.0))

    return decide


def _labelled(label: npt.NDArray[np.int64], group: npt.NDArray[np.int64]) -> Any:
    frame = peer("pandas").DataFrame({"group": group, "label": label})
    return peer("aif360.datasets").BinaryLabelDataset(
        df=frame, label_names=["label"], protected_attribute_names=["group"]
    )


def _learned(split: Split, estimates: Estimates) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    rows = estimates.rows
    return split.learn.label[rows].astype(np.int64), split.learn.group[rows]
