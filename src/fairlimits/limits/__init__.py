"""The best rule under notions and requirements, and how it changes with what is asked."""

from __future__ import annotations

from fairlimits.limits.bands import FrontierBand, frontier_band, frontiers
from fairlimits.limits.frontiers import Frontier, frontier
from fairlimits.limits.outcome_rules import (
    TEMPERATURE,
    MarginWarning,
    PointwiseFrontier,
    PointwiseRule,
    pointwise_frontier,
    solve_pointwise,
)
from fairlimits.limits.outcome_rules.problems import Problem
from fairlimits.limits.predictive import PredictiveParity, predictive_parity
from fairlimits.limits.ratios import RatioFrontier, ratio_frontier
from fairlimits.limits.rules import Rule, by_group, individual_gap, solve
from fairlimits.limits.tensions import Tension, tension
from fairlimits.limits.variables import Variables

__all__ = [
    "TEMPERATURE",
    "Frontier",
    "FrontierBand",
    "MarginWarning",
    "PointwiseFrontier",
    "PointwiseRule",
    "PredictiveParity",
    "Problem",
    "RatioFrontier",
    "Rule",
    "Tension",
    "Variables",
    "by_group",
    "frontier",
    "frontier_band",
    "frontiers",
    "individual_gap",
    "pointwise_frontier",
    "predictive_parity",
    "ratio_frontier",
    "solve",
    "solve_pointwise",
    "tension",
]
