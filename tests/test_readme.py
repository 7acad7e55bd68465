"""The README's first screen runs, and prints what it says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from fairlimits.apps.cli import run

README = Path(__file__).parents[1] / "README.md"


def blocks(kind: str) -> list[str]:
    return re.findall(rf"```{kind}\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)


def test_the_program_prints_what_it_says(capsys: pytest.CaptureFixture[str]) -> None:
    exec(compile(blocks("python")[0], str(README), "exec"), {})
    assert capsys.readouterr().out.split() == blocks("text")[0].split()


def test_the_command_prints_what_it_says(capsys: pytest.CaptureFixture[str]) -> None:
    first, *printed = blocks("console")[0].strip().splitlines()
    words = first.removeprefix("$ ").split()
    assert words[0] == "fairlimits"
    assert run(words[1:]) == 0
    assert capsys.readouterr().out.split() == "\n".join(printed).split()


@pytest.mark.parametrize("link", re.findall(r"\]\(([^)#]+)\)", README.read_text(encoding="utf-8")))
def test_links_lead_somewhere(link: str) -> None:
    assert (README.parent / link).exists() or link.startswith("http")
