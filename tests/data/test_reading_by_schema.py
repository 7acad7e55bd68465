"""`Dataset.read_like` and `read_features`: new tables read by an existing schema."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from fairlimits.data import Dataset, read_features
from fairlimits.errors import DataError, InputError

COLUMNS: dict[str, list[Any]] = {
    "age": [30, 41, None, 22, 35, 58],
    "job": ["nurse", None, "clerk", "clerk", "smith", "nurse"],
    "member": [True, False, True, True, False, False],
    "code": [10, 9, 9, 10, 2, 2],
    "sex": ["F", "M", "F", "M", "F", "M"],
    "hired": ["yes", "no", "no", "yes", "yes", "no"],
    "w": [1.0, 2.0, 0.0, 1.0, 1.5, 1.0],
}
MAKERS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "arrow": pa.table,
}


def table(**changes: Any) -> pa.Table:
    """Return the table above with columns changed or (None) left out."""
    merged = {**COLUMNS, **changes}
    return pa.table({name: values for name, values in merged.items() if values is not None})


def read(frame: Any = None, **changes: Any) -> Dataset:
    parts = {"label": "hired", "positive": "yes", "sensitive": "sex", "weight": "w", **changes}
    return Dataset.from_frame(table() if frame is None else frame, **parts)


@pytest.mark.parametrize("maker", MAKERS.values(), ids=MAKERS.keys())
def test_read_like(maker: Callable[[dict[str, Any]], Any]) -> None:
    data = read()
    rows = {name: values[3:] for name, values in COLUMNS.items()}
    again = Dataset.read_like(data.schema, maker({**rows, "other": [1, 2, 3]}))
    assert again.schema is data.schema
    expected = data.take([3, 4, 5])
    for name, column in expected.columns.items():
        np.testing.assert_array_equal(again.columns[name], column)
    np.testing.assert_array_equal(again.group, expected.group)
    np.testing.assert_array_equal(again.label, expected.label)
    np.testing.assert_array_equal(again.weight, expected.weight)


def test_read_like_takes_one_class_and_one_group() -> None:
    again = Dataset.read_like(read().schema, table().slice(0, 1))
    assert (again.n_rows, again.label[0], again.group[0]) == (1, 1, 0)


def test_read_like_knows_numbers_and_truth_values_in_another_type() -> None:
    schema = read(table(hired=[1, 0] * 3), positive=1, categorical="code").schema
    frame = table(hired=[1.0, 0.0] * 3, code=[2.0, 9.0, 10.0] * 2, member=[1, 0] * 3)
    again = Dataset.read_like(schema, frame)
    np.testing.assert_array_equal(again.label, [1, 0] * 3)
    np.testing.assert_array_equal(again.columns["code"], [0, 1, 2] * 2)
    np.testing.assert_array_equal(again.columns["member"], [1, 0] * 3)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"job": None}, "no feature column 'job'"),
        ({"hired": None}, "no label column 'hired'"),
        ({"sex": None}, "no sensitive column 'sex'"),
        ({"w": None}, "no weight column 'w'"),
        ({"hired": ["yes.", "no."] * 3}, "holds 'no.', 'yes.', where only 'yes' and 'no'"),
        ({"hired": ["yes", None] * 3}, "missing in 3 of 6"),
        ({"sex": ["F", "X"] * 3}, r"groups 'X' are not among the known ones \(F, M\)"),
        ({"sex": ["F", None] * 3}, r"groups '\(missing\)' are not"),
        ({"job": ["baker", "nurse"] * 3}, "'job' holds values that are not in the schema: 'baker'"),
        ({"member": [True, None] * 3}, r"'member' holds .*: \(missing\)"),
    ],
)
def test_read_like_refuses(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=message):
        Dataset.read_like(read().schema, table(**changes))


def test_unseen_categories_as_missing() -> None:
    schema = read().schema
    frame = table(job=["baker", "nurse", None] * 2, member=[True, None] * 3)
    data = Dataset.read_like(schema, frame, unseen="missing")
    np.testing.assert_array_equal(data.columns["job"], [3, 1, 3] * 2)
    # "member" has no missing category to fall back on.
    np.testing.assert_array_equal(data.columns["member"], [1, -1] * 3)
    assert data.to_frame()["member"].to_pylist() == [True, None] * 3
    with pytest.raises(InputError, match="use 'refuse' or 'missing'"):
        Dataset.read_like(schema, frame, unseen="drop")  # type: ignore[arg-type]


def test_read_features_needs_neither_label_nor_group() -> None:
    data = read()
    columns = read_features(data.schema, table(hired=None, sex=None, w=None))
    assert list(columns) == list(data.columns)
    for name, column in columns.items():
        np.testing.assert_array_equal(column, data.columns[name])
    with pytest.raises(DataError, match="not in the schema: 'baker'"):
        read_features(data.schema, table(job=["baker"] * 6))
    assert set(read_features(data.schema, table(job=["baker"] * 6), unseen="missing")["job"]) == {3}
    with pytest.raises(DataError, match="no feature column 'age'"):
        read_features(data.schema, table(age=None))
    with pytest.raises(DataError, match="'age' cannot be read as numbers"):
        read_features(data.schema, table(age=["old"] * 6))
