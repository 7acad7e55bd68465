"""Rows of a table in parts, split by hash: a side that is learned from, one that is held out, and samples.

A hash of the whole row would put the people of a kind who have label 1 on one side and their twins who have label 0 on
the other, and what is learned on one side would not hold on the other. So neither label nor group is ever hashed:
rows are split by their position (file and row in it), or by an identifier, or, where they have no stable order, by
their features, so that people who are alike stay together.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fairlimits._util.types import Flags, Floats
from fairlimits.data.columns import Table
from fairlimits.data.draws import position_draws, row_draws
from fairlimits.data.parts import Part


@dataclass(frozen=True)
class Draw:
    """How rows are drawn: by a hash of their position, or of some columns.

    Parameters
    ----------
    random_state : int
        Seed.
    names : tuple of str
        Columns that are hashed; none for the position of a row.
    """

    random_state: int
    names: tuple[str, ...]

    def of(self, part: Part, frame: Any, purpose: str) -> Floats:
        """Draw a number from 0 to 1 for each row of a part; what is drawn for different purposes is independent."""
        seed = f"{self.random_state} {purpose}"
        if self.names:
            return row_draws(Table.open(frame), seed, self.names, draw_by="content")
        return position_draws(seed, part.file, part.first, len(frame))


@dataclass(frozen=True)
class Side:
    """One of two sides that the rows are split into.

    Parameters
    ----------
    draw : Draw
        How rows are drawn.
    low, high : float
        Rows on the side have draws from `low` to below `high`.
    """

    draw: Draw
    low: float
    high: float

    def holds(self, part: Part, frame: Any) -> Flags:
        """Return which rows of a part are on this side."""
        drawn = self.draw.of(part, frame, "side")
        return (drawn >= self.low) & (drawn < self.high)
