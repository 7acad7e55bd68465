"""Rules and models on people that took no part in making them."""

from __future__ import annotations

from fairlimits.evaluation.audits import (
    Audit,
    AuditedModel,
    BeatenWarning,
    Threshold,
    audit,
    avoidable_cell,
    rates_heading,
    read_decisions,
    unavoidable_cell,
)
from fairlimits.evaluation.ceilings import Ceiling, Study, ceiling
from fairlimits.evaluation.decided_people import group_rates
from fairlimits.evaluation.evaluations import evaluate
from fairlimits.evaluation.monitoring import Alarm, GapBounds, Monitoring, PeriodFigures, monitor
from fairlimits.evaluation.reports import (
    PRICED_AT,
    Affected,
    Bracket,
    Caution,
    Decorrelated,
    ExplainedRule,
    Figure,
    Findings,
    FromAbove,
    GroupGap,
    HeldOut,
    HeldOutCurve,
    HeldOutFigure,
    Individual,
    OnCells,
    Tensions,
    collect_findings,
)
from fairlimits.evaluation.row_counts import rows_needed
from fairlimits.evaluation.scenario_results import Scenarios
from fairlimits.evaluation.scenarios import compare, compare_scenarios

__all__ = [
    "PRICED_AT",
    "Affected",
    "Alarm",
    "Audit",
    "AuditedModel",
    "BeatenWarning",
    "Bracket",
    "Caution",
    "Ceiling",
    "Decorrelated",
    "ExplainedRule",
    "Figure",
    "Findings",
    "FromAbove",
    "GapBounds",
    "GroupGap",
    "HeldOut",
    "HeldOutCurve",
    "HeldOutFigure",
    "Individual",
    "Monitoring",
    "OnCells",
    "PeriodFigures",
    "Scenarios",
    "Study",
    "Tensions",
    "Threshold",
    "audit",
    "avoidable_cell",
    "ceiling",
    "collect_findings",
    "compare",
    "compare_scenarios",
    "evaluate",
    "group_rates",
    "monitor",
    "rates_heading",
    "read_decisions",
    "rows_needed",
    "unavoidable_cell",
]
