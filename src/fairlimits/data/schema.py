"""What a table's columns mean: the frozen description that every `Dataset` carries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from fairlimits._util import plain
from fairlimits._util.frames import ARROW, usable_kind
from fairlimits._util.states import Described
from fairlimits.data.bins import read_bins
from fairlimits.data.small_groups import joined_name
from fairlimits.errors import DataError, FileError

Scalar: TypeAlias = str | int | float | bool | None
Kind: TypeAlias = Literal["numeric", "categorical"]

MISSING = "(missing)"
"""How a missing value is shown."""

OTHER = "(other)"
"""The category that stands for all rare values of a feature that had too many."""

GROUP_SEPARATOR = " / "
"""What stands between the parts of an intersectional group's name."""

JOINED = "(joined)"
"""What a person of the joined group has in each of several sensitive columns, where one value cannot name the group."""

_SCALARS = (str, int, float, bool, type(None))


def value_text(value: Scalar) -> str:
    """Return how a value is shown: ``None`` as "(missing)", whole floats without their ".0"."""
    if value is None:
        return MISSING
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


# Bins of the booster; a feature with more categories is taken as a number.
_MOST_CATEGORIES = 255


@dataclass(frozen=True)
class Feature:
    """One feature column.

    Parameters
    ----------
    name : str
        The column's name.
    kind : {"numeric", "categorical"}
        How its values are read.
    categories : tuple of Scalar
        The values of a categorical feature, sorted. A missing value is a category of its own: ``None``, the
        last. Empty for a numeric feature.
    other : str or None
        The category that stands for all values that are not listed, if the rare ones were grouped; the others are
        then the most frequent values, as text.
    date : bool
        Whether the numbers are dates: days since 1970-01-01.
    whole : bool
        Whether the column holds integers, so that generated values should be too; it does not count when features
        are compared.
    """

    name: str
    kind: Kind
    categories: tuple[Scalar, ...] = ()
    other: str | None = None
    date: bool = False
    whole: bool = field(default=False, compare=False)

    def __post_init__(self) -> None:
        if self.other is not None and self.other not in self.categories:
            raise DataError(f"The feature {self.name!r} has no category {self.other!r} for its other values.")
        if (self.date or self.whole) and self.kind != "numeric":
            raise DataError(f"The feature {self.name!r} is of dates or integers, which are numbers, not categories.")
        if self.kind == "numeric":
            if self.categories:
                raise DataError(f"The numeric feature {self.name!r} cannot have categories.")
        elif self.kind == "categorical":
            if not self.categories:
                raise DataError(f"The categorical feature {self.name!r} needs at least one category.")
            if len(set(self.categories)) < len(self.categories):
                raise DataError(f"The categorical feature {self.name!r} lists a category twice.")
            if None in self.categories[:-1]:
                raise DataError(f"The missing category (None) of {self.name!r} must be the last one.")
        else:
            raise DataError(f"The feature {self.name!r} is of kind {self.kind!r}: use 'numeric' or 'categorical'.")

    def to_dict(self) -> dict[str, Any]:
        """Return the feature as plain data."""
        record = {"name": self.name, "kind": self.kind, "categories": list(self.categories)}
        return {**record, "other": self.other, "date": self.date, "whole": self.whole}

    @classmethod
    def from_dict(cls, record: object) -> Feature:
        """Build the feature from what `to_dict` returned."""
        what = "A feature of the schema"
        return cls(
            name=plain.field(record, "name", str, what),
            kind=plain.field(record, "kind", str, what),
            categories=plain.items(record, "categories", _SCALARS, what),
            other=plain.field(record, "other", (str, type(None)), what),
            date=plain.field(record, "date", bool, what),
            whole=plain.field(record, "whole", bool, what),
        )

    def codes_of(self, values: Iterable[Scalar]) -> list[int | None]:
        """Position of each value among the categories, or of the one that stands for it; None if it is not known."""
        known = {category: code for code, category in enumerate(self.categories)}
        if self.other is None:
            return [known.get(value) for value in values]
        rest = known[self.other]
        return [known.get(None) if value is None else known.get(value_text(value), rest) for value in values]


