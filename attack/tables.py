"""Messy tables: whatever is in them, they are read or refused in a sentence."""

from __future__ import annotations

import gzip
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


_BYTES: tuple[bytes, ...] = (
    b"",
    b"\x00",
    b"\n",
    b"\r",
    b'"',
    b"sep=x\r\n",
    b"\xff\xfe",
    b"\xef\xbb\xbf",
    b"\x81",
    b"\xc3",
    b"1e999",
    b"9" * 400,
    b"x" * 140_000,
    b";" * 50,
    b"\x1b[31m",
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
    if not frame.columns.is_unique:
        # One trouble is enough where a name may mean several columns.
        return
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


@contextmanager
def _files(folder: Path) -> Iterator[Case]:
    """Files of tables as spreadsheets write them, some of their bytes spoiled, some compressed."""

    def case(rng: np.random.Generator) -> str | None:
        parted, encoding = str(rng.choice([",", ";", "\t", "|"])), str(rng.choice(["utf-8", "utf-16", "cp1252"]))
        text = table(rng, int(rng.integers(1, 60))).to_csv(
            sep=parted, index=False, decimal="," if parted == ";" else "."
        )
        content = bytearray(text.encode(encoding))
        for _ in range(int(rng.integers(0, 4))):
            at = int(rng.integers(len(content) + 1))
            content[at : at + int(rng.choice([0, 1, 30]))] = _BYTES[int(rng.integers(len(_BYTES)))]
        packed = bool(rng.random() < 0.3)
        if packed:
            content = bytearray(gzip.compress(bytes(content), mtime=0))
            if rng.random() < 0.7:
                content[int(rng.integers(len(content)))] ^= 1 << int(rng.integers(8))
                del content[int(rng.integers(2 * len(content))) :]
        file = folder / f"people.csv{'.gz' * packed}"
        file.write_bytes(content)
        for stream in (False, True):
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    fl.open_data(file, stream=stream, label="hired", sensitive="sex")
            except fl.FairlimitsError:
                continue
            except Exception as error:
                return f"{'stream' if stream else 'table'}: {type(error).__name__}: {error}"
        return None

    yield case


AREAS = (
    Area("messy tables", "read and solved, or refused by an error of ours", 3_000, _messy),
    Area("table files", "CSV files with spoiled bytes: read, or refused by an error of ours", 6_000, _files),
)
