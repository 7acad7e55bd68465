"""What packages say of themselves: one version, in one place, and nothing of the repository left out."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

import fairlimits

ROOT = Path(__file__).parents[1]
# What hatch puts into every sdist by itself.
ALWAYS = {"LICENSE", "README.md", "pyproject.toml", ".gitignore"}


def text_of(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def test_other_files_have_the_version_of_the_package() -> None:
    (cited,) = re.findall(r"^version: (.+)$", text_of("CITATION.cff"), re.MULTILINE)
    assert cited == fairlimits.__version__
    newest, *_ = re.findall(r"^## (\d[\w.]*)", text_of("CHANGELOG.md"), re.MULTILINE)
    assert newest == fairlimits.__version__


def test_the_package_says_where_it_comes_from() -> None:
    _, _, urls = text_of("pyproject.toml").partition("[project.urls]\n")
    assert all(' = "https://' in line for line in urls.partition("\n\n")[0].splitlines())


def test_the_sdist_holds_all_that_the_repository_does() -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("not a clone")
    tracked = subprocess.run(("git", "ls-files"), cwd=ROOT, check=True, capture_output=True, text=True).stdout
    _, _, rest = text_of("pyproject.toml").partition("[tool.hatch.build.targets.sdist]")
    named = set(re.findall(r'"/([^"]+)"', rest.partition("[tool.ruff]")[0]))
    assert {path.split("/")[0] for path in tracked.split()} <= named | ALWAYS
