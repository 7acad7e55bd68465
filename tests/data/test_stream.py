"""Tables in parts: the schema, the encoding and the rows are those of the whole table, and errors name the whole."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.dataset as pads
import pyarrow.parquet as pq
import pytest

import fairlimits as fl
from fairlimits._util.threads import usable_cores
from fairlimits.data import Encoding, Part, parts
from fairlimits.errors import DataError, FileError, InputError
from streams import ROLES, people, write


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "_PART_ROWS", 300)


def whole(table: pa.Table, **roles: Any) -> fl.Dataset:
    return fl.Dataset.from_frame(table, **{**ROLES, **roles})


def read(stream: fl.data.Stream, learned: Any) -> tuple[dict[str, Any], Any, Any]:
    """All rows, through the reader of the parts."""
    datasets = []

    def keep(part: Part, frame: Any) -> Any:
        return [(part.number, learned.reader(part, frame))]

    pairs = stream.parts.fold(keep, lambda a, b: a + b, lambda total: total)
    assert pairs is not None
    assert [number for number, _ in pairs] == sorted(number for number, _ in pairs)
    datasets = [dataset for _, dataset in pairs if dataset is not None]
    columns = {n: np.concatenate([d.columns[n] for d in datasets]) for n in datasets[0].columns}
    return columns, np.concatenate([d.group for d in datasets]), np.concatenate([d.label for d in datasets])


@pytest.mark.parametrize(
    "roles",
    [
        {},
        {"weight": "weight"},
        {"sensitive": ["sex", "flag"], "drop": "weight"},
        {"categorical": "age", "drop": ["weight", "income"]},
        {"sensitive": "job", "missing_sensitive": "group"},
        {"sensitive": "job", "missing_sensitive": "drop", "weight": "weight"},
    ],
)
def test_schema_encoding_and_rows_are_those_of_the_whole_table(tmp_path: Path, roles: dict[str, Any]) -> None:
    table = people()
    expected = whole(table, **roles)
    stream = fl.data.open_stream(write(table, tmp_path / "big"), **{**ROLES, **roles})
    learned = stream.learn()
    assert learned.schema == expected.schema
    wanted = Encoding.fit(expected)
    for own, other in zip(learned.encoding.features, wanted.features, strict=True):
        assert (own.name, own.kind, own.start, own.categories) == (
            other.name,
            other.kind,
            other.start,
            other.categories,
        )
        assert own.fill == other.fill
        assert own.center == pytest.approx(other.center, rel=1e-12)
        assert own.scale == pytest.approx(other.scale, rel=1e-12)
    columns, group, label = read(stream, learned)
    np.testing.assert_array_equal(group, expected.group)
    np.testing.assert_array_equal(label, expected.label)
    for name, column in expected.columns.items():
        np.testing.assert_array_equal(columns[name], column)


def test_sources_of_all_kinds_are_one_table(tmp_path: Path) -> None:
    table = people(900).drop_columns(["weight"])
    folder = write(table, tmp_path / "big")
    files = sorted(folder.iterdir())
    schema = fl.data.open_stream(folder, **ROLES).learn().schema
    for source in (str(folder / "*.parquet"), files, [str(file) for file in files], pads.dataset(folder)):
        assert fl.data.open_stream(source, **ROLES).learn().schema == schema
    sheets = tmp_path / "sheets"
    sheets.mkdir()
    pa_csv.write_csv(table, sheets / "one.csv")
    assert fl.data.open_stream(sheets, **ROLES).learn().schema == schema


def test_a_filter_is_kept_to(tmp_path: Path) -> None:
    table = people(900).drop_columns(["weight"])
    chosen = pads.dataset(write(table, tmp_path / "big")).filter(pads.field("age") < 60)
    stream = fl.data.open_stream(chosen, **ROLES)
    old = table.filter(pa.compute.less(table["age"], 60))
    assert stream.learn().facts.rows == old.num_rows
    assert stream.learn().schema == whole(old).schema


def test_reading_does_not_run_far_ahead_of_the_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "_PART_ROWS", 5_000)
    table = people(20_000)
    for files in range(20):
        pq.write_table(table, tmp_path / f"{files}.parquet", row_group_size=5_000)

    def held(part: Part, frame: Any) -> int:
        time.sleep(0.01)  # slower than reading
        return int(pa.total_allocated_bytes())

    before = pa.total_allocated_bytes()
    most = parts.arrow_parts(tmp_path).fold(held, max, lambda total: total)
    # A row group in work on every core, one that waits and one that is read; there are 80.
    assert most - before < (usable_cores() + 3) * table.nbytes / 4


def test_a_csv_file_is_not_read_far_ahead_either(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Arrow's own scan of a CSV file held all of it: 4 GB of a file of 3 GB."""
    monkeypatch.setattr(parts, "usable_cores", lambda: 2)
    pa_csv.write_csv(people(100_000), tmp_path / "one.csv")
    text = (tmp_path / "one.csv").stat().st_size
    # A block read ahead is 1 MB by default, and some 40 are.
    form = pads.CsvFileFormat(read_options=pa_csv.ReadOptions(block_size=2**16))

    def held(part: Part, frame: Any) -> int:
        return int(pa.total_allocated_bytes())

    before = pa.total_allocated_bytes()
    most = parts.ArrowParts(pads.dataset(tmp_path / "one.csv", format=form)).fold(held, max, lambda total: total)
    assert most - before < text / 2


