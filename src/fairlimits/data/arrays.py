"""Arrays that a `Dataset` is made of and cut into: read-only columns, and rows drawn in proportion."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from fairlimits.data.schema import Scalar
from fairlimits.errors import DataError


def apportion(sizes: npt.NDArray[np.int64], total: int, rng: np.random.Generator) -> npt.NDArray[np.int64]:
    """Apportion `total` to strata in proportion to their `sizes`, by largest remainder, ties at random."""
    room = np.maximum(sizes - 1, 0)
    if room.sum() < total:
        room = sizes
    share = sizes * (total / sizes.sum())
    quota: npt.NDArray[np.int64] = np.minimum(np.floor(share).astype(np.int64), room)
    while quota.sum() < total:
        remainder = np.where(quota < room, share - quota, -np.inf)
        order = np.lexsort((rng.random(len(sizes)), -remainder))
        open_strata = order[: min(total - int(quota.sum()), int((quota < room).sum()))]
        quota[open_strata] += 1
    return quota


def choose_in_proportion(
    strata: npt.NDArray[np.int64], share: float, n_strata: int, rng: np.random.Generator
) -> npt.NDArray[np.bool_]:
    """Choose a share of rows at random, stratified: at least one row, and of two or more never all."""
    n = len(strata)
    sizes = np.bincount(strata, minlength=n_strata)
    quota = apportion(sizes, min(max(round(share * n), 1), n - 1), rng)
    # Sorted by stratum, shuffled rows are in random order within each stratum.
    shuffled = rng.permutation(n)
    shuffled = shuffled[np.argsort(strata[shuffled], kind="stable")]
    start = np.repeat(np.cumsum(sizes) - sizes, sizes)
    chosen = np.zeros(n, dtype=bool)
    chosen[shuffled[np.arange(n) - start < np.repeat(quota, sizes)]] = True
    return chosen


def dictionary(codes: npt.NDArray[np.int32], categories: Sequence[Scalar]) -> pa.Array:
    """Return codes as an Arrow dictionary array of their categories; a missing or unknown one is null."""
    values = [category for category in categories if category is not None]
    unknown = (codes < 0) | (codes >= len(values))
    return pa.DictionaryArray.from_arrays(pa.array(codes, mask=unknown), pa.array(values))


def frozen(name: str, array: npt.ArrayLike, dtype: npt.DTypeLike, n: int) -> npt.NDArray[Any]:
    """Return a column of n rows that cannot be written to."""
    # A view, so that the caller's own array stays writable and, with the right type, nothing is copied.
    view = np.asarray(array, dtype=dtype).view()
    if view.shape != (n,):
        raise DataError(f"The column {name!r} has shape {view.shape}, where the label has {n} rows.")
    view.flags.writeable = False
    return view


def frozen_codes(
    name: str, array: npt.ArrayLike, dtype: npt.DTypeLike, n: int, low: int, high: int
) -> npt.NDArray[Any]:
    """Return a column of whole numbers from low to high that cannot be written to."""
    codes = np.asarray(array)
    # Checked before the type changes, which would fold numbers that are too large back into range.
    if codes.size and (codes.dtype.kind not in "iub" or codes.min() < low or codes.max() > high):
        raise DataError(f"The column {name!r} must hold whole numbers from {low} to {high}.")
    return frozen(name, codes, dtype, n)
