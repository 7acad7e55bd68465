"""What a report finds, as plain data: on people that no rule has seen, on the cells, and what to beware of."""

from __future__ import annotations

from fairlimits.evaluation.reports.by_group import GroupGap
from fairlimits.evaluation.reports.explained import ExplainedRule
from fairlimits.evaluation.reports.findings import Findings, collect_findings
from fairlimits.evaluation.reports.from_above import Bracket, FromAbove
from fairlimits.evaluation.reports.held_out import HeldOut
from fairlimits.evaluation.reports.on_cells import OnCells
from fairlimits.evaluation.reports.parts import (
    PRICED_AT,
    Affected,
    Caution,
    Decorrelated,
    Figure,
    HeldOutCurve,
    HeldOutFigure,
    Individual,
    Tensions,
)

__all__ = [
    "PRICED_AT",
    "Affected",
    "Bracket",
    "Caution",
    "Decorrelated",
    "ExplainedRule",
    "Figure",
    "Findings",
    "FromAbove",
    "GroupGap",
    "HeldOut",
    "HeldOutCurve",
    "HeldOutFigure",
    "Individual",
    "OnCells",
    "Tensions",
    "collect_findings",
]
