"""An audit: where models stand beside the frontier, and how much of their loss is avoidable at the same fairness."""

from __future__ import annotations

from fairlimits.evaluation.audits.audited_people import split_people
from fairlimits.evaluation.audits.comparisons import AuditedModel, BeatenWarning, Curve, Standing
from fairlimits.evaluation.audits.predictions import Threshold, read_decisions
from fairlimits.evaluation.audits.results import Audit
from fairlimits.evaluation.audits.running import audit, audit_on
from fairlimits.evaluation.audits.sentences import avoidable_cell, rates_heading, unavoidable_cell

__all__ = [
    "Audit",
    "AuditedModel",
    "BeatenWarning",
    "Curve",
    "Standing",
    "Threshold",
    "audit",
    "audit_on",
    "avoidable_cell",
    "rates_heading",
    "read_decisions",
    "split_people",
    "unavoidable_cell",
]
