"""Reading plain data (what JSON holds) back with checks: the shared half of every ``from_dict``."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from fairlimits.errors import FileError

# No column of a table holds larger whole numbers, and floats end somewhere above.
_LARGEST = 2**64


def field(record: object, key: str, kinds: type | tuple[type, ...], what: str) -> Any:
    """Return ``record[key]`` after checking that it is there and of one of the types `kinds`.

    Raises
    ------
    FileError
        If `record` is not a mapping, lacks the key or holds a value of another type.
    """
    if not isinstance(record, Mapping):
        raise FileError(f"{what} must be a mapping, got {type(record).__name__}: the file is damaged or not ours.")
    if key not in record:
        raise FileError(f"{what} has no field {key!r}: the file is damaged or not ours.")
    value = record[key]
    kinds = kinds if isinstance(kinds, tuple) else (kinds,)
    # bool is a subclass of int, but True is not a column index.
    if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
        raise FileError(f"{what} has {value!r:.60} as {key!r}: the file is damaged or not ours.")
    if isinstance(value, int) and abs(value) >= _LARGEST:
        raise FileError(f"{what} has too large a whole number as {key!r}: the file is damaged or not ours.")
    return value


def number(record: object, key: str, what: str) -> float:
    """Return the finite number ``record[key]`` as a float."""
    value = float(field(record, key, (int, float), what))
    if not math.isfinite(value):
        raise FileError(f"{what} has {value!r} as {key!r}, which must be finite.")
    return value


def without_nan(numbers: Mapping[str, float]) -> dict[str, float | None]:
    """Return numbers by name as JSON can hold them: None where one is not known."""
    return {name: None if math.isnan(value) else value for name, value in numbers.items()}


def with_nan(record: object, key: str, what: str) -> dict[str, float]:
    """Return numbers by name that `without_nan` wrote."""
    inner = field(record, key, Mapping, what)
    return {name: math.nan if value is None else number(inner, name, what) for name, value in inner.items()}


def items(record: object, key: str, kinds: type | tuple[type, ...], what: str) -> tuple[Any, ...]:
    """Return the list ``record[key]`` as a tuple, every item of one of the types `kinds`."""
    values = field(record, key, (list, tuple), what)
    return tuple(field({key: value}, key, kinds, what) for value in values)
