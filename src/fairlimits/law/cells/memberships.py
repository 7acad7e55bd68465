"""`cells_of`: which cell of a distribution a row is in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray

from fairlimits._util.types import Ints
from fairlimits.errors import InputError
from fairlimits.law.cells.distributions import CellDistribution
from fairlimits.law.cells.quantizer.codebook import assign


def cells_of(dist: CellDistribution, columns: Mapping[str, NDArray[Any]], n_rows: int) -> Ints:
    """Find the cell of each row; neither label nor group is looked at.

    Parameters
    ----------
    dist : CellDistribution
        Whose cells.
    columns : mapping of str to ndarray of shape (n_rows,)
        The features, coded as in `Dataset.columns`.
    n_rows : int
        Number of rows.
    """
    if dist.places is not None:
        return dist.places.cells_of(columns, n_rows)
    if dist.encoding is None or dist.centroids is None:
        raise InputError(
            "This distribution is made of bare numbers and knows no columns, so rows have no cell in it: make the "
            "distribution with discretize."
        )
    if not dist.origin.by_features:
        raise InputError(
            "These cells cut an estimate of P(A, Y | x), and its learners are not in the file that the distribution "
            "was loaded from, so rows have no cell in it: make the distribution with discretize again."
        )
    return assign(dist.encoding.transform(columns, n_rows), dist.centroids)
