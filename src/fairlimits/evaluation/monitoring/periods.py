"""Periods: the people of one table each, or of one month each by a column of dates."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import pyarrow as pa

from fairlimits._util.types import Floats, Ints
from fairlimits.data import Schema, Table, Watched, as_table, holds_dates, read_numbers, read_watched
from fairlimits.errors import DataError, InputError
from fairlimits.limits import Rule

Every: TypeAlias = Literal["day", "week", "month", "quarter", "year"]

# Days from Thursday, 1970-01-01, to the Monday before.
_THURSDAY = 3


@dataclass(frozen=True, eq=False)
class Period:
    """The people of a period, decided.

    Parameters
    ----------
    name : str
        What the period is called.
    people : Watched
        What is known of them.
    scores : ndarray of shape (n,)
        Probability of deciding each 1.
    q : ndarray of shape (n, G, 2)
        P(A, Y | x) by the estimate that the rule was made from.
    """

    name: str
    people: Watched
    scores: Floats
    q: Floats

    @property
    def shares(self) -> Floats:
        """Weight of each person, as a share of all."""
        return np.asarray(self.people.weight / self.people.weight.sum())


def read_periods(rule: Rule, tables: Any, dates: str | None, every: Every) -> list[Period]:
    """Read and decide the people of all periods, in their order."""
    schema = rule.distribution.schema
    if schema is None:
        raise InputError("The rule's cells are bare numbers, which no row can be looked up in; make them of a table.")
    parts = _named(tables) if dates is None else _by_date(as_table(tables), dates, every)
    if not parts:
        raise DataError("There are no tables to look at; give one for each period.")
    return [_decided(rule, schema, name, table) for name, table in parts]


def _decided(rule: Rule, schema: Schema, name: str, table: Table) -> Period:
    people, law = read_watched(schema, table), rule.distribution
    if not people.weight.sum() > 0:
        raise DataError(f"No row of {name} counts: all weights are 0.")
    if law.places is not None:
        q = law.places.q_of(people.columns, len(people.group))
    else:
        mass = law.mass[law.cells_of(people.columns)]
        q = mass / mass.sum(axis=(1, 2), keepdims=True)
    missing = int((people.group < 0).sum())
    if rule.aware and missing:
        raise DataError(
            f"The rule sees the group, and {missing} people of {name} have none, so it cannot decide them; leave them "
            "out."
        )
    cell = rule.policy.locate(people.columns, people.group, None if law.places is None else q)
    return Period(name, people, rule.policy.scores_at(cell, people.group), q)


def _named(tables: Any) -> list[tuple[str, Table]]:
    """Tables with their names, or numbered from 1."""
    if isinstance(tables, Mapping):
        return [(str(name), as_table(table)) for name, table in tables.items()]
    if isinstance(tables, Iterable) and not hasattr(tables, "columns"):
        return [(str(at), as_table(table)) for at, table in enumerate(tables, 1)]
    raise InputError("One table has no periods; name its column of dates (dates=...), or give a table for each period.")


def _by_date(table: Table, dates: str, every: Every) -> list[tuple[str, Table]]:
    """Parts of a table by a column of dates."""
    if every not in get_args(Every):
        raise InputError(f"every is {every!r}; give {', '.join(map(repr, get_args(Every)))}.")
    table.require([dates], "date")
    column = table.column(dates)
    if not holds_dates(column):
        # One wrong date turns the whole column into text: name the first value that is not a date by itself.
        wrong = next((own for own in column.drop_null() if not holds_dates(pa.array([own.as_py()]))), "nothing")
        raise DataError(f"The column {dates!r} holds {str(wrong)!r}, and needs dates; write them as in 2026-01-31.")
    days = read_numbers(dates, column)
    missing = int(np.isnan(days).sum())
    if missing:
        raise DataError(f"The date {dates!r} is missing in {missing:,} rows; fill it in, or leave these rows out.")
    number = np.floor(days).astype(np.int64)
    key = _period_keys(number, every)
    names = {int(own): _name(int(own), every) for own in np.unique(key)}
    return [(name, table.filtered(key == own)) for own, name in sorted(names.items())]


def _period_keys(days: Ints, every: Every) -> Ints:
    if every == "day":
        return days
    if every == "week":
        return (days + _THURSDAY) // 7
    months = days.astype("datetime64[D]").astype("datetime64[M]").astype(np.int64)
    return np.asarray(months // {"month": 1, "quarter": 3, "year": 12}[every], dtype=np.int64)


def _name(key: int, every: Every) -> str:
    if every == "day":
        return str(np.datetime64(key, "D"))
    if every == "week":
        return f"week of {np.datetime64(7 * key - _THURSDAY, 'D')}"
    if every == "month":
        return str(np.datetime64(key, "M"))
    if every == "quarter":
        return f"{1970 + key // 4}-Q{key % 4 + 1}"
    return str(1970 + key)
