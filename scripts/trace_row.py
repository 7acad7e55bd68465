"""Trace the files of the package that a row of a table passes through, and how often it turns round on its way.

Run it as ``python scripts/trace_row.py``; ``--files`` lists the files. Three jobs are followed on a sample of Adult:
``fairlimits report`` on a CSV file, a classifier that is fitted and asked, and a map that is found and applied. What a
job needs beforehand is made untraced, and calls while a module is imported do not count.

The rooms of the package lie in layers, in the order of `ROOMS`. Every call leads to the room of the file it runs in; a
direction change is a step up after a step down, or the reverse, among the calls of the main thread or of one task of a
pool. A room that is not in the order has no layer, and steps into it are left out.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import sys
import tempfile
import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
from pyarrow import csv

import fairlimits as fl
from fairlimits.apps.cli import run

ROOMS = (
    "errors",
    "_util",
    "data",
    "notions",
    "solvers",
    "law",
    "limits",
    "decorrelation",
    "evaluation",
    "estimators",
    "apps",
)
_PREFIX = f"{Path(fl.__file__).parent}{os.sep}"
LABEL, POSITIVE, SENSITIVE = "income", ">50K", "sex"
TOLERANCES = {"DP": 0.05, "EOd": 0.1}


@dataclass
class _Thread:
    """What a thread does: its calls, in sequences, and how many calls and imports it is inside of."""

    sequences: list[list[str]] = field(default_factory=lambda: [[]])
    calls: int = 0
    imports: int = 0


class Trace:
    """The files that calls run in while `following`."""

    def __init__(self) -> None:
        self._main = threading.get_ident()
        self._threads: defaultdict[int, _Thread] = defaultdict(_Thread)

    @contextlib.contextmanager
    def following(self) -> Iterator[None]:
        """Record the calls of this thread and of all that it starts."""
        threading.setprofile(self._hook)
        sys.setprofile(self._hook)
        try:
            yield
        finally:
            sys.setprofile(None)
            threading.setprofile(None)

    def _hook(self, frame: FrameType, event: str, _argument: Any) -> None:
        if event not in ("call", "return"):
            return
        step = 1 if event == "call" else -1
        name = frame.f_code.co_filename
        if frame.f_code.co_name == "<module>":
            self._threads[threading.get_ident()].imports += step
        elif name.startswith(_PREFIX):
            own = self._threads[ident := threading.get_ident()]
            if step > 0 and not own.imports:
                # Which thread of a pool takes which task is chance: each task is a sequence of its own.
                if not own.calls and ident != self._main:
                    own.sequences.append([])
                # Repeated calls within a file are kept once.
                if own.sequences[-1][-1:] != [name]:
                    own.sequences[-1].append(name)
            own.calls += step

    @property
    def _paths(self) -> list[list[Path]]:
        """Files relative to the package, sequence by sequence."""
        sequences = [names for thread in self._threads.values() for names in thread.sequences]
        return [[Path(name.removeprefix(_PREFIX)) for name in names] for names in sequences]

    @property
    def files(self) -> list[Path]:
        """Distinct files, relative to the package."""
        return sorted({path for paths in self._paths for path in paths})

    @property
    def turns(self) -> int:
        """Number of direction changes."""
        return sum(direction_changes(map(room, paths)) for paths in self._paths)


def room(path: Path) -> str:
    """Return the first part of a path below the package: a directory, or a module at its top."""
    return path.parts[0].removesuffix(".py")


def direction_changes(rooms: Iterable[str]) -> int:
    """Count the changes between going up and going down in a sequence of rooms."""
    layers = np.array([ROOMS.index(name) for name in rooms if name in ROOMS], dtype=np.int64)
    steps = np.sign(np.diff(layers))
    steps = steps[steps != 0]
    return int(np.count_nonzero(np.diff(steps)))


def sample(rows: int) -> fl.Dataset:
    """Draw rows of Adult, always the same."""
    adult = fl.load_dataset("adult")
    return adult.take(np.random.default_rng(0).choice(len(adult), rows, replace=False))


def trace_report(data: fl.Dataset, trace: Trace) -> None:
    """Follow ``fairlimits report`` on a CSV file."""
    with tempfile.TemporaryDirectory() as folder:
        source, page = Path(folder, "sample.csv"), Path(folder, "report.html")
        csv.write_csv(plain(data), source)
        options = ["--label", LABEL, "--positive", POSITIVE, "--sensitive", SENSITIVE]
        said = io.StringIO()
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said), trace.following():
            code = run(["report", str(source), *options, "--output", str(page)])
        if code != 0 or not page.exists():
            raise SystemExit(f"The report failed with the exit code {code}:\n{said.getvalue()}")


def trace_classifier(data: fl.Dataset, trace: Trace) -> None:
    """Follow a classifier from its fit to its decisions."""
    table = plain(data)
    features, sex, label = table.drop_columns([LABEL, SENSITIVE]), table.select([SENSITIVE]), table[LABEL].to_numpy()
    with trace.following():
        fl.ConstrainedBayesClassifier(TOLERANCES).fit(features, label, sensitive_features=sex).predict(features)


def trace_map(data: fl.Dataset, trace: Trace) -> None:
    """Follow a map from a rule on few cells to mapped rows."""
    dist = fl.discretize(data, 16)
    rule = fl.solve(dist, TOLERANCES)
    with trace.following():
        fl.decorrelate(dist, rule).apply(data)


def plain(data: fl.Dataset) -> Any:
    """Return the rows as an Arrow table without dictionaries."""
    table = data.to_frame()
    for place, column in enumerate(table.schema):
        if hasattr(column.type, "value_type"):
            table = table.set_column(place, column.name, table[column.name].cast(column.type.value_type))
    return table


JOBS: dict[str, Callable[[fl.Dataset, Trace], None]] = {
    "report": trace_report,
    "classifier": trace_classifier,
    "map": trace_map,
}


def main() -> None:
    """Trace the jobs and print what was found."""
    parser = argparse.ArgumentParser(description="Trace the files that a row passes through.")
    parser.add_argument("--files", action="store_true", help="list the files too")
    parser.add_argument("--rows", type=int, default=400, help="rows of Adult to take (default: 400)")
    given = parser.parse_args()
    data = sample(given.rows)
    for name, job in JOBS.items():
        trace = Trace()
        job(data, trace)
        print(f"{name}: {len(trace.files)} files, {trace.turns} direction changes")
        if given.files:
            print("".join(f"  {path.as_posix()}\n" for path in trace.files), end="")


if __name__ == "__main__":
    main()
