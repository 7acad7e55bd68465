"""Groups too small to speak about: named with their counts, and what is done with them, as by hand."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairlimits import Dataset, load_dataset, open_data
from fairlimits.data import Part, Schema, read_groups
from fairlimits.errors import DataError, FileError, InputError, SmallGroupsWarning

PARTS: dict[str, Any] = {"label": "y", "sensitive": "race"}
NAMES = ("Asian", "Black", "Eskimo", "Other", "White")


def people(counts: dict[str, tuple[int, int]], weightless: int = 0, seed: int = 0) -> pd.DataFrame:
    """So many people of each group and label, in any order, and in each some who do not count."""
    rows = [
        (name, y, 1.0 if k < number else 0.0)
        for name, own in counts.items()
        for y, number in enumerate(own)
        for k in range(number + weightless)
    ]
    frame = pd.DataFrame(rows, columns=["race", "y", "w"]).sample(frac=1, random_state=seed, ignore_index=True)
    rng = np.random.default_rng(seed)
    return frame.assign(age=rng.integers(18, 80, len(frame)), job=rng.choice(["a", "b", "c"], len(frame)))


def read(frame: pd.DataFrame, small_groups: Any = "set aside", **parts: Any) -> Dataset:
    """Read a table whose small groups are known to be said."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SmallGroupsWarning)
        return Dataset.from_frame(frame, **{**PARTS, "small_groups": small_groups, **parts})


SOME = {"Asian": (50, 40), "Black": (60, 12), "Eskimo": (15, 10), "Other": (9, 2), "White": (300, 200)}
SMALL = "Black (12 rows with label 1), Eskimo (25 rows), Other (11 rows)"


def same_rows(one: Dataset, other: Dataset) -> None:
    """The same people, coded alike; only the groups' names may differ."""
    assert one.schema.features == other.schema.features
    for name, column in one.columns.items():
        np.testing.assert_array_equal(column, other.columns[name])
    np.testing.assert_array_equal(one.group, other.group)
    np.testing.assert_array_equal(one.label, other.label)
    if one.weight is None or other.weight is None:
        assert one.weight is other.weight
    else:
        np.testing.assert_array_equal(one.weight, other.weight)


def test_by_default_they_are_set_aside_and_said() -> None:
    with pytest.warns(SmallGroupsWarning) as caught:
        data = Dataset.from_frame(people(SOME), **PARTS, drop="w")
    assert [str(own.message) for own in caught] == [data.small_groups_note]
    assert data.small_groups_note == (
        f"Set aside, with fewer than 30 rows behind a rate: {SMALL}; these people count in accuracy, but such rates "
        "are not compared."
    )
    same_rows(data, read(people(SOME), drop="w", small_groups="set-aside"))
    assert data.groups == NAMES
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        large = Dataset.from_frame(people({"Asian": (30, 30), "White": (40, 30)}), **PARTS, small_groups="refuse")
    assert large.small_groups_note is None


def test_they_are_joined() -> None:
    with pytest.warns(SmallGroupsWarning) as caught:
        data = Dataset.from_frame(people(SOME), **PARTS, small_groups="join")
    assert data.groups == ("Asian", "White", "Black, Eskimo, Other (joined)")
    assert data.schema.joined == ("Black", "Eskimo", "Other")
    # Their 24 rows of label 1 are still too few.
    assert [str(own.message) for own in caught] == [data.small_groups_note]
    assert data.small_groups_note == (
        f"Joined into one group of 108 rows, with fewer than 30 rows behind a rate each: {SMALL}. Set aside, with "
        "fewer than 30 rows behind a rate: Black, Eskimo, Other (joined) (24 rows with label 1); these people count in "
        "accuracy, but such rates are not compared."
    )
    train, test = data.split(0.3)
    assert "Joined into one group of 108 rows" in str(train.small_groups_note)
    assert test.take_out("age")[0].regrouped == data.regrouped


