"""Estimate how fair and how accurate any classifier can be on a table of people, given what it may see."""

from __future__ import annotations

from fairlimits.criteria import ALL_NOTIONS
from fairlimits.data import Dataset, load_dataset, open_dataset
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
from fairlimits.fidelity import fidelity
from fairlimits.frontier import Frontier, frontier
from fairlimits.neighbours import Neighbourhood
from fairlimits.sampling import cells_supported, samples_needed
from fairlimits.solve import Rule, solve
from fairlimits.tension import Tension, tension

__version__ = "0.1.0"

__all__ = [
    "ALL_NOTIONS",
    "CellDistribution",
    "DataError",
    "Dataset",
    "DatasetUnavailableError",
    "DecorrelationFrontier",
    "FairlimitsError",
    "FileError",
    "Frontier",
    "InfeasibleError",
    "InputError",
    "MissingExtraError",
    "Multipliers",
    "Neighbourhood",
    "Plan",
    "Rule",
    "SamplingWarning",
    "SolverError",
    "Tension",
    "cells_supported",
    "decorrelate",
    "decorrelation_frontier",
    "discretize",
    "fidelity",
    "frontier",
    "load_dataset",
    "open_dataset",
    "samples_needed",
    "solve",
    "tension",
]
