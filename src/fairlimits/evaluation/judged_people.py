"""People and the scores that policies give them: rows in memory one by one, others counted in a pass over them."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from fairlimits._util.progress import Progress, silent
from fairlimits._util.types import Floats
from fairlimits.data import Dataset, Part, Reader, Stream
from fairlimits.errors import DataError, InputError
from fairlimits.limits import CellPolicy, locate_rows, policies_on
from fairlimits.notions import CountedPeople, Kinds

People: TypeAlias = Dataset | Stream
"""Rows to judge on."""

# Rows that are placed at a time.
_ROWS = 1 << 16


class Beside(NamedTuple):
    """Decisions that stand beside the rows of a stream.

    Parameters
    ----------
    reader : Reader
        Reads the columns that they stand in, of the same rows.
    decisions : callable
        Makes chances of deciding 1 of them, of shape (n, models).
    """

    reader: Reader
    decisions: Callable[[Dataset], Floats]


def judged_people(
    policies: Sequence[CellPolicy], rows: People, tell: Progress = silent, beside: Beside | None = None
) -> tuple[Dataset | CountedPeople, Floats]:
    """Let policies decide rows.

    Parameters
    ----------
    policies : sequence of CellPolicy
        Policies of the same features and groups.
    rows : Dataset or Stream
        The people. Those of a stream are read once; what comes back are counts of people who are decided alike by all
        of the policies, which say as much about rates, gaps and their intervals as the people one by one.
    tell : callable
        Told the fraction done and a few words.
    beside : Beside, optional
        Other decisions on the same rows; only for a stream.

    Returns
    -------
    people : Dataset or CountedPeople
    scores : ndarray of shape (policies, n)
        Probability of deciding 1 for each row of the data set, or each entry of those who were counted; that of other
        decisions comes first.
    """
    if isinstance(rows, Dataset):
        return rows, policies_on(policies, rows)
    schema = policies[0].schema
    if schema is None:
        raise InputError(
            "The cells are bare numbers, which no row can be looked up in; make them with discretize from a table."
        )
    reader = rows.like(schema)
    kinds: Kinds | None = rows.parts.fold(
        partial(_judged, reader, tuple(policies), beside),
        operator.add,
        _same,
        columns=tuple(dict.fromkeys((*reader.columns, *(() if beside is None else beside.reader.columns)))),
        tell=tell,
    )
    if kinds is None:
        raise DataError("There are no rows to judge on: give some.")
    return kinds.people(policies[0].groups, schema.frame_kind)


def _judged(
    reader: Reader, policies: tuple[CellPolicy, ...], beside: Beside | None, part: Part, frame: Any
) -> Kinds | None:
    rows = reader(part, frame)
    if rows is None:
        return None
    others = None if beside is None else beside.reader(part, frame)
    total: Kinds | None = None
    for start in range(0, rows.n_rows, _ROWS):
        piece = np.arange(start, min(start + _ROWS, rows.n_rows))
        decided = None if beside is None or others is None else beside.decisions(others.take(piece))
        own = _kinds(rows.take(piece), policies, decided)
        total = own if total is None else total + own
    return total


def _kinds(rows: Dataset, policies: tuple[CellPolicy, ...], decided: Floats | None) -> Kinds:
    """Count people who are decided alike: by their cells first, of which there are few."""
    located, at = locate_rows(policies, rows, rows.group)
    placed = np.column_stack([*located, rows.group, rows.label]).astype(np.float64)
    found = Kinds.of(placed, rows.weight, decided)
    *cells, group, label = found.numbers.T.astype(np.int64)
    scores = [policy.scores_at(cells[own], group) for policy, own in zip(policies, at, strict=True)]
    return found.with_values(np.column_stack([*scores, group, label]))


def _same(total: Kinds) -> Kinds:
    return total
