"""``fairlimits monitor`` from the shell: exit codes, files, and errors in its own words."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as pa_csv
import pytest

import fairlimits as fl
from fairlimits.apps.cli import run
from known_people import known, people


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("watched")
    dist = fl.discretize(known(0, 2_000)[0], 12, partition="features", generator=None)
    fl.solve(dist, {"DP": 0.1}).save(path / "rule.npz")
    for at in range(3):
        table = people(50 + at, 4_000)[0]
        days = pa.array([f"2026-0{at + 1}-11"] * 4_000)
        pa_csv.write_csv(table.append_column("day", days), path / f"{at}.csv")
    return path


def test_calm_and_alarm(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = [str(folder / f"{at}.csv") for at in range(3)]
    written = ["-o", str(folder / "watch.json"), "--plot", str(folder / "watch.svg")]
    assert run(["monitor", str(folder / "rule.npz"), *files, "-t", "DP=0.3", *written]) == 0
    assert "No alarm" in capsys.readouterr().out
    assert json.loads((folder / "watch.json").read_text())["alarm"] is False
    assert "<svg" in (folder / "watch.svg").read_text()
    bad = ["monitor", str(folder / "rule.npz"), *files, "-t", "DP=0.001", "-o", str(folder / "watch.csv")]
    assert run(bad) == 3
    assert "beyond 0.001" in capsys.readouterr().out
    assert (folder / "watch.csv").read_text().startswith('"period"')


def test_errors_speak_of_options(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rule, table = str(folder / "rule.npz"), str(folder / "0.csv")
    for arguments, words in (
        ([rule, table], "--dates COLUMN"),
        ([rule, table, table, "--dates", "day"], "--dates is for one"),
        ([rule, table, table], "is given twice"),
        ([rule, table, "--dates", "day", "-o", table], "0.csv"),
        ([str(folder / "none.npz"), table, "--dates", "day"], "There is no file"),
    ):
        assert run(["monitor", *arguments]) == 2
        assert words in capsys.readouterr().err
