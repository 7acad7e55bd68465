"""Cells on the command line: kept in files, counted on given cells, merged, and read in parts."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np
import pytest

import fairlimits as fl
from fairlimits.apps.cli import data_options, run
from streams import ROLES, people, write

COLUMNS = [word for name, value in ROLES.items() for word in (f"--{name}", value)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write(people(900), tmp_path / "big")


def test_files_are_cut_counted_and_merged(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first, second, both = (str(tmp_path / f"{name}.npz") for name in ("first", "second", "both"))
    parts = sorted(str(path) for path in folder.iterdir())
    assert run(["cells", parts[0], *COLUMNS, "--cells", "7", "--partition", "features", "-o", first]) == 0
    assert run(["cells", *parts[1:], "--like", first, "-o", second]) == 0
    assert run(["merge", first, second, "-o", both]) == 0
    out = capsys.readouterr().out
    assert "600 rows in 7 cells (features)" in out
    assert ["together", "900"] in [line.split() for line in out.splitlines()]
    dist = fl.CellDistribution.load(both)
    base = fl.CellDistribution.load(first)
    np.testing.assert_array_equal(dist.counts, fl.discretize(folder, like=base).counts)
    for words in ([], ["--generator", "none"]):
        assert run(["frontier", both, "--points", "3", *words]) == 0
        assert "900 rows, 7 cells" in capsys.readouterr().out


@pytest.mark.parametrize("partition", [None, "blend"])
def test_cells_of_a_table_are_those_of_the_law(
    folder: Path, tmp_path: Path, partition: Literal["blend"] | None
) -> None:
    source, target = str(folder / "part0.parquet"), str(tmp_path / "cells.npz")
    words = [] if partition is None else ["--partition", partition]
    assert run(["cells", source, *COLUMNS, "--cells", "9", *words, "-o", target]) == 0
    data = fl.open_data(source, **ROLES)
    kept, made = fl.CellDistribution.load(target), fl.discretize(data, 9, partition=partition or "outcome")
    assert kept.origin.partition == (partition or "outcome")
    np.testing.assert_allclose(kept.mass, made.mass, atol=1e-12)
    np.testing.assert_array_equal(kept.cells_of(data), made.cells_of(data))


@pytest.mark.parametrize("how", ["files", "pattern", "directory", "one"])
def test_a_frontier_of_rows_in_parts(
    folder: Path, tmp_path: Path, how: str, capsys: pytest.CaptureFixture[str]
) -> None:
    sources = {
        "files": sorted(map(str, folder.iterdir())),
        "pattern": [str(folder / "*.parquet")],
        "directory": [str(folder)],
        "one": [str(folder / "part0.parquet"), "--stream"],
    }[how]
    target = tmp_path / "curve.json"
    words = ["frontier", *sources, *COLUMNS, "--cells", "7", "--points", "3", "-o", str(target)]
    rows = 300 if how == "one" else 900
    for partition in ("outcome", "features"):
        assert run([*words, "--partition", partition]) == 0
        assert f"{rows} rows, 7 cells" in capsys.readouterr().out
    assert json.loads(target.read_text())["made from"]["generator"] == "none"


def test_large_files_are_read_in_parts(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = str(folder / "part0.parquet")
    sources = data_options.SourceOptions(data=[path], label="paid", positive="yes", sensitive=["sex"])
    assert isinstance(sources.read(), fl.Dataset)
    monkeypatch.setattr(data_options, "_LARGE", 1000)
    assert isinstance(sources.read(), fl.data.Stream)
    assert isinstance(replace(sources, stream=False).read(), fl.Dataset)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["frontier", "{big}", "--partition", "features"], "--label and --sensitive"),
        (["frontier", "{big}", *COLUMNS, "--partition", "rows"], "--partition is 'rows'"),
        (["frontier", "{cells}", "--partition", "blend"], "leave --partition out"),
        (["frontier", "{big}/part0.parquet", *COLUMNS, "--generator", "cart"], "add --partition features"),
        (["frontier", "{big}/*.csv", *COLUMNS], "No file matches"),
        (["frontier", "{big}", "--no-stream", *COLUMNS], "--no-stream"),
        (["frontier", "{cells}", *COLUMNS], "leave the options of the data out"),
        (["frontier", "{cells}", "{cells}"], "fairlimits merge"),
        (
            ["frontier", "{big}", *COLUMNS, "--partition", "features", "--generator", "bootstrap"],
            "--generator is bootstrap, but files",
        ),
        (["frontier", "{cells}", "--generator", "cart"], "the cells were made before, with generator none"),
        (
            ["cells", "{big}", *COLUMNS, "--partition", "features", "--generator", "cart", "-o", "{out}"],
            "leave --generator out",
        ),
        (["cells", "{big}", "--like", "{cells}", "--partition", "blend", "-o", "{out}"], "leave --partition out"),
        (["cells", "{big}", "--like", "{cells}", "--generator", "cart", "-o", "{out}"], "with --like"),
        (["fidelity", "{big}", *COLUMNS], "rows of one table in memory"),
        (["scenarios", "{cells}", *COLUMNS], "rows of one table in memory"),
        (["cells", "{cells}", "-o", "{out}"], "holds cells already"),
        (
            ["cells", "{big}", *COLUMNS, "--like", "{cells}", "-o", "{out}"],
            "leave --label, --positive, --sensitive out",
        ),
        (["cells", "{big}", *COLUMNS, "-o", "out.csv"], "must end in .npz"),
        (["merge", "{cells}", "{other}", "-o", "{out}"], "other cells"),
        (["merge", "{cells}", "{big}/part0.parquet", "-o", "{out}"], "not a file that fairlimits saved"),
    ],
)
def test_bad_input_is_answered_in_a_sentence_and_nothing_is_written(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str], message: str
) -> None:
    names = {"big": folder, "cells": tmp_path / "c.npz", "other": tmp_path / "o.npz", "out": tmp_path / "out.npz"}
    fl.discretize(folder, 5, partition="features", **ROLES).save(names["cells"])
    fl.discretize(folder, 5, partition="features", **ROLES, random_state=1).save(names["other"])
    assert run([word.format(**names) for word in words]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert not names["out"].exists()
