"""What a generator is: it learns the law of a table of people and draws new rows from it."""

from __future__ import annotations

from typing import Protocol, TypeVar, runtime_checkable

import numpy as np

from fairlimits._util.memory import rows_that_fit
from fairlimits._util.progress import Progress
from fairlimits.data import Dataset
from fairlimits.errors import DataError, InputError

Part = TypeVar("Part")


@runtime_checkable
class Generator(Protocol):
    """A law of (X, A, Y) that is learned from rows and gives new ones.

    Generators are frozen: `fit` returns a fitted one and leaves the first as it was. Anything with these three
    members can be passed wherever a generator is asked for.
    """

    @property
    def name(self) -> str:
        """How the generator is called in tables and files."""
        ...

    def fit(self, dataset: Dataset, random_state: int = 0, progress: Progress | None = None) -> Generator:
        """Learn the law of the rows, each counted by its weight, and return the fitted generator."""
        ...

    def sample(self, n: int, random_state: int = 0) -> Dataset:
        """Draw `n` rows in the schema of the data set that was learned; all count the same."""
        ...


def check_size(n: int, columns: int = 0) -> None:
    """Refuse a number of rows that cannot be drawn, or that there is no memory for in a table of some columns."""
    if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 1:
        raise InputError(f"The number of rows to draw is {n!r:.60}; it must be a whole number of at least 1.")
    # A number or a code for each column, group and label, and the encoded columns beside them.
    fit = rows_that_fit(int(n), 16 * columns + 16)
    if fit is not None:
        raise InputError(f"{n:,} rows to draw take more memory than there is, and {fit:,} would fit; draw fewer.")


def check_weights(dataset: Dataset) -> None:
    """Refuse a table in which no row counts."""
    if dataset.n_rows == 0 or (dataset.weight is not None and not dataset.weight.sum() > 0):
        raise DataError("No row has a weight above 0; a generator needs rows to learn from.")


def fitted(part: Part | None) -> Part:
    """Return what fitting made, or raise an error if nothing was fitted."""
    if part is None:
        raise InputError("This generator has not learned any data yet; call .fit(dataset), and sample from its result.")
    return part
