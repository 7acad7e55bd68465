"""`LabelledCells`: labels of people who were counted and not kept, by the cells that were made from them."""

from __future__ import annotations

from dataclasses import dataclass

from fairlimits._util.types import Ints
from fairlimits.notions import CountedPeople


@dataclass(frozen=True, eq=False)
class LabelledCells:
    """Labels of the people that outcome cells were made from, where those are counted and not kept.

    Parameters
    ----------
    hidden, seen : CountedPeople
        The people, each placed by an estimate that did not see them: for rules with the group hidden, and seen.
    hidden_cells, seen_cells : ndarray of int
        Cell of each of their entries.
    """

    hidden: CountedPeople
    hidden_cells: Ints
    seen: CountedPeople
    seen_cells: Ints
