"""How figures are written, on the page and in plain text."""

from __future__ import annotations


def percent(value: float | str) -> str:
    """A share in percent, or the word that stands for it."""
    return value if isinstance(value, str) else f"{100 * value:.1f}%"


def counted(people: int | str) -> str:
    """A number of people, or the word that stands for it."""
    return people if isinstance(people, str) else f"{people:,}"


def hundredfold(value: float, sign: str = "") -> str:
    """A share in percent without the sign of percent; what rounds to nothing has no sign."""
    rounded = round(100 * value, 1)
    return f"{rounded:{sign}.1f}" if rounded else "0.0"


def points(value: float) -> str:
    """Accuracy lost, in percentage points; a loss that rounds to nothing is called nothing."""
    return "nothing" if round(100 * value, 1) <= 0 else f"{100 * value:.1f} points"
