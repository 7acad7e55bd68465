"""Maps from which the group cannot be told: the exact optimum, the map that moves people least, and its use on rows."""

from __future__ import annotations

from fairlimits.decorrelate.adversaries import Attack
from fairlimits.decorrelate.certificate import Certificate
from fairlimits.decorrelate.find import decorrelate
from fairlimits.decorrelate.multipliers import Multipliers
from fairlimits.decorrelate.plan import Plan
from fairlimits.decorrelate.sweep import DecorrelationFrontier, decorrelation_frontier

__all__ = [
    "Attack",
    "Certificate",
    "DecorrelationFrontier",
    "Multipliers",
    "Plan",
    "decorrelate",
    "decorrelation_frontier",
]
