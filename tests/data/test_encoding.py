"""`Encoding`: distances, missing values, decoding, and the way to plain data and back."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairlimits.data import Dataset, EncodedFeature, Encoding, load_dataset
from fairlimits.errors import DataError, FileError


def make(columns: dict[str, Any], weight: Any = None, **parts: Any) -> Dataset:
    n = len(next(iter(columns.values())))
    table = {**columns, "g": [k % 2 for k in range(n)], "y": [k % 2 for k in range(n)]}
    if weight is not None:
        table["w"] = weight
        parts["weight"] = "w"
    return Dataset.from_frame(pa.table(table), label="y", sensitive="g", **parts)


MIXED = {
    "x": [1.0, 2.0, None, 6.0, 7.0, 9.0],
    "z": [3, 3, 1, 2, 5, 8],
    "c": ["u", "v", None, "u", "v", "u"],
    "k": pa.array([7, 7, 30, 4, 4, 4]).dictionary_encode(),
}


def test_numeric_columns_have_mean_0_and_variance_one_half() -> None:
    rng = np.random.default_rng(0)
    data = make({"x": rng.normal(5, 30, 400), "z": rng.exponential(1e-9, 400)})
    rows = Encoding.fit(data).transform_dataset(data).astype(float)
    np.testing.assert_allclose(rows.mean(axis=0), 0, atol=1e-6)
    np.testing.assert_allclose(rows.var(axis=0), 0.5, rtol=1e-5)


def test_weights_count() -> None:
    data = make({"x": [1.0, 5.0, 100.0, 2.0]}, weight=[2.0, 1.0, 0.0, 3.0])
    repeated = make({"x": [1.0, 1.0, 5.0, 2.0, 2.0, 2.0]})
    weighted, plain = Encoding.fit(data).features[0], Encoding.fit(repeated).features[0]
    assert weighted.center == pytest.approx(plain.center)
    assert weighted.scale == pytest.approx(plain.scale)


def test_weighted_median_fills_in() -> None:
    data = make({"x": [1.0, 2.0, 50.0, 3.0, None]}, weight=[1.0, 1.0, 0.0, 9.0, 1.0])
    assert Encoding.fit(data).features[0].fill == 3.0
    # Rows of weight 0 have no say, not even when no other row has a value.
    assert Encoding.fit(make({"x": [7.0, None, None, None]}, weight=[0, 1, 1, 1])).features[0].fill == 0.0


def test_different_categories_are_at_squared_distance_1() -> None:
    data = make({"c": ["u", "v", "w", None]})
    rows = Encoding.fit(data).transform_dataset(data).astype(float)
    squared = ((rows[:, None] - rows[None]) ** 2).sum(axis=2)
    np.testing.assert_allclose(squared, 1 - np.eye(4), atol=1e-6)


def test_missing_numbers_are_filled_and_flagged() -> None:
    data = make({"x": [1.0, None, 3.0, 8.0]})
    encoding = Encoding.fit(data)
    number, flag = encoding.features
    assert (flag.name, flag.kind, flag.start, flag.stop) == ("x", "missing", 1, 2)
    assert number.fill == 3.0
    filled = np.array([1.0, 3.0, 3.0, 8.0])
    assert number.center == pytest.approx(filled.mean())
    assert number.scale == pytest.approx(np.sqrt(2) * filled.std())
    rows = encoding.transform_dataset(data)
    np.testing.assert_array_equal(rows[:, 1], [0, 1, 0, 0])
    # A present median and a missing value differ by the flag alone.
    assert ((rows[1] - rows[2]) ** 2).sum() == pytest.approx(1.0)


def test_missing_numbers_that_appear_later_are_filled_only() -> None:
    encoding = Encoding.fit(make({"x": [1.0, 3.0, 3.0, 8.0]}))
    assert encoding.n_columns == 1
    rows = encoding.transform({"x": np.array([np.nan, 3.0])}, 2)
    assert rows[0] == rows[1]


@pytest.mark.parametrize("values", [[0.1] * 4, [1e300] * 4, [-5] * 4])
def test_constant_columns_are_zero(values: list[float]) -> None:
    data = make({"x": values})
    encoding = Encoding.fit(data)
    np.testing.assert_array_equal(encoding.transform_dataset(data), np.zeros((4, 1)))
    np.testing.assert_array_equal(encoding.transform({"x": np.array([77.0])}, 1), [[0]])
    np.testing.assert_array_equal(encoding.decode([[0.0]])["x"], values[:1])


def test_column_without_a_value() -> None:
    data = make({"x": pa.nulls(4)})
    encoding = Encoding.fit(data)
    np.testing.assert_array_equal(encoding.transform_dataset(data), [[0, 1]] * 4)
    assert np.isnan(np.asarray(encoding.decode([[0, 1]])["x"], np.float64)).all()


def test_extreme_numbers_stay_finite() -> None:
    data = make({"x": [1e200, -1e200, 3.0, 0.0], "z": [1e-200, 0.0, 0.0, 2e-200], "t": [0.0, 1.0, 1.0, 0.0]})
    encoding = Encoding.fit(data)
    rows = encoding.transform_dataset(data)
    np.testing.assert_allclose(rows.astype(float).var(axis=0), 0.5, rtol=1e-5)
    far = encoding.transform({name: np.full(1, 1e300) for name in "xzt"}, 1)
    assert np.isfinite(far**2).all()


def test_layout() -> None:
    encoding = Encoding.fit(make(MIXED))
    assert encoding.n_columns == 9
    assert [(f.name, f.kind, f.start, f.stop) for f in encoding.features] == [
        ("x", "numeric", 0, 1),
        ("x", "missing", 1, 2),
        ("z", "numeric", 2, 3),
        ("c", "categorical", 3, 6),
        ("k", "categorical", 6, 9),
    ]
    rows = encoding.transform_dataset(make(MIXED))
    assert rows.dtype == np.float32
    assert rows.flags.c_contiguous


def test_rows_past_the_first_block(monkeypatch: pytest.MonkeyPatch) -> None:
    data = make(MIXED)
    encoding = Encoding.fit(data)
    expected = encoding.transform_dataset(data)
    monkeypatch.setattr("fairlimits.data.encoding._BLOCK", 4)
    np.testing.assert_array_equal(encoding.transform_dataset(data), expected)


def test_unknown_category_is_equally_far_from_all() -> None:
    encoding = Encoding.fit(make({"c": ["u", "v", "w", "u"]}))
    rows = encoding.transform({"c": np.array([0, -1, 2], dtype=np.int32)}, 3)
    np.testing.assert_array_equal(rows[1], np.zeros(3))


def test_no_rows() -> None:
    assert Encoding.fit(make(MIXED)).transform_dataset(make(MIXED).take([])).shape == (0, 9)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"x": np.zeros(2)}, "'c' was encoded"),
        ({"x": np.zeros(3), "c": np.zeros(2, int)}, "'x' has shape"),
        ({"x": np.zeros(2), "c": np.array([0, 2])}, "'c' holds codes outside its 2 categories"),
        ({"x": np.zeros(2), "c": np.array([0, -2])}, "'c' holds codes"),
    ],
)
def test_transform_refuses(columns: dict[str, Any], message: str) -> None:
    encoding = Encoding.fit(make({"x": [1, 2, 3, 4], "c": list("uvuv")}))
    with pytest.raises(DataError, match=message):
        encoding.transform(columns, 2)


def test_decoding_single_rows_gives_them_back() -> None:
    data = make(MIXED)
    encoding = Encoding.fit(data)
    decoded = encoding.decode(encoding.transform_dataset(data))
    assert list(decoded) == ["x", "z", "c", "k"]
    np.testing.assert_allclose(np.asarray(decoded["x"], np.float64), [1, 2, np.nan, 6, 7, 9], rtol=1e-5)
    np.testing.assert_allclose(np.asarray(decoded["z"], np.float64), MIXED["z"], rtol=1e-5)
    assert decoded["c"] == MIXED["c"]
    assert decoded["k"] == [7, 7, 30, 4, 4, 4]
    assert all(type(value) is int for value in decoded["k"])
    for share in encoding.shares(encoding.transform_dataset(data)).values():
        np.testing.assert_allclose(share, 1, atol=1e-6)


def test_decoding_a_mean_tells_what_the_cell_holds() -> None:
    data = make(MIXED)
    encoding = Encoding.fit(data)
    centre = encoding.transform_dataset(data).mean(axis=0, keepdims=True)
    decoded = encoding.decode(centre)
    # The mean of the five values that are there, not of six with the median among them.
    np.testing.assert_allclose(np.asarray(decoded["x"], np.float64), [5.0], rtol=1e-5)
    assert (decoded["c"], decoded["k"]) == (["u"], [4])
    shares = encoding.shares(centre)
    assert list(shares) == ["c", "k"]
    np.testing.assert_allclose([shares["c"][0], shares["k"][0]], [0.5, 0.5], rtol=1e-5)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.one_of(st.none(), st.floats(-1e6, 1e6)), min_size=2, max_size=20))
def test_numbers_survive_encoding(values: list[float | None]) -> None:
    data = make({"x": pa.array(values, pa.float64())})
    encoding = Encoding.fit(data)
    decoded = encoding.decode(encoding.transform_dataset(data))["x"]
    expected = np.array([np.nan if value is None else value for value in values])
    spread = max(encoding.features[0].scale, np.nanmax(np.abs(expected), initial=0.0))
    np.testing.assert_allclose(np.asarray(decoded, np.float64), expected, atol=1e-5 * spread + 1e-300)


@pytest.mark.parametrize("centroids", [[1.0, 2.0], [[1.0, 2.0]], [[[1.0]]]])
def test_decode_refuses_other_shapes(centroids: Any) -> None:
    encoding = Encoding.fit(make({"x": [1, 2, 3, 4]}))
    with pytest.raises(DataError, match="have 1 columns"):
        encoding.decode(centroids)
    with pytest.raises(DataError, match="have 1 columns"):
        encoding.shares(centroids)


def test_encoding_survives_json() -> None:
    encoding = Encoding.fit(make(MIXED))
    again = Encoding.from_dict(json.loads(json.dumps(encoding.to_dict(), allow_nan=False)))
    assert again == encoding


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kind": "text"}, "unknown kind 'text'"),
        ({"start": 1}, "should take up"),
        ({"stop": 3}, "should take up"),
        ({"start": True}, "has True as 'start'"),
        ({"scale": -1.0}, "negative scale"),
        ({"center": float("nan")}, "must be finite"),
        ({"fill": "0"}, "has '0' as 'fill'"),
        ({"name": None}, "has None as 'name'"),
        ({"categories": [[1]]}, "as 'categories'"),
        ({"kind": "categorical", "stop": 0}, "should take up"),
    ],
)
def test_from_dict_refuses(change: dict[str, Any], message: str) -> None:
    record = Encoding.fit(make({"x": [1, 2, 3, 4]})).to_dict()
    record["features"][0].update(change)
    with pytest.raises(FileError, match=message):
        Encoding.from_dict(record)


def test_from_dict_needs_features() -> None:
    with pytest.raises(FileError, match="no field 'features'"):
        Encoding.from_dict({})
    assert Encoding.from_dict({"features": []}).n_columns == 0


def test_gaps_between_features_are_refused() -> None:
    with pytest.raises(DataError, match="should take up 1 columns from 0"):
        Encoding((EncodedFeature("x", "numeric", 1, 2),))


def test_adult_takes_105_columns() -> None:
    assert Encoding.fit(load_dataset("adult")).n_columns == 105
