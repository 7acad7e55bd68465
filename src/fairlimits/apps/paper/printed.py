"""What the paper prints, as plain data: its tables, its captions, and the few figures in its text."""

from __future__ import annotations

from collections.abc import Mapping

DATASETS = ("adult", "law", "dutch")
"""The paper's data sets, in the order of its Table 1."""

TITLES: Mapping[str, str] = {"adult": "Adult", "law": "Law", "dutch": "Dutch"}

SCENARIOS = ("aware", "unaware")

FIDELITY_CELLS: Mapping[str, int] = {"adult": 48, "law": 20, "dutch": 59}
"""Cells of Table 1, which the sampling bound gives."""

SAMPLES = 1_000_000
SAMPLES_NEEDED = 259_849
"""Rows that the bound asks for at 256 cells (Section 5.1)."""

GROUP_A: Mapping[str, str] = {"adult": "Female", "law": "Non-White", "dutch": "female"}
"""The paper does not say which group is a. This choice fits its distances, which cannot exceed the groups' masses."""

TABLE1: Mapping[str, Mapping[tuple[str, int], tuple[float, float]]] = {
    "adult": {("a", 0): (0.96, 0.04), ("a", 1): (0.98, 0.00), ("b", 0): (0.97, 0.05), ("b", 1): (0.97, 0.03)},
    "law": {("a", 0): (0.98, 0.01), ("a", 1): (0.88, 0.02), ("b", 0): (0.97, 0.01), ("b", 1): (0.91, 0.06)},
    "dutch": {("a", 0): (0.94, 0.05), ("a", 1): (0.88, 0.03), ("b", 0): (0.97, 0.02), ("b", 1): (0.95, 0.05)},
}
"""For each group and label: Pearson's correlation and total variation distance."""

INDIVIDUAL_TOLERANCE = 0.05
"""Tolerance of Ind in Table 2."""

RELAXATIONS = (0.0, 0.05, 0.10)
"""Tolerances of the group notions in Table 2. The text says 0.0, 0.5 and 0.10: a slip."""

PAIRINGS2 = ("DP+EA", "DP+EOd", "EA+EOd", "DP+Ind", "EA+Ind", "EOd+Ind")

BASELINE: Mapping[str, Mapping[str, float]] = {
    "adult": {"aware": 2.0, "unaware": 0.92},
    "dutch": {"aware": 2.0, "unaware": 0.56},
    "law": {"aware": 2.0, "unaware": 0.98},
}
"""Baseline correlation of Table 2."""

