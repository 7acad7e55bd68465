"""`Dataset.from_frame`: what is read, and what is refused."""

from __future__ import annotations

import datetime
import decimal
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from fairlimits.data import Dataset, Feature
from fairlimits.errors import ColumnsWarning, DataError, InputError

COLUMNS: dict[str, list[Any]] = {
    "age": [30, 41, None, 22, 35, 58],
    "job": ["nurse", None, "clerk", "clerk", "smith", "nurse"],
    "member": [True, False, True, True, False, False],
    "code": [10, 9, 9, 10, 2, 2],
    "sex": ["F", "M", "F", "M", "F", "M"],
    "race": ["b", "a", "a", "a", "b", "a"],
    "hired": ["yes", "no", "no", "yes", "yes", "no"],
    "w": [1.0, 2.0, 0.0, 1.0, 1.5, 1.0],
}
PARTS: dict[str, Any] = {
    "label": "hired",
    "positive": "yes",
    "sensitive": "sex",
    "weight": "w",
    "drop": "race",
}

MAKERS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "arrow": pa.table,
}


def table(**changes: Any) -> pa.Table:
    """Return the table above with columns changed, added or (None) left out."""
    merged = {**COLUMNS, **changes}
    return pa.table({name: values for name, values in merged.items() if values is not None})


def read(frame: Any = None, **changes: Any) -> Dataset:
    return Dataset.from_frame(table() if frame is None else frame, **{**PARTS, **changes})


def refused(message: str, frame: Any = None, **changes: Any) -> None:
    with pytest.raises(DataError, match=message):
        read(frame, **changes)


@pytest.mark.parametrize("maker", MAKERS.values(), ids=MAKERS.keys())
def test_every_kind_of_frame_reads_the_same(maker: Callable[[dict[str, Any]], Any]) -> None:
    data = read(maker(COLUMNS), categorical=["code"])
    assert data.schema.features == (
        Feature("age", "numeric"),
        Feature("job", "categorical", ("clerk", "nurse", "smith", None)),
        Feature("member", "categorical", (False, True)),
        Feature("code", "categorical", (2, 9, 10)),
    )
    assert [type(value) for value in data.schema.features[3].categories] == [int, int, int]
    np.testing.assert_array_equal(data.columns["age"], [30, 41, np.nan, 22, 35, 58])
    np.testing.assert_array_equal(data.columns["job"], [1, 3, 0, 0, 2, 1])
    np.testing.assert_array_equal(data.columns["member"], [1, 0, 1, 1, 0, 0])
    np.testing.assert_array_equal(data.columns["code"], [2, 1, 1, 2, 0, 0])
    np.testing.assert_array_equal(data.group, [0, 1, 0, 1, 0, 1])
    np.testing.assert_array_equal(data.label, [1, 0, 0, 1, 1, 0])
    assert data.weight is not None
    np.testing.assert_array_equal(data.weight, COLUMNS["w"])
    assert data.groups == ("F", "M")
    assert (data.schema.positive, data.schema.negative) == ("yes", "no")
    dtypes = [data.columns[name].dtype for name in ("age", "job")] + [data.group.dtype, data.label.dtype]
    assert dtypes == [np.float64, np.int32, np.int64, np.int8]


@pytest.mark.parametrize(
    ("column", "categories"),
    [
        (pl.Series(list("abcabc"), dtype=pl.Categorical), ("a", "b", "c")),
        (pl.Series(list("abcabc"), dtype=pl.Enum(["c", "b", "a", "unused"])), ("a", "b", "c")),
        (pa.array([3, 1, 1, 3, None, 1]).dictionary_encode(), (1, 3, None)),
        (pa.array(list("abcabc"), pa.string_view()), ("a", "b", "c")),
        (pd.Series([3, 1, 1, 3, 2, 1], dtype="category"), (1, 2, 3)),
        (pd.Series(["x", np.nan, "y", None, "x", "y"], dtype=object), ("x", "y", None)),
        (pd.Series([True, None, False, True, False, True], dtype=object), (False, True, None)),
    ],
)
def test_categorical_types(column: Any, categories: tuple[Any, ...]) -> None:
    maker = {"polars": pl.DataFrame, "pandas": pd.DataFrame}.get(type(column).__module__.split(".")[0], pa.table)
    frame = maker({"x": column, "sex": COLUMNS["sex"], "hired": COLUMNS["hired"]})
    data = Dataset.from_frame(frame, label="hired", positive="yes", sensitive="sex")
    assert data.schema.features == (Feature("x", "categorical", categories),)


