"""`CellPolicy`: how a rule decides a person, by the scores of cells."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairlimits._util.states import Checked, check_kinds
from fairlimits._util.types import Floats, Ints
from fairlimits.data import Schema
from fairlimits.errors import InputError
from fairlimits.law import CellDistribution


@dataclass(frozen=True, eq=False)
class CellPolicy(Checked):
    """Everybody in a cell (and group) is decided alike.

    Parameters
    ----------
    law : CellDistribution
        The cells.
    scores : ndarray of shape (N,) or (N, G)
        Probability of deciding 1 in each cell; for each group too, if the policy is aware.
    aware : bool
        Whether the group is seen.
    """

    law: CellDistribution
    scores: Floats
    aware: bool

    def _check(self) -> None:
        """Refuse scores that do not fit the cells, or are not probabilities."""
        check_kinds(self, law=CellDistribution, scores=np.ndarray, aware=bool)
        cells = (self.law.n_cells, self.law.n_groups) if self.aware else (self.law.n_cells,)
        if self.scores.shape != cells:
            raise InputError(f"The scores have shape {self.scores.shape}; the cells need {cells}.")
        if self.scores.dtype.kind != "f" or not ((self.scores >= 0) & (self.scores <= 1)).all():
            raise InputError("The scores are not probabilities; each must lie between 0 and 1.")

    @property
    def schema(self) -> Schema | None:
        """What the columns mean; None if the cells are bare numbers."""
        return self.law.schema

    @property
    def groups(self) -> tuple[str, ...]:
        """The groups' names."""
        return self.law.groups

    def locate(self, columns: Mapping[str, NDArray[Any]], group: Ints | None, q: Floats | None = None) -> Ints:
        """Return the cell of each row, by its group too if the policy sees it, and by `q` where it is known."""
        return self.law.cells_of(columns, q=q, group=_given(group) if self.aware else None)

    def scores_at(self, cell: NDArray[Any], group: Ints | None) -> Floats:
        """Return the probability of deciding 1 for people in some cells; an aware policy needs the group too."""
        if not self.aware:
            return np.asarray(self.scores[cell])
        return np.asarray(self.scores[cell, _given(group)])


def _given(group: Ints | None) -> Ints:
    if group is None:
        raise InputError("This rule sees the group, and none was given; give the group of each row.")
    return group
