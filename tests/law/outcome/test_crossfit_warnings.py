"""Learning leaves the warning filters of the process alone, whatever scikit-learn does with them."""

from __future__ import annotations

import warnings

from sklearn.ensemble import HistGradientBoostingClassifier

import fairlimits as fl
from known_people import known


def test_filters_are_as_they_were_and_nothing_is_said() -> None:
    data, _ = known(0, 1_500)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        before = list(warnings.filters)
        for _ in range(3):
            fl.estimate_outcome(data, folds=3)
            fl.estimate_outcome(data, folds=3, estimator=HistGradientBoostingClassifier(max_iter=5))
        assert warnings.filters == before
    assert said == []
