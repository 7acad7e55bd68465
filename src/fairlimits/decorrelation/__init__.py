"""Maps from which the group cannot be told: the exact optimum, the map that moves people least, and its use on rows."""

from __future__ import annotations

from fairlimits.decorrelation.adversaries import Attack
from fairlimits.decorrelation.certificates import Certificate
from fairlimits.decorrelation.frontiers import DecorrelationFrontier, decorrelation_frontier
from fairlimits.decorrelation.multipliers import Multipliers
from fairlimits.decorrelation.results import Plan
from fairlimits.decorrelation.solving import decorrelate

__all__ = [
    "Attack",
    "Certificate",
    "DecorrelationFrontier",
    "Multipliers",
    "Plan",
    "decorrelate",
    "decorrelation_frontier",
]
