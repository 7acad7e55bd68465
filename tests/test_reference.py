"""The API reference lists every public name, and each has an example (`test_doctests` runs them)."""

from __future__ import annotations

import inspect
import re
from importlib import import_module
from pathlib import Path

import pytest

import fairlimits

REFERENCE = Path(__file__).parents[1] / "docs" / "reference" / "index.rst"


def listed() -> list[str]:
    """Every name of the reference, with its module."""
    names, module = [], ""
    for line in REFERENCE.read_text(encoding="utf-8").splitlines():
        if line.startswith(".. currentmodule::"):
            module = line.split("::")[1].strip()
        elif re.fullmatch(r"   \w+", line):
            names.append(f"{module}.{line.strip()}")
    return names


def test_every_public_name_is_listed_once() -> None:
    assert len(listed()) == len(set(listed()))
    assert {f"fairlimits.{name}" for name in fairlimits.__all__} <= set(listed())


@pytest.mark.parametrize("name", listed())
def test_it_has_an_example(name: str) -> None:
    module, own = name.rsplit(".", 1)
    assert ">>>" in (inspect.getdoc(getattr(import_module(module), own)) or "")
