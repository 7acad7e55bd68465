"""Tables as plain text, for results that are printed."""

from __future__ import annotations

from collections.abc import Sequence


def text_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table as text, its cells aligned in columns to the left.

    Examples
    --------
    >>> print(text_table(("group", "rate"), [("a", "0.25"), ("bb", "0.5")]))
    group  rate
    a      0.25
    bb     0.5
    """
    lines = [tuple(heads), *map(tuple, rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines
    )
