"""`Dataset` itself: invariants, splits, and the way back to a table."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairlimits.data import Dataset, Feature, Schema
from fairlimits.errors import DataError, InputError

SCHEMA = Schema(
    features=(Feature("x", "numeric"), Feature("c", "categorical", ("a", "b", None))),
    label="y",
    positive="yes",
    sensitive=("g",),
    groups=("A", "B", "C"),
    weight="w",
    negative="no",
)


def make(n: int = 6, **changes: Any) -> Dataset:
    parts: dict[str, Any] = {
        "schema": SCHEMA,
        "columns": {"x": np.arange(n, dtype=float), "c": np.arange(n) % 3},
        "group": np.arange(n) % 3,
        "label": np.arange(n) % 2,
        "weight": np.ones(n),
    }
    return Dataset(**{**parts, **changes})


def from_strata(group: Any, label: Any, n_groups: int) -> Dataset:
    schema = Schema((Feature("x", "numeric"),), "y", 1, ("g",), tuple(f"g{k}" for k in range(n_groups)))
    return Dataset(schema, {"x": np.arange(len(group), dtype=float)}, np.asarray(group), np.asarray(label))


def test_size_and_look() -> None:
    data = make()
    assert (data.n_rows, len(data), data.groups) == (6, 6, ("A", "B", "C"))
    assert repr(data) == "Dataset(6 rows, 2 features, label 'y', groups A, B, C)"
    np.testing.assert_array_equal(data.counts, [[1, 1], [1, 1], [1, 1]])


def test_arrays_are_read_only_and_the_callers_are_not() -> None:
    own = np.ones(6)
    data = make(weight=own)
    for array in (*data.columns.values(), data.group, data.label, data.weight):
        assert array is not None
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    own[0] = 5.0


def test_data_sets_are_compared_by_identity_and_can_be_copied() -> None:
    data = make()
    assert data == data
    assert data != make()
    assert copy.deepcopy(data).n_rows == 6


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"columns": {"x": np.zeros(6)}}, "'c' of the schema has no column"),
        ({"columns": {"x": np.zeros(6), "c": np.zeros(6, int), "d": np.zeros(6)}}, "knows no feature 'd'"),
        ({"columns": {"x": np.zeros(5), "c": np.zeros(6, int)}}, "'x' has shape"),
        ({"columns": {"x": np.zeros(6), "c": np.full(6, 3)}}, "'c' must hold whole numbers from -1 to 2"),
        ({"columns": {"x": np.zeros(6), "c": np.zeros(6)}}, "'c' must hold whole numbers"),
        ({"group": np.full(6, 3)}, "'group' must hold whole numbers from 0 to 2"),
        ({"group": np.full(6, -1)}, "'group' must hold"),
        ({"group": np.zeros(5, int)}, "'group' has shape"),
        ({"label": np.full(6, 256)}, "'label' must hold whole numbers from 0 to 1"),
        ({"weight": np.full(6, -1.0)}, "finite and 0 or more"),
        ({"weight": np.full(6, np.nan)}, "finite and 0 or more"),
        ({"weight": np.ones(5)}, "'weight' has shape"),
    ],
)
def test_constructor_refuses(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=message):
        make(**changes)


def test_take() -> None:
    data = make()
    some = data.take([4, 0])
    np.testing.assert_array_equal(some.columns["x"], [4, 0])
    np.testing.assert_array_equal(some.group, [1, 0])
    assert some.weight is not None
    np.testing.assert_array_equal(data.take(data.label == 1).columns["x"], [1, 3, 5])
    assert data.take([]).n_rows == 0
    assert data.take([]).to_frame().num_rows == 0
    np.testing.assert_array_equal(data.take([]).counts, np.zeros((3, 2)))


def test_split_keeps_proportions_and_repeats() -> None:
    rng = np.random.default_rng(0)
    data = from_strata(rng.integers(0, 3, 5000), rng.random(5000) < 0.1, 3)
    train, test = data.split(0.3, random_state=7)
    assert (len(train), len(test)) == (3500, 1500)
    np.testing.assert_allclose(test.counts, 0.3 * data.counts, atol=1)
    rows = np.concatenate([train.columns["x"], test.columns["x"]])
    np.testing.assert_array_equal(np.sort(rows), np.arange(5000))
    assert (np.diff(test.columns["x"]) > 0).all()
    np.testing.assert_array_equal(data.split(0.3, random_state=7)[1].columns["x"], test.columns["x"])
    assert not np.array_equal(data.split(0.3, random_state=8)[1].columns["x"], test.columns["x"])
    # Rows, not stretches of rows, are drawn.
    assert abs(test.columns["x"].mean() - 2500) < 150


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 1)), min_size=2, max_size=30),
    st.floats(0.001, 0.999),
    st.integers(0, 5),
)
def test_split_never_fails_on_tiny_strata(rows: list[tuple[int, int]], size: float, seed: int) -> None:
    group, label = np.array(rows).T
    data = from_strata(group, label, 4)
    train, test = data.split(size, random_state=seed)
    assert len(train) + len(test) == len(rows)
    assert len(test) == min(max(round(size * len(rows)), 1), len(rows) - 1)
    np.testing.assert_array_equal(train.counts + test.counts, data.counts)
    occupied = data.counts > 0
    if (data.counts - occupied).sum() >= len(test):
        assert (train.counts[occupied] > 0).all()


@pytest.mark.parametrize("size", [0, 1, -0.1, 1.5, float("nan")])
def test_split_refuses_sizes(size: float) -> None:
    with pytest.raises(InputError, match="between 0 and 1"):
        make().split(size)


def test_split_refuses_a_single_row() -> None:
    with pytest.raises(DataError, match="1 rows cannot be split"):
        make().take([0]).split()


def test_to_frame_gives_back_what_was_read() -> None:
    frame = pa.table(
        {
            "x": [1.5, None, 2.0, 3.0],
            "c": ["u", None, "v", "u"],
            "k": pa.array([7, 7, 30, 4]).dictionary_encode(),
            "b": [True, False, True, True],
            "sex": ["F", "M", "F", "M"],
            "race": ["p", "q", "q", "q"],
            "y": [">50K", "<=50K", "<=50K", ">50K"],
            "w": [1.0, 0.0, 2.0, 0.5],
        }
    )
    parts: dict[str, Any] = {"label": "y", "positive": ">50K", "sensitive": ["sex", "race"], "weight": "w"}
    data = Dataset.from_frame(frame, **parts)
    back = data.to_frame()
    assert back.column_names == frame.column_names
    assert back.to_pydict() == frame.to_pydict()
    # Dictionaries keep codes categorical, so the table reads as the same data set without further words.
    assert Dataset.from_frame(back, **parts).schema == data.schema
    assert Dataset.read_like(data.schema, back).n_rows == 4


@pytest.mark.parametrize(
    ("labels", "positive", "written"),
    [
        ([0, 1, 1], 1, [0, 1, 1]),
        ([True, False, True], False, [True, False, True]),
        ([0, 1, 2], 2, ["not 2", "not 2", "2"]),
        (["a", "b", "c"], "b", ["not b", "b", "not b"]),
    ],
)
def test_to_frame_labels(labels: list[Any], positive: Any, written: list[Any]) -> None:
    frame = pa.table({"x": [1, 2, 3], "g": ["A", "B", "A"], "y": labels})
    data = Dataset.from_frame(frame, label="y", positive=positive, sensitive="g")
    back = data.to_frame()
    assert back["y"].to_pylist() == written
    np.testing.assert_array_equal(Dataset.read_like(data.schema, back).label, data.label)
