"""The examples in the docstrings run, and print what they say."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import fairlimits

# Importing fairlimits.__main__ would run the command line.
MODULES = ["fairlimits"] + [
    module.name
    for module in pkgutil.walk_packages(fairlimits.__path__, "fairlimits.")
    if module.name != "fairlimits.__main__"
]


@pytest.mark.parametrize("name", MODULES)
def test_examples_print_what_they_say(name: str) -> None:
    # By import_module, which finds modules that a front does not name.
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError as error:
        # Only the explorer's page and callbacks cannot be imported without their extra.
        if error.name != "dash":
            raise
        pytest.skip("the extra app is not installed")
    assert doctest.testmod(module).failed == 0


def test_examples_are_found() -> None:
    assert doctest.testmod(importlib.import_module("fairlimits.limits.solving")).attempted >= 4
