"""Maps from which the group cannot be told: the exact optimum, the map that moves people least, and its use on rows."""

from __future__ import annotations

from fairlimits.decorrelation.adversaries import Attack
from fairlimits.decorrelation.applying import SCORED_AS, draw_targets, mapped_table
from fairlimits.decorrelation.certificates import Certificate
from fairlimits.decorrelation.frontiers import DecorrelationFrontier, decorrelation_frontier
from fairlimits.decorrelation.multipliers import Multipliers
from fairlimits.decorrelation.results import Decorrelation
from fairlimits.decorrelation.solving import ACCURACY_WEIGHT, CORRELATION_WEIGHT, check_weight, decorrelate

__all__ = [
    "ACCURACY_WEIGHT",
    "CORRELATION_WEIGHT",
    "SCORED_AS",
    "Attack",
    "Certificate",
    "Decorrelation",
    "DecorrelationFrontier",
    "Multipliers",
    "check_weight",
    "decorrelate",
    "decorrelation_frontier",
    "draw_targets",
    "mapped_table",
]
