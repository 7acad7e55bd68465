"""`Roles`: which column of a table has which role, as the user said."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from fairlimits.data.bins import Bins, Cuts, read_bins
from fairlimits.data.columns import Table
from fairlimits.data.roles import MissingSensitive, check_missing_sensitive, check_parts, left_for_features
from fairlimits.data.schema import Scalar
from fairlimits.data.small_groups import SmallGroups, check_small_groups
from fairlimits.data.spellings import tidied
from fairlimits.errors import DataError, InputError

Names: TypeAlias = str | Sequence[str] | None


def names_of(names: Names) -> tuple[str, ...]:
    """Return column names given as one, several or none."""
    if names is None:
        return ()
    return (names,) if isinstance(names, str) else tuple(names)


def read_readings(bins: Bins, tidy: Names) -> Cuts:
    """Check how columns are read: numbers in ranges between cut points, and text without any, which is tidied."""
    cuts = read_bins(bins)
    for name in names_of(tidy):
        if name in cuts:
            raise InputError(f"Column {name!r} is both cut into ranges and tidied: only text is tidied, choose one.")
        cuts[name] = ()
    return cuts


def roles_needed(start: str) -> InputError:
    """The error about rows of which nobody said which column is the label, and which are sensitive."""
    return InputError(
        f"{start} to be explained: name the columns of the label and the group with label= and sensitive=.",
        shell=f"{start} to be explained: name the columns of the label and the group with --label and --sensitive.",
    )


@dataclass(frozen=True)
class Roles:
    """Which column has which role, as the user said (see `Dataset.from_frame`).

    Parameters
    ----------
    label, positive, weight, missing_sensitive, small_groups
        See `Dataset.from_frame`; all of them are checked.
    bins : Cuts
        Cut points of columns; none for those that are tidied.
    sensitive, numeric, categorical, drop : tuple of str
        See `Dataset.from_frame`.
    chosen : tuple of str
        The only columns to use as features; empty for all that have no other role.
    """

    label: str
    sensitive: tuple[str, ...]
    positive: Scalar
    weight: str | None
    numeric: tuple[str, ...]
    categorical: tuple[str, ...]
    drop: tuple[str, ...]
    chosen: tuple[str, ...]
    bins: Cuts
    missing_sensitive: MissingSensitive
    small_groups: SmallGroups

    @classmethod
    def read(
        cls,
        *,
        label: str,
        sensitive: Names,
        positive: Scalar,
        weight: str | None,
        numeric: Names,
        categorical: Names,
        drop: Names,
        features: Names,
        bins: Bins,
        tidy: Names,
        missing_sensitive: MissingSensitive,
        small_groups: SmallGroups,
    ) -> Roles:
        """Check all that the user said and that can be checked without the table."""
        choice = check_small_groups(small_groups)
        check_missing_sensitive(missing_sensitive)
        readings = read_readings(bins, tidy)
        return cls(
            label=label,
            sensitive=names_of(sensitive),
            positive=tidied(positive) if label in readings else positive,
            weight=weight,
            numeric=names_of(numeric),
            categorical=names_of(categorical),
            drop=names_of(drop),
            chosen=names_of(features),
            bins=readings,
            missing_sensitive=missing_sensitive,
            small_groups=choice,
        )

    @property
    def tidied(self) -> tuple[str, ...]:
        """The columns of text that are tidied."""
        return tuple(name for name, cuts in self.bins.items() if not cuts)

    @property
    def parts(self) -> dict[str, tuple[str, ...]]:
        """The columns of each role, as `check_parts` takes them."""
        return {
            "label": (self.label,),
            "sensitive": self.sensitive,
            "weight": () if self.weight is None else (self.weight,),
            "drop": self.drop,
            "numeric": self.numeric,
            "categorical": self.categorical,
            "features": self.chosen,
            "bins": tuple(name for name, cuts in self.bins.items() if cuts),
            "tidy": self.tidied,
        }

    def check(self, table: Table) -> None:
        """Check that the columns exist, that none has two roles, and that a feature is left."""
        check_parts(table, self.parts)
        if not self.sensitive:
            raise DataError("No sensitive column was named: name at least one.")
        self.features(table.names)

    def features(self, names: Iterable[str]) -> tuple[str, ...]:
        """Columns that are left for features."""
        return left_for_features(names, self.parts)
