"""Messy tables: each trouble, alone and in pairs, ends as a data set with notes or as one error that names them all."""

from __future__ import annotations

import itertools
import pickle
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import fairlimits as fl
from fairlimits.data import Dataset, Feature, parts
from fairlimits.data.troubles import ColumnError
from fairlimits.errors import ColumnsWarning, DataError

N = 1200
ROLES: dict[str, Any] = {"label": "paid", "sensitive": "sex"}


def people() -> dict[str, Any]:
    rng = np.random.default_rng(0)
    return {"age": rng.integers(18, 80, N), "sex": rng.choice(["f", "m"], N), "paid": rng.integers(0, 2, N)}


def _often(n: int = 150) -> list[str]:
    """Values of which 20 are frequent and the others rare."""
    rng = np.random.default_rng(1)
    return [f"v{k}" for k in np.where(rng.random(N) < 0.7, rng.integers(0, 20, N), rng.integers(0, n, N))]


HANDLED: dict[str, Any] = {
    "empty": np.full(N, np.nan),
    "nothing": [None] * N,
    "nearly": np.where(np.arange(N) < 2, 1.0, np.nan),
    "towns": _often(),
    "town_codes": pd.Series([int(v[1:]) for v in _often()]).astype("category"),
    "when": pd.date_range("2020-01-01", periods=N),
    "zoned": pd.date_range("2020-01-01", periods=N, tz="Europe/Rome"),
    "iso": [str(day.date()) for day in pd.date_range("2020-01-01", periods=N)],
    "universal": [f"{day.date()}T10:00:00Z" for day in pd.date_range("2020-01-01", periods=N)],
    "codes": np.random.default_rng(2).integers(1, 6, N),
    "row": np.arange(N),
    "constant": ["x"] * N,
    "big": np.full(N, 2**62) + np.arange(N),
}
REFUSED: dict[str, Any] = {
    "name": [f"person {k}" for k in range(N)],
    "case": [f"{k:06}" for k in range(N)],
    "rare": [f"w{k // 3}" for k in range(N)],
    "mixed": pd.Series([1, "a", 2.5] * (N // 3), dtype=object),
    "infinite": np.where(np.arange(N) < 2, np.inf, 1.0),
    "clock": [pd.Timestamp("2020-01-01").time()] * N,
    "lists": [[1, 2]] * N,
    "decimals": [f"{k % 300 / 7:.3f}" for k in range(N)],
    "huge": pd.Series([10**30] * N, dtype=object),
    "bytes": [b"x"] * N,
    "sets": [{1}] * N,
    "dirty": ["n/a" if k < 3 else str(k % 400) for k in range(N)],
    "two words": [f"q{k}" for k in range(N)],
}
TROUBLES = {**HANDLED, **REFUSED}


def outcome(columns: dict[str, Any]) -> Dataset | DataError:
    frame = pd.DataFrame({**people(), **columns})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ColumnsWarning)
        try:
            return Dataset.from_frame(frame, **ROLES)
        except DataError as error:
            return error


@pytest.mark.parametrize("names", [*itertools.combinations(TROUBLES, 1), *itertools.combinations(TROUBLES, 2)], ids=str)
def test_every_trouble_and_every_pair(names: tuple[str, ...]) -> None:
    found = outcome({name: TROUBLES[name] for name in names})
    bad = [name for name in names if name in REFUSED]
    if not bad:
        assert isinstance(found, Dataset)
        assert set(found.columns) == {"age", *names}
        assert fl.data.Encoding.fit(found).n_columns < 250
    else:
        assert isinstance(found, DataError)
        options = ", ".join(f'"{name}"' for name in bad)
        assert f"drop=[{options}]" in str(found)
        assert " ".join(f"--drop '{name}'" if " " in name else f"--drop {name}" for name in bad) in found.shell
        assert "drop=" not in found.shell
        assert all(f"Column {name!r}" in str(found) for name in bad)
        assert isinstance(outcome({name: TROUBLES[name] for name in names if name not in bad}), Dataset)


def test_all_troubles_are_told_at_once() -> None:
    found = outcome(TROUBLES)
    assert isinstance(found, DataError)
    lines = str(found).splitlines()
    assert lines[0] == f"The table has {len(REFUSED)} problems:"
    assert len(lines) == len(REFUSED) + 3
    assert 'numeric=["case", "decimals"]' in lines[-1]
    assert found.shell.splitlines()[-1] == "To read as numbers what are numbers: --numeric case --numeric decimals"
    # The option that is to be pasted leaves out what was left out before, too.
    with pytest.raises(DataError, match=r'drop=\["age", "name"\]'):
        Dataset.from_frame(pd.DataFrame({**people(), "x": 1, "name": REFUSED["name"]}), **ROLES, drop="age")


def test_troubles_of_label_and_groups_are_in_the_list() -> None:
    frame = pd.DataFrame({**people(), "name": REFUSED["name"], "lists": REFUSED["lists"]})
    frame.loc[3, "paid"] = np.nan
    with pytest.raises(
        DataError, match=r"(?s)3 problems.*'paid' is missing in 1 of 1200.*'name'.*'lists'.*drop="
    ) as found:
        Dataset.from_frame(frame, **ROLES)
    assert "--drop name --drop lists" in found.value.shell
    clock = frame.assign(paid=REFUSED["clock"])
    with pytest.raises(DataError, match=r"(?s)'paid' is of type time.*drop=\[\"name\", \"lists\"\]"):
        Dataset.from_frame(clock, **ROLES)
    frame = frame.assign(paid=1 - np.arange(N) % 2, sex=[None, *frame["sex"][1:]])
    with pytest.raises(DataError, match="missing_sensitive") as found:
        Dataset.from_frame(frame, **ROLES)
    assert "--missing-sensitive drop" in found.value.shell


def test_many_troubles_are_not_all_explained_but_all_in_the_options() -> None:
    found = outcome({f"id{k}": REFUSED["name"] for k in range(30)})
    assert "and 10 more columns" in str(found)
    assert str(found).count('"id') == 30


def test_errors_survive_being_sent() -> None:
    error = ColumnError("x", "is odd", "mend it", True)
    again = pickle.loads(pickle.dumps(error))  # noqa: S301
    assert (str(again), again.column, again.numeric) == (str(error), "x", True)
    told = pickle.loads(pickle.dumps(DataError("python", shell="shell")))  # noqa: S301
    assert (str(told), told.shell) == ("python", "shell")


@pytest.mark.parametrize("name", ["when", "zoned", "iso"])
def test_dates_are_days(name: str) -> None:
    frame = pd.DataFrame({**people(), name: HANDLED[name]})
    with pytest.warns(ColumnsWarning, match=f"of days since 1970-01-01: {name}"):
        data = Dataset.from_frame(frame, **ROLES)
    assert Feature(name, "numeric", date=True) in data.schema.features
    start = 18262 if name != "zoned" else 18262 - 1 / 24
    assert data.columns[name][0] == pytest.approx(start)
    assert data.columns[name][1] == pytest.approx(start + 1)
    texts = frame.assign(**{name: [str(day) for day in pd.date_range("2020-01-01", periods=N)]})
    assert Dataset.read_like(data.schema, texts).columns[name][0] == 18262
    assert fl.data.Schema.from_dict(data.schema.to_dict()) == data.schema


def test_dates_with_something_else_among_them_are_not_dates() -> None:
    days = [*HANDLED["iso"][:-1], "soon"]
    found = outcome({"iso": days})
    assert isinstance(found, DataError)
    assert "looks like an identifier" in str(found)


@pytest.mark.parametrize("name", ["towns", "town_codes"])
def test_rare_values_are_grouped_for_new_rows_too(name: str) -> None:
    frame = pd.DataFrame({**people(), name: HANDLED[name]})
    with pytest.warns(ColumnsWarning, match=f"Of {name}, the 20 most frequent values are kept"):
        data = Dataset.from_frame(frame, **ROLES)
    assert data.column_notes[0].endswith("read it as one.") == (name == "town_codes")
    feature = data.schema.features[1]
    assert feature.other == "(other)"
    assert len(feature.categories) == 21
    again = Dataset.read_like(data.schema, frame)
    np.testing.assert_array_equal(again.columns[name], data.columns[name])
    assert fl.data.Schema.from_dict(data.schema.to_dict()) == data.schema
    # Written and read again, and values that nobody has seen.
    back = Dataset.read_like(data.schema, data.to_frame())
    np.testing.assert_array_equal(back.columns[name], data.columns[name])
    new = frame.head(2).astype({name: object})
    new[name] = ["nobody knows", feature.categories[3]] if name == "towns" else [999, int(str(feature.categories[3]))]
    np.testing.assert_array_equal(fl.data.read_features(data.schema, new)[name], [20, 3])
    # A missing value is none of them.
    new[name] = [None, None]
    with pytest.raises(DataError, match="not in the schema"):
        fl.data.read_features(data.schema, new)
    np.testing.assert_array_equal(fl.data.read_features(data.schema, new, unseen="missing")[name], [20, 20])


def test_a_missing_value_stays_apart_from_the_others() -> None:
    frame = pd.DataFrame({**people(), "towns": [None, *HANDLED["towns"][1:-1], "(other)"]})
    with pytest.warns(ColumnsWarning):
        data = Dataset.from_frame(frame, **ROLES)
    assert data.schema.features[1].categories[-2:] == ("(other)", None)
    assert data.columns["towns"][0] == 21
    assert data.columns["towns"][-1] == 20


def in_parts(columns: dict[str, Any], folder: Path, **roles: Any) -> fl.data.Stream:
    table = pa.Table.from_pandas(pd.DataFrame({**people(), **columns}), preserve_index=False)
    pq.write_table(table, folder / "big.parquet")
    return fl.data.open_stream(folder / "big.parquet", **{**ROLES, **roles})


def test_parts_are_read_as_the_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "_PART_ROWS", 250)
    stream = in_parts(HANDLED, tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ColumnsWarning)
        whole = fl.open_data(tmp_path / "big.parquet", **ROLES)
    with pytest.warns(ColumnsWarning) as said:
        learned = stream.learn()
    assert learned.schema == whole.schema
    assert tuple(str(own.message) for own in said) == whole.column_notes
    assert learned.encoding.n_columns == fl.data.Encoding.fit(whole).n_columns


def test_troubles_of_parts_are_told_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "_PART_ROWS", 250)
    odd = {name: values for name, values in REFUSED.items() if name not in ("mixed", "lists", "huge", "sets")}
    with pytest.raises(DataError, match=f"The table has {len(odd)} problems") as found:
        in_parts(odd, tmp_path).learn()
    assert all(f"Column {name!r}" in str(found.value) for name in odd)
    assert "--drop name --drop case" in found.value.shell
    # What is a date in one part and not in another is told like the rest.
    half = [*HANDLED["iso"][: N // 2], *["soon"] * (N // 2)]
    with pytest.raises(DataError, match=r"(?s)2 problems.*'half' holds numbers in one part.*'name'"):
        in_parts({"half": half, "name": REFUSED["name"]}, tmp_path).learn()


def test_names_that_end_lines_do_not_end_the_sentence() -> None:
    table = pa.table({**people(), "in\ncome": np.arange(N) % 7})
    with pytest.raises(DataError, match=r"Did you mean 'sex'\? Columns present: age, sex, paid, in\\ncome\.$"):
        Dataset.from_frame(table, label="paid", sensitive="sexe")
