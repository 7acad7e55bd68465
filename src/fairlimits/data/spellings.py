"""Text that differs in case or spaces only, such as "Male" and "male ": found, refused, or taken as one value."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from fairlimits.data.schema import Scalar
from fairlimits.data.troubles import SpellingError


def tidied(value: Scalar) -> Scalar:
    """Return text in lower case, with one space between words and none around them; other values as they are.

    Examples
    --------
    >>> tidied(" Not  Hispanic")
    'not hispanic'
    """
    return " ".join(value.split()).casefold() if isinstance(value, str) else value


def tidied_codes(codes: NDArray[np.int32], values: Sequence[Scalar]) -> tuple[NDArray[np.int32], tuple[Scalar, ...]]:
    """Merge values that are the same once tidied, in codes and values as `read_values` returns them."""
    present = [tidied(value) for value in values if value is not None]
    known: tuple[Scalar, ...] = tuple(sorted(set(present), key=lambda value: (isinstance(value, str), value)))
    missing = (None,) if values and values[-1] is None else ()
    place = {value: code for code, value in enumerate((*known, *missing))}
    lookup = np.array([place[tidied(value)] for value in values], dtype=np.int32)
    return lookup[codes], (*known, *missing)


def alike(values: Iterable[Scalar]) -> list[tuple[str, ...]]:
    """Return the values that are the same once tidied, in groups; empty if there are none.

    Examples
    --------
    >>> alike(["Male", "female", "male "])
    [('Male', 'male ')]
    """
    kinds: dict[Scalar, list[str]] = {}
    for value in values:
        if isinstance(value, str):
            kinds.setdefault(tidied(value), []).append(value)
    return [tuple(kind) for kind in kinds.values() if len(kind) > 1]


def check_spelling(name: str, part: str, values: Iterable[Scalar]) -> None:
    """Refuse a label or a sensitive column whose values differ in case or spaces only."""
    kinds = alike(values)
    if kinds:
        shown = "; ".join(" and ".join(map(repr, kind)) for kind in kinds)
        raise SpellingError(name, f"The {part} {name!r} holds {shown}, which differ in case or spaces only")
