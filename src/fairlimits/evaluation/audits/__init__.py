"""An audit: where models stand beside the frontier, and how much of their loss is avoidable at the same fairness."""

from __future__ import annotations

from fairlimits.evaluation.audits.comparisons import AuditedModel, Curve, Standing
from fairlimits.evaluation.audits.results import Audit
from fairlimits.evaluation.audits.running import audit

__all__ = ["Audit", "AuditedModel", "Curve", "Standing", "audit"]
