"""What is asked of a rule: rates, notions, requirements and objectives; and tallies of decided people.

Requirements are written as people write them, and read from text:

- ``selection rate <= 0.3``: a capacity; ``accuracy of Female >= 0.8``, ``true positive rate of each group >= 0.5``:
  floors;
- ``selection rate ratio >= 0.8``: the four-fifths rule, lowest over highest rate of the groups;
- ``false negative rate difference <= 0.05``: highest minus lowest; ``... difference from the rest <= 0.05`` compares
  each group with all others together, ``... difference from the average <= 0.05`` with all people.
"""

from __future__ import annotations

from fairlimits._util.small_samples import ESTIMABLE_ROWS
from fairlimits.notions.counted_people import CountedPeople, Kinds
from fairlimits.notions.estimates import (
    accuracy_difference,
    accuracy_estimates,
    gap_estimates,
    objective_estimates,
    requirement_estimates,
)
from fairlimits.notions.evaluations import Evaluation, evaluate_scores
from fairlimits.notions.gap_limits import Differences, differences, rows_to_certify
from fairlimits.notions.group_rates import CHANCE_WORDS, Gap, GroupRates, draw_rates, rates_table, rows_text
from fairlimits.notions.intervals import (
    NOT_ESTIMABLE,
    NOT_ESTIMABLE_TEXT,
    RESAMPLES,
    SUPPRESSED,
    UNIT,
    Estimate,
    check_confidence,
    check_resamples,
    percentile_estimate,
    plain_records,
    standard_errors,
    with_suppressed,
)
from fairlimits.notions.objectives import ACCURACY, Costs, Objective
from fairlimits.notions.parsing import read_objective, read_requirements
from fairlimits.notions.rate_estimates import plug_in_rates, rates_by_group
from fairlimits.notions.rates import ROUNDING, SELECTION_RATE, Rate, RateTable, rate_name, spread
from fairlimits.notions.registry import (
    ALL_NOTIONS,
    INDIVIDUAL,
    NOTIONS,
    alike_accuracy,
    alike_score,
    check_names,
    check_tolerances,
    enough_rows,
    estimable,
    group_gaps,
    title,
    warn_of_nothing_to_compare,
)
from fairlimits.notions.requirements import FOUR_FIFTHS, Difference, Limit, Ratio
from fairlimits.notions.rows import Requirement, Rows
from fairlimits.notions.score_intervals import MeasuredRates
from fairlimits.notions.storage import pack_objective, pack_requirement, unpack_objective, unpack_requirements
from fairlimits.notions.suppression import suppress_evaluation, suppress_rates
from fairlimits.notions.tallies import People, Tally, resampled, tally

__all__ = [
    "ACCURACY",
    "ALL_NOTIONS",
    "CHANCE_WORDS",
    "ESTIMABLE_ROWS",
    "FOUR_FIFTHS",
    "INDIVIDUAL",
    "NOTIONS",
    "NOT_ESTIMABLE",
    "NOT_ESTIMABLE_TEXT",
    "RESAMPLES",
    "ROUNDING",
    "SELECTION_RATE",
    "SUPPRESSED",
    "UNIT",
    "Costs",
    "CountedPeople",
    "Difference",
    "Differences",
    "Estimate",
    "Evaluation",
    "Gap",
    "GroupRates",
    "Kinds",
    "Limit",
    "MeasuredRates",
    "Objective",
    "People",
    "Rate",
    "RateTable",
    "Ratio",
    "Requirement",
    "Rows",
    "Tally",
    "accuracy_difference",
    "accuracy_estimates",
    "alike_accuracy",
    "alike_score",
    "check_confidence",
    "check_names",
    "check_resamples",
    "check_tolerances",
    "differences",
    "draw_rates",
    "enough_rows",
    "estimable",
    "evaluate_scores",
    "gap_estimates",
    "group_gaps",
    "objective_estimates",
    "pack_objective",
    "pack_requirement",
    "percentile_estimate",
    "plain_records",
    "plug_in_rates",
    "rate_name",
    "rates_by_group",
    "rates_table",
    "read_objective",
    "read_requirements",
    "requirement_estimates",
    "resampled",
    "rows_text",
    "rows_to_certify",
    "spread",
    "standard_errors",
    "suppress_evaluation",
    "suppress_rates",
    "tally",
    "title",
    "unpack_objective",
    "unpack_requirements",
    "warn_of_nothing_to_compare",
    "with_suppressed",
]
