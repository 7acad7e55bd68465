"""Random draws from a hash of a seed and a row's content, or position: the same in any batch, on any machine.

By content, all rows of a table with the same values have the same draw. By row, only the first of them has that draw;
the second has another, and so on.
"""

from __future__ import annotations

import reprlib
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import Any, Literal, TypeAlias, cast, get_args

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from fairlimits._util.types import Floats
from fairlimits.data.columns import Table
from fairlimits.errors import InputError

DrawBy: TypeAlias = Literal["row", "content"]
"""Whether people who are alike in everything have draws of their own, or one in common."""

# Seeds that scikit-learn takes, with room for those that are derived from one.
_LARGEST_SEED = 2**32 - 2**16

# Odd constants of the mixing function splitmix64 (Steele, Lea and Flood, 2014).
_STEP = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)

# What a missing value of any kind is hashed as.
_MISSING = np.uint64(0x7FF8000000000000)


def check_seed(random_state: object, name: str = "random_state") -> int:
    """Return a seed as a whole number that all libraries take; `name` is what an error calls it."""
    whole = isinstance(random_state, int | np.integer) and not isinstance(random_state, bool)
    if not whole or not 0 <= cast("int", random_state) <= _LARGEST_SEED:
        raise InputError(f"{name} is {reprlib.repr(random_state)}; give a whole number from 0 to {_LARGEST_SEED:,}.")
    return int(cast("int", random_state))


def check_draw_by(draw_by: object) -> DrawBy:
    """Return the choice if it is a valid one."""
    if draw_by not in get_args(DrawBy):
        raise InputError(f"draw_by is {draw_by!r}; give 'row' or 'content'.")
    return cast("DrawBy", draw_by)


def row_draws(
    table: Table, random_state: int | str, names: Sequence[str] | None = None, *, draw_by: DrawBy = "row"
) -> Floats:
    """Draw a number from 0 to 1 for each row: a hash of the seed and of the row's values, in their order.

    The draw of a row is the same in any batch, on any machine and in any kind of table; by row, the second of several
    equal rows in a table has another draw than the first. Only the columns `names` are hashed, by default all.
    """
    state = _hashes(table, random_state, names)
    if draw_by == "row":
        again = _repeats(state)
        state = np.where(again > 0, _mix(state ^ _mix(again)), state)
    return _unit(state)


def position_draws(random_state: int | str, file: int, first: int, rows: int) -> Floats:
    """Draw a number from 0 to 1 for some rows of a file: a hash of the seed, the file and the row's place in it."""
    with np.errstate(over="ignore"):
        start = _mix(np.uint64(_hashed(str(random_state))) ^ _mix(np.asarray([file], dtype=np.uint64)))
    return _unit(_mix(start ^ _mix(np.arange(first, first + rows, dtype=np.uint64))))


def array_keys(arrays: Iterable[NDArray[Any]], random_state: int | str) -> NDArray[np.uint64]:
    """Return 64 bits for each position of some arrays: a hash of the seed and of the numbers there, in their order."""
    state: NDArray[np.uint64] | None = None
    for own in arrays:
        if own.dtype.kind == "f":
            # Adding 0 turns -0 into 0, which it equals.
            own = np.where(np.isnan(own), _MISSING, np.asarray(own + 0.0, dtype=np.float64).view(np.uint64))
        start = np.uint64(_hashed(str(random_state))) if state is None else state
        state = _mix(start ^ _mix(own.astype(np.uint64)))
    if state is None:
        raise InputError("There is nothing to tell people apart by; give at least one column.")
    return state


def key_draws(keys: NDArray[np.uint64]) -> Floats:
    """Return keys as numbers from 0 to 1."""
    return _unit(keys)


def content_keys(table: Table) -> NDArray[np.int64]:
    """Return a number for each row, the same for rows with the same values."""
    return np.asarray(np.unique(_hashes(table, 0), return_inverse=True)[1], dtype=np.int64)


def _repeats(state: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return how many rows before each one have the same hash."""
    order = np.argsort(state, kind="stable")
    first = np.flatnonzero(np.diff(state[order], prepend=~state[order[:1]]) != 0)
    run = np.repeat(first, np.diff(first, append=len(state)))
    found = np.empty(len(state), dtype=np.uint64)
    found[order] = (np.arange(len(state)) - run).astype(np.uint64)
    return found


def _hashes(table: Table, random_state: int | str, names: Sequence[str] | None = None) -> NDArray[np.uint64]:
    """Return 64 bits for each row, from the seed and its values in their order."""
    state = np.full(len(table), _hashed(str(random_state)), dtype=np.uint64)
    for name in table.names if names is None else names:
        state = _mix(state ^ _mix(_bits(table.column(name))))
    return state


def _hashed(text: str) -> int:
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "little")


def _unit(state: NDArray[np.uint64]) -> Floats:
    # The upper 53 bits are as many as a double holds.
    return np.asarray((state >> np.uint64(11)).astype(np.float64) * 2.0**-53)


def _mix(state: NDArray[np.uint64]) -> NDArray[np.uint64]:
    state = state + _STEP
    state = (state ^ (state >> np.uint64(30))) * _FIRST
    state = (state ^ (state >> np.uint64(27))) * _SECOND
    return np.asarray(state ^ (state >> np.uint64(31)))


def _bits(array: pa.Array) -> NDArray[np.uint64]:
    """Return 64 bits for each value: those of a number as a double, a hash of anything else."""
    kind = array.type
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind):
        numbers = array.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
        # Adding 0 turns -0 into 0, which it equals.
        bits = np.asarray(numbers + 0.0, dtype=np.float64).view(np.uint64)
        return np.where(np.isnan(numbers), _MISSING, bits)
    encoded = array.dictionary_encode()
    known = [_hashed(str(value)) for value in encoded.dictionary.to_pylist()]
    # Index -1, which null becomes, reaches the last entry.
    lookup = np.array([*known, int(_MISSING)], dtype=np.uint64)
    return np.asarray(lookup[encoded.indices.cast(pa.int64()).fill_null(-1).to_numpy(zero_copy_only=False)])
