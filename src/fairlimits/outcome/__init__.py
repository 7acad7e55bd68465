"""Cross-fitted estimates of q(x) = P(A, Y | x), which is all that accuracy and group notions depend on."""

from __future__ import annotations

from fairlimits.outcome.cells import OutcomeCells, Space
from fairlimits.outcome.estimate import Outcome, OutcomeModel, estimate_outcome

__all__ = ["Outcome", "OutcomeCells", "OutcomeModel", "Space", "estimate_outcome"]
