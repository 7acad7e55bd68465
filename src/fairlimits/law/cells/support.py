"""Whether the rows support the cells that they were counted on: what of a limit is people deciding themselves."""

from __future__ import annotations

import numpy as np

from fairlimits._util.types import Ints
from fairlimits.law.cells.distributions import CellDistribution

# Accuracy that may come from people who were counted themselves, before figures stop being limits.
_MOST = 0.01


def self_decided(counts: Ints) -> float:
    """Share of people whom the best rule on counted cells decides right, but would not if they had not been counted.

    With each person left out of the count of their own cell, a majority that led by one is a tie, decided by a coin,
    and one half of a tie is outvoted by the other.

    Parameters
    ----------
    counts : ndarray of int of shape (N, G, 2)
        Rows of each cell, group and label.

    Examples
    --------
    >>> round(self_decided(np.array([[[9, 1]], [[1, 0]], [[1, 1]]])), 3)
    0.115
    """
    by_label = counts.sum(axis=1)
    most, lead = by_label.max(axis=1), np.abs(by_label[:, 1] - by_label[:, 0])
    lost = most[lead == 0].sum() + 0.5 * most[lead == 1].sum()
    return float(lost / max(by_label.sum(), 1))


def support_note(dist: CellDistribution) -> str | None:
    """Say that figures on cells are not limits, because the rows are too few for the cells; None if they are not.

    It is about cells on which people were counted. The masses of cells of an estimate are sums of what was learned
    from other rows, so that more cells make them no more optimistic.

    Parameters
    ----------
    dist : CellDistribution
        The cells.
    """
    if dist.counts is None or not dist.origin.by_features:
        return None
    share = self_decided(dist.counts)
    if share <= _MOST:
        return None
    return (
        f"{int(dist.counts.sum()):,} rows are too few for {dist.n_cells} cells of the features: "
        f"{100 * share:.1f} points of the best accuracy on them come from counting the very people who are "
        "decided. Accuracies on these cells are not limits; take fewer cells, or cells of an estimate (partition "
        "outcome)."
    )
