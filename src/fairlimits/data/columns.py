"""Single columns of a pandas, polars or Arrow table, read into the arrays that a `Dataset` holds."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from fairlimits._util.names import printable
from fairlimits._util.suggestions import did_you_mean
from fairlimits.data.bins import bin_codes, bin_names
from fairlimits.data.schema import Kind, Scalar, value_text
from fairlimits.data.spellings import tidied_codes
from fairlimits.data.troubles import ColumnError
from fairlimits.errors import DataError

# How a date begins in text; Arrow decides whether all of it is a date.
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")

_NUMBER = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*")

# Units of time in a day.
_IN_A_DAY = {"s": 86_400, "ms": 86_400_000, "us": 86_400_000_000, "ns": 86_400_000_000_000}

# What a missing column was named for; other roles read "label column" and the like.
_SOUGHT = {
    "features": "feature column {!r}",
    "drop": "column {!r} to drop",
    "bins": "column {!r} to cut in bins",
    "tidy": "column {!r} to tidy",
}

_SAME_NAME = "The table has two columns of the same name: rename or drop one of them."


@dataclass(frozen=True)
class Table:
    """A table whose columns are read one at a time, as Arrow arrays.

    So all kinds of data frame behave alike, and a pandas index is left out.
    """

    frame: nw.DataFrame[Any]
    names: tuple[str, ...]
    keep: Any = None
    bins: Mapping[str, tuple[float, ...]] = field(default_factory=dict)

    @classmethod
    def open(cls, frame: Any) -> Table:
        """Wrap a data frame after checking that it has rows and usable column names; a table is left as it is."""
        if isinstance(frame, Table):
            return frame
        try:
            wrapped = nw.from_native(frame, eager_only=True)
            names = tuple(wrapped.columns)
        except TypeError as error:
            if isinstance(frame, str | os.PathLike):
                raise DataError(
                    f"{str(frame)!r} is a path, and a table is needed: read the file with read_table(path) of "
                    "fairlimits.data, or make a Dataset of it with open_data(path, label=..., sensitive=...)."
                ) from error
            raise DataError(
                f"Cannot read a table from {type(frame).__name__}: pass a pandas or polars DataFrame "
                "(collect a LazyFrame first, call to_frame() of a Dataset) or a pyarrow Table."
            ) from error
        except ValueError as error:
            # Most kinds of data frame refuse duplicate names by themselves, and nothing else.
            raise DataError(_SAME_NAME) from error
        _check_names(names)
        if not names or len(wrapped) == 0:
            raise DataError("The table is empty: it needs at least one column and one row.")
        return cls(wrapped, names)

    def __len__(self) -> int:
        return len(self.frame) if self.keep is None else int(pc.sum(self.keep).as_py())

    def filtered(self, keep: npt.NDArray[np.bool_]) -> Table:
        """Return the table with only those of the rows left where `keep` is true."""
        whole = np.ones(len(self.frame), dtype=bool) if self.keep is None else np.array(self.keep)
        whole[whole] = keep
        return replace(self, keep=pa.array(whole))

    def only(self, names: Iterable[str]) -> Table:
        """Return the table with only some of its columns, in the order of `names`."""
        return replace(self, names=tuple(names))

    def binned(self, bins: Mapping[str, tuple[float, ...]]) -> Table:
        """Return the table with some columns of numbers cut into ranges, and text without cuts tidied."""
        return replace(self, bins=bins)

    def column(self, name: str) -> pa.Array:
        """Return one column as an Arrow array, dictionaries decoded and NaN turned into null."""
        if name not in self.bins:
            return self._as_it_is(name)
        codes, names = self.values(name)
        if not all(isinstance(text, str | None) for text in names):
            # Only text is tidied.
            return self._as_it_is(name)
        texts = pa.array([text for text in names if text is not None], pa.large_string())
        return texts.take(pa.array(codes, mask=codes >= len(texts)))

    def values(self, name: str) -> tuple[npt.NDArray[np.int32], tuple[Scalar, ...]]:
        """Return a column as `read_values` does; a column in bins has all bins as values, in their order."""
        array = self._as_it_is(name)
        if name not in self.bins:
            return read_values(name, array)
        if not self.bins[name]:
            return tidied_codes(*read_values(name, array))
        names = bin_names(self.bins[name])
        if _is_text(array.type):
            codes, values = read_values(name, array)
            if set(values) <= {*names, None}:
                # A table that was cut before, and written.
                known = {text: code for code, text in enumerate((*names, None))}
                lookup = np.array([known[value] for value in values], dtype=np.int32)  # type: ignore[index]
                return lookup[codes], (*names, None) if array.null_count else names
        codes = bin_codes(self.bins[name], read_numbers(name, array))
        return codes, (*names, None) if array.null_count else names

    def _as_it_is(self, name: str) -> pa.Array:
        try:
            array = self.frame.get_column(name).to_arrow()
        except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
            raise ColumnError(
                name,
                "mixes values of different kinds, or holds a kind that cannot be read",
                "convert it to text or numbers",
            ) from error
        if isinstance(array, pa.ChunkedArray):
            # Columns of tables that were joined come in pieces.
            array = array.combine_chunks()
        if self.keep is not None:
            array = array.filter(self.keep)
        if pa.types.is_dictionary(array.type):
            array = array.cast(array.type.value_type)
        if pa.types.is_floating(array.type):
            array = pc.if_else(pc.is_nan(array), pa.scalar(None, array.type), array)
        return array

    def kind(self, name: str, array: pa.Array | None = None) -> Kind:
        """Return how a column (its `array`, if at hand) is read by default: by its declared type."""
        if self.bins.get(name):
            return "categorical"
        declared = self.frame.schema[name]
        if declared in (nw.Categorical, nw.Enum, nw.Boolean):
            return "categorical"
        if declared.is_numeric():
            return "numeric"
        # What remains is text and Python objects, which may hold any of these, and types that cannot be used.
        array = self.column(name) if array is None else array
        kind = array.type
        if holds_dates(array):
            return "numeric"
        if _is_text(kind) or pa.types.is_boolean(kind):
            return "categorical"
        # A column without a single value has no type; it is allowed, and carries no information either way.
        if _is_number(kind) or pa.types.is_null(kind):
            return "numeric"
        raise _unreadable(name, kind)

    def require(self, names: Iterable[str], role: str) -> None:
        """Check that columns exist, and suggest the nearest name if not."""
        self.require_all({role: tuple(names)})

    def require_all(self, parts: Mapping[str, Sequence[str]]) -> None:
        """Check that the columns of each role exist, and report all that do not at once."""
        absent = [
            f"There is no {_SOUGHT.get(part, f'{part} column {{!r}}').format(name)} in the table."
            f"{did_you_mean(name, self.names)}"
            for part, names in parts.items()
            for name in dict.fromkeys(names)
            if name not in self.names
        ]
        if len(absent) == 1:
            raise DataError(f"{absent[0]} {_present(self.names)}")
        if absent:
            lines = [f"{len(absent)} columns that were named are not there:", *(f"- {line}" for line in absent)]
            raise DataError("\n".join([*lines, _present(self.names)]))


def as_table(rows: Any) -> Table:
    """Open rows of any kind of table, an Arrow record batch among them; a table is left as it is."""
    return Table.open(pa.Table.from_batches([rows]) if isinstance(rows, pa.RecordBatch) else rows)


def holds_dates(array: pa.Array) -> bool:
    """Whether a column holds dates, with or without a time, also as text such as 2026-01-31."""
    return _is_date(array.type) or (_is_text(array.type) and _days_of_text(array) is not None)


def are_whole(numbers: npt.NDArray[np.float64]) -> bool:
    """Whether all numbers that are known are integers."""
    known = numbers[~np.isnan(numbers)]
    return bool((known == np.rint(known)).all())


def read_numbers(name: str, array: pa.Array) -> npt.NDArray[np.float64]:
    """Return a column as float64, missing values as NaN, dates as days since 1970-01-01.

    Text is parsed. Raises `DataError` for text that is not a number, for infinite numbers and for other types.
    """
    if _is_date(array.type):
        return _days(array)
    if not (_is_text(array.type) or _is_number(array.type) or array.type in (pa.bool_(), pa.null())):
        raise _unreadable(name, array.type)
    if _is_text(array.type):
        array = pc.utf8_trim_whitespace(array.cast(pa.large_string()))
    try:
        # Not safe=True: integers above 2**53 lose digits that no computation here could use.
        numbers = array.cast(pa.float64(), safe=False)
    except pa.ArrowInvalid as error:
        days = _days_of_text(array)
        if days is not None:
            return days
        example = next(text for text in array.drop_null().to_pylist() if not _parses(text))
        raise ColumnError(
            name,
            f"cannot be read as numbers, because it holds {example!r}",
            "correct the value or make the column categorical",
        ) from error
    values: npt.NDArray[np.float64] = np.array(numbers.to_numpy(zero_copy_only=False), dtype=np.float64)
    n_infinite = int(np.isinf(values).sum())
    if n_infinite:
        raise ColumnError(name, f"holds {n_infinite} infinite values", "replace them or drop these rows")
    return values


def _days(array: pa.Array) -> npt.NDArray[np.float64]:
    """Return dates as days since 1970-01-01."""
    if pa.types.is_date(array.type):
        array = array.cast(pa.timestamp("ms"))
    numbers = array.cast(pa.int64()).cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    return np.array(numbers, dtype=np.float64) / _IN_A_DAY[array.type.unit]


def _days_of_text(array: pa.Array) -> npt.NDArray[np.float64] | None:
    """Return dates in text as days since 1970-01-01; None if some are not dates, or there are none."""
    there = array.drop_null()
    if not len(there) or not _DATE.match(there[0].as_py().strip()):
        return None
    texts = pc.utf8_trim_whitespace(array.cast(pa.large_string()))
    # Without a time zone, or all with one.
    for kind in (pa.timestamp("us"), pa.timestamp("us", "UTC")):
        with suppress(pa.ArrowInvalid):
            return _days(texts.cast(kind))
    return None


def read_values(name: str, array: pa.Array) -> tuple[npt.NDArray[np.int32], tuple[Scalar, ...]]:
    """Return a column as codes and the sorted values they stand for, a missing one as ``None`` at the end."""
    if pa.types.is_decimal(array.type):
        array = array.cast(pa.float64())
    elif _is_text(array.type) or pa.types.is_null(array.type):
        array = array.cast(pa.large_string())
    elif not (_is_number(array.type) or pa.types.is_boolean(array.type)):
        raise _unreadable(name, array.type)
    encoded = array.dictionary_encode()
    found: list[Any] = encoded.dictionary.to_pylist()
    if any(isinstance(value, float) and not math.isfinite(value) for value in found):
        raise ColumnError(name, "holds infinite values", "replace them or drop these rows")
    order = sorted(range(len(found)), key=lambda k: found[k])
    values: tuple[Scalar, ...] = tuple(found[k] for k in order)
    # One slot more than values: index -1, which null becomes, reaches it.
    rank = np.empty(len(found) + 1, dtype=np.int32)
    rank[order] = np.arange(len(found), dtype=np.int32)
    rank[-1] = len(found)
    indices = encoded.indices if array.null_count == 0 else encoded.indices.fill_null(-1)
    codes = rank[indices.to_numpy(zero_copy_only=False)]
    return codes, (*values, None) if array.null_count else values


def list_values(values: Sequence[Scalar], limit: int = 10) -> str:
    """Return values for an error message, at most `limit` of them."""
    shown = ", ".join(repr(value) if isinstance(value, str) else value_text(value) for value in values[:limit])
    return shown if len(values) <= limit else f"{shown} and {len(values) - limit} more"


def _present(names: Sequence[str]) -> str:
    # A line end in a name would end the sentence.
    return f"Columns present: {', '.join(map(printable, names))}."


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or str(kind) == "string_view")


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def _is_date(kind: pa.DataType) -> bool:
    return bool(pa.types.is_date(kind) or pa.types.is_timestamp(kind))


def is_number_text(text: str) -> bool:
    """Whether text spells a number; quicker than asking Arrow, for many values one by one."""
    return _NUMBER.fullmatch(text) is not None


def _parses(text: str) -> bool:
    try:
        pa.scalar(text, pa.large_string()).cast(pa.float64())
    except pa.ArrowInvalid:
        return False
    return True


def _unreadable(name: str, kind: pa.DataType) -> ColumnError:
    return ColumnError(
        name,
        f"is of type {kind}, which is neither a number nor a category",
        "convert it (a time to a number of hours, say)",
    )


def names_only(names: tuple[str, ...]) -> Table:
    """Open a table without rows, whose columns can be asked for."""
    _check_names(names)
    empty = pa.Table.from_arrays([pa.array([], pa.null()) for _ in names], names=list(names))
    return Table(nw.from_native(empty, eager_only=True), names)


def _check_names(names: Sequence[Any]) -> None:
    if len(set(names)) < len(names):
        raise DataError(_SAME_NAME)
    odd = [name for name in names if not isinstance(name, str)]
    if odd:
        raise DataError(f"Column names must be text, got {odd[0]!r}: rename the columns.")
