"""What a report leaves out because it rests on too few people, the same groups in all of its tables."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fairlimits._util.suppression import SUPPRESSED_TEXT, check_suppress, withheld
from fairlimits._util.types import Flags, Floats
from fairlimits.evaluation.reports.surveys import Survey
from fairlimits.notions import Evaluation, suppress_evaluation


@dataclass(frozen=True, eq=False)
class Suppression:
    """Fewest people that a figure may rest on, and whose figures are left out for it.

    Parameters
    ----------
    least : int or None
        The fewest people; None leaves nothing out.
    groups : tuple of str
        Names of all groups.
    rows, labels : ndarray of bool of shape (G,)
        Groups whose number of people, or of people of each label, is left out.
    """

    least: int | None
    groups: tuple[str, ...]
    rows: Flags
    labels: Flags

    @classmethod
    def of(cls, data: Survey, suppress: int | None) -> Suppression:
        """Find the groups of a table that are left out."""
        least, counts = check_suppress(suppress), data.counts.astype(np.float64)
        if least is None:
            nobody = np.zeros(len(data.groups), dtype=bool)
            return cls(None, data.groups, nobody, nobody)
        rows = withheld(counts.sum(axis=1)[:, None], least)
        return cls(least, data.groups, rows, withheld(counts, least) | rows)

    @property
    def hidden(self) -> tuple[str, ...]:
        """Names of the groups whose number of people is left out."""
        return tuple(name for name, hide in zip(self.groups, self.rows, strict=True) if hide)

    def evaluation(self, found: Evaluation) -> Evaluation:
        """Leave out of an evaluation what rests on too few people."""
        return suppress_evaluation(found, self.least, self.hidden)

    def share(self, share: float, people: float) -> float | str:
        """A share of some people, unless it is one of fewer than may be shown; a share of nobody is shown."""
        return SUPPRESSED_TEXT if self.least is not None and 0 < share * people < self.least - 1e-6 else share

    def few(self, people: Floats) -> Flags:
        """Groups whose number of people is too small to be shown, or could be worked out from the others."""
        return self.rows if self.least is None else withheld(people[:, None], self.least) | self.rows

    def laws(self, people: Floats) -> bool:
        """Whether all cells of some groups, with so many people in each, may be shown."""
        return self.least is None or not ((people > 0) & (people < self.least)).any()
