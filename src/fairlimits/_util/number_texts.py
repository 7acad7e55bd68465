"""Numbers as text that can be read back."""

from __future__ import annotations


def exact_text(value: float) -> str:
    """Return the shortest text that reads back as the same number: 0.3, and 0.3333333333333333."""
    short = f"{value:g}"
    return short if float(short) == value else repr(float(value))
