"""Drift: whether features, or the estimate of group and label by them, are drawn from the same law as before."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import kolmogorov
from scipy.stats import chi2_contingency

from fairlimits._util.types import Floats, Ints
from fairlimits.data import Feature
from fairlimits.evaluation.monitoring.periods import Period

# Categories that are expected in fewer rows than this are counted together.
_FEWEST = 5


class Drift(NamedTuple):
    """How far a feature has moved.

    Parameters
    ----------
    name : str
        The feature, or the chance of the estimate.
    distance : float
        Largest difference of the distribution functions of a number (Kolmogorov and Smirnov); of a category the total
        variation.
    p_value : float
        Chance of so large a distance, or larger, if nothing has moved: upper bound.
    """

    name: str
    distance: float
    p_value: float


def drifts(features: tuple[Feature, ...], groups: tuple[str, ...], before: Period, now: Period) -> tuple[Drift, ...]:
    """Drift of every feature, of P(Y = 1 | x), and of P(A = g | x) of every group, whatever people weigh."""
    found = []
    for feature in features:
        first, second = (own.people.columns[feature.name] for own in (before, now))
        moved = _of_numbers if feature.kind == "numeric" else _of_codes
        found.append(Drift(feature.name, *moved(first, second)))
    found.append(Drift("P(Y = 1 | x)", *_of_numbers(*(own.q[:, :, 1].sum(axis=1) for own in (before, now)))))
    for g, group in enumerate(groups if len(groups) > 2 else groups[-1:], 0 if len(groups) > 2 else len(groups) - 1):
        found.append(Drift(f"P({group} | x)", *_of_numbers(*(own.q[:, g].sum(axis=1) for own in (before, now)))))
    return tuple(found)


def _of_numbers(first: Floats, second: Floats) -> tuple[float, float]:
    """Distance between the distribution functions, missing values as the smallest, and a bound on its p-value.

    The limiting distribution is an upper bound of the exact one for samples of this size, and more so with ties.
    """
    # NaN becomes a value below all others, so that more of them are seen as drift.
    a, b = (np.sort(np.where(np.isnan(own), -np.inf, own)) for own in (first, second))
    points = np.concatenate([a, b])
    above = np.searchsorted(a, points, side="right") / len(a) - np.searchsorted(b, points, side="right") / len(b)
    distance = float(np.abs(above).max())
    return distance, float(kolmogorov(distance * np.sqrt(len(a) * len(b) / (len(a) + len(b)))))


def _of_codes(first: Ints, second: Ints) -> tuple[float, float]:
    """Total variation between two samples of categories, and the p-value of the chi-square test."""
    size = int(max(first.max(), second.max())) + 2
    table = np.stack([np.bincount(own + 1, minlength=size) for own in (first, second)])
    share = table / table.sum(axis=1, keepdims=True)
    distance = float(np.abs(share[0] - share[1]).sum() / 2)
    expected = table.sum(axis=0) * table.sum(axis=1).min() / table.sum()
    rare = expected < _FEWEST
    joined = np.column_stack([table[:, ~rare], table[:, rare].sum(axis=1)]) if rare.any() else table
    joined = joined[:, joined.sum(axis=0) > 0]
    if joined.shape[1] < 2:
        return distance, 1.0
    return distance, float(chi2_contingency(joined, correction=False).pvalue)
