"""Where a warning is to point: at the line of the user's program, whatever lies between."""

from __future__ import annotations

import sys

_PACKAGE = __name__.partition(".")[0]


def outside() -> int:
    """Return the `stacklevel` of the first caller outside the package, for a `warnings.warn` in the calling function.

    A number that is written down is right for one way of calling only: a rule may be solved by `solve`, by a classifier
    or by an audit.
    """
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == _PACKAGE:
        level, frame = level + 1, frame.f_back
    return level
