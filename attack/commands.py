"""Bad command lines: whatever is written, the answer is a result or a sentence."""

from __future__ import annotations

import contextlib
import io
import json
import os
import signal
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn
from unittest.mock import patch

import numpy as np
import typer

import fairlimits as fl
from attack.area import Area, Case
from attack.people import data, table
from fairlimits.apps.cli import run
from fairlimits.apps.cli.app import app

_SECONDS = 300

# Exit codes of a result, of a sentence on what was wrong, and of an alarm of `monitor`.
_CODES = (0, 2, 3)

# What would steer a terminal, in the names of a table.
_RAW = ("\x1b[31mb", "\u202egnp\x07", "\x9b31m", "\udc80")

_RAWEST = ("\x1b[31mb", "\u202e", "\x07", "\x9b")

_OUTPUTS = ("out.csv", "out.json", "out.npz", "out.png", "out.svg", "out.pdf", "out.html", "out.parquet", "o$\\x$.svg")
_FILES = (
    "people.csv",
    "later.csv",
    "$\\strange$.csv",
    "empty.csv",
    "binary.csv",
    "missing.csv",
    "rule.npz",
    "cells.npz",
    "adult",
    ".",
)
_VALUES = (
    "",
    "hired",
    "sex",
    "skill",
    "job",
    "day",
    "nobody",
    "-1",
    "0",
    "1",
    "4",
    "0.05",
    "0.5",
    "1e400",
    "nan",
    "1000000000000",
    "9" * 400,
    "DP",
    "EOd",
    "IF",
    "DP=0.1",
    "skill=1",
    "skill:0,1",
    "auto",
    "none",
    "features",
    "blend",
    "join",
    "drop",
    "month",
    "selection rate <= 0.3",
    "selection rate <= 1e999",
    "costs 1:2",
    "balanced accuracy",
    "a\x1b[31mb",
    "\u202egnp\x07",
    "\udc80",
    "[bold]x[/]",
    "=1+1",
    "ä" * 300,
    "/nowhere/out.csv",
)

_COLUMNS = ("hired", "sex", "skill", "job", "model", "day")
_NUMBERS = ("0", "1", "2", "0.05", "0.5", "0.95", "4")
_NAMES = ("DP", "EA", "EOp", "PE", "EOd", "IF", "demographic_parity")

# Values that could be meant, by the name of an option.
_LIKELY: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(
        ("label", "sensitive", "weight", "numeric", "categorical", "drop", "features", "prediction"), _COLUMNS
    ),
    **dict.fromkeys(("id", "dates"), _COLUMNS),
    **dict.fromkeys(("notion", "ratio"), _NAMES),
    "positive": ("1", "0"),
    "bins": ("skill:0", "skill:-1,0,1"),
    "missing_sensitive": ("refuse", "group", "drop"),
    "small_groups": ("set-aside", "join", "drop-rows", "refuse"),
    "step": ("auto", "skill=0.5", "skill=1"),
    "require": ("selection rate <= 0.3", "accuracy of f >= 0.5", "selection rate ratio >= 0.8"),
    "fix": ("DP=0.1", "EOd=0.05", "IF=0.2"),
    "certify": ("DP=0.1", "0.1", "EOd"),
    "objective": ("accuracy", "balanced accuracy", "costs 1:5"),
    "partition": ("auto", "outcome", "blend", "features"),
    "generator": ("auto", "cart", "bootstrap", "none"),
    "every": ("day", "week", "month", "quarter", "year"),
    "suppress": ("5", "10"),
    "like": ("cells.npz",),
    "plan": ("cells.npz", "rule.npz", "out.npz"),
    "samples": ("100", "1000"),
    "points": ("3", "5"),
    "tolerance": ("0.05", "0.1", "DP=0.1"),
}

# Options of commands that would otherwise make a cell for each person, generate a million rows, or learn for a minute.
_SMALL: dict[str, list[list[str]]] = {
    "cells": [["-o", "out.npz"], ["--partition", "features", "--generator", "none", "--cells", "4"]],
    "decorrelate": [["--cells", "4"]],
    "fidelity": [["--samples", "500"]],
    "monitor": [["--tolerance", "DP=0.1"]],
}


@contextmanager
def _lines(folder: Path) -> Iterator[Case]:
    _write_inputs(folder)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}

    def case(rng: np.random.Generator) -> str | None:
        words = _words(rng)
        found = _tried(words)
        for name, content in before.items():
            if (folder / name).read_bytes() != content:
                return f"{words}: the input {name} was changed"
        for path in folder.iterdir():
            if path.name not in before:
                if path.name.startswith("."):
                    found = found or f"{words}: {path.name} was left behind"
                path.unlink()
        return found

    home = Path.cwd()
    os.chdir(folder)
    previous = signal.signal(signal.SIGALRM, _too_long)
    try:
        # A page would be served until somebody stops it; its address is not what is tried here.
        with patch("fairlimits.apps.explorer.serve", lambda *_: None):
            yield case
    finally:
        signal.signal(signal.SIGALRM, previous)
        os.chdir(home)


