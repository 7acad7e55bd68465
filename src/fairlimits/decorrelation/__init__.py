"""Maps from which the group cannot be told: the exact optimum, the map that moves people least, and its use on rows."""

from __future__ import annotations

from fairlimits._util.lazy import attach_stub as _attach_stub

# The stub beside this file lists the names and their modules.
__getattr__, __dir__, __all__ = _attach_stub(__name__)
