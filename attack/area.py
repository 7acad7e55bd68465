"""`Area`: one kind of attack, many seeded cases of it, and how they are counted and resumed."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Protocol, TypeAlias, runtime_checkable

import numpy as np

Case: TypeAlias = Callable[[np.random.Generator], str | None]
"""Tries one case, drawn with the generator; what went wrong in a sentence, or None."""


@runtime_checkable
class Measured(Protocol):
    """A case that also measures something over many of them."""

    def measured(self) -> str:
        """Return what was measured so far, in a sentence."""


@dataclass(frozen=True)
class Area:
    """One kind of attack.

    Parameters
    ----------
    name : str
        What it is called on the command line and in the table.
    what : str
        What is tried, and what has to come of it.
    cases : int
        Cases of a whole run.
    opened : callable
        Gives a context whose value tries one case; it is given a folder that nobody else uses.
    """

    name: str
    what: str
    cases: int
    opened: Callable[[Path], AbstractContextManager[Case]]


@dataclass
class Count:
    """What came of an area so far."""

    done: int = 0
    failures: list[str] = field(default_factory=list)
    seconds: float = 0.0
    measured: str = ""


def attack(
    area: Area,
    folder: Path,
    cases: int,
    seed: int,
    count: Count,
    keep: Callable[[], None],
    seconds: float = math.inf,
) -> Count:
    """Try cases until `cases` are done or took `seconds`, going on where `count` ended; each has a seed of its own."""
    if count.done >= cases or count.seconds >= seconds:
        return count
    with area.opened(folder) as case:
        last = started = time.monotonic()
        while count.done < cases and count.seconds < seconds:
            rng = np.random.default_rng([seed, count.done])
            found = case(rng)
            if found is not None:
                count.failures.append(f"case {count.done}: {found}"[:500])
            count.done += 1
            if isinstance(case, Measured):
                count.measured = case.measured()
            now = time.monotonic()
            if now - last > 5:
                count.seconds += now - started
                last = started = now
                keep()
        count.seconds += time.monotonic() - started
    keep()
    return count


def number_of(rng: np.random.Generator) -> int:
    """Number of the case that a generator was made for by `attack`; cases that are not drawn at random go by it."""
    return int(rng.bit_generator.seed_seq.entropy[1])  # type: ignore[attr-defined]


def read_counts(path: Path) -> dict[str, Count]:
    """Return what an attack that was stopped had come to."""
    if not path.exists():
        return {}
    return {name: Count(**own) for name, own in json.loads(path.read_text(encoding="utf-8")).items()}


def write_counts(path: Path, counts: dict[str, Count]) -> None:
    """Keep what an attack has come to."""
    text = json.dumps({name: asdict(own) for name, own in counts.items()}, indent=1)
    path.with_suffix(".new").write_text(text, encoding="utf-8")
    path.with_suffix(".new").replace(path)
