"""Lazy imports (PEP 562): a package's names are loaded on first use, so that importing it costs next to nothing."""

from __future__ import annotations

import ast
import pkgutil
import sys
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any


def attach_stub(package: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Give a package the names that its stub imports, each loaded when it is first asked for.

    The stub, ``__init__.pyi`` beside ``__init__.py``, is the one list of the names: type checkers read it too. Modules
    of the package are found as attributes as well, as if they had been imported.

    Parameters
    ----------
    package : str
        The package, ``__name__`` in its ``__init__.py``.

    Returns
    -------
    tuple
        What to call ``__getattr__``, ``__dir__`` and ``__all__`` there.
    """
    stub = ast.parse(pkgutil.get_data(package, "__init__.pyi") or b"")
    homes = {
        alias.asname or alias.name: (node.module or package, alias.name)
        for node in stub.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }

    def get(name: str) -> Any:
        if name in homes:
            home, known_as = homes[name]
            value = getattr(import_module(home), known_as)
        elif not name.startswith("_") and find_spec(f"{package}.{name}") is not None:
            value = import_module(f"{package}.{name}")
        else:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        # Found at once from now on.
        setattr(sys.modules[package], name, value)
        return value

    names = sorted(homes, key=_order)
    return get, lambda: list(names), names


def _order(name: str) -> tuple[int, str]:
    """Return a sort key: constants, classes, functions; each in alphabetical order."""
    return (0 if name.isupper() else 1 if name[0].isupper() else 2), name