def test_one_small_group_has_none_to_be_joined_with() -> None:
    data = read(people({"Asian": (50, 40), "Other": (9, 2), "White": (60, 60)}), "join")
    assert data.groups == ("Asian", "Other", "White")
    assert data.schema.joined == ()
    assert str(data.small_groups_note).startswith("Nothing joined, for only one group is small. Set aside, ")


def test_their_rows_are_dropped() -> None:
    with pytest.warns(SmallGroupsWarning) as caught:
        data = Dataset.from_frame(people(SOME), **PARTS, small_groups="drop rows")
    assert data.groups == ("Asian", "White")
    assert data.n_rows == 590
    assert [str(own.message) for own in caught] == [
        f"Dropped 108 of 698 rows, of groups with fewer than 30 rows behind a rate: {SMALL}."
    ]
    with pytest.raises(DataError, match="one group only"):
        read(people({"Asian": (5, 40), "White": (60, 60)}), "drop rows")
    with pytest.raises(DataError, match="leaves nobody"):
        read(people({"Asian": (5, 40), "White": (6, 60)}), "drop rows")


def test_they_are_refused_all_at_once() -> None:
    with pytest.raises(DataError, match="Groups with fewer than 30 rows") as caught:
        Dataset.from_frame(people(SOME), **PARTS, small_groups="refuse")
    assert SMALL in str(caught.value)
    assert "small_groups='set aside', 'join' or 'drop rows'" in str(caught.value)
    with pytest.raises(InputError, match="small_groups is 'keep': use"):
        read(people(SOME), "keep")


def test_of_many_the_first_are_named_and_the_others_counted() -> None:
    many = {f"g{k:02}": (2, 1) for k in range(60)} | {"x": (40, 40), "y": (40, 40)}
    note = str(read(people(many)).small_groups_note)
    assert note.count("rows)") == 8
    assert "g07 (3 rows) and 52 more; these people" in note
    joined = read(people(many), "join")
    assert joined.groups == ("x", "y", "g00, g01, g02, g03 and 56 more (joined)")
    assert len(joined.schema.joined) == 60


counts_of_groups = st.fixed_dictionaries(
    {
        "Asian": st.just((40, 45)),
        "White": st.just((31, 60)),
        **{name: st.tuples(st.integers(0, 45), st.integers(0, 45)).filter(any) for name in ("Black", "Eskimo")},
        "Other": st.tuples(st.integers(0, 20), st.integers(1, 20)),
    }
)


@settings(max_examples=40)
@given(counts_of_groups, st.booleans())
def test_what_is_done_is_what_would_be_done_by_hand(counts: dict[str, tuple[int, int]], weighted: bool) -> None:
    frame = people(counts, weightless=2 if weighted else 0)
    parts = {"weight": "w"} if weighted else {"drop": "w"}
    small = [name for name in NAMES if min(counts[name]) < 30]
    by_hand = frame[~frame["race"].isin(small)]
    same_rows(read(frame, "drop rows", **parts), read(by_hand, "refuse", **parts))
    joined = read(frame, "join", **parts)
    # A tilde sorts behind all names.
    by_hand = frame.replace({"race": dict.fromkeys(small, "~joined")}) if len(small) > 1 else frame
    expected = read(by_hand, **parts)
    same_rows(joined, expected) if len(small) > 1 else same_rows(joined, read(frame, **parts))
    assert joined.schema.joined == (tuple(small) if len(small) > 1 else ())
    np.testing.assert_array_equal(joined.counts, expected.counts)
    with pytest.raises(DataError) as caught:
        read(frame, "refuse", **parts)
    assert all(f"{name} (" in str(caught.value) for name in small)
    assert read(frame, **parts).groups == NAMES
    # New rows, of which the small groups have any number, find their way.
    again = Dataset.read_like(joined.schema, frame)
    np.testing.assert_array_equal(again.group, joined.group)


