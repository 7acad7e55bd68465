"""`Stream`: a table too large for memory, on disk or on a cluster, with what its columns mean."""

from __future__ import annotations

import math
import operator
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeVar

import narwhals.stable.v1 as nw
import numpy as np
import pyarrow as pa

from fairlimits._util.progress import Progress, silent
from fairlimits._util.types import Floats, Ints
from fairlimits.data import roles as special
from fairlimits.data.bins import Bins
from fairlimits.data.column_roles import Names, Roles, names_of
from fairlimits.data.columns import Table, read_numbers
from fairlimits.data.dask_parts import DaskParts, is_dask_frame
from fairlimits.data.dataset import Dataset
from fairlimits.data.draws import check_seed
from fairlimits.data.encoding import Encoding
from fairlimits.data.facts import Facts, facts_of, facts_of_side, open_part
from fairlimits.data.numbers import Place, median_places
from fairlimits.data.parts import Part, Parts, arrow_parts
from fairlimits.data.reading import Unseen, rows_of_part
from fairlimits.data.roles import MissingSensitive
from fairlimits.data.schema import Scalar, Schema
from fairlimits.data.sides import Draw, Side
from fairlimits.data.small_groups import SET_ASIDE, SmallGroups, check_small_groups
from fairlimits.errors import ColumnsWarning, DataError, InputError, SmallGroupsWarning

Total = TypeVar("Total")


