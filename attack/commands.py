"""Bad command lines: whatever is written, the answer is a result or a sentence."""

from __future__ import annotations

import contextlib
import io
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from attack.area import Area, Case
from attack.people import table
from fairlimits.apps.cli import run

_COMMANDS = ("report", "frontier", "scenarios", "audit", "decorrelate", "fidelity", "cells", "merge", "datasets", "x")
_OPTIONS = (
    "--label",
    "--sensitive",
    "--positive",
    "--weight",
    "--drop",
    "--features",
    "--points",
    "--cells",
    "--from",
    "--to",
    "--notion",
    "--tolerance",
    "--require",
    "--objective",
    "--output",
    "--seed",
    "--prediction",
    "--partition",
    "--generator",
    "--samples",
    "--confidence",
    "--small-groups",
    "--ratio",
    "--nothing",
)
_VALUES = (
    "",
    "hired",
    "sex",
    "skill",
    "job",
    "nobody",
    "-1",
    "0",
    "1e400",
    "nan",
    "1000000000000",
    "9" * 400,
    "DP",
    "EOd",
    "DP=0.1",
    "selection rate <= 0.3",
    "costs 1:2",
    "a\x1b[31mb",
    "\u202egnp",
    "ä" * 300,
    "people.csv",
    "missing.csv",
    "empty.csv",
    "binary.csv",
    ".",
    "out.csv",
    "/nowhere/out.csv",
)


@contextmanager
def _lines(folder: Path) -> Iterator[Case]:
    table(np.random.default_rng(0), 120).to_csv(folder / "people.csv", index=False)
    (folder / "empty.csv").write_bytes(b"")
    (folder / "binary.csv").write_bytes(bytes(range(256)) * 40)
    people = (folder / "people.csv").read_bytes()

    def case(rng: np.random.Generator) -> str | None:
        words = [str(rng.choice(_COMMANDS)), *_VALUES[-7:][int(rng.integers(7)) :][:1]]
        if rng.random() < 0.7:
            words += ["people.csv", "--label", "hired", "--sensitive", "sex"]
        for _ in range(int(rng.integers(0, 4))):
            words.append(str(rng.choice(_OPTIONS)))
            if rng.random() < 0.85:
                words.append(_VALUES[int(rng.integers(len(_VALUES)))])
        found = _tried(words)
        if (folder / "people.csv").read_bytes() != people:
            return f"{words}: the input was changed"
        return found

    home = Path.cwd()
    os.chdir(folder)
    try:
        yield case
    finally:
        os.chdir(home)


def _tried(words: list[str]) -> str | None:
    out, err = io.StringIO(), io.StringIO()
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            code = run(words)
    except Exception as error:
        return f"{words}: {type(error).__name__}: {error}"
    said = out.getvalue() + err.getvalue()
    if code not in (0, 2):
        return f"{words}: exit code {code}"
    if code == 2 and not err.getvalue().strip():
        return f"{words}: exit code 2 without a word"
    if "Traceback" in said:
        return f"{words}: a traceback"
    return f"{words}: a raw control character" if "\x1b[31mb" in said or "\u202e" in said else None


AREAS = (
    Area("command lines", "exit code 0, or 2 with a sentence; inputs stay; nothing raw on the terminal", 1_000, _lines),
)
