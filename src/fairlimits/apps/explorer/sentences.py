"""How figures and choices are worded on the page, in the plot and in the downloads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypedDict

from fairlimits.apps.explorer.answer import PARITY
from fairlimits.notions import NOT_ESTIMABLE_TEXT


class Point(TypedDict):
    """A pinned rule or a placed model, as a page keeps it."""

    number: int
    kind: str
    name: str
    accuracy: float
    gaps: dict[str, float | None]


def sees(aware: bool) -> str:
    """Whether a rule sees the group, in words."""
    return "group seen" if aware else "group hidden"


def figure(value: float | None) -> str:
    """A figure to four decimals."""
    return NOT_ESTIMABLE_TEXT if value is None else f"{value:.4f}"


def asked(tolerances: Mapping[str, float], aware: bool, decorrelated: bool) -> str:
    """What was chosen, in a few words."""
    limits = [f"{name} ≤ {value:g}" for name, value in tolerances.items() if not (decorrelated and name == PARITY)]
    independent = ["features independent"] if decorrelated else []
    return ", ".join([*(limits or ([] if decorrelated else ["no constraint"])), *independent, sees(aware)])
