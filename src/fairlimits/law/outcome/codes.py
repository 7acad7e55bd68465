"""`Codes`: mixed features as small whole numbers, the only form in which the package's own trees see a person."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fairlimits._util.types import Floats
from fairlimits.data import Dataset, Schema
from fairlimits.errors import FileError

Bytes: TypeAlias = NDArray[np.uint8]
Columns: TypeAlias = Mapping[str, NDArray[Any]]

MOST_CODES = 255
"""Codes of a feature; one more stands for a missing value, and all fit into a byte."""


@dataclass(frozen=True, eq=False)
class Codes:
    """How features are coded.

    A number's code is how many of the feature's thresholds lie below it; with at most 255 distinct values each has its
    own code, else the thresholds are quantiles. A category's code is its position; if there are more than 255
    categories, the rarest share the last code. A missing value, or a category that is not known, has the code
    after the last.

    Parameters
    ----------
    schema : Schema
        What the columns mean.
    tables : tuple of ndarray
        For each feature: the rising thresholds (float64) of a number, or the code (uint8) of each category.
    """

    schema: Schema
    tables: tuple[NDArray[Any], ...]

    @classmethod
    def fit(cls, data: Dataset) -> Codes:
        """Fit the codes to the rows that count; labels and groups are not looked at."""
        counted = slice(None) if data.weight is None else data.weight > 0
        tables: list[NDArray[Any]] = []
        for feature in data.schema.features:
            values = data.columns[feature.name][counted]
            if feature.kind == "numeric":
                tables.append(_thresholds(values))
            else:
                weight = None if data.weight is None else data.weight[counted]
                tables.append(_category_codes(values, weight, len(feature.categories)))
        return cls(data.schema, tuple(tables))

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """Number of codes of each feature; this number itself is the code of a missing value."""
        return tuple(
            len(table) + 1 if feature.kind == "numeric" else int(table.max()) + 1
            for feature, table in zip(self.schema.features, self.tables, strict=True)
        )

    @cached_property
    def nominal(self) -> tuple[bool, ...]:
        """Whether the codes of each feature are names without an order."""
        return tuple(feature.kind == "categorical" for feature in self.schema.features)

    def transform(self, columns: Columns, n_rows: int) -> Bytes:
        """Code rows; returns an array of shape (n_rows, features)."""
        out = np.empty((n_rows, len(self.tables)), dtype=np.uint8)
        for at, (feature, table, size) in enumerate(zip(self.schema.features, self.tables, self.sizes, strict=True)):
            values = columns[feature.name]
            if feature.kind == "numeric":
                out[:, at] = np.where(np.isnan(values), size, np.searchsorted(table, values))
            else:
                # Index -1, a category that is not known, is the last entry.
                out[:, at] = np.append(table, np.uint8(size))[values]
        return out

    def pack(self) -> dict[str, NDArray[Any]]:
        """Return the tables as named arrays."""
        return {str(at): table for at, table in enumerate(self.tables)}

    @classmethod
    def unpack(cls, schema: Schema, arrays: Mapping[str, NDArray[Any]]) -> Codes:
        """Build the codes from what `pack` returned, after checking it."""
        tables = []
        for at, feature in enumerate(schema.features):
            table = arrays.get(str(at))
            if table is None or table.ndim != 1 or not _usable(table, len(feature.categories)):
                raise FileError(f"The file's codes of the feature {feature.name!r} are damaged; save the model again.")
            tables.append(table)
        return cls(schema, tuple(tables))


def _usable(table: NDArray[Any], categories: int) -> bool:
    if categories:
        return table.dtype == np.uint8 and len(table) == categories and int(table.max()) < MOST_CODES
    finite = table.dtype == np.float64 and len(table) < MOST_CODES and bool(np.isfinite(table).all())
    return finite and bool((np.diff(table) > 0).all())


def _thresholds(values: Floats) -> Floats:
    """Return thresholds between distinct values, or, if these are too many, at quantiles of the rows."""
    ordered = np.sort(values[np.isfinite(values)])
    distinct = ordered[np.flatnonzero(np.diff(ordered, prepend=-np.inf) > 0)]
    if len(distinct) > MOST_CODES:
        # Not interpolated: the mean of two values may overflow.
        return np.unique(np.quantile(ordered, np.arange(1, MOST_CODES) / MOST_CODES, method="inverted_cdf"))
    lower, upper = distinct[:-1], distinct[1:]
    middle = lower / 2 + upper / 2
    return np.where((lower <= middle) & (middle < upper), middle, lower)


def _category_codes(values: NDArray[Any], weight: Floats | None, categories: int) -> Bytes:
    if categories <= MOST_CODES:
        return np.arange(categories, dtype=np.uint8)
    known = values >= 0
    size = np.bincount(values[known], None if weight is None else weight[known], minlength=categories)
    codes = np.full(categories, MOST_CODES - 1, dtype=np.uint8)
    codes[np.sort(np.argsort(-size, kind="stable")[: MOST_CODES - 1])] = np.arange(MOST_CODES - 1)
    return codes
