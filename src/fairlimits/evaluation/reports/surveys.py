"""`Survey`: what a report says of a table itself, whether its rows are in memory or not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from fairlimits._util.types import Floats, Ints
from fairlimits.data import Concern, Dataset, Draw, Feature, Part, Reader, Schema, Stream, concerns
from fairlimits.errors import DataError

# Rows of a stream that its columns are screened on, and that adversaries are tried on.
SCREENED = 50_000


@dataclass(frozen=True, eq=False)
class Survey:
    """What is known of a table.

    Parameters
    ----------
    schema : Schema
        What the columns mean.
    n_rows : int
        Rows, of any weight.
    counts : ndarray of int of shape (G, 2)
        Rows that count by group and label.
    weight : ndarray of shape (G, 2)
        What they weigh.
    missing : mapping of str to int
        Rows in which each feature is missing.
    concerns : tuple of Concern
        What to beware of in the columns.
    regrouped : str or None
        What was done with small groups when the table was read.
    told_apart_by : str or None
        Of rows that are not in memory, what they are held out by, in words.
    """

    schema: Schema
    n_rows: int
    counts: Ints
    weight: Floats
    missing: Mapping[str, int]
    concerns: tuple[Concern, ...] = ()
    regrouped: str | None = None
    told_apart_by: str | None = None

    @classmethod
    def of(cls, people: Dataset | Stream, random_state: int) -> Survey:
        """Look at a table; rows that are not in memory are read once."""
        if isinstance(people, Dataset):
            return replace(_counted(people), concerns=concerns(people))
        learned, draw = people.learn(), people.draw(random_state)
        share = min(1.0, SCREENED / learned.facts.rows)
        found: Survey | None = people.parts.fold(
            partial(_surveyed, learned.reader, draw, share),
            _added,
            _screened,
            columns=tuple(dict.fromkeys((*learned.reader.columns, *draw.names))),
        )
        if found is None:
            raise DataError("The rows changed while they were read: read them again, when nobody writes to them.")
        return replace(found, told_apart_by=people.told_apart_by)

    @property
    def groups(self) -> tuple[str, ...]:
        """Names of the groups."""
        return self.schema.groups

    @property
    def shares(self) -> Floats:
        """Mass of each group and label, of shape (G, 2)."""
        return np.asarray(self.weight / self.weight.sum())


def _counted(rows: Dataset) -> Survey:
    groups = len(rows.groups)
    weight = np.ones(rows.n_rows) if rows.weight is None else rows.weight
    by_label = np.bincount(rows.group * 2 + rows.label, weights=weight, minlength=2 * groups).reshape(groups, 2)
    missing = {own.name: _missing(rows, own) for own in rows.schema.features}
    return Survey(rows.schema, rows.n_rows, rows.counts, by_label.astype(np.float64), missing, regrouped=rows.regrouped)


def _missing(rows: Dataset, feature: Feature) -> int:
    values = rows.columns[feature.name]
    if feature.kind == "numeric":
        return int(np.isnan(values).sum())
    absent = len(feature.categories) - 1 if None in feature.categories else -1
    return int((values == absent).sum())


_Looked = tuple[Survey, tuple[tuple[Dataset, Floats], ...]]


def _surveyed(reader: Reader, draw: Draw, share: float, part: Part, frame: Any) -> _Looked | None:
    found = reader.drawn(part, frame, draw, "screened")
    if found is None:
        return None
    rows, (drawn,) = found
    chosen = np.flatnonzero(drawn < share)
    return _counted(rows), ((rows.take(chosen), drawn[chosen]),) if len(chosen) else ()


def _added(one: _Looked, other: _Looked) -> _Looked:
    first, second = one[0], other[0]
    total = replace(
        first,
        n_rows=first.n_rows + second.n_rows,
        counts=first.counts + second.counts,
        weight=first.weight + second.weight,
        missing={name: rows + second.missing[name] for name, rows in first.missing.items()},
    )
    return total, one[1] + other[1]


def _screened(total: _Looked) -> Survey:
    survey, pieces = total
    return replace(survey, concerns=concerns(joined(pieces))) if pieces else survey


def joined(pieces: tuple[tuple[Dataset, Floats], ...]) -> Dataset:
    """Rows of several parts, in the order of their draws, so that it does not matter how they were parted."""
    first = pieces[0][0]
    rows = Dataset(
        first.schema,
        {name: np.concatenate([own.columns[name] for own, _ in pieces]) for name in first.columns},
        np.concatenate([own.group for own, _ in pieces]),
        np.concatenate([own.label for own, _ in pieces]),
        None if first.weight is None else np.concatenate([np.asarray(own.weight) for own, _ in pieces]),
    )
    drawn = np.concatenate([own for _, own in pieces])
    return rows.take(np.lexsort((rows.label, rows.group, drawn)))
