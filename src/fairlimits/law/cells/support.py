"""Whether there are enough rows for their cells: how much of a limit comes from people who decide themselves."""

from __future__ import annotations

import numpy as np

from fairlimits._util.types import Ints
from fairlimits.law.cells.distributions import CellDistribution

# Largest share of accuracy from people who decide themselves with which figures still count as limits.
_MOST = 0.01


def self_decided(counts: Ints) -> float:
    """Return the share of people whom the best rule decides right only because they were counted (leave-one-out).

    With each person left out of their own cell, a majority by one becomes a tie, which a coin decides, and in a tie the
    label of the person is outvoted by the other.

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

    This concerns cells on which people were counted. The masses of cells of an estimate are sums of what was learned
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
