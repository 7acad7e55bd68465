"""Cross-fitted estimates of q(x) = P(A, Y | x), which is all that accuracy and group notions depend on."""

from __future__ import annotations

from fairlimits.law.cells.outcome_cells import OutcomeCells, Space
from fairlimits.law.outcome.crossfit import estimate_outcome
from fairlimits.law.outcome.estimates import Outcome
from fairlimits.law.outcome.models import OutcomeModel

__all__ = ["Outcome", "OutcomeCells", "OutcomeModel", "Space", "estimate_outcome"]