@pytest.mark.parametrize(
    "column",
    [
        np.arange(6, dtype=np.uint8),
        np.arange(6, dtype=np.float16),
        [decimal.Decimal(k) for k in range(6)],
        pd.array([0, 1, 2, 3, 4, 5], dtype="Int32"),
        pd.Series(range(6), dtype=object),
    ],
    ids=["uint8", "float16", "decimal", "nullable", "object"],
)
def test_numeric_types(column: Any) -> None:
    frame = pd.DataFrame({"x": column, "sex": COLUMNS["sex"], "hired": COLUMNS["hired"]})
    data = Dataset.from_frame(frame, label="hired", positive="yes", sensitive="sex")
    np.testing.assert_array_equal(data.columns["x"], np.arange(6.0))


def test_pandas_index_is_no_column() -> None:
    frame = pd.DataFrame(COLUMNS).set_index(pd.Index([3, 1, 4, 15, 9, 2]))
    np.testing.assert_array_equal(read(frame).columns["code"], COLUMNS["code"])
    assert "job" not in read(frame.set_index("job")).columns


def test_numeric_override_parses_text() -> None:
    data = read(table(size=[" 1.5", "2", None, "-3", "4e1", "0"]), numeric="size")
    np.testing.assert_array_equal(data.columns["size"], [1.5, 2, np.nan, -3, 40, 0])


def test_column_without_a_value_is_numeric_and_missing() -> None:
    data = read(table(empty=pa.nulls(6)))
    assert Feature("empty", "numeric") in data.schema.features
    assert np.isnan(data.columns["empty"]).all()
    data = read(table(empty=pa.nulls(6)), categorical="empty")
    assert Feature("empty", "categorical", (None,)) in data.schema.features


def test_constant_features_are_kept() -> None:
    data = read(table(one=[1] * 6, same=["x"] * 6))
    assert Feature("same", "categorical", ("x",)) in data.schema.features
    assert "one" in data.columns


def test_nan_in_a_float_category_is_missing() -> None:
    data = read(table(level=[1.0, float("nan"), 2.0, 2.0, 1.0, None]), categorical="level")
    assert Feature("level", "categorical", (1.0, 2.0, None)) in data.schema.features


# groups -------------------------------------------------------------------------------------------


def test_intersectional_groups() -> None:
    data = read(sensitive=["sex", "race"], drop=None)
    assert data.groups == ("F / a", "F / b", "M / a")
    np.testing.assert_array_equal(data.group, [1, 2, 0, 2, 1, 2])
    assert "sex" not in data.columns
    assert "race" not in data.columns


def test_groups_of_numbers_sort_as_numbers() -> None:
    data = read(sensitive="code", drop=["race", "sex"])
    assert data.groups == ("2", "9", "10")
    assert read(table(code=[1.0, 0.0] * 3), sensitive="code").groups == ("0", "1")


def test_missing_sensitive_value() -> None:
    frame = table(sex=["F", None, "F", "M", "F", "M"])
    refused(r'missing in 1 of 6 rows.*missing_sensitive="drop".*missing_sensitive="group"', frame)
    grouped = read(frame, missing_sensitive="group")
    assert grouped.groups == ("F", "M", "(missing)")
    assert grouped.group[1] == 2
    dropped = read(frame, missing_sensitive="drop")
    assert dropped.groups == ("F", "M")
    np.testing.assert_array_equal(dropped.columns["code"], [10, 9, 10, 2, 2])
    # The dropped row was the only one without a job.
    assert dropped.schema.features[1].categories == ("clerk", "nurse", "smith")
    # A label may be missing in a row that goes anyway.
    assert read(table(sex=frame["sex"], hired=["yes", None, "no", "yes", "yes", "no"]), missing_sensitive="drop")
    refused("missing in every row", table(sex=pa.nulls(6, pa.string())), missing_sensitive="drop")
    with pytest.raises(InputError, match="use 'refuse', 'group' or 'drop'"):
        read(frame, missing_sensitive="keep")


