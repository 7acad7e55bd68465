"""Whole tables read into the arrays of a `Dataset`, by a new schema or by an existing one."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from fairlimits._util.frames import kind_of
from fairlimits.data import roles as special
from fairlimits.data.column_roles import Roles
from fairlimits.data.columns import Table, list_values, read_numbers
from fairlimits.data.features import read_columns
from fairlimits.data.schema import MISSING, Scalar, Schema
from fairlimits.data.small_groups import Settled, settle_small_groups
from fairlimits.data.spellings import check_spelling
from fairlimits.data.troubles import one_error, without_options
from fairlimits.errors import DataError, InputError

Unseen: TypeAlias = Literal["refuse", "missing"]

Columns: TypeAlias = dict[str, npt.NDArray[Any]]
Rows: TypeAlias = tuple[Columns, npt.NDArray[np.int64], npt.NDArray[np.int8], npt.NDArray[np.float64] | None]


def rows(
    frame: object, roles: Roles
) -> tuple[Schema, Columns, npt.NDArray[np.int64], npt.NDArray[np.int8], npt.NDArray[np.float64] | None, str | None]:
    """Return schema, columns, group, label and weight of a table, as `Dataset.from_frame` describes.

    The last is what was done with small groups, in a sentence, if they were not left as they are.
    """
    table = Table.open(frame)
    roles.check(table)
    left = roles.features(table.names)
    table = table.binned(roles.bins)
    # All problems are reported at once: those with labels or groups do not keep features from being checked.
    errors: list[DataError] = []
    settled = _settle_people(table, roles, errors)
    table = table if settled is None else settled.table
    found, columns, wrong = read_columns(table, left, numeric=roles.numeric, categorical=roles.categorical)
    if errors or wrong or settled is None:
        raise one_error([*errors, *wrong], roles.drop, roles.numeric, roles.tidied)
    people = settled.people
    taken = {*left, roles.label, *roles.sensitive, roles.weight}
    schema = Schema(
        features=found,
        label=roles.label,
        positive=people.positive,
        sensitive=roles.sensitive,
        groups=people.groups,
        weight=roles.weight,
        negative=people.negative,
        joined=settled.groups.joined,
        bins=tuple(roles.bins.items()),
        left_out=tuple(name for name in table.names if name not in taken),
        frame_kind=kind_of(frame),
    )
    return schema, columns, people.group, people.label, people.weight, settled.groups.note


class _SettledPeople(NamedTuple):
    """The rows that are left, their labels, groups and weights, and what became of small groups."""

    table: Table
    people: _People
    groups: Settled


def _settle_people(table: Table, roles: Roles, errors: list[DataError]) -> _SettledPeople | None:
    """Settle labels, groups and weights; problems with them are added to the errors."""
    before = len(errors)
    if roles.missing_sensitive == "drop":
        table = special.settle_missing_groups(table, roles.sensitive, "drop")
    for check in (_check_label, _check_groups):
        try:
            check(table, roles)
        except DataError as error:
            errors.append(without_options(error))
    if len(errors) > before:
        return None
    table = special.settle_missing_groups(table, roles.sensitive, roles.missing_sensitive)
    try:
        people = _read_people(table, roles)
        settled = settle_small_groups(roles.small_groups, people.groups, people.counts, np.bincount(people.group))
        if (settled.place < 0).any():
            table = table.filtered(settled.place[people.group] >= 0)
            people = _read_people(table, roles)
        else:
            people = people._replace(group=settled.place[people.group], groups=settled.groups)
        _check_compared(roles.sensitive, people.groups)
    except DataError as error:
        errors.append(without_options(error))
        return None
    return _SettledPeople(table, people, settled)


def _check_label(table: Table, roles: Roles) -> None:
    """Refuse a label that is missing, says nothing, or says the same in several spellings."""
    _, values = special.read_label(table, roles.label)
    special.check_label(roles.label, values)
    special.infer_positive(roles.label, values, roles.positive)


def _check_groups(table: Table, roles: Roles) -> None:
    """Refuse sensitive values that are missing, or the same in several spellings."""
    table = special.settle_missing_groups(table, roles.sensitive, roles.missing_sensitive)
    special.read_group_values(table, roles.sensitive)
    for name in roles.sensitive:
        check_spelling(name, "sensitive column", table.values(name)[1])


def _check_compared(sensitive: tuple[str, ...], groups: tuple[str, ...]) -> None:
    if len(groups) < 2:
        raise DataError(
            f"The sensitive column {', '.join(map(repr, sensitive))} has one group only "
            f"({groups[0]}): there is nothing to compare."
        )


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


def _read_people(table: Table, roles: Roles) -> _People:
    codes, values = special.read_label(table, roles.label)
    one = special.infer_positive(roles.label, values, roles.positive)
    special.check_label(roles.label, values)
    group, groups = special.find_groups(table, roles.sensitive)
    weights = None if roles.weight is None else special.read_weights(table, roles.weight)
    rest = [value for value in values if value != one]
    negative = rest[0] if len(rest) == 1 else None
    return _People(special.label_codes(codes, values, one), one, negative, group, groups, weights)


def stratum_counts(group: npt.NDArray[np.int64], label: npt.NDArray[np.int8], groups: int) -> npt.NDArray[np.int64]:
    """Return the number of rows by group and label, of shape (groups, 2)."""
    return np.bincount(group * 2 + label, minlength=2 * groups).reshape(-1, 2).astype(np.int64)


def rows_like(schema: Schema, frame: object, unseen: Unseen) -> Rows:
    """Return columns, group, label and weight of a table, as `Dataset.read_like` describes."""
    table = Table.open(frame).binned(dict(schema.bins))
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
        The table; columns that are not features are ignored.
    unseen : {"refuse", "missing"}
        What to do with a category that the schema does not know: raise an error, or take it as missing. Where
        the schema has no missing category either, the code is then -1, which `Encoding` puts equally far from
        all categories.

    Returns
    -------
    dict of str to ndarray
        The columns, as in `Dataset.columns`.
    """
    return _read_features(schema, Table.open(frame).binned(dict(schema.bins)), unseen)


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
    return _read_groups(schema, Table.open(frame).binned(dict(schema.bins)))


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


