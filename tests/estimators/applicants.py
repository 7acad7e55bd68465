"""Applicants for a job in the shapes that scikit-learn's users have them in, and a classifier that learns fast."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression

from fairlimits import ConstrainedBayesClassifier


class Applicants(NamedTuple):
    X: pd.DataFrame
    y: np.ndarray
    sex: np.ndarray


def applicants(rows: int = 800, seed: int = 0, groups: int = 2) -> Applicants:
    rng = np.random.default_rng(seed)
    sex = rng.integers(0, groups, rows)
    area = (sex + rng.integers(0, 3, rows)) % 3
    skill = rng.normal(size=rows) + 0.6 * sex
    hired = (1.5 * skill + 0.5 * area + rng.logistic(size=rows) > 1.2).astype(int)
    X = pd.DataFrame({"skill": skill, "area": np.array(["north", "east", "south"])[area]})
    return Applicants(X, hired, np.array(["f", "m", "x"], dtype=object)[sex])


def numbers(X: pd.DataFrame) -> np.ndarray:
    """Rows as an array of numbers."""
    return np.column_stack([X["skill"], X["area"] == "north", X["area"] == "south"]).astype(float)


def quick(tolerances: Any = None, **options: Any) -> ConstrainedBayesClassifier:
    """Classifier that learns with logistic regression only."""
    return ConstrainedBayesClassifier(tolerances, **({"estimator": LogisticRegression()} | options))


def gap(decided: np.ndarray, group: np.ndarray) -> float:
    rates = [np.mean(decided[group == own]) for own in np.unique(group)]
    return float(max(rates) - min(rates))
