"""Single columns of a pandas, polars or Arrow table, read into the arrays that a `Dataset` holds."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from fairlimits.data.schema import Kind, Scalar, value_text
from fairlimits.errors import DataError

# A text column with more values than this, most of them seen once, is a name or a number of a person.
_MANY_CATEGORIES = 1000

_SAME_NAME = "The table has two columns of the same name: rename or drop one of them."


@dataclass(frozen=True)
class Table:
    """A table of which columns are read one at a time, as Arrow arrays.

    Going through single Arrow columns makes all kinds of data frame behave alike, and leaves out a pandas
    index.
    """

    frame: nw.DataFrame[Any]
    names: tuple[str, ...]
    keep: Any = None

    @classmethod
    def open(cls, frame: Any) -> Table:
        """Wrap a data frame after checking that it has rows and usable column names; a table is left as it is."""
        if isinstance(frame, Table):
            return frame
        try:
            wrapped = nw.from_native(frame, eager_only=True)
            names = tuple(wrapped.columns)
        except TypeError as error:
            raise DataError(
                f"Cannot read a table from {type(frame).__name__}: pass a pandas or polars DataFrame "
                "(collect a LazyFrame first) or a pyarrow Table."
            ) from error
        except ValueError as error:
            # Most kinds of data frame refuse double names by themselves, and nothing else.
            raise DataError(_SAME_NAME) from error
        if len(set(names)) < len(names):
            raise DataError(_SAME_NAME)
        odd = [name for name in names if not isinstance(name, str)]
        if odd:
            raise DataError(f"Column names must be text, got {odd[0]!r}: rename the columns.")
        if not names or len(wrapped) == 0:
            raise DataError("The table is empty: it needs at least one column and one row.")
        return cls(wrapped, names)

    def __len__(self) -> int:
        return len(self.frame) if self.keep is None else int(pc.sum(self.keep).as_py())

    def filtered(self, keep: npt.NDArray[np.bool_]) -> Table:
        """Return the table with only the rows where `keep` is true."""
        return replace(self, keep=pa.array(keep))

    def column(self, name: str) -> pa.Array:
        """Return one column as an Arrow array, dictionaries decoded and NaN turned into null."""
        try:
            array = self.frame.get_column(name).to_arrow()
        except (pa.ArrowException, TypeError, ValueError) as error:
            raise DataError(
                f"Column {name!r} mixes values of different kinds, or holds a kind that cannot be read: "
                "convert it to text or numbers, or drop it."
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

    def kind(self, name: str) -> Kind:
        """Return how a column is read when nobody says otherwise: by its declared type."""
        declared = self.frame.schema[name]
        if declared in (nw.Categorical, nw.Enum, nw.String, nw.Boolean):
            return "categorical"
        if declared.is_numeric():
            return "numeric"
        # What is left are Python objects, which may turn out to be any of these, and what cannot be used.
        kind = self.column(name).type
        if _is_text(kind) or pa.types.is_boolean(kind):
            return "categorical"
        # A column without a single value has no type; it is legal, and carries no information either way.
        if _is_number(kind) or pa.types.is_null(kind):
            return "numeric"
        raise _unreadable(name, kind)

    def require(self, names: Iterable[str], role: str) -> None:
        """Check that columns exist, and name the nearest one if not."""
        for name in names:
            if name not in self.names:
                near = difflib.get_close_matches(str(name), self.names, n=1)
                hint = f" Did you mean {near[0]!r}?" if near else ""
                raise DataError(f"There is no {role} column {name!r} in the table.{hint} {_present(self.names)}")


def read_numbers(name: str, array: pa.Array) -> npt.NDArray[np.float64]:
    """Return a column as float64, missing values as NaN.

    Text is parsed. Raises `DataError` for text that is no number, for infinite numbers and for other types.
    """
    if not (_is_text(array.type) or _is_number(array.type) or array.type in (pa.bool_(), pa.null())):
        raise _unreadable(name, array.type)
    if _is_text(array.type):
        array = pc.utf8_trim_whitespace(array.cast(pa.large_string()))
    try:
        # Not safe=True: integers past 2**53 lose digits that no computation here could use.
        numbers = array.cast(pa.float64(), safe=False)
    except pa.ArrowInvalid as error:
        example = next(text for text in array.drop_null().to_pylist() if not _parses(text))
        raise DataError(
            f"Column {name!r} cannot be read as numbers, because it holds {example!r}: correct the value or "
            "make the column categorical."
        ) from error
    values: npt.NDArray[np.float64] = np.array(numbers.to_numpy(zero_copy_only=False), dtype=np.float64)
    n_infinite = int(np.isinf(values).sum())
    if n_infinite:
        raise DataError(f"Column {name!r} holds {n_infinite} infinite values: replace them or drop these rows.")
    return values


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
        raise DataError(f"Column {name!r} holds infinite values: replace them or drop these rows.")
    order = sorted(range(len(found)), key=lambda k: found[k])
    values: tuple[Scalar, ...] = tuple(found[k] for k in order)
    # One slot more than values: index -1, which null becomes, reaches it.
    rank = np.empty(len(found) + 1, dtype=np.int32)
    rank[order] = np.arange(len(found), dtype=np.int32)
    rank[-1] = len(found)
    indices = encoded.indices if array.null_count == 0 else encoded.indices.fill_null(-1)
    codes = rank[indices.to_numpy(zero_copy_only=False)]
    return codes, (*values, None) if array.null_count else values


def refuse_identifier(name: str, n_values: int, n_rows: int) -> None:
    """Raise `DataError` if a column has so many values that it can only tell rows apart."""
    if n_values > _MANY_CATEGORIES and 2 * n_values > n_rows:
        raise DataError(
            f"Column {name!r} has {n_values} different values in {n_rows} rows, so it looks like an "
            f"identifier: leave it out with drop={name!r}, or make it numeric if it is a number."
        )


def list_values(values: Sequence[Scalar], limit: int = 10) -> str:
    """Return values for an error message, at most `limit` of them."""
    shown = ", ".join(repr(value) if isinstance(value, str) else value_text(value) for value in values[:limit])
    return shown if len(values) <= limit else f"{shown} and {len(values) - limit} more"


def _present(names: Sequence[str]) -> str:
    return f"Columns present: {', '.join(names)}."


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or str(kind) == "string_view")


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def _parses(text: str) -> bool:
    try:
        pa.scalar(text, pa.large_string()).cast(pa.float64())
    except pa.ArrowInvalid:
        return False
    return True


def _unreadable(name: str, kind: pa.DataType) -> DataError:
    return DataError(
        f"Column {name!r} is of type {kind}, which is neither a number nor a category: convert it (a date to "
        f"a number of days, say) or leave it out with drop={name!r}."
    )
