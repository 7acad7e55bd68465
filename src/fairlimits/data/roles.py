"""The columns with a special part in a table: label, groups and weight, read and checked."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from fairlimits._util.suggestions import did_you_mean, nearest
from fairlimits.data.columns import Table, list_values, read_numbers
from fairlimits.data.schema import GROUP_SEPARATOR, MISSING, Scalar, value_text
from fairlimits.data.spellings import check_spelling
from fairlimits.errors import DataError, InputError

MissingSensitive: TypeAlias = Literal["refuse", "group", "drop"]

# More values than this, most of them seen once, make no groups.
_MANY_GROUPS = 1000

# A label of more values is an amount, or a text.
_MANY_LABELS = 50

# Weights are summed, squared and divided by each other: beyond this, results overflow, or lose digits unnoticed.
_LARGEST_WEIGHT = 1e100


def check_parts(table: Table, parts: dict[str, tuple[str, ...]]) -> None:
    """Check that every named column exists and that none has two parts.

    Parameters
    ----------
    table : Table
        The table.
    parts : dict of str to tuple of str
        The columns of each part; "features", "numeric", "categorical", "bins" and "tidy" name features, "bins" and
        "tidy" sensitive columns too, and "tidy" the label.
    """
    table.require_all(parts)
    owner: dict[str, str] = {}
    for part, names in parts.items():
        if part in ("features", "bins", "tidy"):
            continue
        for name in names:
            if name in owner:
                two = f"named twice as {part}" if owner[name] == part else f"both {owner[name]} and {part}"
                raise DataError(f"Column {name!r} is {two}: give it one part only.")
            owner[name] = part
    for name in parts.get("features", ()):
        if owner.get(name) not in (None, "numeric", "categorical"):
            raise DataError(f"Column {name!r} is both {owner[name]} and among the features: give it one part only.")
    for name in parts.get("tidy", ()):
        if owner.get(name) not in (None, "sensitive", "label", "categorical"):
            raise DataError(f"Column {name!r} is {owner[name]}, and was to be tidied: only text is.")
    for name in parts.get("bins", ()):
        if owner.get(name) not in (None, "sensitive"):
            raise DataError(
                f"Column {name!r} is {owner[name]}, and was given bins: only sensitive columns and features have bins."
            )


def left_for_features(names: Iterable[str], parts: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """Columns that become features: those that are named as such, or else all that have no other part."""
    taken = {name for part in ("label", "sensitive", "weight", "drop") for name in parts[part]}
    chosen = set(parts["features"])
    left = tuple(name for name in names if (name in chosen if chosen else name not in taken))
    if not left:
        raise DataError("No feature is left: the table has no column besides label, sensitive, weight and drop.")
    for part in ("numeric", "categorical", "bins", "tidy"):
        for name in parts[part]:
            if name not in left and name not in (*parts["sensitive"], *(parts["label"] if part == "tidy" else ())):
                raise DataError(f"Column {name!r} is named in {part}, but is not among the features: add it to them.")
    return left


def infer_positive(name: str, values: Sequence[Scalar], positive: Scalar) -> Scalar:
    """Return the value of a label that counts as 1, as the column holds it.

    A value given on a command line is text, so "1", "1.0" and "True" match 1, 1.0 and True; a value that
    matches exactly comes first.
    """
    if positive is None:
        if all(isinstance(value, bool) for value in values):
            return True
        if all(isinstance(value, int | float) and value in (0, 1) for value in values):
            return next((value for value in values if value == 1), 1)
        question = f"Which value of the label {name!r} is the positive one? It holds {list_values(values)}: say so"
        raise DataError(f"{question} with positive=.", shell=f"{question} with --positive.")
    for value in values:
        if type(value) is type(positive) and value == positive:
            return value
    for value in values:
        if same_value(value, positive):
            return value
    what = f"The label {name!r} has no value {positive!r}: it holds {list_values(values)}."
    near = nearest(positive, [value for value in values if isinstance(value, str)])
    if near is None:
        raise DataError(f"{what} Give one of them as positive=.", shell=f"{what} Give one of them with --positive.")
    raise DataError(
        f"{what} Did you mean positive={near!r}?", shell=f"{what} Did you mean --positive {shlex.quote(str(near))}?"
    )


def same_value(a: Scalar, b: Scalar) -> bool:
    """Return whether two values are the same when text may stand for a number or a truth value."""
    return _canonical(a) == _canonical(b)


def read_label(table: Table, name: str) -> tuple[npt.NDArray[np.int32], tuple[Scalar, ...]]:
    """Return the codes and values of the label column, which must have no missing value."""
    codes, values = table.values(name)
    if values[-1] is None:
        n_missing = int(np.sum(codes == len(values) - 1))
        raise DataError(f"The label {name!r} is missing in {n_missing} of {len(table)} rows: drop these rows first.")
    return codes, values


def check_label(name: str, values: Sequence[Scalar]) -> None:
    """Refuse a label whose values say nothing, are too many, or are the same in several spellings."""
    if len(values) < 2:
        raise DataError(f"The label {name!r} has one value only ({list_values(values)}): nothing to predict.")
    if len(values) > _MANY_LABELS:
        raise DataError(
            f"The label {name!r} has {len(values):,} different values, of which one would count as 1 and all others as "
            f"0: name another column, or make one of two values, such as whether {name} is at least "
            f"{value_text(values[len(values) // 2])}."
        )
    check_spelling(name, "label", values)


def label_codes(codes: npt.NDArray[np.int32], values: Sequence[Scalar], positive: Scalar) -> npt.NDArray[np.int8]:
    """Return label 1 where the value is `positive`, else 0."""
    lookup = np.array([type(value) is type(positive) and value == positive for value in values], dtype=np.int8)
    return lookup[codes]


def settle_missing_groups(table: Table, sensitive: Sequence[str], choice: MissingSensitive) -> Table:
    """Refuse, keep or drop the rows in which a sensitive value is missing."""
    check_missing_sensitive(choice)
    missing = missing_groups(table, sensitive)
    if choice == "group" or not missing.any():
        return table
    if choice == "refuse":
        raise refused_groups(sensitive, int(missing.sum()), len(table))
    if missing.all():
        raise DataError(f"The sensitive value ({', '.join(sensitive)}) is missing in every row.")
    return table.filtered(~missing)


def check_missing_sensitive(choice: str) -> None:
    """Refuse a choice for rows without a sensitive value that is not one of the three."""
    if choice not in ("refuse", "group", "drop"):
        words = f"is {choice!r}: use 'refuse', 'group' or 'drop'.{did_you_mean(choice, get_args(MissingSensitive))}"
        raise InputError(f"missing_sensitive {words}", shell=f"--missing-sensitive {words}")


def missing_groups(table: Table, sensitive: Sequence[str]) -> npt.NDArray[np.bool_]:
    """Return where a sensitive value is missing."""
    missing = np.zeros(len(table), dtype=bool)
    for name in sensitive:
        missing |= table.column(name).is_null().to_numpy(zero_copy_only=False)
    return missing


def refused_groups(sensitive: Sequence[str], missing: int, rows: int) -> DataError:
    """Return the error about rows without a sensitive value."""
    what = f"The sensitive value ({', '.join(sensitive)}) is missing in {missing} of {rows} rows:"
    return DataError(
        f'{what} drop them with missing_sensitive="drop", or make them the group {MISSING} with '
        'missing_sensitive="group".',
        shell=f"{what} drop them with --missing-sensitive drop, or make them the group {MISSING} with "
        "--missing-sensitive group.",
    )


def find_groups(table: Table, sensitive: Sequence[str]) -> tuple[npt.NDArray[np.int64], tuple[str, ...]]:
    """Return each row's group and the groups' names, in the order of their values; only groups that occur."""
    group, found = read_group_values(table, sensitive)
    return group, group_names(sensitive, found)


def read_group_values(table: Table, sensitive: Sequence[str]) -> tuple[npt.NDArray[np.int64], list[tuple[Scalar, ...]]]:
    """Return each row's group and the values that make up each group, in their order."""
    combined = np.zeros(len(table), dtype=np.int64)
    columns: list[tuple[Scalar, ...]] = []
    for name in sensitive:
        codes, values = table.values(name)
        if len(values) > _MANY_GROUPS and 2 * len(values) > len(table):
            raise _no_groups(name, len(values), len(table))
        combined = combined * len(values) + codes
        columns.append(values)
    present, group = np.unique(combined, return_inverse=True)
    found = []
    for number in present.tolist():
        parts: list[Scalar] = []
        for values in reversed(columns):
            number, code = divmod(number, len(values))
            parts.insert(0, values[code])
        found.append(tuple(parts))
    return group.astype(np.int64), found


