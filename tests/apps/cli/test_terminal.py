"""What reaches a terminal and a file: no name commands the one, no NaN is in the other."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest

from fairlimits.apps.cli.terminal import complain, json_text, print_table, say, write_csv

EVIL = "\x1b]0;owned\x07 \x9b31m \u202e two\r\nlines"


def test_names_cannot_command_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    say(f"Group {EVIL}\nand more")
    complain(f"no group {EVIL}")
    print_table(("group", "rate"), [(EVIL, "0.5")])
    out, err = capsys.readouterr()
    assert all(line.isprintable() for line in (out + err).splitlines())
    assert "owned" in out
    assert "owned" in err
    # A name of two lines is one line of a table.
    assert any("lines" in line and "0.5" in line for line in out.splitlines())


def test_what_is_not_estimable_is_an_empty_field(tmp_path: Path) -> None:
    path = tmp_path / "rates.csv"
    write_csv(path, pa.table({"group": ["a", "b"], "rate": [0.25, float("nan")], "rows": [40, 3]}))
    assert path.read_text() == '"group","rate","rows"\n"a",0.25,40\n"b",,3\n'


def test_json_cannot_command_the_terminal_either() -> None:
    content = {EVIL: [f"{EVIL} \udc80 \U000e0001 grüße"]}
    text = json_text(content)
    assert all(line.isprintable() for line in text.splitlines())
    assert "grüße" in text
    assert json.loads(text) == content
