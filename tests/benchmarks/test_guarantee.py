"""The page of the guarantee says what was measured."""

from __future__ import annotations

from benchmarks import guarantee


def test_the_page_is_made_from_the_kept_results() -> None:
    assert guarantee.PAGE.read_text() == guarantee.page(guarantee.kept())
