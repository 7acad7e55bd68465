"""What `solve`, `frontier` and `tension` take as the law: an estimate, cells, or the people themselves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias
from weakref import WeakKeyDictionary

from fairlimits._util.progress import Progress
from fairlimits.data import Dataset, Stream
from fairlimits.errors import InputError
from fairlimits.law import CellDistribution, Outcome, Partition, StreamedOutcome, discretize, estimate_outcome
from fairlimits.notions import INDIVIDUAL, warn_of_nothing_to_compare

Law: TypeAlias = CellDistribution | Outcome | StreamedOutcome | Dataset | Stream

# Cells of each estimate that is still in use, so that all its rules are solved on the same cells.
_CUT: WeakKeyDictionary[Outcome | StreamedOutcome, dict[tuple[Partition, int], CellDistribution]] = WeakKeyDictionary()


def estimated(
    law: Any, random_state: int, progress: Progress | None, columns: Mapping[str, Any]
) -> CellDistribution | Outcome | StreamedOutcome:
    """Return the law, estimated first where people are given; `columns` says how to read a table."""
    if isinstance(law, CellDistribution | Outcome | StreamedOutcome):
        if columns:
            raise InputError(f"The law is estimated already; leave {', '.join(columns)} out.")
        return law
    if not columns and not isinstance(law, Dataset | Stream):
        raise InputError(
            f"The law is given as {type(law).__name__}; give a Dataset (of a table, Dataset.from_frame makes one), an "
            "Outcome (estimate_outcome) or a CellDistribution (discretize), or name the columns of files, or of a Dask "
            "DataFrame, with label= and sensitive=."
        )
    found: Outcome | StreamedOutcome = estimate_outcome(law, random_state=random_state, progress=progress, **columns)
    return found


def on_cells(
    law: Law,
    names: Iterable[str],
    random_state: int = 0,
    progress: Progress | None = None,
) -> CellDistribution:
    """Return cells of the law: as they are, or cut from an estimate, once.

    Individual fairness compares people, so its cells cut the features too. A warning
    names notions that can compare no two groups.
    """
    names = tuple(names)
    known = estimated(law, random_state, progress, {})
    if isinstance(known, CellDistribution):
        rows = None if known.counts is None else known.counts.sum(axis=0)
        warn_of_nothing_to_compare(names, known.groups, rows)
        return known
    warn_of_nothing_to_compare(names, known.groups, known.counts)
    partition: Partition = "blend" if INDIVIDUAL in names else "outcome"
    cut = _CUT.setdefault(known, {})
    if (partition, random_state) not in cut:
        # Cutting takes passes over the rows where these are not in memory, and hardly any time where they are.
        people, told = (known.data, None) if isinstance(known, Outcome) else (known.stream, progress)
        cut[partition, random_state] = discretize(
            people, partition=partition, outcome=known, random_state=random_state, progress=told
        )
    return cut[partition, random_state]
