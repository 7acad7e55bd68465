"""Numbers cut into ranges, such as ages into "under 25" and "25 and over"."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from numbers import Real
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fairlimits._util.types import Floats
from fairlimits.errors import InputError

Bins: TypeAlias = Mapping[str, float | Sequence[float] | NDArray[Any]] | None
Cuts: TypeAlias = dict[str, tuple[float, ...]]
"""Cut points of numeric columns; an empty tuple for text columns that are tidied."""


def read_bins(bins: Bins) -> Cuts:
    """Check the cut points of columns, which must rise, and return them as tuples.

    Examples
    --------
    >>> read_bins({"age": [25, 60], "size": 3})
    {'age': (25.0, 60.0), 'size': (3.0,)}
    """
    if bins is None:
        return {}
    if not isinstance(bins, Mapping):
        raise InputError(f"bins is {bins!r}: give the cut points of each column, as in bins={{'age': [25, 60]}}.")
    return {name: _read_cuts(name, cuts) for name, cuts in bins.items()}


def _read_cuts(name: str, cuts: Any) -> tuple[float, ...]:
    given = [cuts] if isinstance(cuts, Real) else cuts
    if not isinstance(given, Sequence | np.ndarray) or isinstance(given, str):
        given = ()
    found = [float(cut) for cut in given if isinstance(cut, Real) and np.isfinite(float(cut))]
    if not found or len(found) < len(given) or any(b <= a for a, b in pairwise(found)):
        raise InputError(
            f"The cut points of {name!r} are {cuts!r}: give one number or several that rise, as in [25, 60].",
            shell=f"The cut points of {name!r} are {cuts!r}: give one number or several that rise, as in "
            f"--bin {name}:25,60.",
        )
    return tuple(found)


def parse_bins(texts: Sequence[str]) -> Cuts:
    """Read cut points as they are written on a command line.

    Examples
    --------
    >>> parse_bins(["age:25,60"])
    {'age': (25.0, 60.0)}
    """
    bins: dict[str, Sequence[float]] = {}
    for text in texts:
        name, _, cuts = text.rpartition(":")
        try:
            numbers = [float(cut) for cut in cuts.split(",")]
        except ValueError:
            numbers = []
        if not name or not numbers:
            raise InputError(f"--bin is {text!r}: write a column and its cut points, as in --bin age:25,60.")
        if name in bins:
            raise InputError(f"--bin names {name!r} twice: give all of its cut points at once, as in {name}:25,60.")
        bins[name] = numbers
    return read_bins(bins)


def bin_names(cuts: Sequence[float]) -> tuple[str, ...]:
    """Return the names of the ranges between cut points; each range includes its lower end.

    Examples
    --------
    >>> bin_names([25, 60])
    ('under 25', '25 to under 60', '60 and over')
    """
    texts = [str(int(cut)) if float(cut).is_integer() else str(cut) for cut in cuts]
    middle = (f"{low} to under {high}" for low, high in pairwise(texts))
    return (f"under {texts[0]}", *middle, f"{texts[-1]} and over")


def bin_codes(cuts: Sequence[float], values: Floats) -> NDArray[np.int32]:
    """Return the position of the range of each number; for a missing one, the number of ranges."""
    codes = np.searchsorted(np.asarray(cuts), values, side="right")
    return np.where(np.isnan(values), len(cuts) + 1, codes).astype(np.int32)
