"""CSV files as spreadsheets and databases write them: each comes out as the table that it holds."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import fairlimits as fl
from fairlimits.data import read_table
from fairlimits.data.csv_dialects import unreadable
from fairlimits.errors import FileError

NAMES = ["age", "income", "town", "sex", "paid"]
ROWS = [
    [20 + k % 40, 0.5 + k, ("Köln", "Genève", "a, b", 'say "hi"')[k % 4], "fm"[k % 2], ("yes", "no")[k % 3 == 0]]
    for k in range(300)
]


def written(delimiter: str = ",", decimal: str = ".", quoted: bool = False) -> str:
    def text_of(own: Any) -> str:
        text = str(own).replace(".", decimal) if isinstance(own, float) else str(own)
        if quoted or delimiter in text or '"' in text:
            return '"' + text.replace('"', '""') + '"'
        return text

    lines: list[list[Any]] = [list(NAMES), *ROWS]
    return "".join(delimiter.join(map(text_of, line)) + "\n" for line in lines)


FILES = {
    "commas": written().encode(),
    "quoted": written(quoted=True).encode(),
    "semicolons": written(";").encode(),
    "decimal commas": written(";", ",").encode(),
    "tabs": written("\t").encode(),
    "tabs and decimal commas": written("\t", ",").encode(),
    "bars": written("|").encode(),
    "marked UTF-8": written().encode("utf-8-sig"),
    "UTF-16": written(";").encode("utf-16"),
    "Windows": written(";", ",").replace("\n", "\r\n").encode("cp1252"),
    "said so": ("sep=;\n" + written(";")).encode(),
}


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("packed", [False, True])
def test_each_way_of_writing_gives_the_same_table(name: str, packed: bool, tmp_path: Path) -> None:
    file = tmp_path / ("people.csv.gz" if packed else "people.csv")
    file.write_bytes(gzip.compress(FILES[name]) if packed else FILES[name])
    found = read_table(file)
    assert found.column_names == NAMES
    assert [list(row.values()) for row in found.to_pylist()] == ROWS
    assert found.schema.field("income").type == pa.float64()


@pytest.mark.parametrize("name", ["decimal commas", "tabs", "marked UTF-8"])
def test_files_in_parts_are_read_alike(name: str, tmp_path: Path) -> None:
    for part in "ab":
        (tmp_path / f"{part}.csv").write_bytes(FILES[name])
    roles: dict[str, Any] = {"label": "paid", "positive": "yes", "sensitive": "sex"}
    learned = fl.open_data(str(tmp_path / "*.csv"), stream=True, **roles).learn()
    whole = fl.open_data(tmp_path / "a.csv", **roles)
    assert learned.schema.features == whole.schema.features
    assert learned.counts.sum() == 2 * whole.n_rows


@pytest.mark.parametrize(
    ("name", "words"), [("said so", "remove its first line"), ("Windows", "in cp1252"), ("UTF-16", "in utf-16")]
)
def test_what_cannot_be_read_in_parts_is_said(name: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(FILES[name])
    with pytest.raises(FileError, match=words):
        fl.open_data(str(tmp_path / "*.csv"), stream=True, label="paid", positive="yes", sensitive="sex")


def test_commas_inside_text_are_no_decimals(tmp_path: Path) -> None:
    file = tmp_path / "people.csv"
    file.write_text("size;note\n" + "".join(f"{k}.5;1,5 and {k}\n" for k in range(40)))
    assert read_table(file).schema.field("size").type == pa.float64()


def test_letters_that_are_not_utf8_may_come_late(tmp_path: Path) -> None:
    file = tmp_path / "people.csv"
    file.write_bytes(b"a,town\n" + b"1,Bonn\n" * 300_000 + "2,Köln\n".encode("cp1252"))
    assert read_table(file).column("town").to_pylist()[-1] == "Köln"


@pytest.mark.parametrize("missing", ["NA", "N/A", "n/a", "#N/A", "<NA>", "nan", "NULL", "?"])
def test_words_for_a_missing_value(missing: str, tmp_path: Path) -> None:
    file = tmp_path / "people.csv"
    file.write_text(f"size\n1.5\n{missing}\n")
    assert read_table(file).column("size").to_pylist() == [1.5, None]


PEOPLE = b"x,sex,hired\n" + b"".join(b"%d,%s,%d\n" % (at % 7, (b"f", b"m")[at % 2], at % 3 == 0) for at in range(200))
PACKED = gzip.compress(PEOPLE, mtime=0)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("cut.csv.gz", PACKED[: len(PACKED) // 2]),
        ("magic.csv.gz", PACKED[:2]),
        ("other.csv.gz", PEOPLE),
        ("flipped.csv.gz", PACKED[:60] + bytes([PACKED[60] ^ 255]) + PACKED[61:]),
        ("odd.csv", PEOPLE.decode().encode("utf-16")[:-1]),
        ("half.csv", b"\xff\xfe\x00\xd8" + PEOPLE),
        ("undefined.csv", PEOPLE + b"\x81\x8d,m,1\n"),
    ],
    ids=lambda own: own if isinstance(own, str) else "",
)
def test_damaged_files_are_refused_in_a_sentence(name: str, content: bytes, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(FileError):
        read_table(tmp_path / name)
    with pytest.raises(FileError):
        fl.open_data(tmp_path / name, stream=True, label="hired", sensitive="sex")


@pytest.mark.parametrize(
    ("content", "columns"),
    [
        (b"x,sex,hired\n1," + b"m" * 200_000 + b",1\n" + PEOPLE[12:], 3),
        (b",".join(b"column %d" % at for at in range(20_000)) + b"\n" + b",".join([b"1"] * 20_000) + b"\n", 20_000),
    ],
)
def test_values_and_lines_may_be_long(content: bytes, columns: int, tmp_path: Path) -> None:
    (tmp_path / "long.csv").write_bytes(content)
    assert read_table(tmp_path / "long.csv").num_columns == columns


def test_what_files_unpack_to_is_told_before_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    same = pa.DictionaryArray.from_arrays(pa.array(np.zeros(12_000_000, np.int8)), ["m"])
    pq.write_table(pa.table({"x": np.zeros(12_000_000), "sex": same, "hired": same}), tmp_path / "large.parquet")
    (tmp_path / "large.csv.gz").write_bytes(gzip.compress(b"x,sex,hired\n" + b"1,m,1\n" * 12_000_000, 1))
    for module in ("data.tables", "_util.memory"):
        monkeypatch.setattr(f"fairlimits.{module}.free_memory", lambda: 65 * 2**20)
    for name in ("large.parquet", "large.csv.gz"):
        assert (tmp_path / name).stat().st_size < 2**20
        with pytest.raises(FileError, match=f"{name} takes .* MB of memory or more"):
            read_table(tmp_path / name)


def test_lines_of_other_lengths_are_told(tmp_path: Path) -> None:
    file = tmp_path / "people.csv"
    file.write_text("# exported\nage,sex\n1,f\n2,m\n")
    with pytest.raises(FileError, match="first line names the columns"):
        read_table(file)


def test_a_file_that_may_not_be_read_is_told_so(tmp_path: Path) -> None:
    told = str(unreadable(tmp_path / "people.csv", PermissionError(13, "Permission denied")))
    assert told.endswith("people.csv (permission denied): give yourself the right to read it.")
