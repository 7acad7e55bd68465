"""No command writes over what it reads, by whatever path, nor one output over another."""

from __future__ import annotations

import inspect
import json
import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import get_type_hints

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest

import fairlimits as fl
from fairlimits.apps.cli import run
from fairlimits.apps.cli.app import app
from fairlimits.data import benchmarks

WORDS = ["--label", "paid", "--positive", "yes", "--sensitive", "sex"]

# Every option that names a file to write, with a file that its command reads and what the command needs besides.
WRITERS = {
    ("report", "--output"): ("people.csv", WORDS),
    ("frontier", "--output"): ("people.csv", WORDS),
    ("ceiling", "--output"): ("people.csv", WORDS),
    ("scenarios", "--output"): ("people.csv", WORDS),
    ("scenarios", "--by-group"): ("people.csv", WORDS),
    ("audit", "--output"): ("people.csv", [*WORDS, "-p", "age"]),
    ("audit", "--by-group"): ("people.csv", [*WORDS, "-p", "age"]),
    ("audit", "--plot"): ("people.csv", [*WORDS, "-p", "age"]),
    ("audit", "--plot-rates"): ("people.csv", [*WORDS, "-p", "age"]),
    ("decorrelate", "--output"): ("people.csv", WORDS),
    ("decorrelate", "--save-plan"): ("people.csv", WORDS),
    ("fidelity", "--output"): ("people.csv", WORDS),
    ("cells", "--output"): ("people.csv", WORDS),
    ("merge", "--output"): ("cells.npz", ["other.npz"]),
}
SUFFIX = {
    "--plot": ".png",
    "--plot-rates": ".png",
    "--save-plan": ".npz",
    "report": ".html",
    "cells": ".npz",
    "merge": ".npz",
}
IN_PARTS = [("frontier", "--output"), ("cells", "--output")]
READ = {("cells", "--like"), ("decorrelate", "--plan"), ("monitor", "--rule")}
# Tried in a test of its own, because its first argument is not a table.
OF_MONITOR = {("monitor", "--output"), ("monitor", "--plot")}
FOLDERS = {("reproduce", "--output")}


def suffix_of(command: str, option: str) -> str:
    return SUFFIX.get(option, SUFFIX.get(command, ".csv"))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a table, three parts of it and two files of cells."""
    folder = tmp_path_factory.mktemp("made")
    rng = np.random.default_rng(0)
    age = rng.normal(40, 10, 60).round(1)
    paid = np.where(age + rng.normal(0, 8, 60) > 40, "yes", "no")
    table = pa.table({"sex": rng.choice(["f", "m"], 60), "age": age, "paid": paid})
    pa_csv.write_csv(table, folder / "people.csv")
    (folder / "parts" / "deep").mkdir(parents=True)
    for number, name in enumerate(("part0", "part1", "deep/part2")):
        pa_csv.write_csv(table.slice(20 * number, 20), folder / "parts" / f"{name}.csv")
    data = fl.open_data(str(folder / "people.csv"), label="paid", positive="yes", sensitive="sex")
    for name in ("cells.npz", "other.npz"):
        fl.discretize(data, 3, generator=None, partition="features").save(folder / name)
    return folder


@pytest.fixture(autouse=True)
def _place(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run the commands in a fresh copy of it."""
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)


def content() -> dict[Path, str | bytes]:
    """Every file below this folder: its bytes, or where it leads."""
    files = (Path(at, name) for at, _, names in os.walk(".") for name in names)
    return {file: os.readlink(file) if file.is_symlink() else file.read_bytes() for file in files}


def refused(capsys: pytest.CaptureFixture[str], words: Sequence[str | Path], named: str = "itself") -> None:
    before = content()
    assert run([str(word) for word in words]) == 2
    error = capsys.readouterr().err
    assert named in error
    assert "so that nothing is lost" in error
    assert error.count("\n") == 1
    assert content() == before


def other_name(read: Path, kind: str, suffix: str) -> Path:
    """Another path of a file."""
    path = Path(f"link{suffix}")
    if kind == "same":
        return read
    if kind == "relative":
        return Path("parts", "..", read)
    if kind == "absolute":
        return read.absolute()
    if kind == "symbolic":
        path.symlink_to(read)
    elif kind == "links":
        Path("step").symlink_to(read.absolute())
        path.symlink_to("step")
    elif kind == "folder":
        Path("here").symlink_to(".")
        return Path("here") / read
    else:
        path.hardlink_to(read)
    return path


