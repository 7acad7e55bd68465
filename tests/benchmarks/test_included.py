"""Figures of benchmarks are copied into other pages by a program, and are those of the results."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.__main__ import BENCHMARKS, TITLES
from benchmarks.included import DOCS, included, stale

RESULTS = """# scale

All rows.

## Held out

| a |
| --- |
| 1 |

![A line](line.png)

## Time

2 s

Measured on 2 cores.
"""
END = "<!-- end of what is copied -->"


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    (tmp_path / "benchmarks").mkdir()
    (tmp_path / "benchmarks" / "scale.md").write_text(RESULTS, encoding="utf-8")
    return tmp_path


def test_pages_have_the_results_of_today() -> None:
    assert [page.name for page in stale()] == [], "run python -m benchmarks.included"


def test_every_mark_has_its_end() -> None:
    for page in DOCS.glob("*.md"):
        text = page.read_text(encoding="utf-8")
        assert text.count("<!-- from benchmarks/") == text.count(END), page.name


def test_results_replace_what_stood_there(docs: Path) -> None:
    page = f"Before.\n\n<!-- from benchmarks/scale.md, Held out -->\ntyped\n{END}\n\nAfter.\n"
    copied = "| a |\n| --- |\n| 1 |\n\n![A line](benchmarks/line.png)\n\nMeasured on 2 cores."
    assert included(page, docs) == (
        f"Before.\n\n<!-- from benchmarks/scale.md, Held out -->\n\n{copied}\n\n{END}\n\nAfter.\n"
    )
    assert included(included(page, docs), docs) == included(page, docs)


def test_a_whole_page_comes_without_its_headings(docs: Path) -> None:
    text = included(f"<!-- from benchmarks/scale.md -->\n{END}", docs)
    assert "# scale" not in text
    assert "\n**Time**\n\n2 s\n" in text


def test_a_page_that_is_behind_is_told(docs: Path) -> None:
    (docs / "page.md").write_text(f"<!-- from benchmarks/scale.md, Time -->\n3 s\n{END}\n", encoding="utf-8")
    assert [page.name for page in stale(docs)] == ["page.md"]


def test_a_heading_that_is_not_there_is_an_error(docs: Path) -> None:
    with pytest.raises(ValueError, match="no heading 'Space'"):
        included(f"<!-- from benchmarks/scale.md, Space -->\n{END}", docs)


def test_every_benchmark_has_a_title_and_is_listed() -> None:
    assert set(TITLES) == set(BENCHMARKS)
    listed = (DOCS / "benchmarks.md").read_text(encoding="utf-8")
    for page in (DOCS / "benchmarks").glob("*.md"):
        assert f"(benchmarks/{page.name})" in listed, page.name
        written = page.read_text(encoding="utf-8")
        assert page.stem not in TITLES or written.startswith(f"# {TITLES[page.stem]}\n"), page.name
