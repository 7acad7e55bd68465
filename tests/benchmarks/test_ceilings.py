"""The benchmark of ceilings: its page is that of the kept results, and a draw has all that the page reads."""

from __future__ import annotations

from benchmarks.ceilings import pages
from benchmarks.ceilings.coverage import one_draw
from benchmarks.ceilings.laws import law


def test_the_page_is_made_from_the_kept_results() -> None:
    assert pages.PAGE.read_text(encoding="utf-8") == pages.page(pages.kept())


def test_a_draw_has_a_limit_above_the_truth_for_every_question() -> None:
    known = law("smooth")
    found = one_draw(known, 3, "linear", {"none": {}, "DP 0.05": {"DP": 0.05}})
    for sees in ("hidden", "seen"):
        line = found["lines"][f"DP 0.05, {sees}"]
        assert known.limit({"DP": 0.05}, sees == "seen") <= line["upper"] <= 1
        assert line["twins truth"] <= line["twins upper"]
