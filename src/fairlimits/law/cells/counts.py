"""Counts of rows that are in memory."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fairlimits._util.types import Floats, Ints
from fairlimits.data import Dataset


@dataclass(frozen=True, eq=False)
class Counts:
    """What the cells hold, before it is divided by its sum: counts add, probabilities do not.

    Parameters
    ----------
    rows : ndarray of int of shape (N, G, 2)
        Rows with a weight above 0.
    weight : ndarray of shape (N, G, 2)
        Their weights; the rows themselves where there are none.
    """

    rows: Ints
    weight: Floats

    def __add__(self, other: Counts) -> Counts:
        return Counts(self.rows + other.rows, self.weight + other.weight)


def count_cells(cells: Ints, dataset: Dataset, n_cells: int) -> Counts:
    """Count rows by cell, group and label.

    Parameters
    ----------
    cells : ndarray of int of shape (n_rows,)
        The cell of each row.
    dataset : Dataset
        The rows.
    n_cells : int
        Number of cells, N.
    """
    shape = (n_cells, len(dataset.groups), 2)
    index = np.ravel_multi_index((cells, dataset.group, dataset.label.astype(np.int64)), shape)
    size = n_cells * len(dataset.groups) * 2
    if dataset.weight is None:
        rows: Ints = np.bincount(index, minlength=size).reshape(shape)
        return Counts(rows, rows.astype(np.float64))
    weight: Floats = np.bincount(index, weights=dataset.weight, minlength=size).astype(np.float64)
    rows = np.bincount(index[dataset.weight > 0], minlength=size).reshape(shape)
    return Counts(rows, weight.reshape(shape))
