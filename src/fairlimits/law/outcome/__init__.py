"""Cross-fitted estimates of q(x) = P(A, Y | x), which is all that accuracy and group notions depend on."""

from __future__ import annotations

from fairlimits.law.cells.outcome_cells import OutcomeCells, Space
from fairlimits.law.outcome.crossfit import Outcome, OutcomeModel, estimate_outcome

__all__ = ["Outcome", "OutcomeCells", "OutcomeModel", "Space", "estimate_outcome"]