def _write_inputs(folder: Path) -> None:
    for seed, name in enumerate(("people.csv", "later.csv")):
        rng = np.random.default_rng(seed)
        people = table(rng, 150)
        people["model"] = (people["skill"] > rng.normal(size=150)).astype(int)
        people["day"] = [f"2024-0{1 + own % 6}-11" for own in range(150)]
        people.to_csv(folder / name, index=False)
        if seed == 0:
            strange = people.rename(columns={"skill": "$\\skill$<b>\x9b31m"})
            strange["sex"] = np.where(strange["sex"] == "f", _RAW[0], _RAW[1])
            strange["job"] = strange["job"].replace({"nurse": "=1+1", "smith": "[bold]x[/]"})
            strange.to_csv(folder / "$\\strange$.csv", index=False)
    (folder / "empty.csv").write_bytes(b"")
    (folder / "binary.csv").write_bytes(bytes(range(256)) * 40)
    people_ = data(np.random.default_rng(0), 150)
    fl.solve(fl.estimate_outcome(people_, folds=2), {"DP": 0.1}).save(folder / "rule.npz")
    fl.discretize(people_, 4, partition="features", generator=None).save(folder / "cells.npz")


def _words(rng: np.random.Generator) -> list[str]:
    """Draw a command with options of its own, most of them with values that could be meant, and some that could not."""
    commands: Any = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    name = str(rng.choice([*sorted(set(commands) - {"reproduce"}), "reproduce", "x"]))
    own = [] if name == "x" else commands[name].params
    words = [name, *_sources(rng, name)]
    known = {option for parameter in own for option in parameter.opts}
    if rng.random() < 0.8:
        base = ["--label", "hired", "--sensitive", "sex", "--drop", "day"]
        words += base if "--label" in known else []
        words += [word for more in _SMALL.get(name, []) for word in more]
    if "--prediction" in known and rng.random() < 0.9:
        words += ["--prediction", "model"]
    options = [parameter for parameter in own if parameter.param_type_name == "option"]
    for _ in range(int(rng.integers(0, 4))):
        if not options or rng.random() < 0.02:
            words.append("--nothing")
            continue
        option = options[int(rng.integers(len(options)))]
        words.append(str(rng.choice([*option.opts, *option.secondary_opts])))
        if not option.is_flag or rng.random() < 0.05:
            words.append(_value(rng, option))
    return words


def _value(rng: np.random.Generator, option: Any) -> str:
    is_output = "output" in option.name or "plot" in option.name or option.name in ("by_group", "save_plan")
    if rng.random() < 0.3:
        values: tuple[str, ...] = (*_VALUES, *_OUTPUTS, *_FILES)
    elif is_output:
        values = _OUTPUTS
    else:
        values = _LIKELY.get(option.name, _NUMBERS)
    return values[int(rng.integers(len(values)))]


def _sources(rng: np.random.Generator, name: str) -> list[str]:
    drawn = str(rng.choice(_FILES)) if rng.random() < 0.2 else str(rng.choice(["people.csv", "$\\strange$.csv"]))
    if drawn == "adult":
        # Learned in a minute, not in a second; `datasets` and bad options have it.
        drawn = "people.csv" if name not in ("datasets", "merge", "monitor") else drawn
    if name == "reproduce":
        return [drawn]
    if name == "monitor":
        rule = "rule.npz" if rng.random() < 0.8 else drawn
        return [
            rule,
            str(rng.choice(["people.csv", "$\\strange$.csv"])),
            *(["later.csv"] if rng.random() < 0.5 else ["--dates", "day"]),
        ]
    if name == "merge":
        return ["cells.npz", drawn if rng.random() < 0.5 else "cells.npz", "-o", "out.npz"]
    if name == "datasets":
        return [] if rng.random() < 0.5 else [drawn]
    return [drawn]


def _too_long(_number: int, _frame: FrameType | None) -> NoReturn:
    raise TimeoutError(f"still running after {_SECONDS} s")


def _tried(words: list[str]) -> str | None:
    out, err = io.StringIO(), io.StringIO()
    signal.alarm(_SECONDS)
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            code = run(words)
    except Exception as error:
        return f"{words}: {type(error).__name__}: {error}"
    finally:
        signal.alarm(0)
    said = out.getvalue() + err.getvalue()
    if code not in _CODES:
        return f"{words}: exit code {code}"
    if code == 2 and not err.getvalue().strip():
        return f"{words}: exit code 2 without a word"
    if code == 2 and "still running" in err.getvalue():
        return f"{words}: still running after {_SECONDS} s"
    if "Traceback" in said:
        return f"{words}: a traceback"
    if any(raw in said for raw in _RAWEST):
        return f"{words}: a raw control character"
    return _not_json(words, out.getvalue()) if code != 2 and "--json" in words and "--help" not in words else None


def _not_json(words: list[str], said: str) -> str | None:
    try:
        json.loads(said, parse_constant=lambda name: f"{1 / 0} {name}")
    except (ValueError, ZeroDivisionError) as error:
        return f"{words}: no JSON, {error}"
    return None


AREAS = (
    Area("command lines", "exit code 0, or 2 with a sentence; inputs stay; nothing raw on the terminal", 1_000, _lines),
)
