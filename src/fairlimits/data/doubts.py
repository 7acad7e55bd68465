"""What to doubt of columns, for findings that have room for the gravest only: leaks, ids, second faces of the group."""

from __future__ import annotations

from typing import Any

from fairlimits.data.dataset import Dataset
from fairlimits.data.screening import ConcernKind, concerns

# These make a limit false; the others leave it as it is.
_GRAVE: tuple[ConcernKind, ...] = ("leak", "missingness follows the label", "id")


def column_doubts(rows: Any, *, hidden: bool) -> tuple[str, ...]:
    """Say which features may give the label away, or are ids; and the group, where it is to be hidden.

    Parameters
    ----------
    rows : Dataset, or what else a command reads
        The people. Of rows that are not in memory, or are counted, nothing is said.
    hidden : bool
        Whether the group is to be hidden from what sees the features.

    Returns
    -------
    tuple of str
        A sentence each, the gravest first.
    """
    if not isinstance(rows, Dataset):
        return ()
    kinds = (*_GRAVE, "reveals the group") if hidden else _GRAVE
    return tuple(own.text for own in concerns(rows) if own.kind in kinds)
