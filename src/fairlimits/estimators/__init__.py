"""The library as scikit-learn estimators, and how they are saved."""

from __future__ import annotations

from fairlimits.estimators.classifier import ConstrainedBayesClassifier
from fairlimits.estimators.decorrelator import Decorrelator
from fairlimits.estimators.storage import load, save

__all__ = ["ConstrainedBayesClassifier", "Decorrelator", "load", "save"]
