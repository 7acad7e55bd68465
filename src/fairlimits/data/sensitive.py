"""`Sensitive`: sensitive columns as users of arrays hand them in, beside the features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from fairlimits.data.columns import Table
from fairlimits.errors import DataError


def is_frame(X: Any) -> bool:
    """Whether X is a data frame (pandas, polars, Arrow) rather than an array."""
    return bool(nw.dependencies.is_into_dataframe(X))


@dataclass(frozen=True)
class Sensitive:
    """Sensitive columns, by position, and their names if they came with any.

    Parameters
    ----------
    columns : tuple of array
        The columns.
    names : tuple of str or None
        Their names.
    """

    columns: tuple[pa.Array, ...]
    names: tuple[str, ...] | None

    @classmethod
    def read(cls, values: Any, n_rows: int) -> Sensitive:
        """Read a column or several: an array, a list, a series or a data frame."""
        names: tuple[str, ...] | None = None
        if nw.dependencies.is_into_series(values):
            series = nw.from_native(values, series_only=True)
            columns = [series.to_arrow()]
            names = (series.name,) if isinstance(series.name, str) and series.name else None
        elif is_frame(values):
            frame = nw.from_native(values, eager_only=True)
            columns = [frame[:, at].to_arrow() for at in range(frame.shape[1])]
            names = tuple(frame.columns) if all(isinstance(name, str) for name in frame.columns) else None
        else:
            array = np.asarray(values)
            if array.ndim not in (1, 2) or 0 in array.shape[1:]:
                raise DataError(
                    f"The sensitive features have shape {array.shape}; give one value for each row, or a table of them."
                )
            columns = [arrow_column(column) for column in array.reshape(len(array), -1).T]
        if any(len(column) != n_rows for column in columns):
            raise DataError(
                f"There are {n_rows} rows and {len(columns[0])} of sensitive features; give those of the same rows."
            )
        if any(_without_nan(column).null_count for column in columns):
            raise DataError(
                "The sensitive features have missing values; fill them with a value of their own, such as 'unknown', "
                "or leave these rows out."
            )
        return cls(tuple(columns), names)

    def table(self, names: tuple[str, ...], known: tuple[str, ...] | None) -> Table:
        """Return the columns as a table with `names`; several that have names are matched by `known` names."""
        if len(self.columns) != len(names):
            raise DataError(
                f"There are {len(self.columns)} sensitive columns, and {len(names)} when the estimator was fitted; "
                "give the same ones."
            )
        order = list(range(len(names)))
        if len(names) > 1 and known is not None and self.names is not None:
            if set(known) != set(self.names):
                raise DataError(
                    f"The sensitive columns are {', '.join(self.names)}, and were {', '.join(known)} when the "
                    "estimator was fitted; give the same ones."
                )
            order = [self.names.index(name) for name in known]
        return Table.open(pa.table([self.columns[at] for at in order], names=list(names)))


def arrow_column(values: NDArray[Any]) -> pa.Array:
    """Read an array of any kind as a column."""
    if values.dtype.kind in "biuf":
        return pa.array(np.ascontiguousarray(values), from_pandas=True)
    try:
        return pa.array(values.tolist(), from_pandas=True)
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise DataError(
            "A column mixes values of different kinds, or holds a kind that cannot be read; convert it to text or "
            "numbers."
        ) from error


def _without_nan(column: pa.Array) -> pa.Array:
    return pa.array(column.to_numpy(zero_copy_only=False), from_pandas=True) if "float" in str(column.type) else column
