"""Where a rule that sees the group begins to say yes: chances of label 1, as new people are decided by them."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from fairlimits._util.types import Floats
from fairlimits.law import CellDistribution

# Scores nearer than this to 0 or 1, or to each other, are the same.
_SAME = 1e-9


class Thresholds(NamedTuple):
    """The chances of label 1 between which members of a group are decided by lot.

    Parameters
    ----------
    no_up_to : float
        Up to this chance everybody is decided 0: nobody if it is below 0, everybody from 1 on. NaN if scores rise and
        fall.
    yes_above : float
        Above this chance everybody is decided 1: everybody if it is below 0, nobody from 1 on.
    least, most : float
        Probability of a yes between the two, at the lower and at the upper end.
    even_at : float
        Where the probability of a yes reaches one half; below 0 if it starts above, and from 1 on if it stays below.
    """

    no_up_to: float
    yes_above: float
    least: float = 0.0
    most: float = 1.0
    even_at: float = math.nan

    @property
    def by_lot(self) -> bool:
        """Whether some chances are decided by lot."""
        return self.no_up_to < self.yes_above


def thresholds_of(law: CellDistribution, scores: Floats, g: int) -> Thresholds:
    """Read thresholds of a group off the scores of its cells, of shape (N, G).

    Where cells cut q alone, people go to cells by their own chance of label 1, and the thresholds are where one
    cell ends and the next begins; elsewhere they are between the chances of cells.
    """
    order, cuts = _in_order(law, g)
    own = scores[order, g]
    above, fully = own > _SAME, own >= 1 - _SAME
    if not len(order) or (np.diff(own) < -_SAME).any():
        return Thresholds(math.nan, math.nan)
    edges = np.concatenate([[-math.inf], cuts, [math.inf]])
    first, sure, even = (int(there.argmax()) if there.any() else len(own) for there in (above, fully, own >= 0.5))
    if first >= sure:
        return Thresholds(float(edges[first]), float(edges[sure]))
    ends = float(own[first]), float(own[sure - 1])
    return Thresholds(float(edges[first]), float(edges[sure]), *ends, float(edges[even]))


def _in_order(law: CellDistribution, g: int) -> tuple[np.ndarray, Floats]:
    if law.places is not None and law.places.cuts is not None:
        return law.places.in_order(law.mass, g)
    there = np.flatnonzero(law.mass[:, g].any(axis=1))
    chance = law.mass[there, g, 1] / law.mass[there, g].sum(axis=1)
    rank = np.argsort(chance, kind="stable")
    return there[rank], (chance[rank][1:] + chance[rank][:-1]) / 2
