"""Estimate how fair and how accurate any classifier can be on a table of people, given what it may see."""

from __future__ import annotations

from fairlimits._util.lazy import attach_stub as _attach_stub

__version__ = "0.1.0"

# The names, and where they are, are in the stub beside this file.
__getattr__, __dir__, __all__ = _attach_stub(__name__)
