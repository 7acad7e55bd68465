"""Suppression (disclosure control): which figures rest on too few people to be published, decided here alone.

A single figure that is left out can be worked out from the others and their total. So a second one is left out too
(secondary suppression), and the people behind all that are left out are together as many as a figure takes.
"""

from __future__ import annotations

import numpy as np

from fairlimits._util.types import Flags, Floats
from fairlimits.errors import InputError

SUPPRESSED_TEXT = "suppressed"
"""What is shown where too few people stand behind a figure for it to be published."""

# A count that sums have left a little below a whole number is that number.
_ROUNDING = 1e-6


def check_suppress(least: int | None) -> int | None:
    """Return the fewest people that a figure may rest on, if that is a number of people; None suppresses nothing."""
    if least is None:
        return None
    if isinstance(least, bool) or not isinstance(least, int | np.integer) or least < 2:
        raise InputError(
            f"suppress is {least!r}; give the fewest people that a figure may rest on, 2 or more, such as 10.",
            shell=f"--suppress is {least}; give the fewest people that a figure may rest on, 2 or more, such as 10.",
        )
    return int(least)


def withheld(parts: Floats, least: int, shown: Flags | None = None) -> Flags:
    """Return whose figures are left out, so that nobody can be identified from them or from what remains of a total.

    Parameters
    ----------
    parts : ndarray of shape (G, P)
        People that each group's figure tells apart: all of them, or those of each label, or of each label and decision.
    least : int
        Fewest people that a figure may rest on, and tell apart.
    shown : ndarray of bool of shape (G,), optional
        Groups that have a figure to show; by default all.

    Examples
    --------
    >>> withheld(np.array([[7.0], [40.0], [300.0]]), 10).tolist()
    [True, True, False]
    >>> withheld(np.array([[12.0], [40.0]]), 10).tolist()
    [False, False]
    """
    there = np.ones(len(parts), dtype=bool) if shown is None else shown
    size = parts.sum(axis=1)
    few: Flags = (size > 0) & (parts < least - _ROUNDING).any(axis=1)
    if not few.any():
        return few
    out: Flags = few & there
    for g in np.argsort(size, kind="stable"):
        unknown = (out | ~there) & (size > 0)
        if unknown.sum() > 1 and (parts[unknown].sum(axis=0) >= least - _ROUNDING).all():
            break
        out[g] |= there[g]
    return out
