"""`Stream`: a table too large for memory, on disk or on a cluster, with what its columns mean."""

from __future__ import annotations

import math
import operator
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeVar

import numpy as np

from fairlimits._util.callers import outside
from fairlimits._util.progress import Progress, silent
from fairlimits._util.types import Floats, Ints
from fairlimits.data import roles as special
from fairlimits.data.column_roles import Roles, roles_needed
from fairlimits.data.columns import names_only, read_numbers
from fairlimits.data.dataset import Dataset
from fairlimits.data.draws import check_seed
from fairlimits.data.encoding import Encoding
from fairlimits.data.facts import Facts, facts_of, facts_of_side, open_part
from fairlimits.data.numbers import Place, median_places
from fairlimits.data.parts import Part, Parts
from fairlimits.data.reading import Unseen, rows_of_part
from fairlimits.data.roles import MissingSensitive
from fairlimits.data.schema import Schema
from fairlimits.data.sides import Draw, Side
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

    def __repr__(self) -> str:
        roles = self.roles
        what = "" if roles is None else f"label {roles.label!r}, sensitive {', '.join(roles.sensitive)}; "
        return f"Stream({what}{'all rows' if self.side is None else 'rows of one side'}, read in parts)"

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
        """Return the same rows, on the same side, with only the given columns as features."""
        roles, chosen = self._roles(), tuple(features)
        as_numbers, as_categories = (
            tuple(name for name in own if name in chosen) for own in (roles.numeric, roles.categorical)
        )
        roles = replace(roles, chosen=chosen, drop=(), numeric=as_numbers, categorical=as_categories)
        return replace(self, roles=roles, _known=[])

    def draw(self, random_state: int) -> Draw:
        """Return how rows are drawn: by their identifier, by their position, or else by their features."""
        if self.id or self.parts.ordered:
            return Draw(random_state, self.id)
        return Draw(random_state, self.features)

    def split(self, test_size: float = 0.2, random_state: int = 0) -> tuple[Stream, Stream]:
        """Split the rows in two by hash, never by label or group (see `fairlimits.data.sides`).

        Parameters
        ----------
        test_size : float
            Approximate share of rows on the second side, between 0 and 1, neither included.
        random_state : int
            The same number gives the same split, wherever the rows are read.

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
            raise roles_needed("The rows need")
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
            warnings.warn(note, SmallGroupsWarning, stacklevel=outside())
        for note in facts.column_notes(schema):
            warnings.warn(note, ColumnsWarning, stacklevel=outside())
        medians = self._medians(roles, facts, tell)
        numbers = {name: column.scale(medians.get(name, 0.0)) for name, column in facts.columns.items()}
        reader = Reader(schema, self.missing_sensitive, own=True)
        return Learned(schema, Encoding.of(schema, numbers), facts, reader)

    def like(self, schema: Schema) -> Reader:
        """Read the rows by the schema of other rows."""
        table = names_only(self.parts.names)
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


def _nothing(sensitive: tuple[str, ...], missing_sensitive: MissingSensitive) -> str:
    if missing_sensitive == "drop":
        return f"There is no row in which the sensitive value ({', '.join(sensitive)}) is known."
    return "The table is empty: it needs at least one row."


def _digits(roles: Roles, places: dict[tuple[str, int], Place], part: Part, frame: Any) -> dict[Any, Floats] | None:
    """Return the weights of one part of a table by the digits that are searched."""
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
