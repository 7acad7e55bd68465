"""How figures are written, on the page and in plain text, and cells of tables with their heads."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import chain, count, repeat

from markupsafe import Markup, escape


def percent(value: float | str) -> str:
    """A share in percent, or the word that stands for it."""
    return value if isinstance(value, str) else f"{100 * value:.1f}%"


def counted(people: int | str) -> str:
    """A number of people, or the word that stands for it."""
    return people if isinstance(people, str) else f"{people:,}"


_ROW, _CELL = re.compile(r"<tr>.*?</tr>", re.DOTALL), re.compile(r"<td(?P<own>[^>]*)>")


def with_heads(rows: Markup, names: Sequence[str], over: Sequence[tuple[str, int]] = ()) -> Markup:
    """Give every cell of a table's rows the name of its column, which a narrow screen shows beside it.

    Parameters
    ----------
    rows : Markup
        Rows as a template writes them; names in them are escaped, so that no cell begins inside another.
    names : sequence of str
        Heads of the columns.
    over : sequence of tuple of str and int
        Heads over several columns, with their widths; the first words of them are put before the names.
    """
    above = chain.from_iterable(repeat(head.split(",")[0], width) for head, width in over)
    heads = [f"{more}, {name}" if more else name for name, more in zip(names, chain(above, repeat("")), strict=False)]

    def named(row: re.Match[str]) -> str:
        place = count()
        return _CELL.sub(lambda cell: f'<td{cell["own"]} data-head="{escape(heads[next(place)])}">', row[0])

    return Markup(_ROW.sub(named, rows))


def points(value: float) -> str:
    """Accuracy lost, in percentage points; a loss that rounds to nothing is called nothing."""
    return "nothing" if round(100 * value, 1) <= 0 else f"{100 * value:.1f} points"
