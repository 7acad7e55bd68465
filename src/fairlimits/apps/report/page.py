"""Pieces of a page: sections, tables, figures with a caption, an alternative text and their data to download."""

from __future__ import annotations

import base64
import csv
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any


def section(heading: str, content: str, identity: str) -> str:
    """Write a section; the content is HTML already."""
    return f'<section id="{identity}"><h2>{escape(heading)}</h2>{content}</section>'


def figure(
    identity: str,
    svg: str,
    caption: str,
    alternative: str,
    data: Iterable[Mapping[str, Any]],
    *,
    broad: bool = False,
) -> str:
    """Write a picture with its caption, the text for those who do not see it, and its data as a file to keep.

    A broad picture fills the page; on a small screen it is scrolled rather than shrunk until nobody can read it.
    """
    kind = "picture broad" if broad else "picture"
    own = _apart(svg, identity)
    picture = own.replace("<svg", f'<svg role="img" aria-label="{escape(alternative)}"', 1)
    framed = f'<div class="{kind}">{picture}</div>'
    return f"<figure>{framed}<figcaption>{escape(caption)} {download(identity, data)}</figcaption></figure>"


def download(name: str, rows: Iterable[Mapping[str, Any]]) -> str:
    """Write a link that holds a table as CSV."""
    lines = list(rows)
    stream = io.StringIO()
    if lines:
        writer = csv.DictWriter(stream, list(lines[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows({key: _plain(value) for key, value in line.items()} for line in lines)
    content = base64.b64encode(stream.getvalue().encode()).decode()
    return f'<a class=data download="{escape(name)}.csv" href="data:text/csv;base64,{content}">data (CSV)</a>'


def _plain(value: Any) -> Any:
    """Keep a spreadsheet from taking a name that starts like a formula for one."""
    return f"'{value}" if isinstance(value, str) and value[:1] in ("=", "+", "-", "@") else value


def table(
    heads: Sequence[str],
    rows: Iterable[Sequence[str]],
    groups: Sequence[tuple[str, int]] = (),
    text: int = 1,
    stacked: bool = False,
) -> str:
    """Write a table; heads are escaped, cells are HTML already; the first `text` columns are words.

    A `stacked` one has its cells below each other on a narrow screen, each with its head, instead of a scroll bar.
    """
    over = "".join(f'<th colspan="{width}">{escape(head)}</th>' for head, width in groups)
    top = f"<tr>{over}</tr>" if over else ""
    words = [' class="text"' if place < text else "" for place in range(len(heads))]
    head = "".join(f"<th{own}>{escape(name)}</th>" for own, name in zip(words, heads, strict=True))
    body = "".join(
        "<tr>"
        + "".join(
            f"<td{own}{_named(name)}><span>{cell}</span></td>" if stacked else f"<td{own}>{cell}</td>"
            for own, name, cell in zip(words, heads, row, strict=True)
        )
        + "</tr>"
        for row in rows
    )
    kind = " class=stacked" if stacked else ""
    return f"<div class=wide><table{kind}><thead>{top}<tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"


def _named(head: str) -> str:
    """The head of a cell, for the style sheet to show where columns do not stand side by side."""
    return f' data-head="{escape(head)}"' if head else ""


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


_NAMES = re.compile(r'(?P<before> id="|url\(#|href="#)(?P<name>[^")]+)')


def _apart(svg: str, identity: str) -> str:
    """Give the names inside a picture a prefix, so that two pictures on a page do not share them."""
    return _NAMES.sub(lambda found: f"{found['before']}{identity}-{found['name']}", svg)
