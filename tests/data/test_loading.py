"""`read_table` and `open_data`: files and names to data."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest

from fairlimits.data import Feature, open_data, read_table
from fairlimits.errors import DataError, FileError, InputError

CSV = "age,job,sex,hired\n30,nurse,F,1\n,?,M,0\n22,None,F,0\nNA,,M,1\n"


@pytest.fixture
def csv(tmp_path: Path) -> str:
    file = tmp_path / "people.csv"
    file.write_text(CSV)
    return str(file)


def test_csv(csv: str) -> None:
    table = read_table(csv)
    assert table["age"].to_pylist() == [30, None, 22, None]
    # "None" may be an answer, so it stays.
    assert table["job"].to_pylist() == ["nurse", None, "None", None]


def test_all_signs_of_a_missing_value(tmp_path: Path) -> None:
    file = tmp_path / "t.CSV"
    file.write_text('x,y\n1,a\n,""\nNA,NA\nNaN,NaN\nnull,null\n?,?\n')
    table = read_table(file)
    assert table["x"].to_pylist() == [1, None, None, None, None, None]
    assert table["y"].to_pylist() == ["a", None, None, None, None, None]


def test_compressed_csv_and_parquet(tmp_path: Path, csv: str) -> None:
    packed = tmp_path / "people.csv.gz"
    packed.write_bytes(gzip.compress(CSV.encode()))
    assert read_table(packed).equals(read_table(csv))
    for name in ("people.parquet", "people.pq"):
        pa.parquet.write_table(read_table(csv), tmp_path / name)
        assert read_table(tmp_path / name).equals(read_table(csv))


def test_csv_whose_type_shows_late(tmp_path: Path) -> None:
    file = tmp_path / "late.csv"
    file.write_text("x\n" + "123456789\n" * 150_000 + "1.5\n")
    assert read_table(file)["x"].to_pylist()[-1] == 1.5


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("empty.csv", b"", "empty.csv is empty"),
        ("header.csv", b"a,b\n", "has no rows"),
        ("ragged.csv", b"a,b\n1,2\n1,2,3\n", "Cannot read .*ragged.csv .*Expected 2 columns"),
        ("broken.parquet", b"not parquet", "Cannot read .*broken.parquet"),
        ("empty.parquet", b"", "empty.parquet is empty"),
        ("broken.csv.gz", b"not gzip", "Cannot read .*broken.csv.gz"),
        ("table.xlsx", b"", "must end in .csv, .csv.gz, .parquet or .pq"),
    ],
)
def test_unreadable_files(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(FileError, match=message) as caught:
        read_table(tmp_path / name)
    assert "\n" not in str(caught.value)


def test_no_file_and_a_directory(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="There is no file"):
        read_table(tmp_path / "none.csv")
    with pytest.raises(FileError, match="is a directory"):
        read_table(tmp_path)
    (tmp_path / "folder.parquet").mkdir()
    with pytest.raises(FileError, match="is a directory"):
        read_table(tmp_path / "folder.parquet")


def test_open_a_file(csv: str) -> None:
    data = open_data(csv, label="hired", positive="1", sensitive="sex", categorical="age")
    assert data.label.tolist() == [1, 0, 0, 1]
    assert data.schema.features == (
        Feature("age", "categorical", (22, 30, None)),
        Feature("job", "categorical", ("None", "nurse", None)),
    )
    assert open_data(csv, label="hired", sensitive=["sex"], drop="job").n_rows == 4


@pytest.mark.parametrize("parts", [{}, {"label": "hired"}, {"sensitive": "sex"}, {"label": "x", "sensitive": []}])
def test_a_file_needs_label_and_sensitive(csv: str, parts: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="with label= and sensitive="):
        open_data(csv, **parts)


def test_open_a_benchmark() -> None:
    assert open_data("adult").n_rows == 48_842
    assert len(open_data("adult", sensitive=["sex", "race"]).groups) == 10
    with pytest.raises(DataError, match="no sensitive column 'gender'"):
        open_data("adult", sensitive="gender")


def test_neither_name_nor_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="use adult, law, dutch, or the path"):
        open_data("adullt", label="y", sensitive="a")
    with pytest.raises(FileError, match="There is no file"):
        open_data(str(tmp_path / "none.csv"), label="y", sensitive="a")
    with pytest.raises(FileError, match="is a directory"):
        open_data(str(tmp_path), label="y", sensitive="a")
