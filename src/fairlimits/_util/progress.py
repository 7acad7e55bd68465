"""How long work tells how far it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

Progress: TypeAlias = Callable[[float, str], None]
"""Called with the fraction done and a few words."""


def silent(fraction: float, words: str) -> None:
    """Tell nobody."""


def or_silent(progress: Progress | None) -> Progress:
    """Return whom to tell; nobody, where none was given."""
    return silent if progress is None else progress
