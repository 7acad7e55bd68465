"""Concerns about columns for findings that have room for the gravest only: leaks, ids, proxies of the group."""

from __future__ import annotations

from typing import Any

from fairlimits.data.dataset import Dataset
from fairlimits.data.screening import ConcernKind, concerns

# These concerns make a limit wrong; the others do not change it.
_GRAVE: tuple[ConcernKind, ...] = ("leak", "missingness follows the label", "id")


def column_doubts(rows: Any, *, hidden: bool) -> tuple[str, ...]:
    """Name features that may leak the label, are ids, or reveal a group that is to be hidden.

    Parameters
    ----------
    rows : Dataset, or what else a command reads
        The people. There are no concerns about rows that are not in memory, or are only counted.
    hidden : bool
        Whether the group is to be hidden from what sees the features.

    Returns
    -------
    tuple of str
        A sentence for each concern, the gravest first.
    """
    if not isinstance(rows, Dataset):
        return ()
    kinds = (*_GRAVE, "reveals the group") if hidden else _GRAVE
    return tuple(own.text for own in concerns(rows) if own.kind in kinds)
