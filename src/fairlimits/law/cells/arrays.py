"""The arrays of a distribution, checked when one is made from numbers or from a file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from fairlimits._util.types import Floats, Ints
from fairlimits.errors import InputError

Distances: TypeAlias = Floats | sp.coo_array

# Not all whole numbers above this are floats, and their sums may overflow.
_LARGEST = 2**53

_ROUNDING = 1e-9


def frozen(array: NDArray[Any]) -> NDArray[Any]:
    """Return the array, made read-only."""
    array.setflags(write=False)
    return array


def numbers(values: Any, what: str) -> Floats:
    """Return values as an array of numbers, or say what they must be."""
    try:
        return np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"The {what} must be an array of numbers, and it is not: {values!r:.60}.") from None


def whole_numbers(values: Any, what: str) -> Ints:
    """Return values as an array of whole numbers, or say that they are not."""
    found = np.asarray(values)
    if found.dtype.kind not in "iu":
        wide = numbers(values, what)
        if not (np.isfinite(wide) & (np.abs(wide) < _LARGEST) & (wide == np.rint(wide))).all():
            raise InputError(f"The {what} must be whole numbers.")
    elif found.size and int(found.max()) >= _LARGEST:
        raise InputError(f"The {what} are larger than rows can be.")
    return np.array(found, dtype=np.int64)


def check_counted(mass: Floats, counts: Ints) -> None:
    """Refuse masses that are not shares of the counts they are said to come from."""
    rows = counts.sum()
    if rows == 0 or np.abs(mass - counts / rows).max() > _ROUNDING:
        raise InputError("The mass is not the share of the rows that the counts say.")


def check_index(what: str, number: int | None, size: int) -> None:
    """Refuse a position outside 0 to `size` - 1."""
    # Not left to indexing, which counts negative numbers from the end.
    if number is not None and not (isinstance(number, int | np.integer) and 0 <= number < size):
        raise InputError(f"The {what} is {number!r}; it must be a whole number from 0 to {size - 1}.")


def checked_mass(mass: ArrayLike) -> Floats:
    """Return probabilities of cell, group and label, after checking them."""
    array = numbers(mass, "mass")
    if array.ndim != 3 or array.shape[2] != 2 or 0 in array.shape:
        raise InputError(
            f"The mass has shape {array.shape}; it must be (cells, groups, 2), the last for labels 0 and 1."
        )
    if not np.isfinite(array).all() or (array < 0).any():
        raise InputError("The mass has negative or non-finite entries; every entry must be at least 0.")
    if abs(array.sum() - 1) > _ROUNDING:
        raise InputError(f"The mass sums to {array.sum():g}; it must sum to 1, with some mass in a cell.")
    return frozen(array)


def checked_distances(distances: Any, cells: int) -> Distances:
    """Return distances between cells, dense or sparse with one entry per pair, after checking them."""
    shape = np.shape(distances)
    if shape != (cells, cells):
        raise InputError(f"The distances have shape {shape}; they must be {(cells, cells)}, a row for each cell.")
    if sp.issparse(distances):
        entries = sp.coo_array(distances)
        first, second = (np.asarray(axis) for axis in entries.coords)
        upper = np.minimum(first, second), np.maximum(first, second)
        values = np.asarray(entries.data, dtype=np.float64)
        _check_distance_values(values)
        # One entry per pair, above the diagonal. Both halves of a symmetric graph say the same of a pair;
        # where they do not, the smaller distance (the stricter constraint) is kept.
        order = np.lexsort((values, upper[1], upper[0]))
        i, j, values = upper[0][order], upper[1][order], values[order]
        once = np.ones(len(i), dtype=bool)
        once[1:] = (i[1:] != i[:-1]) | (j[1:] != j[:-1])
        once &= i != j
        return sp.coo_array((values[once], (i[once], j[once])), shape=shape)
    array = numbers(distances, "distances")
    _check_distance_values(array)
    if not np.allclose(array, array.T, rtol=0, atol=1e-9):
        raise InputError("The distances are not symmetric; the distance from i to j must be that from j to i.")
    return frozen(array)


def pack_distances(distances: Distances | None) -> dict[str, NDArray[Any]]:
    """Return distances as named arrays."""
    if distances is None:
        return {}
    if isinstance(distances, np.ndarray):
        return {"distances": distances}
    first, second = distances.coords
    return {"first": first, "second": second, "pair_distances": distances.data}


def unpack_distances(arrays: Mapping[str, NDArray[Any]], cells: int) -> Any:
    """Return the distances that `pack_distances` packed, not checked yet; None if there are none."""
    if "first" not in arrays:
        return arrays.get("distances")
    return sp.coo_array((arrays["pair_distances"], (arrays["first"], arrays["second"])), shape=(cells, cells))


def _check_distance_values(values: Floats) -> None:
    if not np.isfinite(values).all() or (values < 0).any():
        raise InputError("The distances have negative or non-finite entries; every one must be at least 0.")
