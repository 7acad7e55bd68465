"""`Feature` and `Schema`: invariants, and the way to plain data and back."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairlimits.data import MISSING, Feature, Schema, value_text
from fairlimits.errors import DataError, FileError

SCHEMA = Schema(
    features=(Feature("age", "numeric"), Feature("job", "categorical", ("clerk", "nurse", None))),
    label="hired",
    positive=1,
    sensitive=("sex", "race"),
    groups=("Female / Black", "Male / White"),
    weight="w",
    negative=0,
)

names = st.text(min_size=1, max_size=5)
categories = st.one_of(
    st.lists(st.text(), min_size=1, max_size=4, unique=True),
    st.lists(st.integers(-(2**53), 2**53), min_size=1, max_size=4, unique=True),
    st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=4, unique=True),
    st.just([False, True]),
)


@st.composite
def schemas(draw: Any) -> Schema:
    columns = draw(st.lists(names, min_size=3, max_size=7, unique=True))
    features = []
    for name in columns[2:]:
        if draw(st.booleans()):
            features.append(Feature(name, "numeric"))
        else:
            values = tuple(sorted(draw(categories)))
            features.append(Feature(name, "categorical", (*values, None) if draw(st.booleans()) else values))
    return Schema(
        features=tuple(features),
        label=columns[0],
        positive=draw(st.one_of(names, st.integers(), st.booleans())),
        sensitive=(columns[1],),
        groups=tuple(draw(st.lists(names, min_size=1, max_size=4, unique=True))),
    )


@given(schemas())
def test_schema_survives_json(schema: Schema) -> None:
    again = Schema.from_dict(json.loads(json.dumps(schema.to_dict())))
    assert again == schema
    # 1 == 1.0 == True in Python, so equality alone would not notice a changed type.
    for before, after in zip(schema.features, again.features, strict=True):
        assert [type(value) for value in before.categories] == [type(value) for value in after.categories]


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, MISSING), (1.0, "1"), (1.5, "1.5"), (3, "3"), (True, "True"), ("x", "x")],
)
def test_value_text(value: Any, text: str) -> None:
    assert value_text(value) == text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("age", "numeric", (1,)), "cannot have categories"),
        (("job", "categorical"), "at least one category"),
        (("job", "categorical", ("a", "a")), "twice"),
        (("job", "categorical", (None, "a")), "must be the last"),
        (("job", "ordinal"), "use 'numeric' or 'categorical'"),
    ],
)
def test_bad_feature(arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(DataError, match=message):
        Feature(*arguments)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"features": ()}, "no feature"),
        ({"sensitive": ()}, "at least one sensitive column"),
        ({"groups": ()}, "at least one sensitive column"),
        ({"positive": None}, "which value"),
        ({"groups": ("a", "a")}, "group twice"),
        ({"label": "age"}, "two parts to the column 'age'"),
        ({"weight": "sex"}, "two parts to the column 'sex'"),
    ],
)
def test_bad_schema(change: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=message):
        Schema(**{**SCHEMA.__dict__, **change})


@pytest.mark.parametrize("key", ["features", "label", "positive", "negative", "sensitive", "groups", "weight"])
def test_from_dict_needs_every_field(key: str) -> None:
    record = SCHEMA.to_dict()
    del record[key]
    with pytest.raises(FileError, match=f"no field '{key}'"):
        Schema.from_dict(record)


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("label", 3, "has 3 as 'label'"),
        ("positive", [1], "as 'positive'"),
        ("positive", 10**400, "too large a whole number as 'positive'"),
        ("groups", "ab", "as 'groups'"),
        ("groups", ["a", 1], "as 'groups'"),
        ("features", {"name": "age"}, "as 'features'"),
        ("features", ["age"], "must be a mapping"),
        (
            "features",
            [{"name": "age", "kind": "odd", "categories": [], "other": None, "date": False, "whole": False}],
            "cannot be used",
        ),
        ("features", [], "cannot be used"),
    ],
)
def test_from_dict_refuses(key: str, value: Any, message: str) -> None:
    with pytest.raises(FileError, match=message):
        Schema.from_dict({**SCHEMA.to_dict(), key: value})


def test_from_dict_refuses_what_is_no_mapping() -> None:
    with pytest.raises(FileError, match="must be a mapping"):
        Schema.from_dict([1])  # type: ignore[arg-type]
