"""``fairlimits reproduce`` as a person meets it."""

from __future__ import annotations

from pathlib import Path

import pytest

from fairlimits.apps.cli import run


@pytest.mark.usefixtures("_small_data")
def test_it_says_what_holds_and_where_it_was_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "out"
    words = ["reproduce", "table1", "--quick", "--data", "adult", "--seed", "3", "-o", str(target)]
    assert run(words) == 0
    out = capsys.readouterr().out
    assert "Table 1: fidelity of the generator" in out
    assert f"Written to {target / 'index.html'}" in out
    assert "processor time" in out
    page = (target / "index.html").read_text(encoding="utf-8")
    assert "fairlimits reproduce table1 --seed 3 --data adult --quick" in page


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["table9"], "table9"),
        (["table1", "--generator", "gan"], "gan"),
        (["table1", "--partition", "rows"], "rows"),
        (["table1", "--cells", "1"], "at least 2"),
        (["table1", "--seed", "-1"], "seed is -1"),
        (["table1", "--data", "german"], "german"),
        (["figure2", "--multipliers", "adult"], "Table 2"),
        (["figure1", "-o", "taken.txt"], "is a file"),
        (["figure1", "-o", "no/such/folder"], "does not exist"),
    ],
)
def test_bad_options_get_one_sentence_and_leave_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: list[str], named: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "taken.txt").write_text("mine")
    assert run(["reproduce", *words]) == 2
    error = capsys.readouterr().err
    assert error.startswith("Error: ")
    assert named in error
    assert len(error.strip().splitlines()) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["taken.txt"]
