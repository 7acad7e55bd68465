"""Fairlearn's exponentiated gradient over boosting, with the booster's repeated work remembered.

Out of the box a fit spends half its time on binning the same rows and on predicting, twice, the rows that a booster
was just fitted on. Here the rows are binned once and the training scores are kept: the results are the same to the
last digit, the times are better than what a user of the peer sees.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

import fairlimits as fl
from benchmarks.peers.splits import BOOSTING, Floats, Setting, Split, matrix, peer

_FIXED = {"objective": "binary", "metric": "None", "verbose": -1, "num_threads": 1}
_CONSTRAINTS = {"DP": "DemographicParity", "EOd": "EqualizedOdds", "EA": "ErrorRateParity"}


class _Booster:
    """A booster whose X are numbers of rows of one table, binned once for all its clones."""

    def __init__(self, rows: Any, parameters: Mapping[str, Any]) -> None:
        self._rows = rows
        self._parameters = parameters
        self._model: Any = None
        self._learned: npt.NDArray[np.int64] = np.zeros(0, dtype=np.int64)

    def __sklearn_clone__(self) -> _Booster:
        return _Booster(self._rows, self._parameters)

    def fit(self, X: Any, y: Any, sample_weight: Any) -> _Booster:
        """Fit on all rows, whatever X says: fairlearn changes labels and weights only."""
        self._rows.set_label(np.asarray(y))
        self._rows.set_weight(np.asarray(sample_weight))

        def keep(scores: Floats, _: Any) -> tuple[str, float, bool]:
            self._learned = (scores > 0.5).astype(np.int64)
            return "none", 0.0, True

        self._model = peer("lightgbm").train(dict(self._parameters), self._rows, valid_sets=[self._rows], feval=keep)
        return self

    def predict(self, X: Any) -> npt.NDArray[np.int64]:
        """Predict learning rows, given by their numbers."""
        return np.asarray(self._learned[np.asarray(X)[:, 0].astype(int)])

    def predict_features(self, features: Floats) -> npt.NDArray[np.int64]:
        """Predict any rows."""
        return np.asarray(self._model.predict(features) > 0.5).astype(np.int64)


def binned(data: fl.Dataset, aware: bool, parameters: Mapping[str, Any]) -> Any:
    """Bin the learning rows for LightGBM."""
    features, categorical = matrix(data, aware)
    rows = peer("lightgbm").Dataset(
        features, label=data.label, categorical_feature=categorical, params=dict(parameters), free_raw_data=False
    )
    return rows.construct()


def fit(
    split: Split, setting: Setting, estimates: None, boosting: Mapping[str, Any] = BOOSTING
) -> Callable[[], Floats]:
    """Fit one randomised classifier; the answer gives its probability of deciding 1 for the test rows.

    Settings are fairlearn's defaults; the tolerance is the bound that its constraint is given.
    """
    reductions = peer("fairlearn.reductions")
    constraint = getattr(reductions, _CONSTRAINTS[setting.criterion])
    learn, test = split.learn, split.test
    parameters = {**boosting, **_FIXED}
    estimator = _Booster(binned(learn, setting.aware, parameters), parameters)
    model = reductions.ExponentiatedGradient(estimator, constraint(difference_bound=setting.eps))
    numbers = np.arange(len(learn.label)).reshape(-1, 1)
    model.fit(numbers, learn.label.astype(int), sensitive_features=learn.group)

    def decide() -> Floats:
        seen, _ = matrix(test, setting.aware)
        total = np.zeros(len(seen))
        for number, weight in model.weights_.items():
            if weight > 0:
                predictor = model.predictors_[number]
                # Where the weighted labels are all alike, fairlearn keeps a constant in place of a booster.
                boosted = isinstance(predictor, _Booster)
                decided = predictor.predict_features(seen) if boosted else predictor.predict(seen)
                total += weight * decided
        return total

    return decide
