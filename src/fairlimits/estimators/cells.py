"""What cells to make: of what, and how many where nobody says."""

from __future__ import annotations

from typing import Any

import numpy as np

from fairlimits.data import Dataset, Encoding
from fairlimits.errors import InputError
from fairlimits.law import FEATURES, check_partitions

MOST_CELLS = 256
"""Cells, at most, where their number is left open."""

# Digits in which two rows must differ to count as two points.
_DIGITS = 5


def check_partition(partition: str, estimator: Any) -> None:
    """Refuse a partition that is not known, and an estimator that nothing is learned with."""
    check_partitions([partition])
    if estimator is not None and partition == FEATURES:
        raise InputError("Cells of the features learn nothing; leave out the estimator, or the partition.")


def cells_to_make(cells: int | None, data: Dataset, partition: str) -> int:
    """Return the number that was asked for, or as many as the rows have distinct points, at most 256.

    Parameters
    ----------
    cells : int or None
        What was asked for.
    data : Dataset
        The rows.
    partition : str
        What is cut; of an estimate `discretize` itself makes no more cells than there are points.
    """
    if cells is not None:
        if isinstance(cells, bool) or not isinstance(cells, int | np.integer) or cells < 1:
            raise InputError(f"cells is {cells!r}; give a whole number of at least 1, or leave it out.")
        return int(cells)
    counted = np.arange(data.n_rows) if data.weight is None else np.flatnonzero(data.weight > 0)
    if partition != FEATURES:
        return min(len(counted), MOST_CELLS)
    # A few rows more than cells tell as much as all of them.
    counted = counted[: 16 * MOST_CELLS]
    points = Encoding.fit(data).transform_dataset(data.take(counted))
    return min(len(np.unique(np.round(points, _DIGITS), axis=0)), MOST_CELLS)
