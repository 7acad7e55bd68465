"""Estimate how fair and how accurate any classifier can be on a table of people, given what it may see."""

from __future__ import annotations

from fairlimits.audit import Audit, audit
from fairlimits.bands import FrontierBand, frontier_band, frontiers
from fairlimits.challenge import BeatenWarning, Challenge, challenge
from fairlimits.criteria import ALL_NOTIONS
from fairlimits.data import Dataset, Stream, load_dataset, open_dataset, open_stream
from fairlimits.decorrelate import (
    DecorrelationFrontier,
    Multipliers,
    Plan,
    decorrelate,
    decorrelation_frontier,
)
from fairlimits.discretize import SamplingWarning, discretize
from fairlimits.distribution import CellDistribution
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
from fairlimits.evaluate import EvaluatedFrontier, Evaluation, evaluate
from fairlimits.fidelity import fidelity
from fairlimits.frontier import Frontier, frontier
from fairlimits.growth import growth
from fairlimits.merging import merge
from fairlimits.neighbours import Neighbourhood
from fairlimits.objective import Costs, Objective
from fairlimits.outcome import Outcome, estimate_outcome
from fairlimits.pointwise import (
    MarginWarning,
    PointwiseFrontier,
    PointwiseRule,
    pointwise_frontier,
    solve_pointwise,
)
from fairlimits.predictive import PredictiveParity, predictive_parity
from fairlimits.ratios import RatioFrontier, ratio_frontier
from fairlimits.requirements import FOUR_FIFTHS, Difference, Limit, Ratio
from fairlimits.sampling import cells_supported, rows_to_certify, samples_needed
from fairlimits.scenarios import Scenarios, scenarios
from fairlimits.solve import Rule, solve
from fairlimits.tension import Tension, tension

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
