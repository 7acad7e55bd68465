"""`Decorrelator` hides the group in unseen rows, in the kind of table that comes in."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from applicants import applicants, numbers
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from fairlimits import Decorrelation, Decorrelator, InputError
from fairlimits.errors import DataError

X, Y, SEX = applicants()
NEW_X, NEW_Y, NEW_SEX = applicants(2_000, seed=1)


@pytest.fixture(scope="module")
def fitted() -> Decorrelator:
    return Decorrelator({"DP": 0.05}, cells=32).fit(X, Y, sensitive_features=SEX)


def told_apart(rows: Any) -> float:
    """How well the group is told from rows: 0.5 not at all."""
    half = len(rows) // 2
    adversary = LogisticRegression().fit(rows[:half], NEW_SEX[:half])
    return float(roc_auc_score(NEW_SEX[half:] == "m", adversary.predict_proba(rows[half:])[:, 1]))


def test_the_group_is_hidden_in_unseen_rows(fitted: Decorrelator) -> None:
    assert isinstance(fitted.plan_, Decorrelation)
    assert fitted.plan_.correlation < 1e-6 < fitted.plan_.baseline_correlation
    assert fitted.distribution_.n_cells == 32
    before, after = numbers(NEW_X), numbers(fitted.transform(NEW_X))
    assert told_apart(before) > 0.65
    assert abs(told_apart(after) - 0.5) < 0.08


def test_the_same_row_is_sent_to_the_same_place(fitted: Decorrelator) -> None:
    whole = fitted.transform(NEW_X[:100])
    order = np.random.default_rng(0).permutation(100)
    pd.testing.assert_frame_equal(fitted.transform(NEW_X.iloc[order]), whole.iloc[order])
    other = Decorrelator({"DP": 0.05}, cells=32, random_state=1).fit(X, Y, sensitive_features=SEX)
    assert not other.transform(NEW_X[:100]).equals(whole)
    again = Decorrelator({"DP": 0.05}, cells=32).fit_transform(X, Y, sensitive_features=SEX)
    pd.testing.assert_frame_equal(again, fitted.transform(X))


def test_rows_come_out_as_they_came_in(fitted: Decorrelator) -> None:
    whole = fitted.transform(NEW_X[10:60])
    assert list(whole.index) == list(range(10, 60))
    assert list(whole.columns) == list(fitted.get_feature_names_out()) == ["skill", "area"]
    polars = fitted.transform(pl.from_pandas(NEW_X[10:60]))
    assert isinstance(polars, pl.DataFrame)
    arrow = fitted.transform(pa.Table.from_pandas(NEW_X[10:60], preserve_index=False))
    assert isinstance(arrow, pa.Table)
    np.testing.assert_array_equal(polars["skill"].to_numpy(), whole["skill"])
    assert arrow["area"].to_pylist() == whole["area"].to_list()
    with pytest.warns(UserWarning, match="valid feature names"):
        objects = fitted.transform(NEW_X[10:60].to_numpy(dtype=object))
    assert objects.dtype == object
    assert list(objects[:, 1]) == whole["area"].to_list()


def test_numbers_stay_numbers() -> None:
    model = Decorrelator(cells=16).fit(numbers(X), Y, sensitive_features=SEX)
    assert model.transform(numbers(X)).dtype == np.float64
    assert list(model.get_feature_names_out()) == ["x0", "x1", "x2"]
    assert list(model.set_output(transform="polars").transform(numbers(X)).columns) == ["x0", "x1", "x2"]


def test_an_aware_map_needs_the_group() -> None:
    model = Decorrelator({"DP": 0.05}, cells=16, aware=True).fit(X, Y, sensitive_features=SEX)
    with pytest.raises(InputError, match="pass sensitive_features"):
        model.transform(X)
    mapped = model.transform(X, sensitive_features=SEX)
    assert list(mapped.columns) == list(model.get_feature_names_out()) == ["skill", "area", "scored_as"]
    assert set(mapped["scored_as"]) <= {"f", "m"}
    women = model.transform(X[SEX == "f"], sensitive_features=SEX[SEX == "f"])
    pd.testing.assert_frame_equal(women, mapped[SEX == "f"])


def test_missing_values_and_unseen_categories() -> None:
    holes = X.copy()
    holes.loc[::5, "area"] = None
    model = Decorrelator(cells=16).fit(holes, Y, sensitive_features=SEX)
    assert model.transform(X.assign(area="west")).shape == X.shape


def test_cells_by_default_and_of_the_outcome() -> None:
    assert Decorrelator().fit(X[:60], Y[:60], sensitive_features=SEX[:60]).distribution_.n_cells == 60


def test_one_group_has_nothing_to_hide() -> None:
    model = Decorrelator(cells=8).fit(X, Y)
    assert model.plan_.kept_in_place == pytest.approx(1)
    with pytest.raises(InputError, match="give sensitive_features"):
        Decorrelator({"DP": 0.1}).fit(X, Y)
    with pytest.raises(InputError, match="aware=True"):
        Decorrelator(aware=True).fit(X, Y)


def test_weights_count() -> None:
    weight = np.where(Y == 1, 2.0, 1.0)
    model = Decorrelator(cells=8).fit(X, Y, sensitive_features=SEX, sample_weight=weight)
    assert model.distribution_.mass[:, :, 1].sum() == pytest.approx(weight[Y == 1].sum() / weight.sum(), abs=1e-3)


def test_what_is_wrong_is_said(fitted: Decorrelator) -> None:
    with pytest.raises(NotFittedError):
        Decorrelator().transform(X)
    with pytest.raises(NotFittedError):
        Decorrelator().get_feature_names_out()
    with pytest.raises(ValueError, match="same order"):
        fitted.transform(X[["area", "skill"]])
    with pytest.raises(DataError, match="ask for at most"):
        Decorrelator(cells=801).fit(X, Y, sensitive_features=SEX)
    with pytest.raises(InputError, match="cells is 'many'"):
        Decorrelator(cells="many").fit(X, Y, sensitive_features=SEX)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="scored_as"):
        Decorrelator(aware=True).fit(X.rename(columns={"area": "scored_as"}), Y, sensitive_features=SEX)
