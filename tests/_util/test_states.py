"""What results are restored from is checked: types of fields, and plain data as in files."""

from __future__ import annotations

import copy
from dataclasses import replace

import pytest

from fairlimits import load_dataset
from fairlimits._util.states import check_items, check_kinds
from fairlimits.data import Encoding, Schema
from fairlimits.errors import FileError
from fairlimits.law import Origin

DATA = load_dataset("adult").take(range(200))


@pytest.mark.parametrize("thing", [DATA.schema, Encoding.fit(DATA), Origin(rows=3, generator="cart")])
def test_a_state_comes_back_whole(thing: object) -> None:
    assert copy.deepcopy(thing) == thing


def test_a_schema_keeps_what_files_do_without() -> None:
    schema = replace(DATA.schema, left_out=("id",), frame_kind="pandas")
    again = copy.deepcopy(schema)
    assert (again.left_out, again.frame_kind) == (("id",), "pandas")
    unknown = schema.__getstate__() | {"frame_kind": "os"}
    again.__setstate__(unknown)
    assert again.frame_kind == "pyarrow"


@pytest.mark.parametrize("changed", [{"plain": "{}"}, {"left_out": [1]}, {"frame_kind": 3}])
def test_a_damaged_state_is_refused(changed: dict[str, object]) -> None:
    with pytest.raises(FileError):
        Schema.__new__(Schema).__setstate__(DATA.schema.__getstate__() | changed)


def test_kinds_of_fields() -> None:
    origin = Origin(rows=3)
    check_kinds(origin, rows=int, generator=(str, type(None)))
    with pytest.raises(TypeError, match="rows of a Origin is a int"):
        check_kinds(origin, rows=str)
    with pytest.raises(TypeError, match="is a bool"):
        check_kinds(replace(origin, rows=True), rows=int)
    check_items(DATA.schema, groups=str)
    with pytest.raises(TypeError, match="not a tuple of what belongs there"):
        check_items(DATA.schema, groups=int)
    with pytest.raises(TypeError, match="not a tuple of what belongs there"):
        check_items(DATA.schema, label=str)