@dataclass(frozen=True)
class Schema(Described):
    """Which column has which role.

    Parameters
    ----------
    features : tuple of Feature
        The columns a decision rule may see.
    label : str
        The column that holds the label.
    positive : Scalar
        The value that counts as label 1; every other value counts as 0.
    sensitive : tuple of str
        The columns that make up the groups.
    groups : tuple of str
        The groups' names, those of several columns as "Female / Black".
    weight : str or None
        The column of row weights.
    negative : Scalar
        The value that counts as label 0, or ``None`` when several do.
    joined : tuple of str
        Small groups that were joined into one, which is the last of ``groups``; empty if none were.
    bins : tuple of tuple of str and tuple of float
        Columns of numbers that were cut into ranges, each with its cut points.
    left_out : tuple of str
        Columns of the table that have no role, because they were dropped or others were chosen; not kept in files.
    frame_kind : str
        Library whose frame the people came in, and whose frames results are; it is not kept in files.
    """

    features: tuple[Feature, ...]
    label: str
    positive: Scalar
    sensitive: tuple[str, ...]
    groups: tuple[str, ...]
    weight: str | None = None
    negative: Scalar = None
    joined: tuple[str, ...] = ()
    bins: tuple[tuple[str, tuple[float, ...]], ...] = ()
    left_out: tuple[str, ...] = field(default=(), compare=False, repr=False)
    frame_kind: str = field(default=ARROW, compare=False, repr=False)

    def __post_init__(self) -> None:
        if not self.features:
            raise DataError("The schema has no feature: at least one column must be left for the rule to see.")
        if not self.sensitive or not self.groups:
            raise DataError("The schema needs at least one sensitive column and one group.")
        if self.positive is None:
            raise DataError(f"The schema does not say which value of {self.label!r} is the positive one.")
        if len(set(self.groups)) < len(self.groups):
            raise DataError(f"The schema lists a group twice: {', '.join(self.groups)}.")
        if self.joined and (self.groups[-1] != joined_name(self.joined) or set(self.joined) & set(self.groups)):
            raise DataError(f"The schema joins {', '.join(self.joined)}, but its last group is {self.groups[-1]}.")
        names = [feature.name for feature in self.features] + [self.label, *self.sensitive]
        names += [] if self.weight is None else [self.weight]
        repeated = sorted({name for name in names if names.count(name) > 1})
        if repeated:
            raise DataError(f"The schema gives two parts to the column {', '.join(map(repr, repeated))}.")

    def group_places(self) -> dict[str, int]:
        """Position in ``groups`` by the name that a person's values of the sensitive columns make."""
        places = {name: at for at, name in enumerate(self.groups)}
        if self.joined:
            last = len(self.groups) - 1
            places |= dict.fromkeys((*self.joined, GROUP_SEPARATOR.join(self.group_values(last))), last)
        return places

    def group_values(self, at: int) -> tuple[str, ...]:
        """What a person of a group has in the sensitive columns, as text."""
        if len(self.sensitive) == 1:
            return (self.groups[at],)
        if self.joined and at == len(self.groups) - 1:
            return (JOINED,) * len(self.sensitive)
        return tuple(self.groups[at].split(GROUP_SEPARATOR))

    def to_dict(self) -> dict[str, Any]:
        """Return the schema as plain data that JSON can hold."""
        return {
            "features": [feature.to_dict() for feature in self.features],
            "label": self.label,
            "positive": self.positive,
            "negative": self.negative,
            "sensitive": list(self.sensitive),
            "groups": list(self.groups),
            "weight": self.weight,
            "joined": list(self.joined),
            "bins": {name: list(cuts) for name, cuts in self.bins},
        }

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Schema:
        """Build the schema from what `to_dict` returned.

        Raises
        ------
        FileError
            If a field is missing, of the wrong type or contradicts another.
        """
        what = "The schema"
        try:
            return cls(
                features=tuple(
                    Feature.from_dict(item) for item in plain.field(record, "features", (list, tuple), what)
                ),
                label=plain.field(record, "label", str, what),
                positive=plain.field(record, "positive", _SCALARS, what),
                negative=plain.field(record, "negative", _SCALARS, what),
                sensitive=plain.items(record, "sensitive", str, what),
                groups=plain.items(record, "groups", str, what),
                weight=plain.field(record, "weight", (str, type(None)), what),
                joined=plain.items(record, "joined", str, what),
                bins=_stored_bins(plain.field(record, "bins", dict, what)),
            )
        except DataError as error:
            raise FileError(f"The stored schema cannot be used. {error}") from error

    def __getstate__(self) -> dict[str, Any]:
        return super().__getstate__() | {"left_out": list(self.left_out), "frame_kind": self.frame_kind}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        super().__setstate__(state)
        left_out = plain.items(state, "left_out", str, "The schema")
        kind = usable_kind(plain.field(state, "frame_kind", str, "The schema"))
        self.__dict__.update(left_out=left_out, frame_kind=kind)


def _stored_bins(record: Mapping[str, Any]) -> tuple[tuple[str, tuple[float, ...]], ...]:
    cuts = ((name, plain.items(record, name, (int, float), "A column in bins")) for name in record)
    # Without cuts, text is tidied.
    return tuple((name, read_bins({name: own})[name] if own else ()) for name, own in cuts)


def category_columns(sizes: Iterable[int]) -> list[int]:
    """Positions of the columns that boosting takes as categories.

    Parameters
    ----------
    sizes : iterable of int
        Number of categories of each column; 0 for numbers.
    """
    return [at for at, size in enumerate(sizes) if 0 < size <= _MOST_CATEGORIES]
