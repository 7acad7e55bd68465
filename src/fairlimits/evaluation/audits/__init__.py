"""An audit: where models stand beside the frontier, and how much of their loss is avoidable at the same fairness."""

from __future__ import annotations

from fairlimits.evaluation.audits.comparisons import AuditedModel, BeatenWarning, Curve, Standing
from fairlimits.evaluation.audits.predictions import from_rows, read_decisions
from fairlimits.evaluation.audits.results import Audit
from fairlimits.evaluation.audits.running import audit, audit_on, split_rows
from fairlimits.evaluation.audits.sentences import points_cell

__all__ = [
    "Audit",
    "AuditedModel",
    "BeatenWarning",
    "Curve",
    "Standing",
    "audit",
    "audit_on",
    "from_rows",
    "points_cell",
    "read_decisions",
    "split_rows",
]