def crossed() -> pd.DataFrame:
    frame = people({"Asian": (60, 45), "Other": (40, 12), "White": (90, 80)})
    return frame.assign(sex=["F", "M", "M", "M"] * (len(frame) // 4) + ["F"] * (len(frame) % 4))


def test_intersections_are_joined_and_dropped_as_one_column_would_be() -> None:
    frame = crossed()
    both = {"sensitive": ["sex", "race"]}
    one = frame.assign(both=frame["sex"] + " / " + frame["race"]).drop(columns=["sex", "race"])
    for choice in ("set aside", "join", "drop rows"):
        data, expected = read(frame, choice, **both), read(one, choice, sensitive="both")
        same_rows(data, expected)
        assert data.groups == expected.groups
        assert data.small_groups_note == expected.small_groups_note
        # The table that comes out can be read again.
        again = Dataset.read_like(data.schema, data.to_frame())
        same_rows(again, data)
    joined = read(frame, "join", **both)
    assert joined.groups[-1].startswith("F / Asian, F / Other, ")
    table = joined.to_frame()
    assert set(table["sex"]) == {"M", "(joined)"}
    new = pd.DataFrame({"sex": ["F", "M", "M"], "race": ["Other", "Other", "White"]})
    assert read_groups(joined.schema, new).tolist() == [len(joined.groups) - 1] * 2 + [joined.groups.index("M / White")]
    with pytest.raises(DataError, match="not among the known ones"):
        read_groups(read(frame, "drop rows", **both).schema, new)


def test_a_schema_keeps_what_was_joined() -> None:
    schema = read(people(SOME), "join").schema
    assert Schema.from_dict(schema.to_dict()) == schema
    record = schema.to_dict()
    with pytest.raises(FileError, match="joins Black, Eskimo, but its last group is"):
        Schema.from_dict(record | {"joined": ["Black", "Eskimo"]})
    with pytest.raises(FileError, match="joins"):
        Schema.from_dict(record | {"groups": ["Black", *record["groups"]]})


def test_one_column_comes_out_with_the_name_of_the_joined_group() -> None:
    data = read(people(SOME), "join")
    table = data.to_frame()
    assert set(table["race"]) == set(data.groups)
    same_rows(Dataset.read_like(data.schema, table), data)


def test_every_way_to_open_a_table_takes_it(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    frame = people(SOME)
    frame.to_csv(path, index=False)
    with pytest.warns(SmallGroupsWarning, match="Dropped 108 of 698 rows"):
        data = open_data(path, **PARTS, small_groups="drop rows")
    same_rows(data, read(frame, "drop rows"))
    with pytest.warns(SmallGroupsWarning, match=r"Set aside.*Amer-Indian-Eskimo \(15 rows with label 1\)"):
        load_dataset("adult", sensitive=["sex", "race"])
    with pytest.raises(DataError, match="Amer-Indian-Eskimo"):
        open_data("adult", sensitive=["sex", "race"], small_groups="refuse")


@pytest.mark.parametrize("weighted", [False, True])
def test_streams_find_the_same_groups(tmp_path: Path, weighted: bool) -> None:
    frame = people(SOME, weightless=3 if weighted else 0)
    parts = PARTS | ({"weight": "w"} if weighted else {"drop": "w"})
    frame.iloc[:300].to_parquet(tmp_path / "one.parquet")
    frame.iloc[300:].to_parquet(tmp_path / "two.parquet")
    for choice in ("set aside", "join"):
        stream = open_data(tmp_path, stream=True, small_groups=choice, **parts)
        whole = read(frame, choice, **parts)
        with pytest.warns(SmallGroupsWarning) as caught:
            learned = stream.learn()
        assert [str(own.message) for own in caught] == [whole.small_groups_note]
        assert learned.schema == whole.schema
        part = learned.reader(Part(0), frame.iloc[300:])
        assert part is not None
        np.testing.assert_array_equal(part.group, whole.group[300:])
    with pytest.raises(DataError, match="Groups with fewer than 30 rows"):
        open_data(tmp_path, stream=True, small_groups="refuse", **parts).learn()
    with pytest.raises(InputError, match=r"read in parts.*choose 'join'"):
        open_data(tmp_path, stream=True, small_groups="drop", **parts)  # type: ignore[call-overload]
    with pytest.raises(InputError, match="settled: leave it out"):
        open_data(tmp_path, stream=True, small_groups="join")
