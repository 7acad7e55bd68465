"""Fairlearn's exponentiated gradient over boosting, with the booster's repeated work remembered.

Out of the box a fit spends half its time on binning the same rows and on predicting, twice, the rows that a booster
was just fitted on. Here the rows are binned once and the training scores are kept: the results are the same to the
last digit, the times are better than what a user of the peer sees.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

import fairlimits as fl
from benchmarks.peers.splits import BOOSTING, Floats, Setting, Split, matrix, peer

_PARAMETERS = {"objective": "binary", "metric": "None", "verbose": -1, "num_threads": 1} | BOOSTING


class _Booster:
    """A booster whose X are numbers of rows of one table, binned once for all its clones."""

    def __init__(self, rows: Any) -> None:
        self._rows = rows
        self._model: Any = None
        self._learned: npt.NDArray[np.int64] = np.zeros(0, dtype=np.int64)

    def __sklearn_clone__(self) -> _Booster:
        return _Booster(self._rows)

    def fit(self, X: Any, y: Any, sample_weight: Any) -> _Booster:
        """Fit on all rows, whatever X says: fairlearn changes labels and weights only."""
        self._rows.set_label(np.asarray(y))
        self._rows.set_weight(np.asarray(sample_weight))

        def keep(scores: Floats, _: Any) -> tuple[str, float, bool]:
            self._learned = (scores > 0.5).astype(np.int64)
            return "none", 0.0, True

        self._model = peer("lightgbm").train(_PARAMETERS, self._rows, valid_sets=[self._rows], feval=keep)
        return self

    def predict(self, X: Any) -> npt.NDArray[np.int64]:
        """Predict learning rows, given by their numbers."""
        return np.asarray(self._learned[np.asarray(X)[:, 0].astype(int)])

    def predict_features(self, features: Floats) -> npt.NDArray[np.int64]:
        """Predict any rows."""
        return np.asarray(self._model.predict(features) > 0.5).astype(np.int64)


def binned(data: fl.Dataset, aware: bool) -> Any:
    """Bin the learning rows for LightGBM."""
    features, categorical = matrix(data, aware)
    rows = peer("lightgbm").Dataset(
        features, label=data.label, categorical_feature=categorical, params=_PARAMETERS, free_raw_data=False
    )
    return rows.construct()


def fit(split: Split, setting: Setting, estimates: None) -> Callable[[], Floats]:
    """Fit one randomised classifier; the answer gives its probability of deciding 1 for the test rows.

    Settings are fairlearn's defaults; the tolerance is the bound that its constraint is given.
    """
    reductions = peer("fairlearn.reductions")
    constraint = {"DP": reductions.DemographicParity, "EOd": reductions.EqualizedOdds}[setting.criterion]
    learn, test = split.learn, split.test
    estimator = _Booster(binned(learn, setting.aware))
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
