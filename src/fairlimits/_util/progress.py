"""Progress of long computations, reported to a callback."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

Progress: TypeAlias = Callable[[float, str], None]
"""Called with the fraction done and a few words."""


def silent(fraction: float, words: str) -> None:
    """Ignore progress."""


def or_silent(progress: Progress | None) -> Progress:
    """Return the callback, or `silent` where none was given."""
    return silent if progress is None else progress
