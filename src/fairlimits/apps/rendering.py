"""Jinja2 for all pages that are written: every name escaped, no network, no script."""

from __future__ import annotations

from functools import cache

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined


@cache
def page_templates(package: str) -> Environment:
    """Read templates of a package, which may extend those that all pages share.

    A name that a template misspells is an error, not nothing.
    """
    return Environment(
        loader=ChoiceLoader([PackageLoader(package), PackageLoader("fairlimits.apps")]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
