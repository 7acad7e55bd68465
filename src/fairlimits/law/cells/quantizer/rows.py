"""Rows and their weights, as the quantizer takes them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from fairlimits._util.types import Floats
from fairlimits.errors import DataError
from fairlimits.law.cells.quantizer.nearest import Floats32

_LARGEST = 1e15  # squares of larger values overflow single precision


class Rows(NamedTuple):
    """Rows, shape (n, d), and their weights, shape (n,), all above 0."""

    values: Floats32
    weights: Floats


def as_matrix(given: ArrayLike, name: str) -> Floats32:
    """Return numbers as float32, refusing those that have no finite square."""
    try:
        with np.errstate(over="ignore"):  # what overflows becomes infinite and is refused below
            matrix = np.ascontiguousarray(given, dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise DataError(f"The {name} are not numbers ({error}); encode them first.") from error
    if matrix.ndim != 2 or matrix.shape[1] == 0:
        raise DataError(f"The {name} have shape {matrix.shape}; a table of one or more columns is needed.")
    if matrix.size and not (matrix.min() >= -_LARGEST and matrix.max() <= _LARGEST):  # so also for NaN
        bad = np.flatnonzero(~(np.abs(matrix) <= _LARGEST).all(axis=1))
        raise DataError(
            f"{len(bad)} of the {len(matrix)} {name}, the first at index {bad[0]}, hold values that are not "
            f"finite or beyond {_LARGEST:g}; fill or drop missing values, and scale large ones."
        )
    return matrix


def as_weights(given: ArrayLike | None, rows: int) -> Floats:
    """Return weights, 1 by default, refusing negative and infinite ones and NaN."""
    if given is None:
        return np.ones(rows)
    weights = np.asarray(given, dtype=np.float64)
    if weights.shape != (rows,):
        raise DataError(f"The weights have shape {weights.shape}; one per row is needed, shape ({rows},).")
    bad = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    if bad.size:
        raise DataError(
            f"{len(bad)} weights, the first at index {bad[0]}, are negative or not finite; each must be 0 or above."
        )
    return weights
