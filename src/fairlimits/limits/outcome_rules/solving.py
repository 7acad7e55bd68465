"""`solve_pointwise` and `pointwise_frontier`: pointwise rules at some tolerances, and over a range of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from fairlimits._util.progress import Progress
from fairlimits._util.types import Floats
from fairlimits.errors import InputError
from fairlimits.law import Outcome
from fairlimits.limits.frontiers import DEFAULT_TOLERANCES, Tolerances, tolerance_grid
from fairlimits.limits.outcome_rules.problems import Problem
from fairlimits.limits.outcome_rules.rules import PointwiseRule
from fairlimits.notions import NOTIONS, check_confidence, check_names, check_tolerances

TEMPERATURE = 0.005
"""Points whose margin is within a few of it, as a share of accuracy, are decided at random."""


@dataclass(frozen=True, eq=False, repr=False)
class PointwiseFrontier:
    """Pointwise rules over a range of tolerances.

    Parameters
    ----------
    rules : tuple of PointwiseRule
        The rule at each point.
    grid : mapping of str to ndarray of shape (points,)
        Each notion's tolerance at each point.
    """

    rules: tuple[PointwiseRule, ...]
    grid: Mapping[str, Floats]

    @property
    def aware(self) -> bool:
        """Whether the rules see the group."""
        return self.rules[0].aware

    @property
    def accuracy(self) -> Floats:
        """Plug-in accuracy at each point."""
        return np.array([rule.accuracy for rule in self.rules])

    def __len__(self) -> int:
        return len(self.rules)

    def to_frame(self) -> pa.Table:
        """Tolerances, accuracy and gaps as a table, a row for each point."""
        columns: dict[str, Any] = {f"tolerance {name}": values for name, values in self.grid.items()}
        columns["accuracy"] = self.accuracy
        columns["accuracy on labels"] = [rule.label_accuracy for rule in self.rules]
        return pa.table(columns | {f"gap {name}": [rule.gaps[name] for rule in self.rules] for name in NOTIONS})

    def __repr__(self) -> str:
        what = f"{' + '.join(self.grid)}, {'aware' if self.aware else 'unaware'}"
        return f"PointwiseFrontier({what}, {len(self)} points)"


def solve_pointwise(
    outcome: Outcome,
    tolerances: Mapping[str, float],
    *,
    aware: bool = False,
    confidence: float | None = None,
    temperature: float = TEMPERATURE,
) -> PointwiseRule:
    """Find the most accurate rule for single people whose gaps stay within tolerances.

    Parameters
    ----------
    outcome : Outcome
        Estimate of q(x) = P(A, Y | x), from `estimate_outcome`.
    tolerances : mapping of str to float
        Largest gap allowed for each notion, among DP, EA, EOp, PE and EOd. Individual fairness compares cells:
        use `discretize` and `solve` for it.
    aware : bool, default=False
        Whether the rule may see the group.
    confidence : float, optional
        Tighten each tolerance by a margin, so that the gap stays within it in the population with this confidence,
        such as 0.95. By default the tolerance holds on the rows, and is exceeded by chance on others.
    temperature : float, default=0.005
        How wide the band is in which people are decided at random.

    Returns
    -------
    PointwiseRule

    Warns
    -----
    MarginWarning
        If the margin is larger than a tolerance, or a rate has fewer than 30 rows behind it: then everybody gets the
        same score. Without a confidence, if the rows are too few for the gap on their labels to meet its tolerance.
    """
    asked = check_tolerances(tolerances)
    if confidence is not None:
        check_confidence(confidence)
    return Problem(outcome, tuple(asked), aware, temperature).rule(asked, confidence)


def pointwise_frontier(
    outcome: Outcome,
    notions: Sequence[str],
    tolerances: Tolerances | None = None,
    *,
    aware: bool = False,
    confidence: float | None = None,
    temperature: float = TEMPERATURE,
    progress: Progress | None = None,
) -> PointwiseFrontier:
    """Find the best rules for single people over a range of tolerances.

    Parameters
    ----------
    outcome, aware, confidence, temperature
        See `solve_pointwise`.
    notions : sequence of str
        The notions to constrain, among DP, EA, EOp, PE and EOd.
    tolerances : array-like, or mapping of str to array-like or number, optional
        An array moves all notions together, by default 41 tolerances from 0 to 0.2; a mapping gives each its own.
    progress : callable, optional
        Called with the fraction done and a few words.
    """
    names = check_names([notions] if isinstance(notions, str) else notions)
    if not names:
        raise InputError("No notion was given; name at least one, such as ['DP'].")
    grid = tolerance_grid(names, DEFAULT_TOLERANCES if tolerances is None else tolerances)
    if confidence is not None:
        check_confidence(confidence)
    problem = Problem(outcome, names, aware, temperature)
    total = len(grid[names[0]])
    rules = []
    # From loose to tight: the first is without prices, and each next one starts from the one before.
    for done, point in enumerate(reversed(range(total)), 1):
        rules.append(problem.rule({name: float(values[point]) for name, values in grid.items()}, confidence))
        if progress is not None:
            progress(done / total, f"tolerance {done} of {total}")
    return PointwiseFrontier(tuple(rules[::-1]), grid)
