"""A slice of the attack: a few cases of every area that needs no cluster."""

from __future__ import annotations

from pathlib import Path

import pytest
from attack.__main__ import AREAS, main
from attack.area import Count, attack, read_counts, write_counts

SLICE = {
    "bit flips": 200,
    "forged files": 60,
    "every value": 120,
    "command lines": 5,
    "programs, linprog": 30,
    "programs, fractions": 30,
    "messy tables": 30,
    "table files": 80,
    "full disks": 15,
    "signals": 2,
    "hostile requests": 80,
    "loads and solves": 20,
    "ten clients": 2,
}


# What is tried has warnings of its own.
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", SLICE)
def test_no_case_fails(name: str, tmp_path: Path) -> None:
    assert attack(AREAS[name], tmp_path, SLICE[name], 1, Count(), lambda: None).failures == []


def test_every_area_is_known() -> None:
    assert set(AREAS) == {*SLICE, "killed workers"}


def test_an_attack_goes_on_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page, state = tmp_path / "page.md", tmp_path / "state.json"
    page.write_text("before\n<!-- attack -->\nold\n<!-- end of attack -->\nafter\n", encoding="utf-8")
    write_counts(state, {"programs, fractions": Count(3, ["case 1: wrong"], 1.0)})
    words = ["attack", "programs, fractions", "--cases", "5", "--state", str(state), "--page", str(page)]
    monkeypatch.setattr("sys.argv", words)
    assert main() == 1
    found = read_counts(state)["programs, fractions"]
    assert (found.done, found.failures) == (5, ["case 1: wrong"])
    assert "| 5 | 1 |" in page.read_text(encoding="utf-8")
    assert page.read_text(encoding="utf-8").endswith("<!-- end of attack -->\nafter\n")