KINDS = ["same", "relative", "absolute", "symbolic", "links", "folder", "hard"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("command", "option"), WRITERS)
def test_the_input_is_kept(capsys: pytest.CaptureFixture[str], command: str, option: str, kind: str) -> None:
    read, more = WRITERS[command, option]
    refused(capsys, [command, read, *more, option, other_name(Path(read), kind, suffix_of(command, option))])


@pytest.mark.parametrize("kind", ["same", "absolute", "symbolic", "hard"])
@pytest.mark.parametrize("part", ["parts/part1.csv", "parts/deep/part2.csv"])
@pytest.mark.parametrize(
    "sources",
    [["parts"], ["parts/../parts/"], ["parts/**/*.csv"], ["part?/**/p*"], ["people.csv", "parts"]],
    ids=["directory", "detour", "pattern", "other pattern", "several"],
)
@pytest.mark.parametrize(("command", "option"), IN_PARTS)
def test_files_of_a_directory_or_a_pattern_are_kept(
    capsys: pytest.CaptureFixture[str], command: str, option: str, sources: list[str], part: str, kind: str
) -> None:
    output = other_name(Path(part), kind, suffix_of(command, option))
    refused(capsys, [command, *sources, *WORDS, option, output], part.rpartition("/")[2])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("words", "read", "option"),
    [
        (["frontier", "cells.npz"], "cells.npz", "-o"),
        (["cells", "people.csv", "--like", "cells.npz"], "cells.npz", "-o"),
        (["cells", "parts", "--like", "cells.npz"], "parts/part0.csv", "-o"),
        (["merge", "other.npz", "cells.npz"], "cells.npz", "-o"),
        (["decorrelate", "people.csv", "--plan", "cells.npz"], "cells.npz", "-o"),
        (["decorrelate", "people.csv", "--plan", "cells.npz"], "people.csv", "-o"),
        (["decorrelate", "people.csv", "--plan", "cells.npz"], "cells.npz", "--save-plan"),
    ],
)
def test_cells_and_plans_are_kept(
    capsys: pytest.CaptureFixture[str], words: list[str], read: str, option: str, kind: str
) -> None:
    refused(capsys, [*words, option, other_name(Path(read), kind, ".npz")], read.rpartition("/")[2])


@pytest.mark.parametrize("kind", ["same", "absolute", "symbolic", "hard"])
@pytest.mark.parametrize(("command", "option"), [own for own in WRITERS if own[0] != "merge"])
def test_the_file_of_a_benchmark_is_kept(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], command: str, option: str, kind: str
) -> None:
    monkeypatch.setenv(benchmarks.DATA_VARIABLE, "data")
    Path("data").mkdir()
    pq.write_table(pa.table({"made": ["up"]}), "data/law.parquet")
    output = other_name(Path("data/law.parquet"), kind, suffix_of(command, option))
    refused(
        capsys, [command, "law", *(["-p", "x"] if command == "audit" else []), option, output], "law.parquet itself"
    )


def test_the_bundled_benchmark_is_kept(capsys: pytest.CaptureFixture[str]) -> None:
    file = benchmarks.benchmark_file("adult")
    before = file.read_bytes()
    Path("link.parquet").symlink_to(file)
    refused(capsys, ["decorrelate", "adult", "-o", "link.parquet"], "adult.parquet itself")
    assert file.read_bytes() == before


