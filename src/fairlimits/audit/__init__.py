"""An audit: where models stand beside the frontier, and how much of their loss is avoidable at the same fairness."""

from __future__ import annotations

from fairlimits.audit.find import audit
from fairlimits.audit.result import Audit
from fairlimits.audit.standing import AuditedModel, Curve, Standing

__all__ = ["Audit", "AuditedModel", "Curve", "Standing", "audit"]
