"""Cross-fitted estimates of q(x) = P(A, Y | x), which is all that accuracy and group notions depend on."""

from __future__ import annotations

from fairlimits.law.outcome.crossfit import estimate_apart, learn_apart
from fairlimits.law.outcome.estimates import Outcome
from fairlimits.law.outcome.estimating import estimate_outcome
from fairlimits.law.outcome.models import OutcomeModel, SplitLaw
from fairlimits.law.outcome.recalibration import Recalibration
from fairlimits.law.outcome.sampling import LearningPoint
from fairlimits.law.outcome.streamed import StreamedOutcome

__all__ = [
    "LearningPoint",
    "Outcome",
    "OutcomeModel",
    "Recalibration",
    "SplitLaw",
    "StreamedOutcome",
    "estimate_apart",
    "estimate_outcome",
    "learn_apart",
]
