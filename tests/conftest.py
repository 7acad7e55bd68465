"""Settings of all tests: repeatable examples, figures that need no screen, and a browser for the pages."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest
from hypothesis import HealthCheck, settings

mpl.use("Agg")

settings.register_profile(
    "fairlimits",
    deadline=None,
    derandomize=True,
    database=None,
    max_examples=50,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("fairlimits")


@pytest.fixture(autouse=True)
def _close_figures() -> Iterator[None]:
    """Leave no figure open for the next test."""
    yield
    plt.close("all")


NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]


@pytest.fixture(scope="module")
def context() -> Iterator[Any]:
    """A browser window; its tabs share nothing but what the browser keeps of the page's files."""
    playwright_api = pytest.importorskip(
        "playwright.sync_api", reason="no browser test: playwright is not installed (pip install playwright)"
    )
    found = next((path for path in map(shutil.which, NAMES) if path), None)
    with playwright_api.sync_playwright() as playwright:
        try:
            # Without a path, playwright looks for the browser that it installed itself.
            browser = playwright.chromium.launch(executable_path=found, args=FLAGS)
        except playwright_api.Error as error:
            pytest.skip(
                "no browser test: no Chromium could be started (install the system's chromium, or run "
                f"python -m playwright install chromium): {error.message.splitlines()[0]}"
            )
        opened = browser.new_context(viewport={"width": 1200, "height": 900})
        opened.set_default_timeout(20_000)
        yield opened
        browser.close()


@pytest.fixture
def published(monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a directory that holds the files of law and dutch, and point FAIRLIMITS_DATA to it."""
    folder = Path(os.environ.get("FAIRLIMITS_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data")
    if not (folder / "law.parquet").is_file() or not (folder / "dutch.parquet").is_file():
        pytest.skip("law.parquet and dutch.parquet are not here: set FAIRLIMITS_DATA to their directory")
    monkeypatch.setenv("FAIRLIMITS_DATA", str(folder))
    return folder
