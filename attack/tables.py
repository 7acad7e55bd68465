"""Messy tables: whatever is in them, they are read or refused in a sentence."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import fairlimits as fl
from attack.area import Area, Case
from attack.people import table

_VALUES: tuple[Any, ...] = (
    None,
    float("nan"),
    float("inf"),
    -1e308,
    1e308,
    1e-320,
    0,
    2**63,
    "",
    " ",
    "a\x00b",
    "\u202e",
    True,
    pd.Timestamp("1999-01-01"),
    b"x",
    [1],
    {"a": 1},
)


@contextmanager
def _messy(_: Path) -> Iterator[Case]:
    def case(rng: np.random.Generator) -> str | None:
        frame = table(rng, int(rng.integers(1, 120)))
        for _ in range(int(rng.integers(1, 4))):
            _spoil(rng, frame)
        weight = str(rng.choice(list(frame.columns))) if rng.random() < 0.3 else None
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                data = fl.Dataset.from_frame(frame, label="hired", sensitive="sex", positive=1, weight=weight)
                rule = fl.solve(fl.discretize(data, 2, partition="features", generator=None), {"DP": 0.1})
                if not np.isfinite(rule.accuracy):
                    return f"an accuracy of {rule.accuracy}"
        except fl.FairlimitsError:
            return None
        except Exception as error:
            return f"{type(error).__name__}: {error}"
        return None

    yield case


def _spoil(rng: np.random.Generator, frame: pd.DataFrame) -> None:
    name = str(rng.choice(list(frame.columns)))
    way = rng.integers(5)
    if way == 0:
        frame[name] = [_VALUES[int(rng.integers(len(_VALUES)))]] * len(frame)
    elif way == 1:
        frame[name] = frame[name].astype(object)
        for at in rng.integers(len(frame), size=int(rng.integers(1, 5))):
            frame.at[int(at), name] = _VALUES[int(rng.integers(len(_VALUES)))]
    elif way == 2:
        frame.rename(columns={name: str(rng.choice(["", "\x1b[31m", "a,b", "ä" * 200, "sex"]))}, inplace=True)
    elif way == 3:
        frame[name] = rng.random(len(frame)) * 10.0 ** float(rng.integers(-320, 308))
    else:
        frame[name] = [f"value {own}" for own in range(len(frame))]


AREAS = (Area("messy tables", "read and solved, or refused by an error of ours", 3_000, _messy),)