def test_a_benchmark_that_is_yet_to_be_downloaded_is_kept(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(benchmarks, "_folders", lambda: [Path("cache")])
    monkeypatch.setattr(benchmarks, "_download", lambda *_: pytest.fail("downloaded"))
    Path("cache").mkdir()
    refused(capsys, ["decorrelate", "law", "-o", "cache/../cache/law.parquet"], "law.parquet itself")
    Path("link.csv").symlink_to("cache/law.parquet")
    refused(capsys, ["frontier", "law", "-o", "link.csv"], "law.parquet itself")


def test_a_name_is_a_benchmark_or_a_directory_as_it_is_read(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree("parts", "law")
    # Among several, the name is that of the directory.
    refused(capsys, ["frontier", "law", "people.csv", *WORDS, "-o", "law/part0.csv"], "part0.csv itself")
    Path("link.npz").symlink_to("law/part0.csv")
    refused(capsys, ["cells", "law", "--like", "cells.npz", "-o", "link.npz"], "part0.csv itself")
    # Alone, it is the benchmark's, and what lies in a directory of that name is no input.
    monkeypatch.setattr(benchmarks, "load_table", lambda _: pq.read_table(benchmarks.benchmark_file("adult")))
    assert run(["frontier", "law", "--label", "nothing", "-o", "law/part0.csv"]) == 2
    assert "itself" not in capsys.readouterr().err


@pytest.mark.parametrize("kind", ["symbolic", "hard", "dangling"])
@pytest.mark.parametrize(
    ("command", "more", "first", "option", "second"),
    [
        ("audit", ["-p", "age"], "one.csv", "--plot", "two.png"),
        ("decorrelate", [], "one.csv", "--save-plan", "two.npz"),
    ],
)
def test_two_outputs_are_two_files(
    capsys: pytest.CaptureFixture[str], command: str, more: list[str], first: str, option: str, second: str, kind: str
) -> None:
    if kind != "dangling":
        Path(first).write_text("old")
    Path(second).hardlink_to(first) if kind == "hard" else Path(second).symlink_to(first)
    refused(capsys, [command, "people.csv", *WORDS, *more, "-o", first, option, second], "the same file")


@pytest.mark.parametrize("target", ["nowhere.npz", "no/where.npz", "out.npz"])
def test_a_link_to_nothing_gives_way(target: str) -> None:
    Path("out.npz").symlink_to(target)
    assert run(["merge", "cells.npz", "other.npz", "-o", "out.npz"]) == 0
    assert not Path("out.npz").is_symlink()
    assert fl.CellDistribution.load("out.npz").origin.rows == 120
    assert not Path("nowhere.npz").exists()


PARTS = [*WORDS, "--partition", "features"]


def test_other_files_are_written_over() -> None:
    for _ in range(2):
        assert run(["frontier", "parts", *PARTS, "--cells", "3", "--points", "2", "-o", "parts/curve.png"]) == 0
        assert run(["cells", "parts", *PARTS, "--cells", "3", "-o", "parts/cells.npz"]) == 0


@pytest.mark.parametrize(
    ("output", "named"), [("folder.npz", "is a directory"), ("none/out.npz", "create it"), ("out.csv", ".npz")]
)
def test_what_cannot_be_written_is_said_before(capsys: pytest.CaptureFixture[str], output: str, named: str) -> None:
    Path("folder.npz").mkdir()
    assert run(["merge", "cells.npz", "missing.npz", "-o", output]) == 2
    assert named in capsys.readouterr().err


def test_a_missing_input_is_said_by_its_reader(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["frontier", "missing.csv", *WORDS, "-o", "missing.csv"]) == 2
    assert "no file missing.csv" in capsys.readouterr().err
    assert not Path("missing.csv").exists()


def test_reproduce_keeps_data_out_of_what_it_removes(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = Path("again/kept/cart-features-256-cells-seed-0")
    folder.mkdir(parents=True)
    (folder / "law.parquet").write_bytes(b"people")
    monkeypatch.setenv(benchmarks.DATA_VARIABLE, str(folder))
    refused(capsys, ["reproduce", "figure1", "--fresh", "-o", "again"], "law.parquet")


def test_every_option_that_names_a_file_is_tried_here() -> None:
    callbacks = [command.callback for command in app.registered_commands if command.callback is not None]
    assert len(callbacks) == len(app.registered_commands)
    found = {
        (callback.__name__, f"--{name.replace('_', '-')}")
        for callback in callbacks
        for name, kind in get_type_hints(callback).items()
        if kind in (Path, Path | None)
    }
    assert found == set(WRITERS) | READ | FOLDERS | OF_MONITOR


def test_json_is_all_that_is_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    cut = ("--partition", "features", "--generator", "none", "--cells", "16")
    asked = {
        ("datasets",): "adult",
        ("cells", "adult", *cut, "-o", "one.npz"): "written to",
        ("merge", "one.npz", "one.npz", "-o", "two.npz"): "rows",
        ("frontier", "one.npz", "--points", "2"): "group hidden",
    }
    for words, key in asked.items():
        assert run([*words, "--json"]) == 0
        assert key in json.loads(capsys.readouterr().out)


def test_every_command_has_json_but_the_one_that_serves() -> None:
    for command in app.registered_commands:
        assert command.callback is not None
        offered = "as_json" in inspect.signature(command.callback).parameters
        assert offered == (command.callback.__name__ != "explore")


@pytest.mark.parametrize("words", [["-o", "parts/part0.csv"], ["--output", "people.csv"]])
def test_a_watch_does_not_replace_what_it_reads(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    refused(capsys, ["monitor", "cells.npz", "people.csv", "parts/part0.csv", *words])


def test_a_watch_does_not_write_two_things_to_one_file(capsys: pytest.CaptureFixture[str]) -> None:
    Path("one.png").symlink_to("two.csv")
    tables = ["people.csv", "parts/part0.csv"]
    refused(capsys, ["monitor", "cells.npz", *tables, "-o", "two.csv", "--plot", "one.png"], "the same file")
