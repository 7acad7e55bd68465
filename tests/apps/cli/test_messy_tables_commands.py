"""Messy tables on the command line: one message, exit code 2, options to paste; and --features and --bin."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from fairlimits.apps.cli import run

N = 600
COLUMNS = ["--label", "paid", "--sensitive", "sex"]
QUICK = ["--cells", "8", "--points", "2"]


def people() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"age": rng.integers(18, 80, N), "sex": rng.choice(["f", "m"], N)})
    frame["hours"] = rng.normal(40, 9, N).round(1)
    return frame.assign(paid=(rng.random(N) < np.where(frame["age"] > 45, 0.7, 0.3)).astype(int))


def messy() -> pd.DataFrame:
    return people().assign(
        name=[f"person {k}" for k in range(N)],
        **{"case no": [f"c-{k}" for k in range(N)]},
        infinite=np.where(np.arange(N) < 2, np.inf, 1.0),
    )


@pytest.fixture
def csv(tmp_path: Path) -> Path:
    path = tmp_path / "messy.csv"
    messy().to_csv(path, index=False)
    return path


COMMANDS = {
    "frontier": QUICK,
    "decorrelate": ["--cells", "8"],
    "fidelity": ["--generator", "bootstrap", "--samples", "500"],
    "cells": ["--cells", "8", "-o", "{out}.npz"],
    "scenarios": [],
    "report": ["-o", "{out}.json"],
    "audit": ["--prediction", "hours"],
    "explore": ["--no-browser"],
}


@pytest.mark.parametrize("command", COMMANDS)
def test_one_message_with_the_options_that_help(
    command: str, csv: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    more = [word.format(out=tmp_path / "out") for word in COMMANDS[command]]
    assert run([command, str(csv), *COLUMNS, *more]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    lines = captured.err.strip().splitlines()
    assert lines[0] == "Error: The table has 3 problems:"
    assert [re.findall(r"Column '([^']+)'", line) for line in lines[1:-1]] == [["name"], ["case no"], ["infinite"]]
    assert lines[-1] == "To leave these columns out: --drop name --drop 'case no' --drop infinite"
    assert "Traceback" not in captured.err


def test_the_options_can_be_pasted(csv: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["frontier", str(csv), *COLUMNS, *QUICK]
    assert run(words) == 2
    options = capsys.readouterr().err.strip().splitlines()[-1].partition(": ")[2]
    assert run([*words, *shlex.split(options)]) == 0


def test_parts_too(csv: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["frontier", str(csv), *COLUMNS, *QUICK, "--stream", "--partition", "features"]
    assert run(words) == 2
    error = capsys.readouterr().err
    assert "--drop name --drop 'case no' --drop infinite" in error
    assert run([*words, "--features", "age", "--features", "hours", "--bin", "age:25,60"]) == 0


def test_what_was_done_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rng = np.random.default_rng(1)
    towns = np.where(rng.random(N) < 0.7, rng.integers(0, 10, N), rng.integers(0, 200, N))
    frame = people().assign(town=[f"t{k}" for k in towns], day=pd.date_range("2020", periods=N).astype(str))
    frame.to_csv(tmp_path / "towns.csv", index=False)
    said = [
        "Note: Dates read as numbers, of days since 1970-01-01: day.",
        "Note: Of town, the 10 most frequent values are kept; all others, in ",
    ]
    for more in ([], ["--stream", "--partition", "features"]):
        assert run(["frontier", str(tmp_path / "towns.csv"), *COLUMNS, *QUICK, *more]) == 0
        out = capsys.readouterr().out
        assert [words for words in said if words in out] == said
    target = tmp_path / "curve.json"
    assert run(["frontier", str(tmp_path / "towns.csv"), *COLUMNS, *QUICK, "-o", str(target)]) == 0
    assert said[0].removeprefix("Note: ") in json.loads(target.read_text())["notes"]


def test_features_and_bins(csv: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["cells", str(csv), "--label", "paid", "--sensitive", "age", "--bin", "age:30,60", "--features", "hours"]
    assert run([*words, "--cells", "8", "-o", str(tmp_path / "cells.npz")]) == 0
    assert "groups under 30, 30 to under 60, 60 and over." in capsys.readouterr().out
    page = tmp_path / "page.json"
    report = ["report", str(csv), "--label", "paid", "--sensitive", "sex", "--features", "hours", "--features", "age"]
    assert run([*report, "--bin", "age:30", "-o", str(page)]) == 0
    assert "--features hours --features age --bin age:30" in page.read_text()


@pytest.mark.parametrize("command", ["scenarios", "audit"])
def test_a_prediction_need_not_be_named_as_a_feature(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "people.csv"
    people().assign(decided=(people()["age"] > 50).astype(int)).to_csv(path, index=False)
    words = [command, str(path), *COLUMNS, "--features", "age", "--features", "hours", "--prediction", "decided"]
    assert run(words) == 0, capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--bin", "age"], "write a column and its cut points, as in --bin age:25,60"),
        (["--bin", "age:60,25"], "--bin age:25,60"),
        (["--bin", "agee:60"], "Did you mean 'age'?"),
        (["--bin", "age:30", "--bin", "age:60"], "twice"),
        (["--features", "agee"], "Did you mean 'age'?"),
        (["--features", "sex"], "both sensitive and among the features"),
        (["--drop", "name", "--features", "name"], "both drop and among the features"),
    ],
)
def test_bad_options(words: list[str], message: str, csv: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["frontier", str(csv), *COLUMNS, *words]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.startswith("Error: ")


def test_words_of_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "people.csv"
    people().assign(paid=np.where(people()["paid"], "yes", "no")).to_csv(path, index=False)
    assert run(["frontier", str(path), *COLUMNS]) == 2
    assert "say so with --positive." in capsys.readouterr().err
    frame = people()
    frame.loc[0, "sex"] = None
    frame.to_csv(path, index=False)
    assert run(["frontier", str(path), *COLUMNS]) == 2
    assert "--missing-sensitive drop" in capsys.readouterr().err


def test_cells_of_other_rows_take_neither(csv: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = tmp_path / "made.npz"
    more = ["--features", "hours", "--partition", "features", "--cells", "4"]
    words = ["cells", str(csv), "--label", "paid", "--sensitive", "age", "--bin", "age:30", *more]
    assert run([*words, "-o", str(made)]) == 0
    again = ["cells", str(csv), "--like", str(made), "-o", str(tmp_path / "again.npz")]
    assert run(again) == 0, capsys.readouterr().err
    assert run([*again, "--features", "age", "--bin", "age:3"]) == 2
    assert "leave --features, --bin out" in capsys.readouterr().err
    assert run(["frontier", str(made), "--features", "age"]) == 2
    assert "leave the options of the data out" in capsys.readouterr().err


AS_JSON = {
    "frontier": ["--cells", "4", "--points", "2"],
    "ceiling": [],
    "scenarios": [],
    "audit": ["--prediction", "decided"],
    "decorrelate": ["--cells", "4"],
    "fidelity": ["--samples", "500"],
    "report": ["-o", "{out}.html"],
}


@pytest.mark.parametrize("command", AS_JSON)
def test_json_of_what_is_not_estimable(command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`ceiling --json` ended in a traceback where a group had fewer than 30 rows of a label."""
    frame = people().head(150).assign(decided=lambda own: (own["age"] > 50).astype(int))
    frame["sex"] = np.where(np.arange(150) < 50, "f", "m")
    frame.to_csv(tmp_path / "people.csv", index=False)
    more = [word.format(out=tmp_path / "out") for word in AS_JSON[command]]
    code = run([command, str(tmp_path / "people.csv"), *COLUMNS, *more, "--json"])
    said = capsys.readouterr()
    assert code == 0, said.err
    json.loads(said.out, parse_constant=pytest.fail)


