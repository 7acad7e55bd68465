"""`Dataset`: a table of people as features X, group A, label Y and weights, checked and frozen."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from fairlimits._util.callers import outside
from fairlimits._util.frames import of_user_kind
from fairlimits._util.notebooks import Shown
from fairlimits._util.plotting import axes_or_new, figure_style
from fairlimits._util.states import Checked, check_kinds
from fairlimits._util.suggestions import did_you_mean
from fairlimits.data import reading
from fairlimits.data.arrays import choose_in_proportion, dictionary, frozen, frozen_codes
from fairlimits.data.bins import Bins
from fairlimits.data.column_roles import Names, Roles
from fairlimits.data.features import column_notes
from fairlimits.data.figures import draw_groups
from fairlimits.data.reading import Unseen, stratum_counts
from fairlimits.data.roles import MissingSensitive
from fairlimits.data.schema import Scalar, Schema, value_text
from fairlimits.data.small_groups import SET_ASIDE, SmallGroups, small_groups_note
from fairlimits.errors import ColumnsWarning, DataError, InputError, SmallGroupsWarning

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False)
class Dataset(Checked, Shown):
    """Rows of people: what a rule may see, their group and their label.

    Build it with `from_frame`. All arrays are read-only.

    Parameters
    ----------
    schema : Schema
        What the columns mean.
    columns : Mapping of str to ndarray of shape (n,)
        The features, in the order of the schema. Numeric ones are float64 with NaN where the value is
        missing, categorical ones are int32 codes into the feature's categories. A code of -1 is a value that
        the schema does not know; it appears only where ``unseen="missing"`` was asked for.
    group : ndarray of int64 of shape (n,)
        Each row's position in ``schema.groups``.
    label : ndarray of int8 of shape (n,)
        1 for the positive label, else 0.
    weight : ndarray of float64 of shape (n,), optional
        Weight of each row; without it, every row has weight 1.
    regrouped : str, optional
        What was done with small groups when the table was read, in a sentence, if they were joined or dropped.

    Examples
    --------
    >>> import fairlimits as fl
    >>> import pyarrow as pa
    >>> columns = {"age": [20, 40, 60], "sex": ["f", "m", "m"], "paid": ["yes", "no", "yes"]}
    >>> people = pa.table({name: values * 30 for name, values in columns.items()})  # pandas and polars will do, too
    >>> data = fl.Dataset.from_frame(people, label="paid", positive="yes", sensitive="sex")
    >>> data.n_rows, data.groups, data.counts.tolist()
    (90, ('f', 'm'), [[0, 30], [30, 30]])
    >>> learn, test = data.split(0.3, random_state=0)
    >>> learn.n_rows, test.n_rows
    (63, 27)
    """

    schema: Schema
    columns: Mapping[str, npt.NDArray[Any]]
    group: npt.NDArray[np.int64]
    label: npt.NDArray[np.int8]
    weight: npt.NDArray[np.float64] | None = None
    regrouped: str | None = None

    def __post_init__(self) -> None:
        n = len(self.label)
        label = frozen_codes("label", self.label, np.int8, n, 0, 1)
        group = frozen_codes("group", self.group, np.int64, n, 0, len(self.schema.groups) - 1)
        columns = {}
        for feature in self.schema.features:
            name = feature.name
            if name not in self.columns:
                raise DataError(f"The feature {name!r} of the schema has no column.")
            if feature.kind == "numeric":
                columns[name] = frozen(name, self.columns[name], np.float64, n)
            else:
                last = len(feature.categories) - 1
                columns[name] = frozen_codes(name, self.columns[name], np.int32, n, -1, last)
        extra = sorted(set(self.columns) - set(columns))
        if extra:
            raise DataError(f"The schema knows no feature {', '.join(map(repr, extra))}.")
        if self.weight is not None:
            weight = frozen("weight", self.weight, np.float64, n)
            if not (np.isfinite(weight) & (weight >= 0)).all():
                raise DataError("Weights must be finite and 0 or more.")
            object.__setattr__(self, "weight", weight)
        object.__setattr__(self, "columns", columns)
        object.__setattr__(self, "group", group)
        object.__setattr__(self, "label", label)

    def _check(self) -> None:
        check_kinds(self, schema=Schema, regrouped=(str, type(None)))

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        label: str,
        sensitive: str | Sequence[str],
        positive: Scalar = None,
        weight: str | None = None,
        numeric: Names = None,
        categorical: Names = None,
        drop: Names = None,
        features: Names = None,
        bins: Bins = None,
        tidy: Names = None,
        missing_sensitive: MissingSensitive = "refuse",
        small_groups: SmallGroups = SET_ASIDE,
    ) -> Dataset:
        """Read a table.

        Every column that has no other role becomes a feature: numbers are numeric; text, truth values and
        declared categories are categorical. Dates become numbers, of days since 1970-01-01. Of more than 100
        categories, the 100 most frequent with at least 10 rows are kept, and the others grouped as "(other)".

        Parameters
        ----------
        frame : pandas.DataFrame, polars.DataFrame or pyarrow.Table
            The table, one row per person.
        label : str
            The column to be predicted.
        sensitive : str or sequence of str
            The column, or columns, whose values make the groups. Several columns make a group of every
            combination that occurs, named "Female / Black". They are not features.
        positive : Scalar, optional
            The label's value that counts as 1; all others count as 0, so a label of more than two values is
            read as this one against the rest. It may be left out for truth values and for 0 and 1. Text
            matches the number it spells: "1" matches 1, 1.0 and True.
        weight : str, optional
            A column of row weights, 0 or more.
        numeric, categorical : str or sequence of str, optional
            Features to be read as numbers, or as categories, whatever their type.
        drop : str or sequence of str, optional
            Columns to leave out.
        features : str or sequence of str, optional
            The only columns to use as features; by default all that have no other role.
        bins : mapping of str to float or sequence of float, optional
            Columns of numbers, features or sensitive ones, to be cut into ranges: ``{"age": [25, 60]}`` makes "under
            25", "25 to under 60" and "60 and over" of ages.
        tidy : str or sequence of str, optional
            Columns of text, features, sensitive ones or the label, whose values are taken in small letters and without
            spaces around them: "Male" and "male " are then one value.
        missing_sensitive : {"refuse", "group", "drop"}
            What to do with rows without a sensitive value: raise an error, make them the group "(missing)",
            or drop them.
        small_groups : {"set aside", "join", "drop rows", "refuse"}
            What to do with groups that are too small to speak about, with fewer than 30 rows in all or of a label:
            leave those of their rates out of comparisons that so few rows stand behind, and count the people in
            accuracy; make one group of them; drop their rows; or raise an error that names them all.

        Returns
        -------
        Dataset
            The checked table.

        Raises
        ------
        DataError
            If the table cannot be used; the message names all that is wrong, and the options that help.

        Warns
        -----
        SmallGroupsWarning
            If there are small groups: which, and what was done with them (`small_groups_note`).
        ColumnsWarning
            If columns were not read as they are (`column_notes`).
        """
        roles = Roles.read(
            label=label,
            sensitive=sensitive,
            positive=positive,
            weight=weight,
            numeric=numeric,
            categorical=categorical,
            drop=drop,
            features=features,
            bins=bins,
            tidy=tidy,
            missing_sensitive=missing_sensitive,
            small_groups=small_groups,
        )
        found = cls(*reading.rows(frame, roles))
        if found.small_groups_note is not None:
            warnings.warn(found.small_groups_note, SmallGroupsWarning, stacklevel=outside())
        for note in found.column_notes:
            warnings.warn(note, ColumnsWarning, stacklevel=outside())
        return found

    @classmethod
    def read_like(cls, schema: Schema, frame: Any, *, unseen: Unseen = "refuse") -> Dataset:
        """Read another table with the same columns, coded by an existing schema.

        Columns that the schema does not name are ignored. People of groups that were joined get into the joined one.

        Parameters
        ----------
        schema : Schema
            The schema of the data that the table goes with.
        frame : pandas.DataFrame, polars.DataFrame or pyarrow.Table
            The table; it needs the features, the label, the sensitive columns and the weight.
        unseen : {"refuse", "missing"}
            What to do with a category that the schema does not know: see `read_features`.

        Returns
        -------
        Dataset
            The rows, with `schema` as their schema.
        """
        return cls(schema, *reading.rows_like(schema, frame, unseen))

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.label)

    @property
    def groups(self) -> tuple[str, ...]:
        """The groups' names."""
        return self.schema.groups

    def __len__(self) -> int:
        return self.n_rows

    def __repr__(self) -> str:
        return (
            f"Dataset({self.n_rows} rows, {len(self.columns)} features, label {self.schema.label!r}, "
            f"groups {', '.join(self.groups)})"
        )

    @property
    def counts(self) -> npt.NDArray[np.int64]:
        """Number of rows with a weight above 0, by group and label, of shape (groups, 2)."""
        chosen = slice(None) if self.weight is None else self.weight > 0
        return stratum_counts(self.group[chosen], self.label[chosen], len(self.groups))

    @property
    def small_groups_note(self) -> str | None:
        """Which groups are too small to speak about, and what was done with them; None if none are."""
        return small_groups_note(self)

    @property
    def column_notes(self) -> tuple[str, ...]:
        """Which columns are not as they were in the table, in sentences: rare values grouped, dates as numbers."""
        features = self.schema.features
        others = [
            0
            if feature.other is None
            else int((self.columns[feature.name] == feature.categories.index(feature.other)).sum())
            for feature in features
        ]
        return column_notes(features, others, self.n_rows)

    @cached_property
    def shares(self) -> npt.NDArray[np.float64]:
        """Weight of each row as a share of the total."""
        weight = np.ones(self.n_rows) if self.weight is None else self.weight
        if not weight.sum() > 0:
            raise DataError("No row counts: there are none, or all weights are 0; give some rows a weight above 0.")
        shares = np.asarray(weight / weight.sum())
        shares.setflags(write=False)
        return shares

    @cached_property
    def squares(self) -> npt.NDArray[np.float64]:
        """Square of the share of each row."""
        return np.asarray(self.shares**2)

    @cached_property
    def times(self) -> npt.NDArray[np.int64]:
        """1 for each row that counts (has a weight above 0), else 0."""
        return (self.shares > 0).astype(np.int64)

    def check_groups(self, groups: tuple[str, ...]) -> None:
        """Refuse a rule that was made for other groups."""
        if self.groups != groups:
            raise InputError(
                f"The rows have the groups {', '.join(self.groups)} and the rule was made for {', '.join(groups)}; "
                "read the rows with Dataset.read_like and the schema of the first table."
            )

    def take(self, indices: npt.ArrayLike) -> Dataset:
        """Return the rows at `indices`, or where a mask is true, in that order."""
        rows = np.asarray(indices)
        if rows.size == 0:
            rows = rows.astype(np.int64)
        return Dataset(
            self.schema,
            {name: column[rows] for name, column in self.columns.items()},
            self.group[rows],
            self.label[rows],
            None if self.weight is None else self.weight[rows],
            self.regrouped,
        )

    def take_out(self, name: str) -> tuple[Dataset, npt.NDArray[Any]]:
        """Take a feature out: return the data set without it, and its values."""
        if name not in self.columns:
            hint = did_you_mean(name, self.columns)
            raise InputError(f"There is no feature {name!r}; the features are {', '.join(self.columns)}.{hint}")
        schema = replace(
            self.schema, features=tuple(feature for feature in self.schema.features if feature.name != name)
        )
        columns = {key: column for key, column in self.columns.items() if key != name}
        rest = Dataset(schema, columns, self.group, self.label, self.weight, self.regrouped)
        return rest, self.columns[name]

    def split(self, test_size: float = 0.2, random_state: int = 0) -> tuple[Dataset, Dataset]:
        """Split the rows in two at random, each group and label in proportion.

        Shares that are not whole numbers go to the groups and labels with the largest remainder. A group and
        label keeps a row in the first part before it gives one to the second, as long as that is possible.

        Parameters
        ----------
        test_size : float
            Share of rows in the second part, between 0 and 1, neither included.
        random_state : int
            The same number gives the same split.

        Returns
        -------
        train, test : Dataset
            The two parts, rows in their original order. Neither is empty.
        """
        if not 0 < test_size < 1:
            words = f"is {test_size!r}: it must lie between 0 and 1, such as 0.3."
            raise InputError(f"test_size {words}", shell=f"--test-size {words}")
        if self.n_rows < 2:
            raise DataError(f"{self.n_rows} rows cannot be split in two.")
        strata = self.group * 2 + self.label
        in_test = choose_in_proportion(strata, test_size, 2 * len(self.groups), np.random.default_rng(random_state))
        return self.take(np.flatnonzero(~in_test)), self.take(np.flatnonzero(in_test))

    @property
    def frame_kind(self) -> str:
        """Library that `to_frame` makes a frame of: the one whose frame the people came in."""
        return self.schema.frame_kind

    @of_user_kind
    def to_frame(self) -> pa.Table:
        """Return the rows as an Arrow table with the original column names and values.

        Features come first, then the sensitive columns as text, the label and the weight. A label that had
        more than two values reads "not <positive>" where it was another one. People of groups that were joined have
        the name of the joined one; in each of several sensitive columns, "(joined)".
        """
        table: dict[str, pa.Array] = {}
        for feature in self.schema.features:
            column = self.columns[feature.name]
            if feature.kind == "numeric":
                table[feature.name] = pa.array(column, from_pandas=True)
            else:
                table[feature.name] = dictionary(column, feature.categories)
        parts = [self.schema.group_values(at) for at in range(len(self.groups))]
        for position, name in enumerate(self.schema.sensitive):
            names = np.array([part[position] for part in parts], dtype=object)
            table[name] = pa.array(names[self.group], type=pa.large_string())
        negative, positive = self.schema.negative, self.schema.positive
        if negative is None:
            negative, positive = f"not {value_text(positive)}", value_text(positive)
        table[self.schema.label] = pa.array([negative, positive]).take(pa.array(self.label))
        if self.schema.weight is not None and self.weight is not None:
            table[self.schema.weight] = pa.array(self.weight)
        return pa.table(table)

    def summary(self) -> str:
        """Say how many people there are, of which groups and labels, and what is known of them."""
        counts = self.counts
        features = self.schema.features
        numeric = sum(feature.kind == "numeric" for feature in features)
        text = f"{self.n_rows:,} rows with {len(features)} features, {numeric} of them numeric."
        if not counts.sum():
            return f"{text} No row counts."
        share = float(self.shares @ self.label)
        weighted = "" if self.weight is None else ", by weight"
        groups = ", ".join(f"{name} {size:,}" for name, size in zip(self.groups, counts.sum(axis=1), strict=True))
        return (
            f"{text} The label {self.schema.label} is {value_text(self.schema.positive)} for {share:.1%} of the "
            f"people{weighted}. Rows by {' and '.join(self.schema.sensitive)}: {groups}."
        )

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the rows of every group, by label; weights do not count here.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        """
        with figure_style():
            return draw_groups(self, axes_or_new(ax, (5.6, max(2.0, 1.2 + 0.4 * len(self.groups)))))