TABLE2: Mapping[str, Mapping[str, Mapping[str, tuple[float, float, float, float]]]] = {
    "adult": {
        "DP+EA": {"aware": (2.0, 0.0, 0.005, 0.008), "unaware": (0.92, 0.0, 0.007, 0.008)},
        "DP+EOd": {"aware": (2.0, 0.0, 0.008, 0.007), "unaware": (0.92, 0.0, 0.01, 0.007)},
        "EA+EOd": {"aware": (1.939, 0.084, 0.01, 0.012), "unaware": (0.87, 0.08, 0.012, 0.005)},
        "DP+Ind": {"aware": (2.0, 0.0, 0.014, 0.008), "unaware": (0.92, 0.0, 0.003, 0.002)},
        "EA+Ind": {"aware": (1.974, 0.044, 0.021, 0.006), "unaware": (0.92, 0.0, 0.003, 0.0)},
        "EOd+Ind": {"aware": (2.0, 0.0, 0.015, 0.004), "unaware": (0.918, 0.003, 0.003, 0.002)},
    },
    "dutch": {
        "DP+EA": {"aware": (2.0, 0.0, 0.017, 0.016), "unaware": (0.544, 0.019, 0.025, 0.023)},
        "DP+EOd": {"aware": (2.0, 0.0, 0.009, 0.016), "unaware": (0.498, 0.053, 0.015, 0.022)},
        "EA+EOd": {"aware": (1.801, 0.099, 0.021, 0.019), "unaware": (0.367, 0.088, 0.019, 0.017)},
        "DP+Ind": {"aware": (2.0, 0.0, 0.02, 0.008), "unaware": (0.56, 0.0, 0.009, 0.007)},
        "EA+Ind": {"aware": (1.989, 0.032, 0.061, 0.011), "unaware": (0.56, 0.0, 0.012, 0.002)},
        "EOd+Ind": {"aware": (1.98, 0.035, 0.022, 0.009), "unaware": (0.542, 0.031, 0.011, 0.006)},
    },
    "law": {
        "DP+EA": {"aware": (2.0, 0.0, 0.021, 0.018), "unaware": (0.98, 0.0, 0.026, 0.025)},
        "DP+EOd": {"aware": (2.0, 0.0, 0.02, 0.018), "unaware": (0.98, 0.0, 0.014, 0.013)},
        "EA+EOd": {"aware": (1.88, 0.113, 0.019, 0.026), "unaware": (0.91, 0.074, 0.01, 0.012)},
        "DP+Ind": {"aware": (2.0, 0.0, 0.021, 0.013), "unaware": (0.98, 0.0, 0.005, 0.005)},
        "EA+Ind": {"aware": (2.0, 0.0, 0.056, 0.006), "unaware": (0.98, 0.0, 0.004, 0.001)},
        "EOd+Ind": {"aware": (1.977, 0.021, 0.02, 0.006), "unaware": (0.98, 0.0, 0.005, 0.004)},
    },
}
"""Reduction of correlation and of accuracy: mean, deviation, mean, deviation."""

PAIRINGS3 = ("DP+EA", "DP+EOd", "EA+EOd")

SIZES = (16, 32, 64, 128, 256, 512)
"""Numbers of cells of Table 3."""

TABLE3: Mapping[str, Mapping[int, tuple[tuple[float, float], ...]]] = {
    "adult": {
        16: ((0.734, 0.039), (0.775, 0.0), (0.72, 0.059), (0.701, 0.062), (0.775, 0.0), (0.699, 0.065)),
        32: ((0.763, 0.022), (0.784, 0.004), (0.75, 0.047), (0.754, 0.029), (0.781, 0.002), (0.744, 0.047)),
        64: ((0.776, 0.019), (0.786, 0.005), (0.768, 0.028), (0.763, 0.026), (0.782, 0.002), (0.76, 0.032)),
        128: ((0.778, 0.019), (0.789, 0.005), (0.772, 0.026), (0.769, 0.025), (0.786, 0.004), (0.766, 0.03)),
        256: ((0.789, 0.017), (0.798, 0.008), (0.785, 0.023), (0.782, 0.02), (0.793, 0.007), (0.779, 0.026)),
        512: ((0.803, 0.015), (0.808, 0.012), (0.798, 0.023), (0.798, 0.018), (0.805, 0.011), (0.794, 0.026)),
    },
    "dutch": {
        16: ((0.688, 0.008), (0.672, 0.042), (0.697, 0.007), (0.674, 0.001), (0.657, 0.035), (0.667, 0.012)),
        32: ((0.728, 0.011), (0.704, 0.057), (0.735, 0.011), (0.719, 0.007), (0.695, 0.052), (0.717, 0.01)),
        64: ((0.791, 0.014), (0.747, 0.082), (0.797, 0.012), (0.783, 0.014), (0.741, 0.078), (0.784, 0.011)),
        128: ((0.796, 0.015), (0.752, 0.084), (0.801, 0.015), (0.79, 0.014), (0.746, 0.081), (0.787, 0.016)),
        256: ((0.821, 0.013), (0.766, 0.093), (0.826, 0.01), (0.814, 0.02), (0.765, 0.093), (0.822, 0.012)),
        512: ((0.839, 0.014), (0.778, 0.101), (0.848, 0.007), (0.829, 0.024), (0.777, 0.1), (0.846, 0.008)),
    },
    "law": {
        16: ((0.823, 0.049), (0.891, 0.002), (0.821, 0.052), (0.803, 0.063), (0.89, 0.002), (0.765, 0.1)),
        32: ((0.841, 0.046), (0.894, 0.004), (0.839, 0.048), (0.821, 0.06), (0.891, 0.003), (0.791, 0.085)),
        64: ((0.844, 0.045), (0.896, 0.004), (0.845, 0.046), (0.823, 0.059), (0.894, 0.004), (0.796, 0.07)),
        128: ((0.849, 0.045), (0.899, 0.006), (0.853, 0.045), (0.832, 0.057), (0.897, 0.005), (0.819, 0.072)),
        256: ((0.891, 0.032), (0.91, 0.01), (0.876, 0.055), (0.879, 0.045), (0.907, 0.009), (0.833, 0.085)),
        512: ((0.902, 0.031), (0.916, 0.013), (0.892, 0.05), (0.888, 0.044), (0.914, 0.012), (0.855, 0.077)),
    },
}
"""Mean accuracy and deviation: the three pairings aware, then unaware."""

