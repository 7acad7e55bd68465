"""Rules and models on people that took no part in making them."""

from __future__ import annotations

from fairlimits.evaluation.audits import Audit, AuditedModel, audit
from fairlimits.evaluation.audits.sentences import points_cell
from fairlimits.evaluation.challenges import BeatenWarning, Challenge, challenge, check_predictions
from fairlimits.evaluation.evaluations import EvaluatedFrontier, Evaluation, evaluate, evaluate_scores
from fairlimits.evaluation.growth import growth
from fairlimits.evaluation.scenarios import Scenarios, compare, scenarios

__all__ = [
    "Audit",
    "AuditedModel",
    "BeatenWarning",
    "Challenge",
    "EvaluatedFrontier",
    "Evaluation",
    "Scenarios",
    "audit",
    "challenge",
    "check_predictions",
    "compare",
    "evaluate",
    "evaluate_scores",
    "growth",
    "points_cell",
    "scenarios",
]