def test_group_names_must_be_clear() -> None:
    refused("rename the value", table(race=["a / b", "a"] * 3), sensitive=["sex", "race"], drop=None)
    assert read(table(race=["a / b", "a"] * 3), sensitive="race", drop=None).groups == ("a", "a / b")
    frame = table(sex=["(missing)", None, "F", "M", "F", "M"])
    refused("same name", frame, missing_sensitive="group")


# label --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "positive", "stored"),
    [
        ([1, 0], None, 1),
        ([1.0, 0.0], None, 1.0),
        ([True, False], None, True),
        ([1, 0], "1", 1),
        ([1, 0], "1.0", 1),
        ([1.0, 0.0], "1", 1.0),
        ([True, False], "True", True),
        ([True, False], "1", True),
        ([True, False], 1, True),
        ([0, 1], 0, 0),
        ([False, True], False, False),
        ([">50K", "<=50K"], ">50K", ">50K"),
        ([" >50K", " <=50K"], ">50K", " >50K"),
        (["1", "0"], 1, "1"),
        ([2, 1], np.int64(2), 2),
        (["1.0", "1"], "1.0", "1.0"),
    ],
)
def test_positive_value(values: list[Any], positive: Any, stored: Any) -> None:
    data = read(table(hired=values * 3), positive=positive)
    assert data.schema.positive == stored
    assert type(data.schema.positive) is type(stored)
    np.testing.assert_array_equal(data.label, [1, 0] * 3)


def test_one_label_against_the_rest() -> None:
    data = read(table(hired=["a", "b", "c"] * 2), positive="b")
    np.testing.assert_array_equal(data.label, [0, 1, 0, 0, 1, 0])
    assert data.schema.negative is None


def test_bad_labels() -> None:
    refused("positive one.*'no', 'yes'.*positive=", positive=None)
    refused("positive one.*0, 1, 2", table(hired=[0, 1, 2] * 2), positive=None)
    refused("no value 'maybe': it holds 'no', 'yes'", positive="maybe")
    many = pa.table({"x": range(30), "sex": ["F", "M"] * 15, "y": range(30)})
    with pytest.raises(DataError, match="it holds 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 20 more"):
        Dataset.from_frame(many, label="y", positive=77, sensitive="sex")
    refused("'hired' is missing in 2 of 6 rows", table(hired=["yes", "no", None, None, "no", "yes"]))
    refused("is missing in 6 of 6 rows", table(hired=pa.nulls(6)))
    refused("one value only", table(hired=["yes"] * 6))
    refused("one value only", table(hired=[0] * 6), positive=None)
    refused("type timestamp", table(hired=[datetime.datetime(2020, 1, 1)] * 6))


# what is refused ----------------------------------------------------------------------------------


def test_bad_tables() -> None:
    refused("table is empty", pa.table({"hired": pa.array([], pa.string())}))
    refused("table is empty", pd.DataFrame())
    refused("Cannot read a table from dict", COLUMNS)
    refused("collect a LazyFrame", pl.LazyFrame(COLUMNS))
    refused("Column names must be text, got 0", pd.DataFrame([[1, 2]]))
    refused("two columns of the same name", pd.DataFrame([[1, 2]], columns=["a", "a"]))
    refused("two columns of the same name", pa.table([[1], [2]], names=["a", "a"]))
    refused("No feature is left", table(age=None, job=None, member=None, code=None))


@pytest.mark.parametrize("part", ["label", "sensitive", "weight", "drop", "numeric", "categorical"])
def test_unknown_column(part: str) -> None:
    sought = "column 'agee' to drop" if part == "drop" else f"{part} column 'agee'"
    refused(f"no {sought} in the table.*Did you mean 'age'.*Columns present: age, job", **{part: "agee"})


def test_unknown_column_without_a_near_one() -> None:
    refused("no label column 'zzzzzz' in the table. Columns present", label="zzzzzz")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"sensitive": "hired"}, "'hired' is both label and sensitive"),
        ({"weight": "sex"}, "'sex' is both sensitive and weight"),
        ({"drop": ["w"]}, "'w' is both weight and drop"),
        ({"numeric": "hired"}, "'hired' is both label and numeric"),
        ({"numeric": "code", "categorical": ["code"]}, "'code' is both numeric and categorical"),
        ({"sensitive": ["sex", "sex"]}, "'sex' is named twice as sensitive"),
        ({"sensitive": []}, "No sensitive column"),
    ],
)
def test_parts_must_differ(changes: dict[str, Any], message: str) -> None:
    refused(message, **changes)


