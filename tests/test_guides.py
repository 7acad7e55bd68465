"""The pages run from top to bottom: their programs and commands, and what they are said to print; names are real."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from functools import reduce
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import fairlimits
from fairlimits.apps.cli import run

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
BLOCK = re.compile(r"^```(python|console|text)\n(.*?)^```", re.DOTALL | re.MULTILINE)
ELSEWHERE = {
    "migrating.md": "tests/test_migrating.py",  # which leaves out what belongs to tools that are not installed
    "reproduce.md": "tests/apps/paper/test_reproduce_command.py",  # the same commands with --quick
}
NOT_RUN = (
    "pip install",  # nothing is installed into the environment that is being tested
    "fairlimits explore",  # serves until it is stopped: tests/apps/explorer
)
NEED_MUCH = {"benchmark.md": "installs the peers, and takes hours"}


def parts(guide: Path) -> list[tuple[str, str]]:
    return BLOCK.findall(guide.read_text(encoding="utf-8"))


def has_programs(page: Path) -> bool:
    return any(kind != "text" for kind, _ in parts(page))


GUIDES = [
    page.name
    for page in sorted(DOCS.glob("*.md"))
    if has_programs(page) and page.name not in ELSEWHERE and page.name not in NEED_MUCH
]


def files_that_readers_have(folder: Path) -> None:
    """What the pages take as given: a lender's table, and new people as files."""
    rng = np.random.default_rng(0)
    income, woman = rng.normal(size=900), rng.random(900) < 0.5
    paid = rng.random(900) < 1 / (1 + np.exp(-0.5 - income + 0.4 * woman))
    sex = np.where(woman, "woman", "man")
    loans = {"income": income, "term": rng.integers(1, 6, 900), "sex": sex, "paid": np.where(paid, "yes", "no")}
    pyarrow.csv.write_csv(pa.table(loans), folder / "loans.csv")
    adult = fairlimits.load_dataset("adult").to_frame()
    for name, start in (("people", 6_000), ("january", 6_000), ("february", 7_500), ("new", 9_000)):
        pyarrow.csv.write_csv(adult.slice(start, 1_500), folder / f"{name}.csv")
    days = np.datetime64("2025-01-01") + np.arange(3_000) // 6
    pq.write_table(adult.slice(6_000, 3_000).append_column("decided_on", pa.array(days)), folder / "decided.parquet")


def printed_by(command: str, capsys: pytest.CaptureFixture[str]) -> str:
    """What a line of a console block prints."""
    line, _, target = command.removeprefix("$ ").partition("#")[0].partition(" > ")
    words = shlex.split(line)
    if words[0] == "python":
        ran = subprocess.run((sys.executable, *words[1:]), capture_output=True, text=True)
        assert ran.returncode == 0, ran.stderr
        printed = ran.stdout
    else:
        assert words[0] == "fairlimits"
        assert run(words[1:]) == 0, capsys.readouterr().err
        printed = capsys.readouterr().out
    if target:
        Path(target.strip()).write_text(printed, encoding="utf-8")
        return ""
    return printed


@pytest.mark.parametrize("name", GUIDES)
# A guide shows what users see; a warning is not an error to them.
@pytest.mark.filterwarnings("ignore")
def test_the_page_does_what_it_says(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    files_that_readers_have(tmp_path)
    names: dict[str, object] = {}
    printed = ""
    for kind, text in parts(DOCS / name):
        if kind == "python":
            exec(compile(text, name, "exec"), names)
            printed = capsys.readouterr().out
        elif kind == "text":
            assert printed.split() == text.split()
        else:
            for command, shown in re.findall(r"^(\$ .*)\n((?:(?!\$ ).*\n)*)", text, re.MULTILINE):
                if not command.startswith(tuple(f"$ {own}" for own in NOT_RUN)):
                    said = printed_by(command, capsys)
                    assert not shown or said.split() == shown.split()
    plt.close("all")


def test_every_other_page_is_tried_elsewhere() -> None:
    for page, test in ELSEWHERE.items():
        assert has_programs(DOCS / page)
        assert (ROOT / test).exists()


@pytest.mark.parametrize("page", [ROOT / "README.md", *sorted(DOCS.glob("*.md"))], ids=lambda page: page.name)
def test_programs_are_not_hidden_from_the_tests(page: Path) -> None:
    # Indented blocks are for formulas: nobody runs them.
    assert not re.findall(
        r"^    (?:\$ |fairlimits |python |import |from \w+ import )", page.read_text(encoding="utf-8")
    )


@pytest.mark.parametrize("page", [ROOT / "README.md", *sorted(DOCS.glob("*.md"))], ids=lambda page: page.name)
def test_targets_of_make_exist(page: Path) -> None:
    targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert set(re.findall(r"(?:^\$ |`)make (\w+)", page.read_text(encoding="utf-8"), re.MULTILINE)) <= set(targets)


@pytest.mark.parametrize("page", [ROOT / "README.md", *sorted(DOCS.glob("*.md"))], ids=lambda page: page.name)
def test_names_of_the_package_exist(page: Path) -> None:
    for name in set(re.findall(r"\bfl\.([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)", page.read_text(encoding="utf-8"))):
        reduce(getattr, name.split("."), fairlimits)


@pytest.mark.parametrize("page", sorted(DOCS.glob("*.md")), ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for link in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
        assert link.startswith("http") or (page.parent / link).exists(), link
