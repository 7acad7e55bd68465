"""What a table or figure of the paper becomes: tables, pictures, records and checked claims, all plain data."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from matplotlib.figure import Figure

from fairlimits.apps.paper import printed

Found: TypeAlias = Mapping[str, Mapping[str, Mapping[str, Any]]]
"""Kept results: of each unit of work, for each data set."""


@dataclass(frozen=True)
class Claim:
    """A claim of the paper, checked on our figures.

    Parameters
    ----------
    where : str
        Where the paper makes it.
    text : str
        What it says.
    ours : str
        What we find, with figures.
    holds : bool
        Whether it holds on ours.
    """

    where: str
    text: str
    ours: str
    holds: bool


@dataclass(frozen=True)
class Table:
    """A table to be shown, every entry in words.

    Parameters
    ----------
    title : str
        What it shows.
    heads : sequence of str
        Names of the columns.
    rows : sequence of sequences of str
        Entries.
    groups : sequence of (str, int)
        Heads over several columns, with their widths.
    """

    title: str
    heads: Sequence[str]
    rows: Sequence[Sequence[str]]
    groups: Sequence[tuple[str, int]] = ()


@dataclass(frozen=True)
class Section:
    """One table or figure of the paper, reproduced.

    Parameters
    ----------
    target : str
        Its name, such as "table1".
    title : str
        What it is about.
    tables : sequence of Table
        What is shown as tables.
    figure : callable, optional
        Draws what is shown as a picture, which takes a while.
    alternative : str
        What the picture shows, for whoever cannot see it.
    notes : sequence of str
        What a reader should know.
    claims : sequence of Claim
        The paper's claims, checked.
    records : sequence of mappings
        All figures, a row for each, for a CSV file.
    """

    target: str
    title: str
    tables: Sequence[Table] = ()
    figure: Callable[[], Figure] | None = None
    alternative: str = ""
    notes: Sequence[str] = ()
    claims: Sequence[Claim] = ()
    records: Sequence[Mapping[str, Any]] = field(default_factory=tuple)


def notions(pairing: str) -> tuple[str, ...]:
    """Read a pairing as the paper writes it: Ind is our IF."""
    return tuple("IF" if name == "Ind" else name for name in pairing.split("+"))


def tolerances_of(pairing: str, relaxation: float) -> dict[str, float]:
    """Tolerances of an entry of Table 2: the group notions are relaxed, Ind is held."""
    return {name: printed.INDIVIDUAL_TOLERANCE if name == "IF" else relaxation for name in notions(pairing)}


def number(value: float | None, digits: int = 3) -> str:
    """Write a number, or a dash where there is none."""
    # A difference that rounds to nothing has no sign.
    return "–" if value is None else f"{round(value, digits) + 0.0:.{digits}f}"


def signed(value: float | None, digits: int = 3) -> str:
    """Write a difference."""
    if value is None:
        return "–"
    return f"{round(value, digits) + 0.0:+.{digits}f}" if round(value, digits) else f"{0:.{digits}f}"


def mean_and_deviation(values: Sequence[float]) -> tuple[float, float]:
    """Mean and standard deviation.

    The deviation is divided by n - 1: the paper prints deviations of three losses that are larger than any three losses
    of that mean can have with n.
    """
    return float(np.mean(values)), float(np.std(values, ddof=1))


def points(value: float) -> str:
    """Write accuracy in percentage points."""
    return f"{100 * value:.1f}"
