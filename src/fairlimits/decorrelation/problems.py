r"""The decorrelation problem as plain data: sources, targets, laws of the groups, and fairness rows.

A *source* is a cell with mass (aware: a cell and group with mass), a *target* is a place that people may be
sent to, with the score that the rule gives there. A map T has a column for each source, and the score of
source j after the map is :math:`t_j = \sum_i s_i T_{ij}`: accuracy and every fairness constraint are affine in
t, as they are in the scores of a rule.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations

import numpy as np

from fairlimits._util.types import Floats, Ints
from fairlimits.law import CellDistribution, Neighbourhood, cell_distances
from fairlimits.limits import RateRows, Variables, compile_rows
from fairlimits.notions import INDIVIDUAL, SELECTION_RATE
from fairlimits.solvers import PairConstraints

SAME_SCORE = 1e-9
"""Scores that differ by less are one: a rule's scores are known to the precision of the solver."""


@dataclass(frozen=True, eq=False)
class Targets:
    """Places that people may be sent to.

    Parameters
    ----------
    cell : ndarray of int of shape (n,)
        Their cells.
    bin : ndarray of int of shape (n,)
        Their rows in the map: the cell, or ``g * N + cell`` for a cell that is scored as group g.
    score : ndarray of shape (n,)
        The rule's scores there.
    """

    cell: Ints
    bin: Ints
    score: Floats

    def __len__(self) -> int:
        return len(self.cell)

    def merged(self) -> Targets:
        """Return the targets with those of one cell and one score taken as one.

        A group tag that changes no score tells nobody anything and costs nothing, so one of them will do.
        """
        first = np.unique(np.stack([self.cell, self.score]), axis=1, return_index=True)[1]
        first = np.sort(first)
        return Targets(self.cell[first], self.bin[first], self.score[first])


@dataclass(frozen=True, eq=False)
class Problem:
    """What the maps of one rule on one distribution must respect.

    Parameters
    ----------
    variables : Variables
        The sources: the cells (and groups) with mass.
    scores : ndarray of shape (N,) or (N, G)
        The rule's scores.
    tolerances : mapping of str to float
        Largest gaps of the scores after the map.
    neighbours : Neighbourhood
        What individual fairness compares.
    """

    variables: Variables
    scores: Floats
    tolerances: Mapping[str, float]
    neighbours: Neighbourhood

    @property
    def dist(self) -> CellDistribution:
        """The joint law of cell, group and label."""
        return self.variables.dist

    @property
    def own_scores(self) -> Floats:
        """The rule's score of each source."""
        return self.scores[self.variables.filled]

    @property
    def box(self) -> tuple[float, float]:
        """Lowest and highest score of a target; one and the same if only rounding tells them apart."""
        low, high = float(self.own_scores.min()), float(self.own_scores.max())
        return (low, high) if high - low > SAME_SCORE else (low, low)

    @property
    def mass(self) -> Floats:
        """Mass of each source."""
        held = self.dist.mass.sum(axis=2)
        return np.asarray((held if self.variables.aware else held.sum(axis=1))[self.variables.filled])

    @cached_property
    def all_groups(self) -> Variables:
        """The sources, in a law without counts: however few its rows, a group is to be hidden like all others."""
        return Variables(replace(self.dist, counts=None), self.variables.aware)

    @property
    def laws(self) -> Floats:
        """P(source | group), a row for each group that has mass."""
        rates = self.all_groups.dist.rates.of(SELECTION_RATE)
        return self.variables.coefficients(rates.coefficient)[rates.defined]

    @property
    def targets(self) -> Targets:
        """Every cell (aware: and group) with mass."""
        cell, group = self.variables.cell, self.variables.group
        at = cell if group is None else group * self.dist.n_cells + cell
        return Targets(cell, at, self.own_scores)

    @property
    def comparison(self) -> PairConstraints | None:
        """Sources that individual fairness compares; None if it is not asked for."""
        if math.isinf(self.tolerances.get(INDIVIDUAL, math.inf)):
            return None
        return self.variables.compare(self.neighbours)

    def distances(self, targets: Targets) -> Floats:
        """Distance from each source (column) to each target (row)."""
        everything = all_distances(self.dist)
        return everything[np.ix_(targets.cell, self.variables.cell)]

    @cached_property
    def rate_rows(self) -> RateRows:
        """Rows of the group notions in the scores t after the map.

        They are the rows of the rule's own program, to the last digit, with its repair. The fair coin that the repair
        keeps feasible need not be feasible here: t lies in `box`, which may not hold 1/2, and another constant need not
        be of equal accuracy. What is known to meet the rule's tolerances are the rule's own scores, and for sure only
        in the very rows that they were found with. Auxiliary variables lie in [0, 1] as they do there: whatever the
        box, each is a rate.
        """
        # An infinite tolerance makes no row: a face multiplies the width of every row by its dual.
        asked = [name for name, eps in self.tolerances.items() if math.isfinite(eps)]
        return compile_rows(self.variables, asked)

    @property
    def bounds(self) -> tuple[Floats, Floats]:
        """Lower and upper bounds of the rows of the group notions."""
        return self.rate_rows.lower(self.tolerances), self.rate_rows.upper(self.tolerances)


def all_distances(dist: CellDistribution) -> Floats:
    """Distances between all cells; 1 for any move where they are not known for all of them."""
    if isinstance(dist.distances, np.ndarray) or dist.centroids is not None:
        return cell_distances(dist)
    return 1.0 - np.eye(dist.n_cells)


def pairs_of_groups(laws: Floats) -> Floats:
    """Difference of the laws of every pair of groups, a row for each pair."""
    return np.array([laws[g] - laws[h] for g, h in combinations(range(len(laws)), 2)]).reshape(-1, laws.shape[1])
