"""A picture with the data behind it, as a template puts it on the page."""

from __future__ import annotations

import base64
import csv
import io
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup, escape


@dataclass(frozen=True)
class Drawing:
    """A picture and its data.

    Parameters
    ----------
    identity : str
        Its name on the page, and of the file of its data.
    svg : str
        The picture, as matplotlib writes it, which escapes the texts in it.
    rows : list of dict
        Its data.
    broad : bool
        Whether it fills the page; on a small screen it is scrolled rather than shrunk until nobody can read it.
    """

    identity: str
    svg: str
    rows: list[dict[str, Any]]
    broad: bool = False

    def speaking(self, alternative: str) -> Markup:
        """The picture with a text for those who do not see it.

        Names inside get a prefix, so that two pictures on a page do not share them.
        """
        own = _NAMES.sub(lambda found: f"{found['before']}{self.identity}-{found['name']}", self.svg)
        return Markup(own.replace("<svg", f'<svg role="img" aria-label="{escape(alternative)}"', 1))


_NAMES = re.compile(r'(?P<before> id="|url\(#|href="#)(?P<name>[^")]+)')


def csv_data(rows: Iterable[Mapping[str, Any]]) -> str:
    """Write a table as CSV in base64, as a link can hold it."""
    lines = list(rows)
    stream = io.StringIO()
    if lines:
        writer = csv.DictWriter(stream, list(lines[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows({key: _plain(value) for key, value in line.items()} for line in lines)
    return base64.b64encode(stream.getvalue().encode()).decode()


def _plain(value: Any) -> Any:
    """Keep a spreadsheet from taking a name that starts like a formula for one."""
    return f"'{value}" if isinstance(value, str) and value[:1] in ("=", "+", "-", "@") else value
