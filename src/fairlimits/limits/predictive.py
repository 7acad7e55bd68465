r"""Predictive parity: of the people whom a rule selects, the same share has label 1 in all groups.

The precision of a group, P(Y = 1 | decided 1, A = g), is a ratio of two linear forms of the scores, so a bound on
how far precisions may lie apart is not linear. For a given lowest precision v it is:
:math:`v \le \mathrm{precision}_g \le v + \epsilon` are two rows per group. So v is searched by branch and bound. For
v between a and b, the rows with bounds a and b + eps admit every allowed rule and some others: their
optimum is an upper bound for all of them. Intervals are halved until the best rule found is proven to be within a given
precision of that bound.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from fairlimits._util.frames import of_user_kind
from fairlimits._util.notebooks import Shown
from fairlimits._util.plotting import COLOURS, GRID, axes_or_new, figure_style, plain_text
from fairlimits._util.types import Flags, Floats
from fairlimits.errors import InfeasibleError, InputError, SolverError
from fairlimits.law import CellDistribution, Neighbourhood
from fairlimits.limits.laws import on_cells
from fairlimits.limits.programs import FairProgram, Solved
from fairlimits.limits.rules import Rule
from fairlimits.limits.solving import make_rules
from fairlimits.limits.variables import Variables
from fairlimits.notions import (
    ACCURACY,
    SELECTION_RATE,
    Objective,
    Requirement,
    Rows,
    check_tolerances,
    read_objective,
    read_requirements,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Intervals after which the search gives up; a few dozen are usual.
_MOST = 2_000

# A group with a smaller share selected has no precision: it would depend on the solver's rounding.
_NOBODY = 1e-7


@dataclass(frozen=True, eq=False, repr=False)
class PredictiveParity(Shown):
    """The best rule found whose precisions lie within a tolerance, and how much better any other could be.

    Parameters
    ----------
    rule : Rule
        The rule; its ``optimality_gap`` is the difference between its value and the bound.
    tolerance : float
        Largest difference of precisions between groups.
    precision : mapping of str to float
        Precision in each group with enough rows; NaN for a group of whom nobody is selected, which is not compared.
    bound : float
        Proven upper bound on the value of any rule that keeps all constraints.
    """

    rule: Rule
    tolerance: float
    precision: Mapping[str, float]
    bound: float

    @property
    def gap(self) -> float:
        """Highest minus lowest precision; NaN if fewer than two groups have one."""
        known = [value for value in self.precision.values() if not np.isnan(value)]
        return max(known) - min(known) if len(known) > 1 else float("nan")

    @property
    def frame_kind(self) -> str:
        """Library that `to_frame` makes a frame of: the one whose frame the people came in."""
        return self.rule.frame_kind

    @of_user_kind
    def to_frame(self) -> pa.Table:
        """Return a table of the precision in each group that is compared; NaN where nobody is selected."""
        return pa.table({"group": list(self.precision), "precision": list(self.precision.values())})

    def summary(self) -> str:
        """Say what the rule attains, and how much better any other could be."""
        shown = ", ".join(
            f"{name} {'nobody selected' if np.isnan(value) else f'{value:.4f}'}"
            for name, value in self.precision.items()
        )
        return (
            f"With precisions within {self.tolerance:g}, the best rule found has accuracy {self.rule.accuracy:.4f} "
            f"(plug-in). No rule on these cells has {self.rule.objective.title} above {self.bound:.4f}; its own is "
            f"{self.rule.value:.4f}. "
            f"Precision: {shown}."
        )

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the precision of each group, and the band that all must lie in.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        """
        known = {name: value for name, value in self.precision.items() if not np.isnan(value)}
        with figure_style():
            ax = axes_or_new(ax, (5.6, max(2.0, 1.2 + 0.4 * len(known))))
            if known:
                low = min(known.values())
                ax.axvspan(low, low + self.tolerance, color=GRID, linewidth=0, label="tolerance")
                ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0))
            ax.plot(list(known.values()), range(len(known)), "o", color=COLOURS["DP"])
            ax.set_yticks(range(len(known)), [plain_text(name) for name in known])
            ax.set_ylim(len(known) - 0.5, -0.5)
            ax.set_xlabel("of those selected, the share with label 1 (plug-in)")
        return ax

    def __repr__(self) -> str:
        return (
            f"PredictiveParity(tolerance {self.tolerance:g}; accuracy {self.rule.accuracy:.4f}, value "
            f"{self.rule.value:.4f} of at most {self.bound:.4f})"
        )