def _no_groups(name: str, values: int, rows: int) -> DataError:
    what = f"The sensitive column {name!r} has {values} different values in {rows} rows, which make no groups:"
    return DataError(
        f"{what} name another column, or cut a number into ranges, as in bins={{{name!r}: [25, 60]}}.",
        shell=f"{what} name another column, or cut a number into ranges, as in --bin {name}:25,60.",
    )


def group_names(sensitive: Sequence[str], found: Sequence[tuple[Scalar, ...]]) -> tuple[str, ...]:
    """Return the names of groups, given the values that make up each."""
    if len(sensitive) > 1:
        # A group's name must come apart again into its values.
        for parts in found:
            for name, value in zip(sensitive, parts, strict=True):
                if GROUP_SEPARATOR in value_text(value):
                    raise DataError(
                        f"Column {name!r} holds {value!r}; {GROUP_SEPARATOR!r} joins the values of several "
                        "sensitive columns, so no value can contain it: rename the value."
                    )
    names = [GROUP_SEPARATOR.join(value_text(value) for value in parts) for parts in found]
    if len(set(names)) < len(names):
        raise DataError(f"Two groups have the same name ({list_values(names)}): rename their values.")
    return tuple(names)


def read_weights(table: Table, name: str) -> npt.NDArray[np.float64]:
    """Return the row weights: finite, not negative, not all zero."""
    weights = read_some_weights(table, name)
    if not weights.any():
        raise no_weight(name)
    return weights


