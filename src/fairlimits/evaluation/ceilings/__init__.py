"""The limit from above: what no rule passes, from people who are alike in all that it sees, with its confidence."""

from __future__ import annotations

from fairlimits.evaluation.ceilings.finding import Study, ceiling
from fairlimits.evaluation.ceilings.results import Ceiling

__all__ = ["Ceiling", "Study", "ceiling"]
