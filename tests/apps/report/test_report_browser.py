"""The report in a real browser: on a wide screen and on a telephone, in the dark, printed, and read aloud."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from accessibility import violations
from report.test_report import people, reported

# Parts of the page that scroll sideways, by section.
SCROLLING = """[...document.querySelectorAll(".wide")].filter(own => own.scrollWidth > own.clientWidth + 1)
    .map(own => own.closest("section").className)"""


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "report.html"
    reported(people()).save(path)
    return path


@pytest.fixture
def tab(context: Any, page: Path) -> Iterator[Any]:
    opened = context.new_page()
    opened.goto(page.as_uri())
    yield opened
    opened.close()


@pytest.mark.parametrize("width", [360, 400, 1100])
def test_neither_the_page_nor_any_table_scrolls_sideways(tab: Any, width: int) -> None:
    tab.set_viewport_size({"width": width, "height": 900})
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    assert tab.evaluate(SCROLLING) == []
    # On a telephone every figure has its head beside it.
    shown = tab.locator(".answer table thead").is_visible()
    assert shown == (width > 640)


@pytest.mark.parametrize(("scheme", "width"), [("light", 1100), ("dark", 1100), ("dark", 400)])
def test_screen_readers_and_weak_eyes_can_read_it(tab: Any, scheme: str, width: int) -> None:
    tab.emulate_media(color_scheme=scheme)
    tab.set_viewport_size({"width": width, "height": 900})
    assert violations(tab) == []


def test_the_answer_is_printed_on_one_sheet(tab: Any) -> None:
    tab.emulate_media(media="print")
    # A sheet of A4 without its margins, in CSS pixels.
    tab.set_viewport_size({"width": 680, "height": 1010})
    assert tab.locator(".answer").bounding_box()["height"] < 1010
    assert tab.evaluate("getComputedStyle(document.querySelector('.answer')).breakAfter") == "page"


def test_no_script_runs_and_nothing_is_fetched(context: Any, page: Path, tmp_path: Path) -> None:
    """Whatever might get into a page, its content policy keeps it from being run."""
    path = tmp_path / "hostile.html"
    hostile = '<script>document.title = "run"</script><img src="http://127.0.0.1:9/x.png"></body>'
    path.write_text(page.read_text(encoding="utf-8").replace("</body>", hostile), encoding="utf-8")
    opened = context.new_page()
    asked: list[str] = []
    opened.on("requestfinished", lambda request: asked.append(request.url))
    opened.goto(path.as_uri())
    assert opened.title() != "run"
    assert asked == [path.as_uri()]
    opened.close()