def predictive_parity(
    dist: CellDistribution,
    tolerance: float,
    tolerances: Mapping[str, float] | None = None,
    *,
    aware: bool = False,
    neighbours: Neighbourhood | None = None,
    requirements: Iterable[Requirement | str] = (),
    objective: Objective | str = ACCURACY,
    precision: float = 1e-4,
) -> PredictiveParity:
    """Find the best rule whose precisions differ between groups by at most a tolerance, with a proven bound.

    A group of whom nobody is selected has no precision and is not compared. Selecting nobody of a
    group can therefore be the optimum; require ``"selection rate of each group >= ..."`` to rule that out. Nor is a
    group with fewer than 30 rows compared, where rows are counted.

    Parameters
    ----------
    dist : CellDistribution
        The joint law of cell, group and label.
    tolerance : float
        Largest difference of P(Y = 1 | decided 1) between groups.
    tolerances, aware, neighbours, requirements, objective
        What else is asked of the rule (see `solve`).
    precision : float, default=1e-4
        How near the rule's value must be to what no rule can exceed.

    Returns
    -------
    PredictiveParity

    Examples
    --------
    >>> import fairlimits as fl
    >>> dist = fl.CellDistribution.from_mass([[[2, 1], [1, 0]], [[0, 1], [2, 3]]])
    >>> found = fl.limits.predictive_parity(dist, 0.2, requirements=["selection rate of each group >= 0.1"])
    >>> {group: round(value, 2) for group, value in found.precision.items()}
    {'0': 0.78, '1': 0.58}
    >>> bool(found.rule.accuracy <= found.bound + 1e-9)
    True
    """
    if isinstance(tolerance, bool) or not isinstance(tolerance, int | float | np.number) or not 0 <= tolerance <= 1:
        raise InputError(f"The tolerance of predictive parity is {tolerance!r}; it must lie in 0 to 1.")
    if not (isinstance(precision, int | float | np.number) and precision > 0):
        raise InputError(f"The precision is {precision!r}; it must be a number above 0.")
    asked = check_tolerances({} if tolerances is None else tolerances)
    search = _Search(
        on_cells(dist, asked),
        float(tolerance),
        asked,
        aware,
        Neighbourhood() if neighbours is None else neighbours,
        read_requirements(requirements),
        read_objective(objective),
    )
    return search.run(float(precision))


