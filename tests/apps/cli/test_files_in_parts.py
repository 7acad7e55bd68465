"""Commands that read files in parts: what they say is what Python users get."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import fairlimits as fl
from fairlimits.apps.cli import run
from streams import ROLES, people, write

ROLE_OPTIONS = ["--label", "paid", "--positive", "yes", "--sensitive", "sex", "--keep", "flag", "--keep", "job"]
PLAIN: dict[str, Any] = {**ROLES, "features": ["flag", "job"]}

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write(people(900), tmp_path / "big")


def test_ceiling_and_scenarios(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pattern = str(folder / "*.parquet")
    assert run(["ceiling", pattern, *ROLE_OPTIONS, "-t", "DP=0.1", "-o", str(tmp_path / "top.json")]) == 0
    top = fl.ceiling(folder, {"DP": 0.1}, **PLAIN)
    written = json.loads((tmp_path / "top.json").read_text())
    assert written["points"][0]["upper limit"] == top.curve.upper[0]
    assert "no rule passes" in capsys.readouterr().out

    options = ["-t", "DP=0.1", "--ceiling", "-o", str(tmp_path / "all.json")]
    assert run(["scenarios", pattern, *ROLE_OPTIONS, *options]) == 0
    written = json.loads((tmp_path / "all.json").read_text())
    assert "ceiling" in json.dumps(written)