@pytest.mark.parametrize("command", ["frontier", "ceiling"])
def test_a_file_name_is_no_formula(command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "$\\people$.csv"
    people().head(150).to_csv(path, index=False)
    more = ["--cells", "4", "--points", "2"] if command == "frontier" else ["-t", "DP=0.1"]
    code = run([command, str(path), *COLUMNS, *more, "-o", str(tmp_path / "out.svg")])
    assert code == 0, capsys.readouterr().err
    assert r"\people$" in (tmp_path / "out.svg").read_text(encoding="utf-8")


@pytest.mark.parametrize("command", ["audit", "scenarios", "decorrelate"])
def test_leaks_and_ids_are_named_wherever_they_make_figures_false(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    frame = people()
    decided = (frame["age"] > 50).astype(int)
    path = tmp_path / "people.csv"
    settled = frame["paid"] * 3 + np.random.default_rng(2).random(N).round(3)
    gender = np.where(frame["sex"] == "f", "w", "man")
    frame.assign(case=np.arange(N) + 7_000, settled=settled, gender=gender, decided=decided).to_csv(path, index=False)
    more = {"audit": ["--prediction", "decided", "-n", "DP"], "scenarios": [], "decorrelate": ["--cells", "8"]}[command]
    assert run([command, str(path), *COLUMNS, *more, "--json"]) == 0
    captured = capsys.readouterr()
    notes = json.loads(captured.out)["notes"]
    named = [note.split()[0] for note in notes if note.startswith(("settled ", "case ", "gender "))]
    # What tells the group is what a map is for.
    assert named == (["settled", "case"] if command == "decorrelate" else ["settled", "gender", "case"])
    for note in notes:
        assert note in captured.err