@dataclass(frozen=True, eq=False)
class Reader:
    """How a part of a table becomes a `Dataset`: small, so that it can be sent to where the parts are.

    Parameters
    ----------
    schema : Schema
        The schema that the rows are coded by.
    missing_sensitive : {"refuse", "group", "drop"}
        What to do with rows without a sensitive value.
    own : bool
        Whether the schema was made from the same table.
    unseen : {"refuse", "missing"}
        What to do with a category that the schema does not know.
    side : Side, optional
        Which rows are taken; by default all.
    """

    schema: Schema
    missing_sensitive: MissingSensitive
    own: bool
    unseen: Unseen = "refuse"
    side: Side | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns that are read."""
        weight = () if self.schema.weight is None else (self.schema.weight,)
        features = (feature.name for feature in self.schema.features)
        looked_at = () if self.side is None else self.side.draw.names
        return tuple(dict.fromkeys((*features, *self.schema.sensitive, self.schema.label, *weight, *looked_at)))

    def __call__(self, part: Part, frame: Any) -> Dataset | None:
        """Read a part; None if no row of it is taken."""
        found = self.drawn(part, frame, Draw(0, ()))
        return None if found is None else found[0]

    def drawn(self, part: Part, frame: Any, draw: Draw, *purposes: str) -> tuple[Dataset, list[Floats]] | None:
        """Read a part, with a number from 0 to 1 for each row and purpose; None if no row is taken."""
        keep = None if self.side is None else self.side.holds(part, frame)
        table = open_part(frame, self.schema.sensitive, self.missing_sensitive, dict(self.schema.bins), keep)
        if table is None:
            return None
        rows = Dataset(self.schema, *rows_of_part(self.schema, table, own=self.own, unseen=self.unseen))
        numbers = [draw.of(part, frame, purpose) for purpose in purposes]
        kept = slice(None) if table.keep is None else table.keep.to_numpy(zero_copy_only=False)
        return rows, [own[kept] for own in numbers]


@dataclass(frozen=True, eq=False)
class Learned:
    """What the first passes over a stream found out.

    Parameters
    ----------
    schema : Schema
        What the columns mean, as `Dataset.from_frame` would say.
    encoding : Encoding
        How rows are encoded, as `Encoding.fit` would say.
    facts : Facts
        Rows, and weights of the parts; of a side, those on it.
    reader : Reader
        Reads the parts.
    """

    schema: Schema
    encoding: Encoding
    facts: Facts
    reader: Reader

    @property
    def counts(self) -> Ints:
        """Rows that count by group and label, of shape (G, 2)."""
        return self.facts.counts(self.schema)

    @property
    def total_weight(self) -> float:
        """Sum of the weights."""
        return math.fsum(self.facts.weights.values())


@dataclass(frozen=True, eq=False)
class Stream:
    """A table that is read part by part; made by `open_data` with ``stream=True``.

    Parameters
    ----------
    parts : Parts
        The rows.
    roles : Roles, optional
        What the columns mean; without them, the rows can only be counted on cells that say so.
    missing_sensitive : {"refuse", "group", "drop"}
        What to do with rows without a sensitive value.
    unseen : {"refuse", "missing"}
        What to do with a category that the cells do not know.
    id : tuple of str
        Columns that say who a row is about: rows of one person are held out together.
    side : Side, optional
        Which rows are taken, where the others are held out; by default all.
    """

    parts: Parts
    roles: Roles | None
    missing_sensitive: MissingSensitive = "refuse"
    unseen: Unseen = "refuse"
    id: tuple[str, ...] = ()
    side: Side | None = None
    # What was found out of the whole table: both sides share it.
    _known: list[Learned] = field(default_factory=list, repr=False)

    @property
    def told_apart_by(self) -> str:
        """What rows are held out by, in words."""
        if self.id:
            return f"a hash of {' and '.join(self.id)}"
        if self.parts.ordered:
            return "a hash of the row's place, its file and number in it"
        return "a hash of the features, so that people who are alike stay together, for these rows have no order"

    @property
    def features(self) -> tuple[str, ...]:
        """Columns that rules may see."""
        return self._roles().features(self.parts.names)

    @property
    def named(self) -> tuple[str, ...]:
        """Columns of label, group and weight."""
        roles = self._roles()
        return (roles.label, *roles.sensitive, *(() if roles.weight is None else (roles.weight,)))

    def only(self, features: Sequence[str]) -> Stream:
        """The same rows, on the same side, with some columns for features and no other."""
        roles, chosen = self._roles(), tuple(features)
        as_numbers, as_categories = (
            tuple(name for name in own if name in chosen) for own in (roles.numeric, roles.categorical)
        )
        roles = replace(roles, chosen=chosen, drop=(), numeric=as_numbers, categorical=as_categories)
        return replace(self, roles=roles, _known=[])

    def draw(self, random_state: int) -> Draw:
        """How rows are told apart: by their identifier, by where they stand, or else by their features."""
        if self.id or self.parts.ordered:
            return Draw(random_state, self.id)
        return Draw(random_state, self.features)

    def split(self, test_size: float = 0.2, random_state: int = 0) -> tuple[Stream, Stream]:
        """Split the rows in two by hash, never by label or group (see `fairlimits.data.sides`).

        Parameters
        ----------
        test_size : float
            Share of rows on the second side, about, between 0 and 1, neither included.
        random_state : int
            The same number gives the same split, whatever reads the rows.

        Returns
        -------
        train, test : Stream
            The two sides. Nothing is read yet.
        """
        if not 0 < test_size < 1:
            raise InputError(f"test_size is {test_size!r}: it must lie between 0 and 1.")
        if self.side is not None:
            raise InputError("These rows are one side of a split already; split the whole table.")
        draw, middle = self.draw(check_seed(random_state)), 1 - test_size
        return tuple(replace(self, side=Side(draw, low, high)) for low, high in ((0.0, middle), (middle, 1.0)))  # type: ignore[return-value]

    def learn(self, tell: Progress = silent) -> Learned:
        """Find out the schema and the encoding of the whole table, and what rows there are on this side.

        That takes a pass over all columns and up to three over some numbers, once for both sides of a table.

        Warns
        -----
        SmallGroupsWarning, ColumnsWarning
            See `Dataset.from_frame`.
        """
        if not self._known:
            self._known.append(self._learn(tell))
        (whole,) = self._known
        if self.side is None:
            return whole
        roles = self._roles()
        facts: Facts | None = self.parts.fold(
            partial(facts_of_side, roles, self.side),
            operator.add,
            _same,
            columns=tuple(dict.fromkeys((*self.named, *self.side.draw.names))),
            tell=lambda done, words: tell(0.9 + 0.1 * done, f"counting, {words}"),
        )
        if facts is None:
            raise DataError("One side of the split has no row: give more rows, or another test size.")
        return replace(whole, facts=facts, reader=replace(whole.reader, side=self.side))

    def _roles(self) -> Roles:
        if self.roles is None:
            raise InputError("The rows need to be explained: say which columns are the label and sensitive.")
        return self.roles

    def _learn(self, tell: Progress) -> Learned:
        """Find out the schema and the encoding, in a pass over all columns and up to three over some numbers.

        Warns
        -----
        SmallGroupsWarning
            If there are groups too small to speak about: which, and what is done with them.
        ColumnsWarning
            If columns are not read as they are: rare values are grouped, or dates become numbers.
        """
        roles = self._roles()
        facts: Facts | None = self.parts.fold(
            partial(facts_of, roles),
            operator.add,
            _same,
            columns=(*self.features, *self.named),
            tell=lambda done, words: tell(0.7 * done, f"reading the columns, {words}"),
        )
        if facts is None:
            raise DataError(_nothing(roles.sensitive, self.missing_sensitive))
        schema, note = facts.schema(roles)
        if note is not None:
            warnings.warn(note, SmallGroupsWarning, stacklevel=2)
        for note in facts.column_notes(schema):
            warnings.warn(note, ColumnsWarning, stacklevel=2)
        medians = self._medians(roles, facts, tell)
        numbers = {name: column.scale(medians.get(name, 0.0)) for name, column in facts.columns.items()}
        reader = Reader(schema, self.missing_sensitive, own=True)
        return Learned(schema, Encoding.of(schema, numbers), facts, reader)

    def like(self, schema: Schema) -> Reader:
        """Read the rows by the schema of other rows."""
        table = _names_only(self.parts.names)
        table.require([feature.name for feature in schema.features], "feature")
        table.require(schema.sensitive, "sensitive")
        table.require([schema.label], "label")
        if schema.weight is not None:
            table.require([schema.weight], "weight")
        return Reader(schema, self.missing_sensitive, own=False, unseen=self.unseen, side=self.side)

    def _medians(self, roles: Roles, facts: Facts, tell: Progress) -> dict[str, float]:
        places = {
            (name, number): place
            for name, column in facts.columns.items()
            if column.numbers is not None
            for number, place in enumerate(median_places(column.numbers, roles.weight is not None))
        }
        passes = 0
        while unknown := {key: place for key, place in places.items() if place.known < 64}:
            columns = list(dict.fromkeys(name for name, _ in unknown))
            needed = [*columns, *roles.sensitive, *(() if roles.weight is None else (roles.weight,))]
            found = self.parts.fold(
                partial(_digits, roles, unknown),
                _sums,
                _same,
                columns=needed,
                tell=partial(_tell_medians, tell, passes),
            )
            passes += 1
            if found is None:
                raise DataError("The rows changed while they were read: read them again.")
            for key, place in unknown.items():
                bits = facts.columns[key[0]].numbers
                narrowed = place.narrowed(found[key])
                places[key] = narrowed if bits is None else narrowed.completed(bits.bits)
        by_name: dict[str, list[float]] = {}
        for (name, _), place in places.items():
            by_name.setdefault(name, []).append(place.value)
        return {name: float(np.mean(values)) for name, values in by_name.items()}


def open_stream(
    source: Any,
    *,
    label: str | None = None,
    sensitive: str | Sequence[str] | None = None,
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
    unseen: Unseen = "refuse",
    id: Names = None,
    client: Any = None,
) -> Stream:
    """Open a table that need not fit into memory.

    Parameters
    ----------
    source : path, list of paths, pyarrow.dataset.Dataset or dask.dataframe.DataFrame
        The rows. A path may be a Parquet or CSV file, a pattern such as ``big/*.parquet``, or a directory, whose files
        are read as one table; ``key=value`` in the path of a file is a column.
    label, sensitive, positive, weight, numeric, categorical, drop, features, bins, tidy, missing_sensitive
        As in `Dataset.from_frame`. Label and sensitive columns may be left out only for rows that are counted on the
        cells of other rows.
    small_groups : {"set aside", "join", "refuse"}
        As in `Dataset.from_frame`. Rows are not dropped: which are to be is known only once all were read.
    unseen : {"refuse", "missing"}
        What to do, on the cells of other rows, with a category that those did not have: see `read_features`.
    id : str or sequence of str, optional
        Columns that say who a row is about, which are not features: by a hash of them people are held out, all rows of
        one together. By default rows are held out by a hash of where they stand; those of a Dask DataFrame, which have
        no order that stays, by a hash of their features.
    client : distributed.Client, optional
        The Dask cluster on which to read the files, which its workers must be able to see, or to work on the Dask
        DataFrame; by default files are read by this process, and a Dask DataFrame by Dask's current scheduler.

    Returns
    -------
    Stream
        Nothing is read yet.

    Raises
    ------
    InputError
        If the source cannot be read in parts, or a column that was named is not there.
    """
    if unseen not in ("refuse", "missing"):
        raise InputError(f"unseen is {unseen!r}: use 'refuse' or 'missing'.")
    if is_dask_frame(source):
        parts: Parts = DaskParts(source, client)
    elif client is not None:
        parts = DaskParts.read(source, client)
    else:
        parts = arrow_parts(source)
    special.check_missing_sensitive(missing_sensitive)
    choice = check_small_groups(small_groups)
    if choice == "drop rows":
        raise InputError(
            "small_groups is 'drop rows', but these rows are read in parts, and which groups are small is known only "
            "at the end: choose 'join', or leave the rows of small groups out of the files."
        )
    table, known_by = _names_only(parts.names), names_of(id)
    table.require(known_by, "id")
    drop = (*names_of(drop), *(name for name in known_by if name not in names_of(drop))) or None
    if label is None or not sensitive:
        if (label, positive, weight, numeric, categorical, drop, features, bins, tidy) != (None,) * 9 or sensitive:
            raise InputError("The rows need to be explained: say which columns are the label and sensitive.")
        if choice != SET_ASIDE:
            raise InputError(
                f"small_groups is {choice!r}, but rows without a label of their own are counted on the cells of other "
                "rows, whose groups are settled: leave it out."
            )
        return Stream(parts, None, missing_sensitive, unseen)
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
        small_groups=choice,
    )
    roles.check(table)
    return Stream(parts, roles, missing_sensitive, unseen, known_by)


def open_rows(data: Any, **columns: Any) -> Dataset | Stream:
    """Take people as they come: a `Dataset` or a `Stream` as it is, anything else as `open_stream` explains it."""
    if not isinstance(data, Dataset | Stream):
        return open_stream(data, **columns)
    if columns:
        raise InputError(f"The rows are explained already; leave {', '.join(columns)} out.")
    return data


def _names_only(names: tuple[str, ...]) -> Table:
    """Open a table without rows, whose columns can be asked for."""
    empty = pa.Table.from_arrays([pa.array([], pa.null()) for _ in names], names=[str(name) for name in names])
    if len(set(names)) < len(names):
        raise DataError("The table has two columns of the same name: rename or drop one of them.")
    odd = [name for name in names if not isinstance(name, str)]
    if odd:
        raise DataError(f"Column names must be text, got {odd[0]!r}: rename the columns.")
    return Table(nw.from_native(empty, eager_only=True), names)


def _nothing(sensitive: tuple[str, ...], missing_sensitive: MissingSensitive) -> str:
    if missing_sensitive == "drop":
        return f"There is no row in which the sensitive value ({', '.join(sensitive)}) is known."
    return "The table is empty: it needs at least one row."


def _digits(roles: Roles, places: dict[tuple[str, int], Place], part: Part, frame: Any) -> dict[Any, Floats] | None:
    """Weights of one part of a table by the digits that are looked for."""
    table = open_part(frame, roles.sensitive, roles.missing_sensitive, roles.bins)
    if table is None:
        return None
    weights = np.ones(len(table)) if roles.weight is None else special.read_some_weights(table, roles.weight)
    columns = {name: read_numbers(name, table.column(name)) for name in dict.fromkeys(name for name, _ in places)}
    found = {}
    for (name, at), place in places.items():
        there = ~np.isnan(columns[name]) & (weights > 0)
        found[name, at] = place.digits(columns[name][there], weights[there])
    return found


def _tell_medians(tell: Progress, passes: int, done: float, words: str) -> None:
    tell(0.7 + 0.1 * (passes + done), f"finding medians, {words}")


def _sums(one: dict[Any, Floats], other: dict[Any, Floats]) -> dict[Any, Floats]:
    return {key: digits + other[key] for key, digits in one.items()}


def _same(total: Total) -> Total:
    return total
