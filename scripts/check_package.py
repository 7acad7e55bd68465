"""Check the wheel and the sdist in dist/: that they are whole, and that they run away from the source tree.

The wheel is installed into an empty environment, where the README's program and command print what it says. The sdist
runs the whole test suite on its own sources; ``python scripts/check_package.py tests/limits ...`` runs a part of it.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "README.md"
WHEEL_HOLDS = (
    "fairlimits/py.typed",
    "fairlimits/__init__.pyi",
    "fairlimits/data/files/adult.parquet",
    "fairlimits/apps/templates/base.html",
    "fairlimits/apps/report/templates/page.html",
    "fairlimits/apps/paper/templates/paper.css",
)
# As `make test` runs them.
WHOLE = ("-n", "auto", "--dist", "loadfile")


def main() -> None:
    """Check the one wheel and the one sdist."""
    tests = tuple(sys.argv[1:]) or WHOLE
    (wheel,) = (ROOT / "dist").glob("*.whl")
    (sdist,) = (ROOT / "dist").glob("*.tar.gz")
    with tempfile.TemporaryDirectory() as name:
        away = Path(name).resolve()
        check_wheel(wheel, away)
        check_sdist(sdist, away, tests)
    print(f"{wheel.name} and {sdist.name} are whole and run.")


def check_wheel(wheel: Path, away: Path) -> None:
    """Install the wheel into an empty environment, and run the README's program and command there."""
    with zipfile.ZipFile(wheel) as archive:
        require_files(wheel, archive.namelist(), WHEEL_HOLDS)
    venv.create(away / "env", with_pip=True)
    scripts = away / "env" / ("Scripts" if os.name == "nt" else "bin")
    # The constraints are CI's: the README's figures are those of these versions.
    pip = (scripts / "python", "-m", "pip", "--disable-pip-version-check", "-q", "install")
    run(*pip, "-c", ROOT / "constraints-dev.txt", wheel, away=away)
    # -I: neither the current directory nor PYTHONPATH can bring the sources in.
    python = (scripts / "python", "-I", "-W", "error", "-c")
    require_origin(run(*python, "import fairlimits; print(fairlimits.__file__)", away=away), away / "env")
    require_same("The README's program", run(*python, block("python"), away=away), block("text"))
    # Commands are not isolated by themselves.
    alone = {"PYTHONPATH": ""}
    command, expected = said_to_print(block("console"))
    printed = run(scripts / command[0], *command[1:], away=away, **alone)
    require_same(f"The README's command, {shlex.join(command)},", printed, expected)
    version = run(scripts / "fairlimits", "--version", away=away, **alone)
    require_same("fairlimits --version", version, wheel.name.split("-")[1])


def check_sdist(sdist: Path, away: Path, tests: tuple[str, ...]) -> None:
    """Unpack the sdist, and run its own tests on its own sources."""
    with tarfile.open(sdist) as archive:
        archive.extractall(away, filter="data")
    source = away / sdist.name.removesuffix(".tar.gz")
    if (ROOT / ".git").exists():
        tracked = subprocess.run(("git", "ls-files"), cwd=ROOT, check=True, capture_output=True, text=True).stdout
        held = [path.relative_to(source).as_posix() for path in source.rglob("*")]
        require_files(sdist, held, tracked.splitlines())
    # PYTHONPATH comes before the development install of this environment.
    first = {"PYTHONPATH": str(source / "src")}
    python = (sys.executable, "-c", "import fairlimits; print(fairlimits.__file__)")
    require_origin(run(*python, away=source, **first), source)
    command = (sys.executable, "-m", "pytest", "-rs", "-p", "no:cacheprovider", *tests)
    # It takes minutes, so what it prints is shown as it comes.
    if subprocess.run(command, cwd=source, env={**os.environ, **first}).returncode:
        sys.exit("The tests of the sdist failed: see above.")


def block(kind: str) -> str:
    """Return the first block of a kind in the README."""
    found: list[str] = re.findall(rf"```{kind}\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    return found[0]


def said_to_print(shown: str) -> tuple[list[str], str]:
    """Return the command of a console block, and what the block says that it prints."""
    first, _, printed = shown.partition("\n")
    return shlex.split(first.removeprefix("$ ")), printed


def run(*command: str | Path, away: Path, **variables: str) -> str:
    """Run a command in a directory away from the sources, and return what it printed."""
    ran = subprocess.run(command, cwd=away, env={**os.environ, **variables}, stdout=subprocess.PIPE, text=True)
    if ran.returncode:
        sys.exit(f"{ran.stdout}\n{Path(command[0]).name} ended with code {ran.returncode}: see above.")
    return ran.stdout


def require_files(archive: Path, held: list[str], needed: tuple[str, ...] | list[str]) -> None:
    """Stop if a file is missing."""
    if missing := sorted(set(needed) - set(held)):
        sys.exit(f"{archive.name} lacks {', '.join(missing)}: see [tool.hatch.build] in pyproject.toml.")


def require_origin(printed: str, folder: Path) -> None:
    """Stop if another fairlimits than the one to check was imported."""
    if not Path(printed.strip()).resolve().is_relative_to(folder):
        sys.exit(f"fairlimits came from {printed.strip()}, not from {folder}.")


def require_same(what: str, printed: str, expected: str) -> None:
    """Stop if something else was printed."""
    if printed.split() != expected.split():
        sys.exit(f"{what} printed\n{printed}\nand should print\n{expected}")


if __name__ == "__main__":
    main()
