"""The fewest rows behind a rate that is compared or shown: the one place where counts are held against that number."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from fairlimits._util.names import in_a_sentence
from fairlimits._util.types import Flags, Ints

ESTIMABLE_ROWS = 30
"""Rows that must stand behind a rate before it is compared, or shown as a figure."""

# Groups that a sentence names; the others are counted.
_NAMED = 8


def enough(rows: NDArray[np.integer] | int) -> Flags:
    """Return whether each count of rows is enough."""
    return np.asarray(np.asarray(rows) >= ESTIMABLE_ROWS)


def small(counts: Ints) -> Flags:
    """Return whether each group has too few rows, in all or of a label, for counts of shape (G, 2)."""
    return np.asarray(~enough(counts).all(axis=1))


def few_rows(groups: Sequence[str], counts: Ints, *, counted: bool = True) -> tuple[str, ...]:
    """Name every group that is there and has too few rows, in all or of a label, with its count if `counted`.

    Parameters
    ----------
    groups : sequence of str
        The groups' names.
    counts : ndarray of int of shape (G, 2)
        Rows of each group and label.
    counted : bool, default=True
        Whether to say how many rows there are of each.

    Examples
    --------
    >>> few_rows(["Black", "Other", "White"], np.array([[40, 12], [9, 2], [50, 60]]))
    ('Black (12 rows with label 1)', 'Other (11 rows)')
    >>> few_rows(["no", "yes"], np.array([[40, 50], [40, 12]]))
    ('group yes (12 rows with label 1)',)
    """
    few = np.flatnonzero(small(counts) & counts.any(axis=1)).tolist()
    named = [in_a_sentence(groups[g]) for g in few]
    return tuple(_with_count(name, counts[g]) if counted else name for g, name in zip(few, named, strict=True))


def _with_count(name: str, counts: Ints) -> str:
    total = int(counts.sum())
    if not enough(total):
        return f"{name} ({_rows(total)})"
    few = [f"{_rows(int(counts[y]))} with label {y}" for y in np.flatnonzero(~enough(counts)).tolist()]
    return f"{name} ({' and '.join(few)})"


def _rows(number: int) -> str:
    return "1 row" if number == 1 else f"{number} rows"


def listed(texts: Sequence[str], most: int = _NAMED) -> str:
    """Join texts by commas, and count those after the first few.

    Examples
    --------
    >>> listed(["a", "b", "c"], most=2)
    'a, b and 1 more'
    """
    shown = ", ".join(texts[:most])
    return shown if len(texts) <= most else f"{shown} and {len(texts) - most} more"