class _Search:
    """Branch and bound over the lowest precision."""

    def __init__(
        self,
        dist: CellDistribution,
        tolerance: float,
        tolerances: dict[str, float],
        aware: bool,
        hood: Neighbourhood,
        requirements: tuple[Requirement, ...],
        objective: Objective,
    ) -> None:
        self.dist, self.tolerance, self.tolerances = dist, tolerance, tolerances
        self.aware, self.hood, self.requirements, self.objective = aware, hood, requirements, objective
        self.found: tuple[FairProgram, Solved] | None = None

    def run(self, precision: float) -> PredictiveParity:
        whole = self._solve(0.0, 1.0)
        if whole is None:
            raise InfeasibleError("No decision rule meets all other constraints, whatever its precision; relax them.")
        # The interval with the highest bound comes first: no rule is better than this bound.
        waiting = [(-whole[1].value, 0.0, 1.0, whole)]
        unit = whole[0].unit
        for _ in range(_MOST):
            bound, low, high, relaxed = waiting[0]
            if self.found is not None and -bound <= self.found[1].value + precision * unit:
                return self._result(-bound)
            heapq.heappop(waiting)
            self._try(relaxed[1])
            middle = (low + high) / 2
            for part in ((low, middle), (middle, high)):
                solved = self._solve(*part)
                if solved is not None:
                    heapq.heappush(waiting, (-solved[1].value, *part, solved))
            if not waiting:
                raise InfeasibleError(
                    "No decision rule meets predictive parity together with the other constraints; relax one of them."
                )
        raise SolverError(
            f"The search for the best rule under predictive parity did not come within {precision:g} of its bound in "
            f"{_MOST:,} steps; ask for less precision."
        )

    def _solve(self, low: float, high: float) -> tuple[FairProgram, Solved] | None:
        """Return the best rule whose precisions lie between `low` and `high` + the tolerance."""
        program = FairProgram(
            self.dist,
            tuple(self.tolerances),
            self.aware,
            self.hood,
            self.requirements,
            self.objective,
            [_band(self.dist, low, high + self.tolerance)],
        )
        try:
            return program, program.solve(self.tolerances)
        except InfeasibleError:
            return None

    def _try(self, relaxed: Solved) -> None:
        """Look for a rule that keeps the tolerance, with precisions near those of a relaxed one."""
        values = self._precisions(relaxed)
        if not len(values):
            values = np.zeros(1)
        # Of all bands as wide as the tolerance, the one that is exceeded least on either side.
        start = max((values.min() + values.max() - self.tolerance) / 2, 0.0)
        solved = self._solve(start, start)
        if solved is not None and (self.found is None or solved[1].value > self.found[1].value):
            self.found = solved

    def _precisions(self, solved: Solved) -> Floats:
        scores = self._scores(solved)
        chosen, right = _selected(self.dist, scores)
        there = (chosen > _NOBODY) & _compared(self.dist)
        return np.asarray(right[there] / chosen[there])

    def _scores(self, solved: Solved) -> Floats:
        scores = Variables(self.dist, self.aware).expand(solved.x)
        return scores if self.aware else np.broadcast_to(scores[:, None], self.dist.mass.shape[:2])

    def _result(self, bound: float) -> PredictiveParity:
        assert self.found is not None
        program, solved = self.found
        bounded = replace(solved, gap=max(bound - solved.value, solved.gap))
        # There are no shadow prices: the bound on precision is found by a search, not by one linear program.
        rule = replace(make_rules(program, [bounded], [dict(self.tolerances)], self.hood)[0], prices={})
        chosen, right = _selected(self.dist, rule.group_scores)
        with np.errstate(invalid="ignore", divide="ignore"):
            precision = np.where(chosen > _NOBODY, right / chosen, np.nan)
        left = _compared(self.dist)
        named = {name: float(precision[g]) for g, name in enumerate(self.dist.groups) if left[g]}
        return PredictiveParity(rule, self.tolerance, named, max(bound, solved.value))


def _selected(dist: CellDistribution, scores: Floats) -> tuple[Floats, Floats]:
    """Return the share of each group that is selected, and that is selected with label 1, for scores (N, G)."""
    people = dist.mass.sum(axis=(0, 2))
    size = np.where(people > 0, people, 1.0)
    chosen = np.einsum("ig,igy->g", scores, dist.mass) / size
    right = np.einsum("ig,ig->g", scores, dist.mass[:, :, 1]) / size
    return chosen, right


def _compared(dist: CellDistribution) -> Flags:
    """Return the groups that are compared: those with people, and enough rows where these are counted."""
    return dist.rates.of(SELECTION_RATE).defined


def _band(dist: CellDistribution, low: float, high: float) -> Rows:
    """Return rows that keep every compared group's precision between `low` and `high`, scaled by the group's size."""
    people = dist.mass.sum(axis=(0, 2))
    there = _compared(dist)
    law = (dist.mass / np.where(people > 0, people, 1.0)[None, :, None]).transpose(1, 0, 2)[there]
    place = np.eye(dist.n_groups)[there][:, :, None]
    blocks, sizes = [], []
    for edge in (low, min(high, 1.0)):
        forms = law[:, :, 1] * (1 - edge) - law[:, :, 0] * edge
        blocks.append(place * forms[:, None])
        sizes.append(place * law.sum(axis=2)[:, None])
    coefficient = np.concatenate(blocks)
    count = int(there.sum())
    return Rows(
        coefficient=coefficient,
        size=np.concatenate(sizes),
        coin=coefficient.sum(axis=(1, 2)) / 2,
        shared=np.zeros(2 * count),
        lower=np.repeat([0.0, -1.0], count),
        upper=np.repeat([1.0, 0.0], count),
    )
