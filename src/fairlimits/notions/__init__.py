"""Requirements beyond the paper's notions, each linear in the scores: limits and floors, ratios, comparisons.

They are written as people write them, and read from text:

- ``selection rate <= 0.3``: a capacity; ``accuracy of Female >= 0.8``, ``true positive rate of each group >= 0.5``:
  floors;
- ``selection rate ratio >= 0.8``: the four-fifths rule, lowest over highest rate of the groups;
- ``false negative rate difference <= 0.05``: highest minus lowest; ``... difference from the rest <= 0.05`` compares
  each group with all others together, ``... difference from the average <= 0.05`` with all people.
"""

from __future__ import annotations

from fairlimits.notions.parsing import read_requirements
from fairlimits.notions.requirements import FOUR_FIFTHS, Difference, Limit, Ratio
from fairlimits.notions.rows import RATES, Requirement, Rows, rate_name

__all__ = [
    "FOUR_FIFTHS",
    "RATES",
    "Difference",
    "Limit",
    "Ratio",
    "Requirement",
    "Rows",
    "rate_name",
    "read_requirements",
]