def test_csv_files_are_read_as_arrow_reads_them(tmp_path: Path) -> None:
    table = people(1_000).append_column("empty", pa.array([None] * 1_000, pa.string()))
    for year in ("2023", "2024"):
        (tmp_path / f"year={year}").mkdir()
        pa_csv.write_csv(table, tmp_path / f"year={year}" / "people.csv")
    with pa.CompressedOutputStream(str(tmp_path / "year=2024" / "q.csv.gz"), "gzip") as file:
        pa_csv.write_csv(table, file)
    opened = parts.arrow_parts(tmp_path)
    form = pads.CsvFileFormat(
        pa_csv.ParseOptions(delimiter=";"), read_options=pa_csv.ReadOptions(column_names=["age", "sex"])
    )
    (tmp_path / "odd.txt").write_text("1;f\n2;m\n", encoding="utf-8")
    odd = parts.ArrowParts(pads.dataset(tmp_path / "odd.txt", format=form))
    for own, columns in ((opened, None), (opened, ["year", "sex"]), (opened, ["year"]), (odd, None), (odd, ["sex"])):
        found = own.fold(lambda part, frame: [frame], lambda a, b: a + b, pa.concat_tables, columns=columns)
        assert found == own.dataset.to_table(columns=columns)


def test_a_key_in_the_path_is_a_column(tmp_path: Path) -> None:
    table = people(900).drop_columns(["weight"])
    for sex in ("f", "m"):
        folder = tmp_path / "big" / f"sex={sex}"
        folder.mkdir(parents=True)
        part = table.filter(pa.compute.equal(table["sex"], sex)).drop_columns(["sex"])
        pq.write_table(part, folder / "part.parquet")
    assert fl.data.open_stream(tmp_path / "big", **ROLES).learn().schema.groups == ("f", "m")


def test_a_column_that_is_empty_in_some_parts_has_the_kind_of_the_others(tmp_path: Path) -> None:
    table = people(900).drop_columns(["weight"])
    nothing = table.set_column(table.schema.get_field_index("job"), "job", pa.nulls(900))
    nothing = nothing.set_column(nothing.schema.get_field_index("income"), "income", pa.nulls(900))
    pq.write_table(nothing, tmp_path / "a.parquet")
    pq.write_table(table, tmp_path / "b.parquet")
    schema = fl.data.open_stream(tmp_path, **ROLES).learn().schema
    assert {f.name: f.kind for f in schema.features}["job"] == "categorical"
    assert {f.name: f.kind for f in schema.features}["income"] == "numeric"


def test_files_that_differ_in_types_only_are_one_table(tmp_path: Path) -> None:
    table = people(900).drop_columns(["weight"])
    coded = changed(table, "job", table["job"].combine_chunks().dictionary_encode())
    short = changed(coded, "job", coded["job"].combine_chunks().cast(pa.dictionary(pa.int8(), pa.string())))
    whole_numbers = changed(table, "age", table["age"].cast(pa.int32()))
    for number, part in enumerate((table, coded, short, whole_numbers)):
        pq.write_table(part, tmp_path / f"{number}.parquet")
    schema = fl.data.open_stream(tmp_path, **ROLES).learn().schema
    assert schema == whole(table).schema


