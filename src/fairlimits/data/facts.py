"""What one pass over a table in parts finds out about it: enough for its schema and its encoding."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from fairlimits._util.types import Floats, Ints
from fairlimits.data import roles as special
from fairlimits.data.columns import Table, list_values, read_numbers, read_values, refuse_identifier
from fairlimits.data.encoding import NumberScale
from fairlimits.data.numbers import Moments, Numbers
from fairlimits.data.roles import MissingSensitive
from fairlimits.data.schema import Feature, Kind, Scalar, Schema
from fairlimits.data.small_groups import SmallGroups, set_aside_note, settle_small_groups
from fairlimits.errors import DataError

# A category takes a column of its own, so a feature of many makes the rows wide beyond any use.
_MOST_CATEGORIES = 10_000


@dataclass(frozen=True)
class Roles:
    """Which column is to play which part, as a person said it (see `Dataset.from_frame`)."""

    label: str
    sensitive: tuple[str, ...]
    positive: Scalar
    weight: str | None
    numeric: tuple[str, ...]
    categorical: tuple[str, ...]
    drop: tuple[str, ...]
    missing_sensitive: MissingSensitive
    small_groups: SmallGroups

    def check(self, table: Table) -> None:
        """Check that the columns exist and that none has two parts."""
        parts = {
            "label": (self.label,),
            "sensitive": self.sensitive,
            "weight": () if self.weight is None else (self.weight,),
            "drop": self.drop,
            "numeric": self.numeric,
            "categorical": self.categorical,
        }
        special.check_parts(table, parts)
        if not self.sensitive:
            raise DataError("No sensitive column was named: name at least one.")
        special.check_choice(self.missing_sensitive)
        if not self.features(table.names):
            raise DataError("No feature is left: the table has no column besides label, sensitive, weight and drop.")

    def features(self, names: Iterable[str]) -> tuple[str, ...]:
        """Columns that are left for features."""
        taken = {self.label, *self.sensitive, self.weight, *self.drop}
        return tuple(name for name in names if name not in taken)


@dataclass(frozen=True, eq=False)
class ColumnFacts:
    """What is known of a feature.

    Parameters
    ----------
    name : str
    kind : {"numeric", "categorical"} or None
        None as long as there is neither a value nor a type.
    missing : bool
        Whether some are, in rows of any weight.
    missing_weight : float
        Weight of those rows.
    values : frozenset
        The values of a category.
    numbers : Numbers, optional
        What is known of a number, from rows that count.
    """

    name: str
    kind: Kind | None
    missing: bool
    missing_weight: float
    values: frozenset[Scalar] = frozenset()
    numbers: Numbers | None = None

    def __add__(self, other: ColumnFacts) -> ColumnFacts:
        kinds = {kind for kind in (self.kind, other.kind) if kind is not None}
        if len(kinds) > 1:
            raise DataError(
                f"Column {self.name!r} holds numbers in one part of the table and something else in another: convert "
                "it to text or numbers, or drop it."
            )
        values = self.values | other.values
        if len(values) > _MOST_CATEGORIES:
            raise DataError(
                f"Column {self.name!r} has more than {_MOST_CATEGORIES:,} different values, each of which would be a "
                f"category: leave it out with drop={self.name!r}, or make it numeric if it is a number."
            )
        known = [numbers for numbers in (self.numbers, other.numbers) if numbers is not None]
        return ColumnFacts(
            self.name,
            kinds.pop() if kinds else None,
            self.missing or other.missing,
            self.missing_weight + other.missing_weight,
            values,
            reduce(Numbers.__add__, known) if known else None,
        )

    def feature(self, rows: int) -> Feature:
        """Describe the feature of a table of so many rows."""
        if self.kind != "categorical":
            return Feature(self.name, "numeric")
        refuse_identifier(self.name, len(self.values) + self.missing, rows)
        return Feature(self.name, "categorical", _ordered(self.values, self.missing))

    def scale(self, median: float) -> NumberScale:
        """Scale the feature, given its median, as `Encoding.fit` does."""
        if self.numbers is None:
            return NumberScale(0.0, 0.0, median, self.missing)
        if self.numbers.low == self.numbers.high:
            return NumberScale(self.numbers.low, 0.0, median, self.missing)
        moments = self.numbers.moments
        if self.missing_weight:
            moments += Moments.of(np.array([median]), np.array([self.missing_weight]))
        scale = float(np.sqrt(2 * moments.squares / moments.weight))
        return NumberScale(moments.mean * moments.unit, scale * moments.unit, median, self.missing)


@dataclass(frozen=True, eq=False)
class Facts:
    """What is known of a table.

    Parameters
    ----------
    rows, counted : int
        Rows, and those of a weight above 0.
    without_group, without_label : int
        Rows that miss a sensitive value, and the label.
    labels : frozenset
        The values of the label.
    groups : frozenset of tuple
        The values of the sensitive columns that go together.
    strata : mapping of tuple to int
        Rows that count by these values and the label's.
    weights : mapping of int to float
        Weight of each part by its number.
    columns : mapping of str to ColumnFacts
        The features.
    """

    rows: int
    counted: int
    without_group: int
    without_label: int
    labels: frozenset[Scalar]
    groups: frozenset[tuple[Scalar, ...]]
    strata: Counter[tuple[tuple[Scalar, ...], Scalar]]
    weights: Mapping[int, float]
    columns: Mapping[str, ColumnFacts]

    def __add__(self, other: Facts) -> Facts:
        return Facts(
            self.rows + other.rows,
            self.counted + other.counted,
            self.without_group + other.without_group,
            self.without_label + other.without_label,
            self.labels | other.labels,
            self.groups | other.groups,
            self.strata + other.strata,
            {**self.weights, **other.weights},
            {name: facts + other.columns[name] for name, facts in self.columns.items()},
        )

    def schema(self, roles: Roles) -> tuple[Schema, str | None]:
        """Describe the table after the checks of `Dataset.from_frame`, and say what is done with small groups."""
        if self.without_group and roles.missing_sensitive == "refuse":
            raise special.refused_groups(roles.sensitive, self.without_group, self.rows)
        if self.without_label:
            raise DataError(
                f"The label {roles.label!r} is missing in {self.without_label} of {self.rows} rows: "
                "drop these rows first."
            )
        labels = _ordered(self.labels, False)
        positive = special.infer_positive(roles.label, labels, roles.positive)
        if len(labels) < 2:
            raise DataError(
                f"The label {roles.label!r} has one value only ({list_values(labels)}): nothing to predict."
            )
        found = self._ordered_groups()
        counts = np.array([[self._counted(group, labels, positive, y) for y in (0, 1)] for group in found])
        names = special.group_names(roles.sensitive, found)
        settled = settle_small_groups(roles.small_groups, names, counts, counts.sum(axis=1))
        groups = settled.groups
        if len(groups) < 2:
            raise DataError(
                f"The sensitive column {', '.join(map(repr, roles.sensitive))} has one group only "
                f"({groups[0]}): there is nothing to compare."
            )
        if roles.weight is not None and not self.counted:
            raise special.no_weight(roles.weight)
        rest = [value for value in labels if value != positive]
        schema = Schema(
            features=tuple(column.feature(self.rows) for column in self.columns.values()),
            label=roles.label,
            positive=positive,
            sensitive=roles.sensitive,
            groups=groups,
            weight=roles.weight,
            negative=rest[0] if len(rest) == 1 else None,
            joined=settled.joined,
        )
        left = np.zeros((len(groups), 2), dtype=np.int64)
        np.add.at(left, settled.place, counts)
        notes = [note for note in (settled.note, set_aside_note(groups, left)) if note is not None]
        return schema, " ".join(notes) or None

    def _counted(self, group: tuple[Scalar, ...], labels: Iterable[Scalar], positive: Scalar, y: int) -> int:
        """Rows of a group and label that count."""
        return sum(self.strata[group, value] for value in labels if (value == positive) == bool(y))

    def _ordered_groups(self) -> list[tuple[Scalar, ...]]:
        ranks = [
            {value: rank for rank, value in enumerate(_ordered(set(column) - {None}, True))}
            for column in zip(*self.groups, strict=True)
        ]
        return sorted(self.groups, key=lambda parts: [rank[value] for rank, value in zip(ranks, parts, strict=True)])


def facts_of(roles: Roles, number: int, frame: Any) -> Facts | None:
    """Find out what one part of a table says; None if no row of it is taken."""
    table = open_part(frame, roles.sensitive, roles.missing_sensitive)
    if table is None:
        return None
    weights = np.ones(len(table)) if roles.weight is None else special.read_some_weights(table, roles.weight)
    labels = table.column(roles.label)
    label, values = read_values(roles.label, labels)
    group, groups = special.read_group_values(table, roles.sensitive)
    return Facts(
        rows=len(table),
        counted=int((weights > 0).sum()),
        without_group=int(special.missing_groups(table, roles.sensitive).sum()),
        without_label=labels.null_count,
        labels=frozenset(values) - {None},
        groups=frozenset(groups),
        strata=_strata(group[weights > 0], groups, label[weights > 0], values),
        weights={number: float(weights.sum())},
        columns={name: _column_facts(roles, table, name, weights) for name in roles.features(table.names)},
    )


def _strata(
    group: Ints, groups: Sequence[tuple[Scalar, ...]], label: NDArray[np.int32], values: Sequence[Scalar]
) -> Counter[tuple[tuple[Scalar, ...], Scalar]]:
    """Rows of each group and label."""
    numbers, rows = np.unique(group * len(values) + label, return_counts=True)
    where = (divmod(number, len(values)) for number in numbers.tolist())
    return Counter({(groups[g], values[y]): own for (g, y), own in zip(where, rows.tolist(), strict=True)})


def open_part(frame: Any, sensitive: tuple[str, ...], missing_sensitive: MissingSensitive) -> Table | None:
    """Open one part of a table without the rows that are to be dropped; None if no row is left."""
    table = Table.open(frame)
    table.require(sensitive, "sensitive")
    if missing_sensitive == "drop":
        missing = special.missing_groups(table, sensitive)
        if missing.all():
            return None
        if missing.any():
            return table.filtered(~missing)
    return table


def _column_facts(roles: Roles, table: Table, name: str, weights: Floats) -> ColumnFacts:
    array = table.column(name)
    kind: Kind | None = "numeric" if name in roles.numeric else "categorical" if name in roles.categorical else None
    if kind is None and not pa.types.is_null(array.type):
        kind = table.kind(name)
    if kind is None:
        return ColumnFacts(name, None, True, float(weights.sum()))
    if kind == "categorical":
        categories = frozenset(read_values(name, array)[1])
        return ColumnFacts(name, kind, None in categories, 0.0, categories - {None})
    values = read_numbers(name, array)
    missing = np.isnan(values)
    there = ~missing & (weights > 0)
    numbers = Numbers.of(values[there], weights[there]) if there.any() else None
    return ColumnFacts(name, "numeric", bool(missing.any()), float(weights[missing].sum()), numbers=numbers)


def _ordered(values: Iterable[Scalar], missing: bool) -> tuple[Scalar, ...]:
    """Values in the order in which `read_values` gives them."""
    present: list[Any] = list(values)
    return (*sorted(present), None) if missing else tuple(sorted(present))
