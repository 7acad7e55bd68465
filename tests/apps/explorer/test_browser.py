"""The explorer in a real browser: Chromium, headless, everything on this machine."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

import fairlimits as fl
from accessibility import violations
from explorer.hostile_names import HOSTILE
from fairlimits.apps.explorer import Subject

playwright_api = pytest.importorskip(
    "playwright.sync_api", reason="no browser test: playwright is not installed (pip install playwright)"
)

POSITION_IS = """at => {
    const here = document.querySelector("#plot .js-plotly-plot").data.find(trace => trace.name === "here");
    return Math.abs(here.x[0] - at) < 1e-9;
}"""


class Page:
    """A tab with the explorer in it, and everything that it complained about or asked the network for."""

    def __init__(self, context: Any, address: str) -> None:
        self.tab = context.new_page()
        self.complaints: list[str] = []
        self.hosts: set[str | None] = set()
        self.questions = 0
        self.tab.on("console", lambda message: self.complaints.append(message.text))
        self.tab.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.tab.on("request", self._note)
        self.tab.goto(address)
        self.tab.wait_for_selector("#accuracy")
        self.tab.wait_for_selector("#plot .main-svg")

    def _note(self, request: Any) -> None:
        self.hosts.add(urlsplit(request.url).hostname)
        self.questions += "..answer.data" in (request.post_data or "")

    def text(self, selector: str) -> str:
        return str(self.tab.locator(selector).inner_text())

    def thumb(self, name: str = "DP") -> Any:
        return self.tab.locator(f"#tolerance-{name} [role=slider]")

    def tolerance(self, name: str = "DP") -> float:
        return float(self.thumb(name).get_attribute("aria-valuenow"))

    def press(self, key: str) -> None:
        self.thumb().press(key)

    def expect(self, selector: str, words: str) -> None:
        playwright_api.expect(self.tab.locator(selector)).to_contain_text(words)

    def drop(self, name: str, content: bytes) -> None:
        self.tab.set_input_files("#upload input", {"name": name, "mimeType": "text/csv", "buffer": content})


@pytest.fixture
def page(context: Any, address: str) -> Iterator[Page]:
    opened = Page(context, address)
    yield opened
    opened.tab.close()
    assert opened.complaints == []
    # Files that the page made itself have no host.
    assert opened.hosts <= {"127.0.0.1", None}


def shown(dist: fl.CellDistribution, tolerances: dict[str, float], aware: bool = False) -> str:
    return f"{fl.solve(dist, tolerances, aware=aware).accuracy:.4f}"


def test_the_page_loads_and_hostile_names_are_text(page: Page) -> None:
    assert page.text("h1") == HOSTILE
    assert HOSTILE in page.text("#facts")
    assert page.tab.evaluate("window.harmed") is None
    assert page.tab.locator("main script, main img").count() == 0
    assert page.tab.title() == "fairlimits explorer"


def test_the_number_follows_the_slider_while_it_is_dragged(page: Page, dist: fl.CellDistribution) -> None:
    box = page.thumb().bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    mouse = page.tab.mouse
    mouse.move(x, y)
    mouse.down()
    seen = [page.tolerance()]
    for step in (25, 50, -35):
        mouse.move(x + step, y, steps=4)
        page.tab.wait_for_function(
            "before => document.querySelector('#tolerance-DP [role=slider]').ariaValueNow != before", arg=str(seen[-1])
        )
        seen.append(page.tolerance())
        page.expect("#accuracy", shown(dist, {"DP": seen[-1]}))
        page.expect("#gap-table tbody tr:first-child td:nth-child(2)", f"{seen[-1]:g}")
        page.tab.wait_for_function(POSITION_IS, arg=seen[-1])
    mouse.up()
    assert len(set(seen)) == 4


def test_a_slider_that_is_faster_than_the_answers_is_caught_up_with(
    page: Page, subject: Subject, dist: fl.CellDistribution
) -> None:
    asked = page.questions
    with subject.lock:
        page.press("Home")
        for _ in range(10):
            page.press("ArrowRight")
        # One question is open, or two that left at the same moment; the others wait until they can be merged.
        assert 1 <= page.questions - asked <= 2
    page.expect("#accuracy", shown(dist, {"DP": 0.01}))
    page.expect("#gap-table tbody tr:first-child td:nth-child(2)", "0.01")
    assert page.questions - asked <= 4


def test_seeing_the_group_is_never_worse(page: Page, dist: fl.CellDistribution) -> None:
    page.press("Home")
    for _ in range(3):
        at = page.tolerance()
        page.expect("#accuracy", shown(dist, {"DP": at}))
        hidden, seen = float(page.text("#accuracy")), float(page.text("#other-accuracy"))
        page.tab.get_by_role("radio", name="group seen").check()
        page.expect("#headline", "accuracy, group seen")
        assert float(page.text("#accuracy")) == seen >= hidden == float(page.text("#other-accuracy"))
        page.tab.get_by_role("radio", name="group hidden").check()
        page.expect("#headline", "accuracy, group hidden")
        page.press("PageUp")


def test_notions_individual_fairness_and_independence(page: Page, dist: fl.CellDistribution) -> None:
    page.tab.get_by_role("checkbox", name="equalized odds").check()
    page.expect("#accuracy", shown(dist, {"DP": 0.05, "EOd": 0.05}))
    page.tab.get_by_role("checkbox", name="individual fairness").check()
    page.expect("#accuracy", shown(dist, {"DP": 0.05, "EOd": 0.05, "IF": 0.2}))
    page.expect("#plot .xtitle", "individual fairness")
    page.tab.get_by_role("checkbox", name="independent of the group").check()
    page.expect("#accuracy", shown(dist, {"DP": 0.0, "EOd": 0.05, "IF": 0.2}))
    page.expect("#decorrelation-table", "the rule adapts")


def test_a_wrong_file_is_answered_and_the_page_lives_on(
    page: Page, people: fl.Dataset, dist: fl.CellDistribution, tmp_path: Path
) -> None:
    page.drop("wrong.csv", b"yes\nno\n")
    page.expect("#upload-message", "1 predictions and the data has 800 rows")
    large = tmp_path / "large.csv"
    large.write_bytes(b"0\n" * 10_500_000)
    page.tab.set_input_files("#upload input", large)
    page.expect("#upload-message", "larger than 20 MB")
    page.press("ArrowRight")
    page.expect("#accuracy", shown(dist, {"DP": page.tolerance()}))
    page.drop("<b>mine</b>.csv", "\n".join(map(str, people.label)).encode())
    page.expect("#point-table", "<b>mine</b>.csv")
    page.expect("#point-table", "1.0000")
    assert page.text("#upload-message") == ""
    page.expect("#plot .legend", "model")


def test_a_second_tab_does_not_disturb_the_first(
    page: Page, context: Any, address: str, dist: fl.CellDistribution
) -> None:
    page.tab.click("#pin")
    page.expect("#point-table", "DP ≤ 0.05, group hidden")
    before = page.text("#accuracy")
    other = Page(context, address)
    other.press("Home")
    other.expect("#accuracy", shown(dist, {"DP": 0.0}))
    assert other.tab.locator("#point-table").count() == 0
    other.tab.click("#pin")
    other.expect("#point-table", "DP ≤ 0,")
    other.tab.close()
    assert page.text("#accuracy") == before == shown(dist, {"DP": 0.05})
    assert page.tab.locator("#point-table tbody tr").count() == 1
    page.tab.click("#point-table button")
    page.expect("#table", "None yet")


def test_downloads(page: Page, dist: fl.CellDistribution, tmp_path: Path) -> None:
    for button, name in (("#get-rule", "rule.npz"), ("#get-plot", "frontier.svg"), ("#get-json", "figures.json")):
        with page.tab.expect_download() as started:
            page.tab.click(button)
        assert started.value.suggested_filename == name
        started.value.save_as(tmp_path / name)
        assert (tmp_path / name).stat().st_size > 500
    assert fl.Rule.load(tmp_path / "rule.npz").accuracy == fl.solve(dist, {"DP": 0.05}).accuracy


def test_a_narrow_screen_needs_no_sideways_scrolling(page: Page) -> None:
    page.tab.set_viewport_size({"width": 400, "height": 800})
    page.tab.click("#pin")
    page.expect("#point-table", "DP")
    assert page.tab.evaluate("document.documentElement.scrollWidth") <= 400
    # The number stays in sight beside a slider far down.
    page.tab.locator("#tolerance-IF").scroll_into_view_if_needed()
    playwright_api.expect(page.tab.locator("#accuracy")).to_be_in_viewport()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1200, 400])
def test_screen_readers_and_weak_eyes_can_use_it(page: Page, scheme: str, width: int) -> None:
    page.tab.emulate_media(color_scheme=scheme)
    page.tab.set_viewport_size({"width": width, "height": 900})
    page.tab.click("#pin")
    page.expect("#point-table", "DP")
    assert violations(page.tab) == []
