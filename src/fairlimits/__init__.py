"""Estimate how fair and how accurate any classifier can be on a table of people, given what it may see."""

from __future__ import annotations

from fairlimits.data import Dataset, Stream, load_dataset, open_dataset, open_stream
from fairlimits.decorrelation import (
    DecorrelationFrontier,
    Multipliers,
    Plan,
    decorrelate,
    decorrelation_frontier,
)
from fairlimits.errors import (
    DataError,
    DatasetUnavailableError,
    FairlimitsError,
    FileError,
    InfeasibleError,
    InputError,
    MissingExtraError,
    SolverError,
)
from fairlimits.estimators import ConstrainedBayesClassifier, Decorrelator, load_estimator, save_estimator
from fairlimits.evaluation.audits import Audit, audit
from fairlimits.evaluation.challenges import BeatenWarning, Challenge, challenge
from fairlimits.evaluation.evaluations import EvaluatedFrontier, Evaluation, evaluate
from fairlimits.evaluation.growth import growth
from fairlimits.evaluation.scenarios import Scenarios, scenarios
from fairlimits.law.cells.building import SamplingWarning, discretize
from fairlimits.law.cells.distributions import CellDistribution
from fairlimits.law.cells.merging import merge
from fairlimits.law.cells.neighbours import Neighbourhood
from fairlimits.law.cells.sampling import cells_supported, rows_to_certify, samples_needed
from fairlimits.law.generators.fidelities import fidelity
from fairlimits.law.outcome import Outcome, estimate_outcome
from fairlimits.limits.bands import FrontierBand, frontier_band, frontiers
from fairlimits.limits.frontiers import Frontier, frontier
from fairlimits.limits.outcome_rules import (
    MarginWarning,
    PointwiseFrontier,
    PointwiseRule,
    pointwise_frontier,
    solve_pointwise,
)
from fairlimits.limits.predictive import PredictiveParity, predictive_parity
from fairlimits.limits.ratios import RatioFrontier, ratio_frontier
from fairlimits.limits.rules import Rule, solve
from fairlimits.limits.tensions import Tension, tension
from fairlimits.notions import FOUR_FIFTHS, Difference, Limit, Ratio
from fairlimits.notions.objectives import Costs, Objective
from fairlimits.notions.rates import ALL_NOTIONS

__version__ = "0.1.0"

__all__ = [
    "ALL_NOTIONS",
    "FOUR_FIFTHS",
    "Audit",
    "BeatenWarning",
    "CellDistribution",
    "Challenge",
    "ConstrainedBayesClassifier",
    "Costs",
    "DataError",
    "Dataset",
    "DatasetUnavailableError",
    "DecorrelationFrontier",
    "Decorrelator",
    "Difference",
    "EvaluatedFrontier",
    "Evaluation",
    "FairlimitsError",
    "FileError",
    "Frontier",
    "FrontierBand",
    "InfeasibleError",
    "InputError",
    "Limit",
    "MarginWarning",
    "MissingExtraError",
    "Multipliers",
    "Neighbourhood",
    "Objective",
    "Outcome",
    "Plan",
    "PointwiseFrontier",
    "PointwiseRule",
    "PredictiveParity",
    "Ratio",
    "RatioFrontier",
    "Rule",
    "SamplingWarning",
    "Scenarios",
    "SolverError",
    "Stream",
    "Tension",
    "audit",
    "cells_supported",
    "challenge",
    "decorrelate",
    "decorrelation_frontier",
    "discretize",
    "estimate_outcome",
    "evaluate",
    "fidelity",
    "frontier",
    "frontier_band",
    "frontiers",
    "growth",
    "load_dataset",
    "load_estimator",
    "merge",
    "open_dataset",
    "open_stream",
    "pointwise_frontier",
    "predictive_parity",
    "ratio_frontier",
    "rows_to_certify",
    "samples_needed",
    "save_estimator",
    "scenarios",
    "solve",
    "solve_pointwise",
    "tension",
]
