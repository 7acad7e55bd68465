"""Rules for single people: a group-only rule as a function of q(x) = P(A, Y | x), without any cells.

Every row of the estimate is a cell of its own, so nothing is lost to quantization; the program's multipliers make the
rule a function of q that can be applied to rows it has never seen. A small temperature randomises ties.
"""

from __future__ import annotations

from fairlimits.limits.outcome_rules.problems import MarginWarning
from fairlimits.limits.outcome_rules.rules import PointwiseRule
from fairlimits.limits.outcome_rules.solving import TEMPERATURE, PointwiseFrontier, pointwise_frontier, solve_pointwise

__all__ = [
    "TEMPERATURE",
    "MarginWarning",
    "PointwiseFrontier",
    "PointwiseRule",
    "pointwise_frontier",
    "solve_pointwise",
]
