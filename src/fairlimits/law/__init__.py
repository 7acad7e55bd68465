"""From data to the joint law of features, group and label: outcome estimates, cells and generators."""

from __future__ import annotations

from fairlimits.law.cells.building import (
    DEFAULT_GENERATOR,
    DEFAULT_SAMPLES,
    SamplingWarning,
    check_partitions,
    discretize,
    sampling_note,
)
from fairlimits.law.cells.counts import count_cells
from fairlimits.law.cells.distributions import CellDistribution
from fairlimits.law.cells.merging import merge
from fairlimits.law.cells.neighbours import (
    MOST_CELLS,
    Neighbourhood,
    can_compare,
    cell_distances,
    nearest_cell,
    neighbour_pairs,
)
from fairlimits.law.cells.origins import FEATURES, Origin, Partition
from fairlimits.law.cells.outcome_cells import OutcomeCells, Space
from fairlimits.law.cells.quantizer.codebook import assign, check_enough_rows, distortion, fit_codebook
from fairlimits.law.cells.sampling import cells_supported, samples_needed
from fairlimits.law.generators import PAPER_EPOCHS, CartGenerator, CtganGenerator, make_generator
from fairlimits.law.generators.fidelities import Fidelity, FidelityReport, fidelity, fidelity_report
from fairlimits.law.outcome import Outcome, OutcomeModel, Recalibration, estimate_outcome
from fairlimits.law.outcome.classifiers import Chances, ClassifierLaw, CodesView, EncodedView

__all__ = [
    "DEFAULT_GENERATOR",
    "DEFAULT_SAMPLES",
    "FEATURES",
    "MOST_CELLS",
    "PAPER_EPOCHS",
    "CartGenerator",
    "CellDistribution",
    "Chances",
    "ClassifierLaw",
    "CodesView",
    "CtganGenerator",
    "EncodedView",
    "Fidelity",
    "FidelityReport",
    "Neighbourhood",
    "Origin",
    "Outcome",
    "OutcomeCells",
    "OutcomeModel",
    "Partition",
    "Recalibration",
    "SamplingWarning",
    "Space",
    "assign",
    "can_compare",
    "cell_distances",
    "cells_supported",
    "check_enough_rows",
    "check_partitions",
    "count_cells",
    "discretize",
    "distortion",
    "estimate_outcome",
    "fidelity",
    "fidelity_report",
    "fit_codebook",
    "make_generator",
    "merge",
    "nearest_cell",
    "neighbour_pairs",
    "samples_needed",
    "sampling_note",
]
