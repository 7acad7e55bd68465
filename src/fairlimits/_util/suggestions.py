"""Suggestions for misspelt names: the one place that decides which known name is near enough."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

# Names of fewer letters are short.
_SHORT = 5


def nearest(given: object, known: Iterable[object]) -> object | None:
    """Return the known name that is nearest to a given one, whatever its case; None if none is near.

    Examples
    --------
    >>> nearest("survived", ["Name", "Survived"])
    'Survived'
    >>> nearest("EQd", ["DP", "EOp", "EOd"])
    'EOd'
    >>> nearest("income", ["age", "sex"]) is None
    True
    """
    plain = {str(name).casefold(): name for name in reversed(list(known))}
    wanted = str(given).casefold()
    # In a short name one wrong letter is a larger share of all.
    near = difflib.get_close_matches(wanted, plain, n=1, cutoff=0.6 if len(wanted) < _SHORT else 0.7)
    return plain[near[0]] if near else None


def did_you_mean(given: object, known: Iterable[object]) -> str:
    """Return a question for the nearest known name, to be put after a sentence; empty if none is near.

    Examples
    --------
    >>> did_you_mean("jion", ["join", "refuse"])
    " Did you mean 'join'?"
    """
    near = nearest(given, known)
    return "" if near is None else f" Did you mean {near!r}?"
