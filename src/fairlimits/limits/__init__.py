"""The best rule under notions and requirements, and how it changes with what is asked."""

from __future__ import annotations

from fairlimits.errors import ConstantRuleWarning
from fairlimits.limits.attained import by_group, individual_gap, plug_in_accuracy
from fairlimits.limits.bands import Band
from fairlimits.limits.cards import CardFigure, Kept, ModelCard, card_schema, check_since
from fairlimits.limits.certification import Uncertified, UncertifiedWarning, check_uncertified
from fairlimits.limits.deciding import decide_all, locate_rows, policies_on
from fairlimits.limits.determinism import Determinism, check_randomize
from fairlimits.limits.drawing import Draws
from fairlimits.limits.explanations import Explanation, draw_changes
from fairlimits.limits.frontiers import Frontier
from fairlimits.limits.guarantees import Guarantee
from fairlimits.limits.labels import MarginWarning
from fairlimits.limits.laws import Law, on_cells
from fairlimits.limits.person_explanations import Explanations, PersonExplanation
from fairlimits.limits.policies import CellPolicy
from fairlimits.limits.predictive import PredictiveParity, predictive_parity
from fairlimits.limits.rate_rows import RateRows, compile_rows
from fairlimits.limits.rules import OnLabels, Rule
from fairlimits.limits.solving import check_certifiable, solve, solve_on
from fairlimits.limits.sweeps import ratio_frontier, trace_frontiers
from fairlimits.limits.tensions import Tension, tension
from fairlimits.limits.tracing import frontier, tolerance_grid
from fairlimits.limits.variables import Variables

__all__ = [
    "Band",
    "CardFigure",
    "CellPolicy",
    "ConstantRuleWarning",
    "Determinism",
    "Draws",
    "Explanation",
    "Explanations",
    "Frontier",
    "Guarantee",
    "Kept",
    "Law",
    "MarginWarning",
    "ModelCard",
    "OnLabels",
    "PersonExplanation",
    "PredictiveParity",
    "RateRows",
    "Rule",
    "Tension",
    "Uncertified",
    "UncertifiedWarning",
    "Variables",
    "by_group",
    "card_schema",
    "check_certifiable",
    "check_randomize",
    "check_since",
    "check_uncertified",
    "compile_rows",
    "decide_all",
    "draw_changes",
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
