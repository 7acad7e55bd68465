"""Learners of two-way chances, one by one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from fairlimits.law.outcome import learners
from fairlimits.law.outcome.learners import Booster, Logistic, OverallRate, Sample, fit_logistic, learners_for


@settings(max_examples=20)
@given(st.integers(0, 1_000), st.integers(2, 300), st.integers(0, 8), st.booleans(), st.floats(0.1, 30))
def test_logistic_regression_is_scikit_learns(
    seed: int, rows: int, columns: int, weighted: bool, strength: float
) -> None:
    rng = np.random.default_rng(seed)
    encoded = rng.normal(size=(rows, columns)).astype(np.float32)
    target = rng.random(rows) < expit(strength * encoded.sum(axis=1))
    target[:2] = False, True
    weight = rng.uniform(0.1, 3, rows) if weighted else None
    member = fit_logistic(encoded, Sample(np.zeros((rows, 0), np.uint8), target, weight))
    assert member.coefficients is not None
    found = expit(member.base + encoded @ member.coefficients.astype(float))
    if columns == 0:
        assert found == pytest.approx(np.average(target, weights=weight), abs=1e-5)
        return
    model = LogisticRegression(tol=1e-8, max_iter=10_000).fit(encoded.astype(float), target, sample_weight=weight)
    assert found == pytest.approx(model.predict_proba(encoded)[:, 1], abs=2e-3)


def test_many_columns_are_left_to_scikit_learn(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    encoded = rng.normal(size=(100, 4)).astype(np.float32)
    sample = Sample(np.zeros((100, 0), np.uint8), rng.random(100) < 0.5)
    first = fit_logistic(encoded, sample)
    monkeypatch.setattr(learners, "_MOST_NEWTON_COLUMNS", 3)
    second = fit_logistic(encoded, sample)
    assert first.coefficients == pytest.approx(second.coefficients, abs=2e-3)


def test_how_many_rows_decide_what_is_tried() -> None:
    assert learners_for(1_000_000, False) == (OverallRate(),)
    assert learners_for(50, True) == (OverallRate(), Logistic())
    leaves = []
    for rows in (100, 10_000, 100_000):
        *boosters, last = learners_for(rows, True)
        assert last == Logistic()
        assert all(isinstance(own, Booster) for own in boosters)
        assert len({own.name for own in boosters}) == len(boosters)
        leaves.append(max(own.leaves for own in boosters if isinstance(own, Booster)))
    assert leaves == [16, 16, 20]
