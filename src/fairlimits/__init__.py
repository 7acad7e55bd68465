"""Estimate how fair and how accurate any classifier can be on a table of people, given what it may see."""

from __future__ import annotations

from fairlimits.apps.report import Report, report
from fairlimits.data import Dataset, load_dataset, open_data
from fairlimits.decorrelation import Decorrelation, decorrelate
from fairlimits.errors import FairlimitsError, InfeasibleError, InputError, SolverError
from fairlimits.estimators import ConstrainedBayesClassifier, Decorrelator, load, save
from fairlimits.evaluation import Audit, Scenarios, audit, compare_scenarios, evaluate
from fairlimits.law import CellDistribution, Neighbourhood, Outcome, discretize, estimate_outcome, merge
from fairlimits.limits import Frontier, Rule, Tension, frontier, solve, tension
from fairlimits.notions import Evaluation

__version__ = "0.1.0"

__all__ = [
    "Audit",
    "CellDistribution",
    "ConstrainedBayesClassifier",
    "Dataset",
    "Decorrelation",
    "Decorrelator",
    "Evaluation",
    "FairlimitsError",
    "Frontier",
    "InfeasibleError",
    "InputError",
    "Neighbourhood",
    "Outcome",
    "Report",
    "Rule",
    "Scenarios",
    "SolverError",
    "Tension",
    "audit",
    "compare_scenarios",
    "decorrelate",
    "discretize",
    "estimate_outcome",
    "evaluate",
    "frontier",
    "load",
    "load_dataset",
    "merge",
    "open_data",
    "report",
    "save",
    "solve",
    "tension",
]