TABLE4: Mapping[str, Mapping[str, tuple[float, float | None]]] = {
    "cells": {"adult": (5375, None), "dutch": (8513, None), "law": (8417, None)},
    "solve unaware": {"adult": (0.007, 0.007), "dutch": (0.007, 0.007), "law": (0.007, 0.008)},
    "decorrelate unaware": {"adult": (839, 525), "dutch": (1348, 941), "law": (1644, 1823)},
    "solve aware": {"adult": (0.033, 0.009), "dutch": (0.043, 0.008), "law": (0.035, 0.009)},
    "decorrelate aware": {"adult": (2773, 2327), "dutch": (2104, 1855), "law": (1785, 1743)},
}
"""Seconds, mean and deviation, for each task."""

AWARENESS_COST: Mapping[str, float] = {"adult": 0.03, "law": 0.10}
"""What unawareness costs when EA and PE hold strictly (Section 5.2)."""

SMOOTH_TOLERANCE = 0.15
"""Tolerance of Ind in the lower row of Figure 3."""

CAPTIONS: Mapping[str, str] = {
    "table1": "PCC and TV distances between distributions constructed from real and generated data for three data "
    "sets. All p-values are below 0.001.",
    "table2": "Results for transferring fairness to decorrelated domain for Adult, Dutch, and Law data sets.",
    "table3": "Average accuracy of group fairness Pareto frontiers with relaxations varied between 0 and 0.2. Standard "
    "deviations of the accuracies of each frontier are provided in parentheses.",
    "table4": "Average time complexity of the different optimization tasks in the proposed framework for each data "
    "set.",
    "figure1": "Outline of proposed framework for trade-off analysis.",
    "figure2": "Pareto frontiers capturing the accuracy-fairness trade-off for three data sets under awareness and "
    "unawareness of the sensitive attribute. Each plot provides curves for different pairings of fairness "
    "constraints; namely, DP, EA, PE, EOd, and Ind.",
    "figure3": "Dimensionality reduction of feature vectors.",
    "figure4": "Visualization of the original and decorrelated feature vector distributions when the sensitive "
    "attribute is and is not used for decorrelation.",
    "figure5": "Pareto frontiers capturing the accuracy-fairness trade-off for three data sets under unawareness of "
    "the sensitive attribute.",
    "figure6": "Pareto frontiers under awareness (columns 1 and 2) and unawareness (columns 3 and 4) of the sensitive "
    "attribute. Plots include pairs of three group fairness definitions with (columns 2 and 4) and without (columns 1 "
    "and 3) individual fairness constraints.",
}
"""The paper's captions, shortened where they repeat each other."""
