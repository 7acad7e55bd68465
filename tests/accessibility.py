"""What axe-core says of a page in the browser."""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest


@cache
def _axe() -> str:
    spec = find_spec("axe_playwright_python")
    if spec is None or spec.origin is None:
        pytest.skip("axe-core is not installed (pip install axe-playwright-python)")
    return (Path(spec.origin).parent / "axe.min.js").read_text(encoding="utf-8")


def violations(tab: Any) -> list[str]:
    """Every rule that the page breaks, and the first element that does."""
    tab.evaluate(_axe())
    found = tab.evaluate("axe.run()")["violations"]
    return [f"{own['id']}: {own['help']}: {own['nodes'][0]['html'][:200]}" for own in found]
