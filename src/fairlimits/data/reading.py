"""Whole tables read into the arrays of a `Dataset`: with a schema made on the way, or by an existing one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from fairlimits.data import roles as special
from fairlimits.data.columns import Table, list_values, read_numbers, read_values, refuse_identifier
from fairlimits.data.roles import MissingSensitive
from fairlimits.data.schema import Feature, Scalar, Schema
from fairlimits.data.small_groups import SmallGroups, check_small_groups, settle_small_groups
from fairlimits.errors import DataError, InputError

Names: TypeAlias = str | Sequence[str] | None
Unseen: TypeAlias = Literal["refuse", "missing"]

Columns: TypeAlias = dict[str, npt.NDArray[Any]]
Rows: TypeAlias = tuple[Columns, npt.NDArray[np.int64], npt.NDArray[np.int8], npt.NDArray[np.float64] | None]


def rows(
    frame: object,
    *,
    label: str,
    sensitive: str | Sequence[str],
    positive: Scalar,
    weight: str | None,
    numeric: Names,
    categorical: Names,
    drop: Names,
    missing_sensitive: MissingSensitive,
    small_groups: SmallGroups,
) -> tuple[Schema, Columns, npt.NDArray[np.int64], npt.NDArray[np.int8], npt.NDArray[np.float64] | None, str | None]:
    """Return schema, columns, group, label and weight of a table, as `Dataset.from_frame` describes.

    The last is what was done with small groups, in a sentence, if they were not left as they are.
    """
    choice = check_small_groups(small_groups)
    table = Table.open(frame)
    parts = {
        "label": (label,),
        "sensitive": names_of(sensitive),
        "weight": names_of(weight),
        "drop": names_of(drop),
        "numeric": names_of(numeric),
        "categorical": names_of(categorical),
    }
    special.check_parts(table, parts)
    if not parts["sensitive"]:
        raise DataError("No sensitive column was named: name at least one.")
    table = special.settle_missing_groups(table, parts["sensitive"], missing_sensitive)

    people = _read_people(table, label, positive, parts["sensitive"], weight)
    settled = settle_small_groups(choice, people.groups, people.counts, np.bincount(people.group))
    if (settled.place < 0).any():
        table = table.filtered(settled.place[people.group] >= 0)
        people = _read_people(table, label, positive, parts["sensitive"], weight)
    else:
        people = people._replace(group=settled.place[people.group], groups=settled.groups)
    groups = people.groups
    if len(groups) < 2:
        raise DataError(
            f"The sensitive column {', '.join(map(repr, parts['sensitive']))} has one group only "
            f"({groups[0]}): there is nothing to compare."
        )

    taken = {name for part in ("label", "sensitive", "weight", "drop") for name in parts[part]}
    features: list[Feature] = []
    columns: dict[str, npt.NDArray[Any]] = {}
    for name in table.names:
        if name in taken:
            continue
        kind = "numeric" if name in parts["numeric"] else "categorical"
        if name not in parts["numeric"] and name not in parts["categorical"]:
            kind = table.kind(name)
        if kind == "numeric":
            columns[name] = read_numbers(name, table.column(name))
            features.append(Feature(name, "numeric"))
        else:
            columns[name], categories = read_values(name, table.column(name))
            refuse_identifier(name, len(categories), len(table))
            features.append(Feature(name, "categorical", categories))
    if not features:
        raise DataError("No feature is left: the table has no column besides label, sensitive, weight and drop.")
    schema = Schema(
        features=tuple(features),
        label=label,
        positive=people.positive,
        sensitive=parts["sensitive"],
        groups=groups,
        weight=weight,
        negative=people.negative,
        joined=settled.joined,
    )
    return schema, columns, people.group, people.label, people.weight, settled.note


class _People(NamedTuple):
    """Label, group and weight of the rows of a table."""

    label: npt.NDArray[np.int8]
    positive: Scalar
    negative: Scalar
    group: npt.NDArray[np.int64]
    groups: tuple[str, ...]
    weight: npt.NDArray[np.float64] | None

    @property
    def counts(self) -> npt.NDArray[np.int64]:
        """Rows that count, of every group and label."""
        chosen = np.ones(len(self.label), dtype=bool) if self.weight is None else self.weight > 0
        return stratum_counts(self.group[chosen], self.label[chosen], len(self.groups))


def _read_people(table: Table, label: str, positive: Scalar, sensitive: tuple[str, ...], weight: str | None) -> _People:
    codes, values = special.read_label(table, label)
    one = special.infer_positive(label, values, positive)
    if len(values) < 2:
        raise DataError(f"The label {label!r} has one value only ({list_values(values)}): nothing to predict.")
    group, groups = special.find_groups(table, sensitive)
    weights = None if weight is None else special.read_weights(table, weight)
    rest = [value for value in values if value != one]
    negative = rest[0] if len(rest) == 1 else None
    return _People(special.label_codes(codes, values, one), one, negative, group, groups, weights)


def stratum_counts(group: npt.NDArray[np.int64], label: npt.NDArray[np.int8], groups: int) -> npt.NDArray[np.int64]:
    """Rows of each of some groups and label, of shape (groups, 2)."""
    return np.bincount(group * 2 + label, minlength=2 * groups).reshape(-1, 2).astype(np.int64)


def rows_like(schema: Schema, frame: object, unseen: Unseen) -> Rows:
    """Return columns, group, label and weight of a table, as `Dataset.read_like` describes."""
    table = Table.open(frame)
    label, group = _read_label_like(schema, table), _read_groups(schema, table)
    weights = None
    if schema.weight is not None:
        table.require([schema.weight], "weight")
        weights = special.read_weights(table, schema.weight)
    return _read_features(schema, table, unseen), group, label, weights


def rows_of_part(schema: Schema, table: Table, *, own: bool, unseen: Unseen) -> Rows:
    """Return columns, group, label and weight of a part of a table.

    Parameters
    ----------
    schema : Schema
        The schema to code the values by.
    table : Table
        The part.
    own : bool
        Whether the schema was made from this very table. Labels of another are matched as `rows_like` does, where text
        may stand for a number.
    unseen : {"refuse", "missing"}
        What to do with a category that the schema does not know: see `read_features`.
    """
    if own:
        label = special.label_codes(*special.read_label(table, schema.label), schema.positive)
    else:
        label = _read_label_like(schema, table)
    group = _read_groups(schema, table)
    weights = None
    if schema.weight is not None:
        table.require([schema.weight], "weight")
        weights = special.read_some_weights(table, schema.weight)
    return _read_features(schema, table, unseen), group, label, weights


def _read_label_like(schema: Schema, table: Table) -> npt.NDArray[np.int8]:
    table.require([schema.label], "label")
    codes, values = special.read_label(table, schema.label)
    is_positive = np.array([special.same_value(value, schema.positive) for value in values])
    if schema.negative is not None:
        odd = [
            value
            for value, positive in zip(values, is_positive, strict=True)
            if not positive and not special.same_value(value, schema.negative)
        ]
        if odd:
            raise DataError(
                f"The label {schema.label!r} holds {list_values(odd)}, where only {schema.positive!r} and "
                f"{schema.negative!r} are known: correct the values."
            )
    labels: npt.NDArray[np.int8] = is_positive.astype(np.int8)[codes]
    return labels


def read_features(schema: Schema, frame: Any, *, unseen: Unseen = "refuse") -> dict[str, npt.NDArray[Any]]:
    """Read only the features of a table, as for new people whose label and group nobody knows.

    Parameters
    ----------
    schema : Schema
        The schema to code the values by.
    frame : pandas.DataFrame, polars.DataFrame or pyarrow.Table
        The table; columns that are no features are ignored.
    unseen : {"refuse", "missing"}
        What to do with a category that the schema does not know: raise an error, or take it as missing. Where
        the schema has no missing category either, the code is then -1, which `Encoding` puts equally far from
        all categories.

    Returns
    -------
    dict of str to ndarray
        The columns, as in `Dataset.columns`.
    """
    return _read_features(schema, Table.open(frame), unseen)


def read_groups(schema: Schema, frame: Any) -> npt.NDArray[np.int64]:
    """Read only the groups of a table, as for new people whose label nobody knows.

    Parameters
    ----------
    schema : Schema
        The schema that names the sensitive columns and the groups.
    frame : pandas.DataFrame, polars.DataFrame or pyarrow.Table
        The table; other columns are ignored.

    Returns
    -------
    ndarray of int64
        Each row's position in ``schema.groups``.
    """
    return _read_groups(schema, Table.open(frame))


def _read_groups(schema: Schema, table: Table) -> npt.NDArray[np.int64]:
    table.require(schema.sensitive, "sensitive")
    group, names = special.find_groups(table, schema.sensitive)
    known = schema.group_places()
    strange = [name for name in names if name not in known]
    if strange:
        raise DataError(
            f"The groups {list_values(strange)} are not among the known ones ({', '.join(schema.groups)}): "
            "drop these rows, or read both tables as one."
        )
    return np.array([known[name] for name in names], dtype=np.int64)[group]


def _read_features(schema: Schema, table: Table, unseen: Unseen) -> dict[str, npt.NDArray[Any]]:
    if unseen not in ("refuse", "missing"):
        raise InputError(f"unseen is {unseen!r}: use 'refuse' or 'missing'.")
    table.require([feature.name for feature in schema.features], "feature")
    columns: dict[str, npt.NDArray[Any]] = {}
    for feature in schema.features:
        array = table.column(feature.name)
        if feature.kind == "numeric":
            columns[feature.name] = read_numbers(feature.name, array)
            continue
        codes, values = read_values(feature.name, array)
        known = {category: code for code, category in enumerate(feature.categories)}
        strange = [value for value in values if value not in known]
        if strange and unseen == "refuse":
            raise DataError(
                f"Column {feature.name!r} holds values that are not in the schema: {list_values(strange)}. "
                'Correct them, or take them as missing with unseen="missing".'
            )
        fallback = known.get(None, -1)
        lookup = np.array([known.get(value, fallback) for value in values], dtype=np.int32)
        columns[feature.name] = lookup[codes]
    return columns


def names_of(names: Names) -> tuple[str, ...]:
    """Return column names given as one, several or none."""
    if names is None:
        return ()
    return (names,) if isinstance(names, str) else tuple(names)
