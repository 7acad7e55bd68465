"""Small tables of people, and one result of every kind that can be saved, for attacks to start from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression

import fairlimits as fl
from fairlimits.decorrelation import DecorrelationFrontier, decorrelation_frontier
from fairlimits.law.generators import CartGenerator


def table(rng: np.random.Generator, rows: int = 300) -> pd.DataFrame:
    """Return a table of people with a number, a category, a group and a label."""
    group = rng.integers(0, 2, rows)
    skill = rng.normal(size=rows) + 0.4 * group
    return pd.DataFrame(
        {
            "skill": skill.round(3),
            "job": rng.choice(["nurse", "smith", "clerk"], rows),
            "sex": np.where(group == 1, "f", "m"),
            "hired": (skill + rng.normal(size=rows) > 0.3).astype(int),
        }
    )


def data(rng: np.random.Generator, rows: int = 300) -> fl.Dataset:
    """Return the table of people as a `Dataset`."""
    return fl.Dataset.from_frame(table(rng, rows), label="hired", sensitive="sex")


@dataclass(frozen=True)
class Kind:
    """A file of some kind, and what reads it."""

    name: str
    path: Path
    load: Callable[[Path], Any]


def save_one_of_each(folder: Path) -> list[Kind]:
    """Save one result of every kind, and say with what each is loaded."""
    people = data(np.random.default_rng(0))
    dist = fl.discretize(people, 8, partition="features", generator=None)
    outcome = fl.estimate_outcome(people, folds=2)
    by_classifier = fl.estimate_outcome(people, folds=2, estimator=LogisticRegression())
    rule = fl.solve(dist, {"DP": 0.1})
    kinds: dict[str, tuple[Any, Callable[[Path], Any]]] = {
        "distribution": (dist, fl.CellDistribution.load),
        "distribution of an estimate": (fl.discretize(people, 8, outcome=outcome), fl.load),
        "outcome": (outcome, fl.Outcome.load),
        "outcome by a classifier": (by_classifier, fl.load),
        "rule": (rule, fl.Rule.load),
        "certified rule": (fl.solve(outcome, {"DP": 0.3}, confidence=0.9, aware=True), fl.Rule.load),
        "rule without coins": (fl.solve(dist, {"DP": 0.2}, randomize=False), fl.load),
        "rule by a classifier": (fl.solve(by_classifier, {"DP": 0.1}, randomize=False), fl.load),
        "frontier": (fl.frontier(dist, ["DP"], tolerances=[0.0, 0.1, 0.2], aware=True), fl.Frontier.load),
        "plan": (fl.decorrelate(dist, rule), fl.Decorrelation.load),
        "decorrelation frontier": (decorrelation_frontier(dist, rule, [0.0, 1.0, 10.0]), DecorrelationFrontier.load),
        "generator": (CartGenerator().fit(people), CartGenerator.load),
    }
    frame = table(np.random.default_rng(0))
    estimators: dict[str, Any] = {
        "estimator": fl.ConstrainedBayesClassifier({"DP": 0.1}, estimator=LogisticRegression()),
        "certified estimator": fl.ConstrainedBayesClassifier({"DP": 0.3}, confidence=0.9),
        "decorrelator": fl.Decorrelator({"DP": 0.1}, cells=8),
    }
    for name, estimator in estimators.items():
        estimator.fit(frame[["skill", "job"]], frame["hired"], sensitive_features=frame["sex"])
        kinds[name] = (estimator, fl.load)
    saved = []
    for name, (thing, load) in kinds.items():
        path = folder / f"{name}.saved"
        thing.save(path) if isinstance(thing, DecorrelationFrontier | CartGenerator) else fl.save(thing, path)
        saved.append(Kind(name, path, load))
    return saved
