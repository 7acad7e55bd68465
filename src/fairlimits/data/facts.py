"""What one pass over a table in parts finds out about it: enough for its schema and its encoding.

`fairlimits.data.numbers` says why no library is used to count categories and to find medians.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from fairlimits._util.types import Flags, Floats, Ints
from fairlimits.data import roles as special
from fairlimits.data.bins import Cuts, bin_names
from fairlimits.data.column_roles import Roles
from fairlimits.data.columns import Table, are_whole, holds_dates, read_numbers
from fairlimits.data.encoding import NumberScale
from fairlimits.data.features import category_feature, column_notes
from fairlimits.data.numbers import Moments, Numbers
from fairlimits.data.parts import Part
from fairlimits.data.roles import MissingSensitive
from fairlimits.data.schema import Feature, Kind, Scalar, Schema
from fairlimits.data.sides import Side
from fairlimits.data.small_groups import set_aside_note, settle_small_groups
from fairlimits.data.spellings import check_spelling
from fairlimits.data.troubles import ColumnError, one_error
from fairlimits.errors import DataError

# Most different values of a column that are counted; a column of more is refused.
_MOST_CATEGORIES = 100_000


@dataclass(frozen=True, eq=False)
class ColumnFacts:
    """What is known of a feature.

    Parameters
    ----------
    name : str
    kind : {"numeric", "categorical"} or None
        None as long as there is neither a value nor a type.
    missing : bool
        Whether some values are missing, in rows of any weight.
    missing_weight : float
        Weight of those rows.
    values : Counter
        The rows of each value of a category.
    numbers : Numbers, optional
        What is known of a number, from rows that count.
    date : bool
        Whether the numbers are dates.
    whole : bool
        Whether all numbers that are known are integers.
    trouble : ColumnError, optional
        Why the column cannot be used; nothing else is known then.
    """

    name: str
    kind: Kind | None
    missing: bool
    missing_weight: float
    values: Counter[Scalar] = field(default_factory=Counter)
    numbers: Numbers | None = None
    date: bool = False
    whole: bool = True
    trouble: ColumnError | None = None

    def __add__(self, other: ColumnFacts) -> ColumnFacts:
        for facts in (self, other):
            if facts.trouble is not None:
                return facts
        kinds = {kind for kind in (self.kind, other.kind) if kind is not None}
        if len(kinds) > 1 or (self.numbers and other.numbers and self.date != other.date):
            mixed = "holds numbers in one part of the table and something else in another"
            return self.troubled(ColumnError(self.name, mixed, "convert it to text or numbers"))
        values = self.values + other.values
        if len(values) > _MOST_CATEGORIES:
            many = f"has more than {_MOST_CATEGORIES:,} different values, too many for categories"
            return self.troubled(ColumnError(self.name, many, "group its values"))
        known = [numbers for numbers in (self.numbers, other.numbers) if numbers is not None]
        return ColumnFacts(
            self.name,
            kinds.pop() if kinds else None,
            self.missing or other.missing,
            self.missing_weight + other.missing_weight,
            values,
            reduce(Numbers.__add__, known) if known else None,
            self.date or other.date,
            self.whole and other.whole,
        )

    def troubled(self, trouble: ColumnError) -> ColumnFacts:
        """Forget all but that the column cannot be used."""
        return ColumnFacts(self.name, None, False, 0.0, trouble=trouble)

    def feature(self, cuts: tuple[float, ...] | None) -> Feature:
        """Describe the feature, which may be cut into ranges; or raise `ColumnError`."""
        if self.trouble is not None:
            raise self.trouble
        if cuts is not None:
            return Feature(self.name, "categorical", (*bin_names(cuts), None) if self.missing else bin_names(cuts))
        if self.kind != "categorical":
            return Feature(self.name, "numeric", date=self.date, whole=self.whole)
        values = _ordered(self.values, self.missing)
        return category_feature(self.name, values, [self.values[value] for value in values])

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
        The combinations of values of the sensitive columns that occur.
    strata : mapping of tuple to int
        Number of rows that count, by such a combination and the value of the label.
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
        errors: list[DataError] = []
        features: list[Feature] = []
        for column in self.columns.values():
            try:
                features.append(column.feature(roles.bins.get(column.name) or None))
            except ColumnError as error:
                errors.append(error)
        try:
            schema, note = self._schema(roles, tuple(features))
        except DataError as error:
            raise one_error([error, *errors], roles.drop, roles.numeric, roles.tidied) from error
        if errors:
            raise one_error(errors, roles.drop, roles.numeric, roles.tidied)
        return schema, note

    def counts(self, schema: Schema) -> Ints:
        """Rows that count by group and label, of shape (G, 2)."""
        found = np.zeros((len(schema.groups), 2), dtype=np.int64)
        places = schema.group_places()
        for (group, label), rows in self.strata.items():
            (name,) = special.group_names(schema.sensitive, [group])
            found[places[name], int(label == schema.positive)] += rows
        return found

    def column_notes(self, schema: Schema) -> tuple[str, ...]:
        """Say which columns are not read as they are."""
        others = []
        for feature in schema.features:
            counted = self.columns[feature.name].values
            (rest,) = feature.codes_of([feature.other])
            grouped = zip(feature.codes_of(counted), counted.values(), strict=True)
            others.append(0 if feature.other is None else sum(rows for code, rows in grouped if code == rest))
        return column_notes(schema.features, others, self.rows)

    def _schema(self, roles: Roles, features: tuple[Feature, ...]) -> tuple[Schema, str | None]:
        if self.without_group and roles.missing_sensitive == "refuse":
            raise special.refused_groups(roles.sensitive, self.without_group, self.rows)
        if self.without_label:
            raise DataError(
                f"The label {roles.label!r} is missing in {self.without_label} of {self.rows} rows: "
                "drop these rows first."
            )
        labels = _ordered(self.labels, False)
        special.check_label(roles.label, labels)
        positive = special.infer_positive(roles.label, labels, roles.positive)
        for name, values in zip(roles.sensitive, zip(*self.groups, strict=True), strict=True):
            check_spelling(name, "sensitive column", _ordered({*values} - {None}, False))
        found = self._ordered_groups(roles)
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
            # None are left if something is wrong with all, which is said next.
            features=features or (Feature("", "numeric"),),
            label=roles.label,
            positive=positive,
            sensitive=roles.sensitive,
            groups=groups,
            weight=roles.weight,
            negative=rest[0] if len(rest) == 1 else None,
            joined=settled.joined,
            bins=tuple(roles.bins.items()),
        )
        left = np.zeros((len(groups), 2), dtype=np.int64)
        np.add.at(left, settled.place, counts)
        notes = [note for note in (settled.note, set_aside_note(groups, left)) if note is not None]
        return schema, " ".join(notes) or None

    def _counted(self, group: tuple[Scalar, ...], labels: Iterable[Scalar], positive: Scalar, y: int) -> int:
        """Rows of a group and label that count."""
        return sum(self.strata[group, value] for value in labels if (value == positive) == bool(y))

    def _ordered_groups(self, roles: Roles) -> list[tuple[Scalar, ...]]:
        ranks = [
            {
                value: rank
                for rank, value in enumerate(
                    (*bin_names(roles.bins[name]), None)
                    if roles.bins.get(name)
                    else _ordered(set(column) - {None}, True)
                )
            }
            for name, column in zip(roles.sensitive, zip(*self.groups, strict=True), strict=True)
        ]
        return sorted(self.groups, key=lambda parts: [rank[value] for rank, value in zip(ranks, parts, strict=True)])


def facts_of(roles: Roles, part: Part, frame: Any) -> Facts | None:
    """Collect the facts of one part of a table; None if no row of it is taken."""
    return _facts(roles, open_part(frame, roles.sensitive, roles.missing_sensitive, roles.bins), part, roles.features)


def facts_of_side(roles: Roles, side: Side, part: Part, frame: Any) -> Facts | None:
    """Collect the facts of the rows of a part on one side, without features; None if no row is taken."""
    keep = side.holds(part, frame)
    return _facts(roles, open_part(frame, roles.sensitive, roles.missing_sensitive, roles.bins, keep), part, None)


def _facts(
    roles: Roles, table: Table | None, part: Part, features: Callable[[Iterable[str]], tuple[str, ...]] | None
) -> Facts | None:
    if table is None:
        return None
    weights = np.ones(len(table)) if roles.weight is None else special.read_some_weights(table, roles.weight)
    label, values = table.values(roles.label)
    group, groups = special.read_group_values(table, roles.sensitive)
    return Facts(
        rows=len(table),
        counted=int((weights > 0).sum()),
        without_group=int(special.missing_groups(table, roles.sensitive).sum()),
        without_label=int((label == len(values) - 1).sum()) if None in values else 0,
        labels=frozenset(values) - {None},
        groups=frozenset(groups),
        strata=_strata(group[weights > 0], groups, label[weights > 0], values),
        weights={part.number: float(weights.sum())},
        columns={}
        if features is None
        else {name: _column_facts(roles, table, name, weights) for name in features(table.names)},
    )


def _strata(
    group: Ints, groups: Sequence[tuple[Scalar, ...]], label: NDArray[np.int32], values: Sequence[Scalar]
) -> Counter[tuple[tuple[Scalar, ...], Scalar]]:
    """Rows of each group and label."""
    numbers, rows = np.unique(group * len(values) + label, return_counts=True)
    where = (divmod(number, len(values)) for number in numbers.tolist())
    return Counter({(groups[g], values[y]): count for (g, y), count in zip(where, rows.tolist(), strict=True)})


def open_part(
    frame: Any,
    sensitive: tuple[str, ...],
    missing_sensitive: MissingSensitive,
    bins: Cuts,
    keep: Flags | None = None,
) -> Table | None:
    """Open one part of a table, of some rows only, without those that are to be dropped; None if no row is left."""
    table = Table.open(frame).binned(bins)
    table.require(sensitive, "sensitive")
    if missing_sensitive == "drop":
        there = ~special.missing_groups(table, sensitive)
        keep = there if keep is None else keep & there
    if keep is None or keep.all():
        return table
    return table.filtered(keep) if keep.any() else None


def _column_facts(roles: Roles, table: Table, name: str, weights: Floats) -> ColumnFacts:
    try:
        return _usable_facts(roles, table, name, weights)
    except ColumnError as error:
        return ColumnFacts(name, None, False, 0.0, trouble=error)


def _usable_facts(roles: Roles, table: Table, name: str, weights: Floats) -> ColumnFacts:
    array = table.column(name)
    kind: Kind | None = "numeric" if name in roles.numeric else "categorical" if name in roles.categorical else None
    if kind is None and (name in roles.bins or not pa.types.is_null(array.type)):
        kind = table.kind(name, array)
    if kind is None:
        return ColumnFacts(name, None, True, float(weights.sum()))
    if kind == "categorical":
        codes, values = table.values(name)
        rows = np.bincount(codes, minlength=len(values)).tolist()
        counted: Counter[Scalar] = Counter(dict(zip(values, rows, strict=True)))
        missing = counted.pop(None, 0) > 0
        return ColumnFacts(name, kind, missing, 0.0, counted)
    numbers = read_numbers(name, array)
    absent = np.isnan(numbers)
    there = ~absent & (weights > 0)
    return ColumnFacts(
        name,
        "numeric",
        bool(absent.any()),
        float(weights[absent].sum()),
        numbers=Numbers.of(numbers[there], weights[there]) if there.any() else None,
        date=holds_dates(array),
        whole=are_whole(numbers),
    )


def _ordered(values: Iterable[Scalar], missing: bool) -> tuple[Scalar, ...]:
    """Values in the order in which `read_values` gives them."""
    present: list[Any] = list(values)
    return (*sorted(present), None) if missing else tuple(sorted(present))
