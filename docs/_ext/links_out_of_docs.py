"""Links of the Markdown pages that lead out of docs/, so that one text serves a forge and the site.

On a forge, `../CHANGELOG.md` and `../src/...` are files of the repository. The site has pages of its own for some
of them, offers other files for download (MyST does), and shows a directory as its name, for there is nothing to
open. Where a link is called by its file, as notions.md is, the site says the title of the page.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

PAGES = {
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
}
LINK = re.compile(r"(?<!!)\[((?:[^\[\]]|\\.)*)\]\(([^()#\s]+)(#[^()\s]*)?\)")


def title(page: Path) -> str:
    """Return the title of a page, or its name if it has none."""
    found = re.search(r"^# (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return page.name if found is None else found[1]


def rewrite(text: str, page: str, root: Path) -> str:
    """Return the text of a page of docs/ (by its name, without suffix) as the site reads it."""
    folder = posixpath.dirname(f"docs/{page}")

    def target(match: re.Match[str]) -> str:
        words, link, anchor = match[1], match[2], match[3] or ""
        if "://" in link:
            return match[0]
        place = posixpath.normpath(posixpath.join(folder, link))
        if place in PAGES:
            return f"[{words}]({posixpath.relpath('docs/' + PAGES[place], folder)}{anchor})"
        if (root / place).is_dir():
            return words
        if words == posixpath.basename(place) and (root / place).is_file():
            return f"[{title(root / place)}]({link}{anchor})"
        return match[0]

    # Programs are left as they are.
    parts = re.split(r"(^```.*?^```)", text, flags=re.DOTALL | re.MULTILINE)
    return "".join(part if part.startswith("```") else LINK.sub(target, part) for part in parts)


def _on_read(app: Any, page: str, source: list[str]) -> None:
    if app.env.doc2path(page).suffix == ".md":
        source[0] = rewrite(source[0], page, Path(app.srcdir).parent)


def setup(app: Any) -> dict[str, Any]:
    """Register with Sphinx."""
    app.connect("source-read", _on_read)
    return {"parallel_read_safe": True}
