"""CSV files as spreadsheets and databases write them: each comes out as the table that it holds."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import fairlimits as fl
from fairlimits.data import read_table
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


def test_lines_of_other_lengths_are_told(tmp_path: Path) -> None:
    file = tmp_path / "people.csv"
    file.write_text("# exported\nage,sex\n1,f\n2,m\n")
    with pytest.raises(FileError, match="first line names the columns"):
        read_table(file)
