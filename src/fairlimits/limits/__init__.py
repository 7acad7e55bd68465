"""The best rule under notions and requirements, and how it changes with what is asked."""

from __future__ import annotations

from fairlimits.errors import ConstantRuleWarning
from fairlimits.limits.bands import Band
from fairlimits.limits.certification import Uncertified, UncertifiedWarning, check_uncertified
from fairlimits.limits.frontiers import Frontier
from fairlimits.limits.guarantees import Guarantee
from fairlimits.limits.labels import MarginWarning
from fairlimits.limits.laws import Law, on_cells
from fairlimits.limits.policies import CellPolicy
from fairlimits.limits.predictive import PredictiveParity, predictive_parity
from fairlimits.limits.rate_rows import RateRows, compile_rows
from fairlimits.limits.rules import (
    OnLabels,
    Rule,
    by_group,
    decide_all,
    individual_gap,
    locate_rows,
    plug_in_accuracy,
    policies_on,
)
from fairlimits.limits.solving import check_certifiable, solve, solve_on
from fairlimits.limits.sweeps import ratio_frontier, trace_frontiers
from fairlimits.limits.tensions import Tension, tension
from fairlimits.limits.tracing import frontier, tolerance_grid
from fairlimits.limits.variables import Variables

__all__ = [
    "Band",
    "CellPolicy",
    "ConstantRuleWarning",
    "Frontier",
    "Guarantee",
    "Law",
    "MarginWarning",
    "OnLabels",
    "PredictiveParity",
    "RateRows",
    "Rule",
    "Tension",
    "Uncertified",
    "UncertifiedWarning",
    "Variables",
    "by_group",
    "check_certifiable",
    "check_uncertified",
    "compile_rows",
    "decide_all",
    "frontier",
    "individual_gap",
    "locate_rows",
    "on_cells",
    "plug_in_accuracy",
    "policies_on",
    "predictive_parity",
    "ratio_frontier",
    "solve",
    "solve_on",
    "tension",
    "tolerance_grid",
    "trace_frontiers",
]