def test_one_group_only() -> None:
    refused("one group only", table(sex=["F"] * 6))


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1, 2, -1, 1, 1, 1], "negative in 1 rows"),
        ([0] * 6, "0 in every row"),
        ([1, None, 1, 1, 1, 1], "missing in 1 rows"),
        ([1, float("nan"), 1, 1, 1, 1], "missing in 1 rows"),
        ([1, float("inf"), 1, 1, 1, 1], "1 infinite"),
        (list("abcdef"), "cannot be read as numbers"),
        ([1e306] * 6, "largest weight"),
        ([2.9e305, 1, 1, 1, 1, 1], "near 1"),
        ([1e-320] * 6, "largest weight"),
    ],
)
def test_bad_weights(weights: list[Any], message: str) -> None:
    refused(message, table(w=weights))


@pytest.mark.parametrize(
    "values",
    [
        [datetime.timedelta(1)] * 6,
        [datetime.time(1)] * 6,
        [[1, 2]] * 6,
        [{"a": 1}] * 6,
        [b"bytes"] * 6,
        pa.array([datetime.time(1)] * 6).dictionary_encode(),
    ],
)
def test_types_that_are_no_feature(values: Any) -> None:
    refused(r"Column 'x' is of type .* convert it .* drop=\[\"race\", \"x\"\]", table(x=values))
    refused("Column 'x' is of type", table(x=values), categorical="x")
    refused("Column 'x' is of type", table(x=values), numeric="x")


def test_mixed_and_strange_python_objects() -> None:
    frame = pd.DataFrame(COLUMNS)
    refused("Column 'x' mixes values", frame.assign(x=pd.Series([1, "a", 2.5, None, 3, 4], dtype=object)))
    refused("Column 'x'", frame.assign(x=pd.Series([1j] * 6)))
    refused("Column 'x' is of type", frame.assign(x=pd.Series(pd.period_range("2020", periods=6))))
    refused("Column 'x'", pl.DataFrame(COLUMNS).with_columns(x=pl.Series([object()] * 6, dtype=pl.Object)))


def test_infinite_numbers() -> None:
    refused("'x' holds 2 infinite", table(x=[1.0, float("inf"), 1.0, float("-inf"), 1.0, 1.0]))
    refused("'x' holds infinite", table(x=[1.0, float("inf")] * 3), categorical="x")


def test_text_that_is_no_number() -> None:
    refused("'job' cannot be read as numbers, because it holds 'nurse'", numeric="job")


def test_identifiers_are_refused() -> None:
    n = 1500
    frame = pa.table(
        {
            "x": range(n),
            "id": [f"p{k}" for k in range(n)],
            "sex": ["F", "M"] * (n // 2),
            "y": [0, 0, 1] * (n // 3),
        }
    )
    with pytest.raises(DataError, match=r"'id' has 1,500 different values.*identifier.*drop=\[\"id\"\]"):
        Dataset.from_frame(frame, label="y", sensitive="sex")
    with pytest.raises(DataError, match="'id' has 1500 different values"):
        Dataset.from_frame(frame, label="y", sensitive="id")
    assert Dataset.from_frame(frame, label="y", sensitive="sex", drop="id").n_rows == n
    # As many values are legal if some are seen often enough, and are grouped.
    repeated = pa.concat_tables([frame] * 3 + [frame.slice(0, 2)] * 9)
    with pytest.raises(DataError, match="each in fewer than 10 rows"):
        Dataset.from_frame(pa.concat_tables([frame] * 3), label="y", sensitive="sex")
    with pytest.warns(
        ColumnsWarning, match="Of id, the 2 most frequent values are kept; all others, in 4,494 of 4,518"
    ):
        data = Dataset.from_frame(repeated, label="y", sensitive="sex")
    assert data.schema.features[1] == Feature("id", "categorical", ("p0", "p1", "(other)"), "(other)")
    np.testing.assert_array_equal(np.bincount(data.columns["id"]), [12, 12, 4494])


def test_frames_that_were_joined_are_read() -> None:
    one = pd.DataFrame({"job": ["a", "b"], "age": [1.5, 2.5], "sex": ["f", "m"], "paid": ["no", "yes"]})
    data = Dataset.from_frame(pd.concat([one, one]), label="paid", positive="yes", sensitive="sex")
    assert data.n_rows == 4
    assert data.schema.features[0].categories == ("a", "b")