class Watched(NamedTuple):
    """People as they come in where a rule is in use: labels may not be known yet, and some groups never."""

    columns: Columns
    group: npt.NDArray[np.int64]
    label: npt.NDArray[np.int8] | None
    weight: npt.NDArray[np.float64]


def read_watched(schema: Schema, table: Table) -> Watched:
    """Read people to be watched: -1 stands for a group that is missing, None for labels of a table without them."""
    table = table.binned(dict(schema.bins))
    table.require(schema.sensitive, "sensitive")
    group = np.full(len(table), -1, dtype=np.int64)
    known = ~special.missing_groups(table, schema.sensitive)
    if any(MISSING in schema.group_values(at) for at in range(len(schema.groups))):
        known[:] = True
    if known.any():
        group[known] = _read_groups(schema, table.filtered(known))
    label = _read_label_like(schema, table) if schema.label in table.names else None
    weight = np.ones(len(table))
    if schema.weight is not None and schema.weight in table.names:
        weight = special.read_weights(table, schema.weight)
    return Watched(_read_features(schema, table, "missing"), group, label, weight)


def _read_features(schema: Schema, table: Table, unseen: Unseen) -> dict[str, npt.NDArray[Any]]:
    if unseen not in ("refuse", "missing"):
        raise InputError(f"unseen is {unseen!r}: use 'refuse' or 'missing'.")
    table.require([feature.name for feature in schema.features], "feature")
    columns: dict[str, npt.NDArray[Any]] = {}
    for feature in schema.features:
        if feature.kind == "numeric":
            columns[feature.name] = read_numbers(feature.name, table.column(feature.name))
            continue
        codes, values = table.values(feature.name)
        places = feature.codes_of(values)
        strange = [value for value, place in zip(values, places, strict=True) if place is None]
        if strange and unseen == "refuse":
            raise DataError(
                f"Column {feature.name!r} holds values that are not in the schema: {list_values(strange)}. "
                'Correct them, or take them as missing with unseen="missing".'
            )
        # As missing, or else as one of the values that were grouped, or else as none.
        fallback = next((place for place in feature.codes_of((None, feature.other)) if place is not None), -1)
        lookup = np.array([fallback if place is None else place for place in places], dtype=np.int32)
        columns[feature.name] = lookup[codes]
    return columns
