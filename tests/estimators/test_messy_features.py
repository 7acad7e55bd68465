"""Estimators read messy features as tables are read: rare values grouped, dates as days, all troubles told at once."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from applicants import applicants, quick

from fairlimits import load, save
from fairlimits.errors import ColumnsWarning, DataError

X, Y, SEX = applicants(600)


def test_rare_values_and_dates(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    towns = np.where(rng.random(600) < 0.7, rng.integers(0, 10, 600), rng.integers(0, 200, 600))
    frame = X.assign(town=[f"t{k}" for k in towns], day=pd.date_range("2020", periods=600))
    with pytest.warns(ColumnsWarning) as said:
        fitted = quick().fit(frame, Y, sensitive_features=SEX)
    assert [str(own.message)[:9] for own in said] == ["Dates rea", "Of town, "]
    new = frame.head(3).assign(town=["nowhere", "t3", "t199"])
    save(fitted, tmp_path / "fitted")
    again = load(tmp_path / "fitted")
    np.testing.assert_array_equal(again.predict_proba(new), fitted.predict_proba(new))
    # Nobody has seen the one, and hardly anybody the other: they are the same to the rule.
    same = frame.head(2).assign(town=["nowhere", "t199"], skill=0.0, area="north", day=frame["day"][0])
    first, second = fitted.predict_proba(same)
    np.testing.assert_array_equal(first, second)


def test_all_troubles_are_told_at_once() -> None:
    frame = X.assign(name=[f"p{k}" for k in range(600)], odd=[[1]] * 600)
    with pytest.raises(
        DataError, match=r"(?s)Column 'name' has 600 different values.*Column 'odd' is of type"
    ) as found:
        quick().fit(frame, Y, sensitive_features=SEX)
    assert "drop=" not in str(found.value)
