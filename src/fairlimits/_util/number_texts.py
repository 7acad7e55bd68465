"""Numbers as text that can be read back."""

from __future__ import annotations


def exact_text(value: float) -> str:
    """Write a number as shortly as it can be without losing a digit: 0.3, and 0.3333333333333333."""
    short = f"{value:g}"
    return short if float(short) == value else repr(float(value))