def read_some_weights(table: Table, name: str) -> npt.NDArray[np.float64]:
    """Return the row weights of a part of a table: finite and not negative."""
    weights = read_numbers(name, table.column(name))
    n_missing, n_negative = int(np.isnan(weights).sum()), int((weights < 0).sum())
    if n_missing:
        raise DataError(f"The weight {name!r} is missing in {n_missing} rows: fill it in or drop these rows.")
    if n_negative:
        raise DataError(f"The weight {name!r} is negative in {n_negative} rows: weights must be 0 or more.")
    largest = float(weights.max(initial=0.0))
    if largest > _LARGEST_WEIGHT or 0 < largest < 1 / _LARGEST_WEIGHT:
        raise DataError(
            f"The largest weight {name!r} is {largest:g}, which sums and squares of weights cannot be computed with: "
            "divide all weights by a number, so that the largest is near 1."
        )
    return weights


def no_weight(name: str) -> DataError:
    """Return the error about weights that are all 0."""
    return DataError(f"The weight {name!r} is 0 in every row: at least one row must count.")


def _canonical(value: Scalar) -> str | float:
    if isinstance(value, bool | int | float):
        return float(value)
    text = value_text(value).strip()
    if text.lower() in ("true", "false"):
        return float(text.lower() == "true")
    try:
        # Python would read "1_000" and "nan" as numbers; in a table they are text.
        return float(text) if text.isascii() and "_" not in text and "n" not in text.lower() else text
    except ValueError:
        return text
