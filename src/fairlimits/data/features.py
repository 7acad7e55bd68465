"""Columns read as features: of the kind that they are, with rare values grouped where there are too many."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairlimits.data.columns import Table, are_whole, holds_dates, is_number_text, read_numbers, read_values
from fairlimits.data.schema import OTHER, Feature, Kind, Scalar, value_text
from fairlimits.data.troubles import ColumnError, one_error
from fairlimits.errors import DataError

MOST_CATEGORIES = 100
"""Values that a category may have; of more, the most frequent are kept and the others grouped."""

_FEWEST_ROWS = 10
"""Rows that a value needs to be kept where the others are grouped."""

# A column with more values than this, most of them seen once, identifies rows.
_FEW = 50

# With at least this share of numbers, a column is one of numbers with something else in it.
_MOSTLY = 0.9


# Numbers and dates as spreadsheets show them, and what to do with them.
_WRITTEN = (
    (
        "dates that can be read in two ways",
        re.compile(r"\d{1,2}([./-])\d{1,2}\1(\d\d|\d{4})([ T].*)?"),
        "write them as 2024-12-31",
    ),
    (
        "numbers with signs around them",
        re.compile(r"[^\w\s]?\s?[+-]?[\d.,' \u00a0]*\d[\d.,' \u00a0]*\s?(%|[^\w\s]|[A-Za-z]{1,3})?"),
        "write them as plain numbers",
    ),
)


def read_columns(
    table: Table, names: Iterable[str], *, numeric: Sequence[str] = (), categorical: Sequence[str] = ()
) -> tuple[tuple[Feature, ...], dict[str, NDArray[Any]], list[DataError]]:
    """Read columns as features, and list what is wrong with those that cannot be.

    Parameters
    ----------
    table : Table
        The table.
    names : iterable of str
        The columns.
    numeric, categorical : sequence of str
        Those that are read as numbers, or as categories, whatever their type.

    Returns
    -------
    features : tuple of Feature
    columns : dict of str to ndarray
        Their values, as in `Dataset.columns`.
    errors : list of DataError
        One for each column that cannot be used.
    """
    features: list[Feature] = []
    columns: dict[str, NDArray[Any]] = {}
    errors: list[DataError] = []
    for name in names:
        kind: Kind | None = "numeric" if name in numeric else "categorical" if name in categorical else None
        try:
            feature, columns[name] = _read_column(table, name, kind)
        except ColumnError as error:
            errors.append(error)
        else:
            features.append(feature)
    return tuple(features), columns, errors


def read_all_columns(table: Table) -> tuple[tuple[Feature, ...], dict[str, NDArray[Any]]]:
    """Read all columns of a table as features, or say what is wrong with all that cannot be."""
    features, columns, errors = read_columns(table, table.names)
    if errors:
        raise one_error(errors, None)
    return features, columns


def _read_column(table: Table, name: str, kind: Kind | None) -> tuple[Feature, NDArray[Any]]:
    if table.bins.get(name):
        codes, values = table.values(name)
        return Feature(name, "categorical", values), codes
    array = table.column(name)
    if (table.kind(name, array) if kind is None else kind) == "numeric":
        numbers = read_numbers(name, array)
        return Feature(name, "numeric", date=holds_dates(array), whole=are_whole(numbers)), numbers
    codes, values = read_values(name, array)
    feature = category_feature(name, values, np.bincount(codes, minlength=len(values)).tolist())
    if feature.other is not None:
        codes = np.array(feature.codes_of(values), dtype=np.int32)[codes]
    return feature, codes


def category_feature(name: str, values: Sequence[Scalar], rows: Sequence[int]) -> Feature:
    """Describe a category, its rare values grouped if there are too many.

    Parameters
    ----------
    name : str
        The column.
    values : sequence of Scalar
        Its values, sorted; a missing one is the last.
    rows : sequence of int
        How many rows have each.

    Raises
    ------
    ColumnError
        If the values only identify rows.
    """
    missing = bool(values) and values[-1] is None
    n = len(values) - missing
    if n <= _FEW:
        return Feature(name, "categorical", tuple(values))
    numbers = [not isinstance(value, str) or is_number_text(value) for value in values[:n]]
    if _MOSTLY * n < sum(numbers) < n and n > MOST_CATEGORIES:
        odd = values[numbers.index(False)]
        raise ColumnError(
            name,
            f"holds numbers, and text such as {odd!r} among them ({n - sum(numbers):,} of {n:,} different values)",
            "correct these values",
        )
    if n > MOST_CATEGORIES and all(numbers) and any(isinstance(value, str) and "." in value for value in values[:n]):
        raise ColumnError(name, f"holds numbers as text, {n:,} different ones", "convert it", numeric=True)
    present = sum(rows[:n])
    written = _written_otherwise(values[:n])
    if n > MOST_CATEGORIES and written is not None:
        raise ColumnError(name, *written)
    if 2 * n > present:
        raise ColumnError(
            name,
            f"has {n:,} different values in {present:,} rows, so it looks like an identifier, a name or free text",
            "group its values",
            numeric=all(numbers),
        )
    if n <= MOST_CATEGORIES:
        return Feature(name, "categorical", tuple(values))
    often = sorted((at for at in range(n) if rows[at] >= _FEWEST_ROWS), key=lambda at: (-rows[at], at))
    if not often:
        raise ColumnError(
            name,
            f"has {n:,} different values, each in fewer than {_FEWEST_ROWS} rows, so it looks like an identifier",
            "group its values",
            numeric=all(numbers),
        )
    kept = [value_text(values[at]) for at in sorted(often[:MOST_CATEGORIES])]
    categories = (*(text for text in kept if text != OTHER), OTHER)
    return Feature(name, "categorical", (*categories, None) if missing else categories, other=OTHER)


def _written_otherwise(values: Sequence[Scalar]) -> tuple[str, str] | None:
    """Say that nearly all values are numbers or dates in another notation, and what can be done; None if not."""
    texts = [value for value in values if isinstance(value, str)]
    for kind, pattern, advice in _WRITTEN:
        hits = [text for text in texts if pattern.fullmatch(text.strip()) and not is_number_text(text)]
        if hits and len(hits) >= _MOSTLY * len(values):
            return f"holds {kind}, such as {hits[0]!r}", advice
    return None


def column_notes(features: Sequence[Feature], others: Sequence[int], rows: int) -> tuple[str, ...]:
    """Say in sentences which columns were not read as they are.

    Parameters
    ----------
    features : sequence of Feature
        All features.
    others : sequence of int
        Rows of each feature that have one of the values that were grouped.
    rows : int
        All rows.
    """
    dates = date_note(features)
    grouped = [
        grouped_note(feature, count, rows)
        for feature, count in zip(features, others, strict=True)
        if feature.other is not None
    ]
    return tuple(grouped if dates is None else [dates, *grouped])


def date_note(features: Sequence[Feature]) -> str | None:
    """Say which features are dates, read as numbers; None if none are."""
    dates = ", ".join(feature.name for feature in features if feature.date)
    return f"Dates read as numbers, of days since 1970-01-01: {dates}." if dates else None


def grouped_note(feature: Feature, others: int, rows: int) -> str:
    """Say how many values of a feature are kept, and in how many of all rows others were grouped."""
    kept = [category for category in feature.categories if category not in (feature.other, None)]
    hint = " If these are numbers, read it as one." if all(is_number_text(str(category)) for category in kept) else ""
    return (
        f"Of {feature.name}, the {len(kept)} most frequent values are kept; all others, in {others:,} of {rows:,} "
        f"rows, are one category, {feature.other}.{hint}"
    )
