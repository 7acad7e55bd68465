"""The report in a real browser, on a wide screen and on a telephone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from report.test_report import people, reported

# Parts of the page that scroll sideways, by section.
SCROLLING = """[...document.querySelectorAll(".wide")].filter(own => own.scrollWidth > own.clientWidth + 1)
    .map(own => own.closest("section").className)"""


@pytest.mark.parametrize("width", [360, 400, 1100])
def test_neither_the_page_nor_its_first_table_scrolls_sideways(context: Any, tmp_path: Path, width: int) -> None:
    path = tmp_path / "report.html"
    reported(people()).save(path)
    tab = context.new_page()
    tab.set_viewport_size({"width": width, "height": 900})
    tab.goto(path.as_uri())
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    assert "answer" not in tab.evaluate(SCROLLING)
    # On a telephone every figure has its head beside it.
    shown = tab.locator(".answer table thead").is_visible()
    assert shown == (width > 640)
    tab.close()
