"""Open every page of the built site in a browser, wide and narrow: links, console, requests, accessibility, search."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import partial
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from shutil import which
from threading import Thread
from typing import Any
from urllib.parse import unquote, urlsplit

from playwright.sync_api import Page, sync_playwright

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
WIDTHS = (1300, 400)
ASKED = "frontier"
# Pages that no other page leads to.
LEFT_OUT = ("_static", "_modules")


class _Anchors(HTMLParser):
    """The links of a page, and the places in it that links may name."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: set[str] = set()
        self.names: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take note of a tag."""
        for key, value in attrs:
            if value and key == "id":
                self.names.add(value)
            elif value and ((tag in ("a", "link") and key == "href") or (tag in ("img", "script") and key == "src")):
                self.links.add(value)


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


def main(site: Path) -> None:
    """Print what is wrong, and end with code 1 if anything is."""
    troubles = [*broken_links(site), *in_browser(site)]
    if troubles:
        sys.exit("\n".join(troubles))
    print(f"{len(pages(site))} pages: links lead somewhere, no complaints, nothing asked of the network, search finds.")


def pages(site: Path) -> list[Path]:
    """Every page that readers are led to."""
    return sorted(path for path in site.rglob("*.html") if path.relative_to(site).parts[0] not in LEFT_OUT)


def broken_links(site: Path) -> Iterator[str]:
    """Links to files or headings that are not there."""
    read = (path for path in site.rglob("*.html") if path.relative_to(site).parts[0] != "_static")
    held = {path: _Anchors(path.read_text(encoding="utf-8")) for path in read}
    for page, own in held.items():
        for link in sorted(own.links):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            if not target.exists():
                yield f"{page.relative_to(site)}: {link} leads nowhere"
            elif parts.fragment and target in held and unquote(parts.fragment) not in held[target].names:
                yield f"{page.relative_to(site)}: {link} names a place that is not there"


def in_browser(site: Path) -> list[str]:
    """What the browser says of the pages, served on this machine only."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(site)))
    Thread(target=server.serve_forever, daemon=True).start()
    home = f"http://127.0.0.1:{server.server_port}"
    troubles: list[str] = []
    try:
        with sync_playwright() as playwright:
            found = next((path for path in map(which, BROWSERS) if path), None)
            browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox", "--disable-gpu"])
            tab = browser.new_page()
            here = [""]
            tab.on("console", lambda said: troubles.extend(_complaint(here[0], said)))
            tab.on("pageerror", lambda error: troubles.append(f"{here[0]}: {error}"))
            tab.on("request", lambda asked: troubles.extend(_outside(here[0], asked.url, home)))
            for page in pages(site):
                here[0] = str(page.relative_to(site))
                tab.goto(f"{home}/{here[0]}")
                troubles += _too_wide(tab, here[0])
            here[0] = "search"
            tab.goto(f"{home}/search.html?q={ASKED}")
            tab.wait_for_selector("#search-results ul.search li a", timeout=10_000)
            browser.close()
    finally:
        server.shutdown()
    return troubles


def _complaint(page: str, said: Any) -> list[str]:
    return [f"{page}: {said.text}"] if said.type in ("error", "warning") else []


def _outside(page: str, address: str, home: str) -> list[str]:
    return [] if address.startswith((home, "data:", "blob:")) else [f"{page}: asks the network for {address}"]


def _too_wide(tab: Page, page: str) -> Iterator[str]:
    for width in WIDTHS:
        tab.set_viewport_size({"width": width, "height": 900})
        shown = tab.evaluate("document.documentElement.scrollWidth")
        if shown > width:
            yield f"{page}: {shown} px wide on a screen of {width} px"


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
