"""`LabelledCells`: labels of people who were counted and not kept, in the cells that were made of them."""

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
        The people, each placed by an estimate that did not see them: for rules that do not see the group, and for those
        that do.
    hidden_cells, seen_cells : ndarray of int
        Cell of each of their entries.
    """

    hidden: CountedPeople
    hidden_cells: Ints
    seen: CountedPeople
    seen_cells: Ints
