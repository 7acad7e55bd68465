"""Try the package on other Pythons, and with the lowest versions that pyproject.toml allows: docs/compatibility.md.

Each try has an environment of its own, into which the package is installed as users do. `make floors` tries the lowest
versions on the Python that runs it; `python scripts/try_versions.py --all` tries every Python that it finds as well.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from shutil import which

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "compatibility.md"
MARK = "<!-- tried -->"
PYTHONS = ("3.10", "3.11", "3.12", "3.13")
# Not the tests of printed figures, which are those of constraints-dev.txt, nor of tools that users need not have.
TESTS = (
    "tests/_util",
    "tests/notions",
    "tests/solvers",
    "tests/limits",
    "tests/data",
    "tests/law/cells",
    "tests/estimators",
)
LEFT_OUT = ("tests/law/cells/test_dask.py",)
TOOLS = ("pytest", "hypothesis", "pandas", "polars")


@dataclass(frozen=True)
class Tried:
    """What came of one try."""

    python: str
    versions: str
    packages: str
    result: str

    @property
    def line(self) -> str:
        """The line of the table."""
        return f"| {self.python} | {self.versions} | {self.packages} | {self.result} |"


def main() -> None:
    """Try what was asked for, and write it down."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--all", action="store_true", help="also every Python from 3.10 to 3.13 that can be found")
    parser.add_argument("--write", action="store_true", help=f"write the result into {PAGE.name}")
    parser.add_argument("tests", nargs="*", default=TESTS, help="tests to run, by path")
    asked = parser.parse_args()
    wanted = [(_version(Path(sys.executable)), True)]
    if asked.all:
        wanted += [(version, False) for version in PYTHONS]
    failed = False
    for version, lowest in wanted:
        path = Path(sys.executable) if lowest else find(version)
        missing = Tried(version, _which(lowest), "", "not found on this machine")
        own = tried(path, asked.tests, lowest=lowest) if path else missing
        failed |= "failed" in own.result
        print(own.line, flush=True)
        if asked.write:
            PAGE.write_text(with_line(PAGE.read_text(encoding="utf-8"), own, asked.tests), encoding="utf-8")
    sys.exit(failed)


def with_line(page: str, own: Tried, tests: Sequence[str]) -> str:
    """Return the page with the line of a try, in place of one of the same Python and versions."""
    before, mark, after = page.partition(MARK)

    def place(line: str) -> tuple[bool, int]:
        python, versions = (word.strip() for word in line.split("|")[1:3])
        return versions == "newest", int(python.split(".")[1])

    held = {place(line): line for line in re.findall(r"^\| \d.*$", after, re.MULTILINE)}
    held[place(own.line)] = own.line
    head = ["| Python | versions | among them | tests |", "| --- | --- | --- | --- |"]
    ran = f"Tests: {', '.join(tests)}."
    return "\n".join([f"{before}{mark}", "", *head, *(held[at] for at in sorted(held)), "", ran, ""])


def find(version: str) -> Path | None:
    """An interpreter of a version: on the path, or one that pyenv holds."""
    for path in Path.home().glob(f".pyenv/versions/{version}.*/bin/python"):
        return path
    found = which(f"python{version}")
    return Path(found) if found else None


def floors() -> list[str]:
    """The lowest version of each dependency of the package itself."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    held = re.search(r"^dependencies = \[(.*?)^\]", text, re.DOTALL | re.MULTILINE)
    assert held is not None
    return [f"{name}=={version}" for name, version in re.findall(r'"([\w-]+)>=([\d.]+)"', held[1])]


def tried(python: Path, tests: Sequence[str], *, lowest: bool) -> Tried:
    """Install the package for a Python into an empty environment, and run its tests there."""
    with tempfile.TemporaryDirectory() as name:
        away = Path(name)
        subprocess.run((python, "-m", "venv", away / "env"), check=True)
        own = away / "env" / ("Scripts" if os.name == "nt" else "bin") / "python"
        limits = away / "limits.txt"
        limits.write_text("\n".join(floors() if lowest else ()), encoding="utf-8")
        pip: tuple[str | Path, ...] = (own, "-m", "pip", "--disable-pip-version-check", "-q", "install", "-c", limits)
        if subprocess.run((*pip, ROOT, *TOOLS)).returncode:
            return Tried(_version(own), _which(lowest), "", "failed to install")
        options = ("-p", "no:cacheprovider", "-W", "default", *(f"--ignore={path}" for path in LEFT_OUT))
        command: tuple[str | Path, ...] = (own, "-m", "pytest", *options, *tests)
        # What is tried is what was installed, not the sources.
        variables = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        ran = subprocess.run(command, cwd=ROOT, env=variables, stdout=subprocess.PIPE, text=True)
        last = ran.stdout.strip().splitlines()[-1] if ran.stdout.strip() else "failed: nothing was printed"
        if ran.returncode:
            print(ran.stdout[-6000:], file=sys.stderr)
        return Tried(_version(own), _which(lowest), _packages(own), last.strip("= "))


def _which(lowest: bool) -> str:
    return "lowest allowed" if lowest else "newest"


def _version(python: Path) -> str:
    return subprocess.check_output(
        (python, "-c", "import platform; print(platform.python_version())"), text=True
    ).strip()


def _packages(python: Path) -> str:
    shown = ("numpy", "scipy", "scikit-learn", "highspy", "pyarrow")
    listed = subprocess.check_output((python, "-m", "pip", "--disable-pip-version-check", "freeze"), text=True)
    held = dict(line.split("==") for line in listed.splitlines() if "==" in line)
    return ", ".join(f"{name} {held[name]}" for name in shown)


if __name__ == "__main__":
    main()
