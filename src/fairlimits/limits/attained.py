"""What scores attain on the law that they are for: accuracy, gaps, and what the tolerances cost."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

import numpy as np

from fairlimits._util.types import Floats
from fairlimits.law import CellDistribution, Neighbourhood, can_compare
from fairlimits.limits.programs import FairProgram
from fairlimits.limits.variables import Variables
from fairlimits.notions import Requirement

# How far to the right of a tolerance its right derivative is taken: well above the solver's precision. The linear
# pieces of the concave curve are wider, except with individual fairness, where some of 2e-10 to 1e-7 were seen: a
# tolerance that close to the end of its piece gets the slope of a later piece.
_STEP = 1e-6


def constraints_in_words(tolerances: Mapping[str, float], requirements: Iterable[Requirement]) -> str:
    """Return constraints as text, such as "DP within 0.05 and selection rate <= 0.3"; empty if there are none."""
    return " and ".join([*(f"{name} within {eps:g}" for name, eps in tolerances.items()), *map(str, requirements)])


def shadow_prices(program: FairProgram, tolerances: Mapping[str, float]) -> dict[str, float]:
    """Return the right derivative of the optimal value in each notion's tolerance alone."""
    prices = {}
    for name, value in tolerances.items():
        # Just beyond the tolerance the slope is that of the piece to the right, also at a breakpoint.
        solved = program.solve({**tolerances, name: value + _STEP})
        # Which notion bounds a shared rate is decided at the tolerances themselves, not just beyond.
        prices[name] = program.slope(solved, tolerances, {name: 1.0})
    return prices


def individual_gap(dist: CellDistribution, scores: Floats, aware: bool, neighbours: Neighbourhood) -> float:
    """Return the largest difference between the scores of neighbours, weighted by nearness; NaN if not known."""
    if not can_compare(dist):
        return math.nan
    variables = Variables(dist, aware)
    return variables.compare(neighbours).gap(scores[variables.filled])


def plug_in_accuracy(dist: CellDistribution, scores: Floats, aware: bool) -> float:
    """Return the accuracy of scores on the law that they are for."""
    chance = by_group(scores, aware, dist.n_groups)
    return float((dist.mass[:, :, 1] * chance + dist.mass[:, :, 0] * (1 - chance)).sum())


def by_group(scores: Floats, aware: bool, groups: int) -> Floats:
    """Return scores of shape (..., N, G), whether the rule is aware or not."""
    if aware:
        return scores
    return np.broadcast_to(scores[..., None], (*scores.shape, groups))
