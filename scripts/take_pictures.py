"""Make the pictures of reports in docs/report anew: ``python scripts/take_pictures.py TABLES``.

TABLES is a directory with hmda.csv (of R's package AER), arrests.csv (carData) and titanic.csv (Stat2Data); names of
reports after it ask for these alone. Each report is made by the command, and opened in Chromium.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from shutil import which

from PIL import Image
from playwright.sync_api import Browser, sync_playwright

from fairlimits.apps.cli import run

PICTURES = Path(__file__).resolve().parents[1] / "docs" / "report"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
# Colours that a picture of a page needs: with fewer, the bar beside what to beware of loses its own.
COLOURS = 256


@dataclass(frozen=True)
class Shot:
    """A report, and the pictures of its first screen: file name, width and height of each."""

    name: str
    words: tuple[str, ...]
    pictures: tuple[tuple[str, int, int], ...]


SHOTS = (
    Shot("adult", ("adult",), (("report.png", 1200, 1000), ("report-400.png", 400, 1300))),
    Shot(
        "hmda",
        ("hmda.csv", "--label", "deny", "--positive", "yes", "--sensitive", "afam", "--drop", "rownames"),
        (("hmda.png", 1100, 1160),),
    ),
    Shot(
        "arrests",
        ("arrests.csv", "--label", "released", "--positive", "Yes", "--sensitive", "colour", "--drop", "rownames"),
        (("arrests.png", 1100, 1160),),
    ),
    Shot(
        "titanic",
        ("titanic.csv", "--label", "Survived", "--sensitive", "Sex", "--drop", "rownames", "--drop", "Name"),
        (("titanic.png", 1100, 1160),),
    ),
)


def main(tables: Path, names: list[str]) -> None:
    """Make the reports, and take their pictures."""
    found = next((path for path in map(which, BROWSERS) if path), None)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox", "--disable-gpu"])
        for shot in SHOTS:
            if names and shot.name not in names:
                continue
            source, *options = shot.words
            page = Path(folder) / f"{shot.name}.html"
            if run(["report", source if source == "adult" else str(tables / source), *options, "-o", str(page)]):
                sys.exit(f"No report of {shot.name} could be made: see above.")
            for path in taken(browser, page, shot):
                print(path.relative_to(PICTURES.parents[1]))
        browser.close()


def taken(browser: Browser, page: Path, shot: Shot) -> Iterator[Path]:
    """Take the pictures of a page, in few colours, and name their files."""
    for name, width, height in shot.pictures:
        tab = browser.new_page(viewport={"width": width, "height": height})
        tab.goto(page.as_uri())
        image = Image.open(BytesIO(tab.screenshot()))
        image.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE).save(PICTURES / name, optimize=True)
        tab.close()
        yield PICTURES / name


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
