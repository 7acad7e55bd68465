"""Copy results into the pages that speak of them, so that no figure is typed: ``python -m benchmarks.included``.

What stands in ``docs/*.md`` between the marks

    <!-- from benchmarks/scale.md -->
    <!-- end of what is copied -->

is that page of results, or, with ``<!-- from benchmarks/fidelity.md, Held out -->``, what stands there under that
heading. Running benchmarks does this too, and a test says whether a page is behind.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"
_END = "<!-- end of what is copied -->"
_COPY = re.compile(rf"(<!-- from (benchmarks/\w+\.md)(?:, ([^>]+?))? -->\n).*?({re.escape(_END)})", re.DOTALL)


def included(text: str, docs: Path) -> str:
    """Return the text of a page of docs with its copies renewed."""

    def renewed(match: re.Match[str]) -> str:
        start, source, heading, end = match.groups()
        return f"{start}\n{results(docs / source, heading)}\n\n{end}"

    return _COPY.sub(renewed, text)


def results(source: Path, heading: str | None) -> str:
    """Return what a page of results says, without its title, or what it says under a heading."""
    _, _, text = source.read_text(encoding="utf-8").partition("\n")
    measured = re.search(r"^Measured on .*$", text, re.MULTILINE)
    if heading is not None:
        found = re.search(rf"^## {re.escape(heading)}\n(.*?)(?=^## |^Measured on |\Z)", text, re.DOTALL | re.MULTILINE)
        if found is None:
            raise ValueError(f"{source} has no heading {heading!r}.")
        text = found[1].strip() + (f"\n\n{measured[0]}" if measured else "")
    # Headings of what is copied would be headings of the page; pictures lie beside the page of results.
    text = re.sub(r"^## (.*)$", r"**\1**", text.strip(), flags=re.MULTILINE)
    return re.sub(r"(!\[[^\]]*\]\()(?=[\w.-]+\))", rf"\1{source.parent.name}/", text)


def stale(docs: Path = DOCS) -> list[Path]:
    """Pages whose copies are not what the results say now."""
    return [page for page in sorted(docs.glob("*.md")) if included(read := page.read_text("utf-8"), docs) != read]


def main() -> int:
    """Renew every copy, and say which pages changed."""
    for page in stale():
        page.write_text(included(page.read_text(encoding="utf-8"), DOCS), encoding="utf-8")
        print(f"{page.name} has the results now.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
