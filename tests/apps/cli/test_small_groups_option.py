"""``--small-groups``: every command says first which groups are too small, and does what it is told with them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import fairlimits as fl
from fairlimits.apps.cli import run

COLUMNS = ["--label", "paid", "--positive", "yes", "--sensitive", "race"]
CELLS = ["--cells", "8", "--generator", "none"]
PARTS = ["--stream", "--partition", "features"]
SMALL = "eskimo (10 rows), other (18 rows)"
SET_ASIDE = (
    f"Set aside, with fewer than 30 rows behind a rate: {SMALL}; these people count in accuracy, but such rates are "
    "not compared."
)
JOINED = (
    f"Joined into one group of 28 rows, with fewer than 30 rows behind a rate each: {SMALL}. Set aside, with fewer "
    "than 30 rows behind a rate: eskimo, other (joined) (28 rows); these people count in accuracy, but such rates are "
    "not compared."
)
DROPPED = f"Dropped 28 of 700 rows, of groups with fewer than 30 rows behind a rate: {SMALL}."


def people() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    race = np.repeat(["asian", "white", "other", "eskimo"], [272, 400, 18, 10])
    age = rng.normal(40, 10, 700).round(1)
    paid = np.where(age + rng.normal(0, 8, 700) > 40, "yes", "no")
    frame = pd.DataFrame({"race": race, "age": age, "job": rng.choice(["a", "b"], 700), "paid": paid})
    return frame.sample(frac=1, random_state=0, ignore_index=True)


@pytest.fixture
def csv(tmp_path: Path) -> Path:
    path = tmp_path / "people.csv"
    people().to_csv(path, index=False)
    return path


def first_line(capsys: pytest.CaptureFixture[str]) -> str:
    captured = capsys.readouterr()
    assert captured.err == ""
    return captured.out.splitlines()[0]


COMMANDS = {
    "frontier": ["--points", "2", *CELLS],
    "decorrelate": CELLS,
    "fidelity": ["--generator", "bootstrap", "--samples", "500"],
    "cells": [*CELLS, "-o", "{out}.npz"],
    "scenarios": [],
    "report": ["-o", "{out}.json"],
}


@pytest.mark.parametrize("command", COMMANDS)
def test_it_is_the_first_line_of_every_command(
    command: str, csv: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    more = [word.format(out=tmp_path / "out") for word in COMMANDS[command]]
    assert run([command, str(csv), *COLUMNS, *more]) == 0
    assert first_line(capsys) == SET_ASIDE


@pytest.mark.parametrize(
    ("choice", "line", "groups"),
    [
        ("set-aside", SET_ASIDE, 4),
        ("set aside", SET_ASIDE, 4),
        ("join", JOINED, 3),
        ("drop-rows", DROPPED, 2),
        ("drop", DROPPED, 2),
    ],
)
def test_what_is_done_is_done_and_said_in_the_file_too(
    choice: str, line: str, groups: int, csv: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "curve.json"
    words = ["frontier", str(csv), *COLUMNS, *CELLS, "--points", "3", "-n", "EOd", "--small-groups", choice]
    words += ["--partition", "features"]
    assert run([*words, "-o", str(target)]) == 0
    out = capsys.readouterr().out
    assert out.splitlines()[0] == line
    assert out.count("Set aside") == line.count("Set aside")
    content = json.loads(target.read_text())
    assert content["notes"] == [line]
    data = fl.Dataset.from_frame(people(), label="paid", positive="yes", sensitive="race", small_groups="set aside")
    if groups == 2:
        kept = people().query("race in ('asian', 'white')")
        data = fl.Dataset.from_frame(kept, label="paid", positive="yes", sensitive="race")
    curve = fl.frontier(
        fl.discretize(data, 8, generator=None, partition="features"), ["EOd"], np.linspace(0, 0.2, 3), aware=False
    )
    # What is set aside, and what is joined and still too small, is not compared either way.
    assert content["group hidden"]["accuracy"] == pytest.approx(curve.accuracy.tolist(), abs=1e-9)


def test_they_are_refused_all_at_once(csv: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["frontier", str(csv), *COLUMNS, *CELLS, "--small-groups", "refuse"]) == 2
    assert SMALL in capsys.readouterr().err
    assert run(["frontier", str(csv), *COLUMNS, *CELLS, "--small-groups", "keep"]) == 2
    assert (
        "--small-groups is 'keep'; it must be 'set-aside', 'join', 'drop-rows' or 'refuse'." in capsys.readouterr().err
    )


def test_rows_in_parts_and_cells_say_it_first_too(
    csv: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cells = tmp_path / "cells.npz"
    assert run(["cells", str(csv), *PARTS, *COLUMNS, "--cells", "8", "-o", str(cells), "--small-groups", "join"]) == 0
    assert first_line(capsys) == JOINED
    left = JOINED[JOINED.index("Set aside") :]
    assert run(["frontier", str(cells), "--points", "2"]) == 0
    assert first_line(capsys) == left
    more = tmp_path / "more.npz"
    assert run(["cells", str(csv), "--like", str(cells), "-o", str(more)]) == 0
    assert first_line(capsys) == left
    both = tmp_path / "both.npz"
    assert run(["merge", str(cells), str(more), "-o", str(both)]) == 0
    assert first_line(capsys).startswith(left.partition("(28")[0])
    for words in (
        ["cells", str(csv), "--like", str(cells), "-o", str(more), "--small-groups", "join"],
        ["frontier", str(cells), "--small-groups", "join"],
        ["cells", str(csv), *PARTS, *COLUMNS, "-o", str(more), "--small-groups", "drop-rows"],
    ):
        assert run(words) == 2


def test_what_cannot_be_compared_is_one_note(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, target = tmp_path / "two.csv", tmp_path / "curve.json"
    people().query("race in ('asian', 'other')").to_csv(path, index=False)
    assert (
        run(["frontier", str(path), *COLUMNS, *CELLS, "--points", "2", "-n", "EA", "-n", "EOd", "-o", str(target)]) == 0
    )
    captured = capsys.readouterr()
    assert captured.out.count("Nothing to compare in EA, EOd, which is left out") == 1
    assert captured.err == ""
    notes = json.loads(target.read_text())["notes"]
    assert [note.split(",")[0] for note in notes] == ["Set aside", "Nothing to compare in EA"]


def test_the_option_is_explained(capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("report", "frontier", "scenarios", "audit", "decorrelate", "fidelity", "explore", "cells"):
        assert run([command, "--help"]) == 0
        assert "--small-groups" in capsys.readouterr().out
