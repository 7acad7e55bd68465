"""The guides run from top to bottom: their programs and commands, and what they are said to print; names are real."""

from __future__ import annotations

import re
import shlex
import warnings
from functools import reduce
from pathlib import Path

import matplotlib.pyplot as plt
import pytest
from sklearn.linear_model import LogisticRegression

import fairlimits
from fairlimits.apps.cli import run

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
GUIDES = ("start.md", "data.md", "notions.md", "handover.md", "deploy.md", "sizing.md")


def parts(guide: Path) -> list[tuple[str, str]]:
    return re.findall(r"```(\w+)\n(.*?)```", guide.read_text(encoding="utf-8"), re.DOTALL)


@pytest.mark.parametrize("name", GUIDES)
def test_the_guide_does_what_it_says(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    printed = ""
    for kind, text in parts(DOCS / name):
        if kind == "python":
            with warnings.catch_warnings():
                # A guide shows what users see; a warning is not an error to them.
                warnings.simplefilter("ignore")
                exec(compile(text, name, "exec"), names)
            printed = capsys.readouterr().out
        elif kind == "console":
            command, *shown = text.strip().splitlines()
            words = shlex.split(command.removeprefix("$ "))
            assert words[0] == "fairlimits"
            assert run(words[1:]) == 0, capsys.readouterr().err
            printed = capsys.readouterr().out
            if shown:
                assert printed.split() == "\n".join(shown).split()
        elif kind == "text":
            assert printed.split() == text.split()
    plt.close("all")


def test_the_program_of_limits_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    learn = fairlimits.estimate_outcome
    # The default learners take longer, and are tested elsewhere.
    quick = LogisticRegression(max_iter=100)
    monkeypatch.setattr(fairlimits, "estimate_outcome", lambda rows: learn(rows, estimator=quick))
    names: dict[str, object] = {}
    for kind, text in parts(DOCS / "limits.md"):
        if kind == "python":
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                exec(compile(text, "limits.md", "exec"), names)
    plt.close("all")


@pytest.mark.parametrize("page", [ROOT / "README.md", *sorted(DOCS.glob("*.md"))], ids=lambda page: page.name)
def test_names_of_the_package_exist(page: Path) -> None:
    for name in set(re.findall(r"\bfl\.([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)", page.read_text(encoding="utf-8"))):
        reduce(getattr, name.split("."), fairlimits)


@pytest.mark.parametrize("page", sorted(DOCS.glob("*.md")), ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for link in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
        assert link.startswith("http") or (page.parent / link).exists(), link