def changed(table: pa.Table, name: str, values: Any) -> pa.Table:
    return table.set_column(table.schema.get_field_index(name), name, values)


@pytest.mark.parametrize(
    ("change", "roles", "message"),
    [
        (lambda t: t, {"label": "pay"}, "no label column 'pay'"),
        (lambda t: t, {"drop": "paid"}, "both label and drop"),
        (lambda t: t, {"sensitive": "job"}, "is missing in .* of 900 rows"),
        (lambda t: changed(t, "paid", pa.array([None] + ["yes"] * 899)), {}, "label 'paid' is missing in 1 of 900"),
        (lambda t: changed(t, "paid", pa.array(["yes"] * 900)), {}, "one value only"),
        (lambda t: changed(t, "sex", pa.array(["f"] * 900)), {}, "one group only"),
        (lambda t: t, {"positive": "maybe"}, "no value 'maybe'"),
        (lambda t: changed(t, "job", pa.array([f"p{i}" for i in range(900)])), {"numeric": "job"}, "as numbers"),
        (lambda t: changed(t, "weight", pa.array([0.0] * 900)), {"weight": "weight"}, "0 in every row"),
        (lambda t: changed(t, "weight", pa.array([-1.0] * 900)), {"weight": "weight"}, "negative"),
        (lambda t: changed(t, "age", pa.array([np.inf] * 900)), {}, "infinite"),
        (lambda t: changed(t, "age", pa.array([0] * 900, pa.time32("s"))), {}, "neither a number nor a category"),
        (lambda t: t.slice(0, 0), {}, "empty"),
    ],
)
def test_bad_tables_are_refused_in_words(
    tmp_path: Path, change: Callable[[pa.Table], pa.Table], roles: dict[str, Any], message: str
) -> None:
    folder = write(change(people(900)), tmp_path / "big", files=1)
    with pytest.raises(DataError, match=message):
        fl.data.open_stream(folder, **{**ROLES, **roles}).learn()


def test_names_of_people_are_refused_before_they_fill_the_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fairlimits.data.facts._MOST_CATEGORIES", 500)
    table = changed(people(900), "job", pa.array([f"p{i}" for i in range(900)]))
    with pytest.raises(DataError, match="more than 500 different values"):
        fl.data.open_stream(write(table, tmp_path / "big"), **ROLES).learn()


def test_bad_sources_are_refused_in_words(tmp_path: Path) -> None:
    good = write(people(900), tmp_path / "good")
    (tmp_path / "empty").mkdir()
    mixed = write(people(900), tmp_path / "mixed")
    (mixed / "more.csv").write_text("a,b\n1,2\n")
    other = write(people(900), tmp_path / "other")
    pq.write_table(people(900).drop_columns(["age"]), other / "part9.parquet")
    broken = tmp_path / "broken.parquet"
    broken.write_text("nothing of the kind")
    (tmp_path / "what.txt").write_text("?")
    for source, message in [
        (tmp_path / "nothing.parquet", "no file"),
        (str(tmp_path / "*.nothing"), "No file matches"),
        (tmp_path / "empty", "no CSV or Parquet file"),
        (mixed, "different kinds"),
        (other, "part9.parquet has other columns"),
        (broken, "cannot be read"),
        (tmp_path / "what.txt", "Cannot tell"),
    ]:
        with pytest.raises(FileError, match=message):
            fl.data.open_stream(source, **ROLES)
    for source in (3, [1, 2], []):
        with pytest.raises(InputError, match=r"Cannot read rows from|No file was given"):
            fl.data.open_stream(source, **ROLES)
    for roles in ({}, {"label": "paid"}, {"sensitive": "sex"}, {"weight": "weight"}):
        with pytest.raises(InputError, match="need to be explained"):
            fl.data.open_stream(good, **roles).learn()  # type: ignore[arg-type]
    with pytest.raises(InputError, match="unseen"):
        fl.data.open_stream(good, **ROLES, unseen="what")  # type: ignore[arg-type]
