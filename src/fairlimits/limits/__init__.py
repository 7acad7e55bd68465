"""The best rule under notions and requirements, and how it changes with what is asked."""

from __future__ import annotations

from fairlimits.limits.bands import Band
from fairlimits.limits.frontiers import Frontier
from fairlimits.limits.laws import Law, on_cells
from fairlimits.limits.outcome_rules import MarginWarning, OutcomeProgram
from fairlimits.limits.policies import CellPolicy, OutcomePolicy
from fairlimits.limits.predictive import PredictiveParity, predictive_parity
from fairlimits.limits.rate_rows import RateRows, compile_rows
from fairlimits.limits.rules import OnLabels, Rule, by_group, decide_all, individual_gap, policies_on
from fairlimits.limits.solving import solve
from fairlimits.limits.sweeps import ratio_frontier, trace_frontiers
from fairlimits.limits.tensions import Tension, tension
from fairlimits.limits.tracing import frontier
from fairlimits.limits.variables import Variables

__all__ = [
    "Band",
    "CellPolicy",
    "Frontier",
    "Law",
    "MarginWarning",
    "OnLabels",
    "OutcomePolicy",
    "OutcomeProgram",
    "PredictiveParity",
    "RateRows",
    "Rule",
    "Tension",
    "Variables",
    "by_group",
    "compile_rows",
    "decide_all",
    "frontier",
    "individual_gap",
    "on_cells",
    "policies_on",
    "predictive_parity",
    "ratio_frontier",
    "solve",
    "tension",
    "trace_frontiers",
]
