"""What every method is given: the same learning and test rows, as the tables that boosters read."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt

import fairlimits as fl

Floats = npt.NDArray[np.float64]

DATA = ("adult", "law", "dutch")
SEEDS = range(20)
TEST_SIZE = 0.2
TOLERANCES = (0.0, 0.01, 0.02, 0.05, 0.1)
CRITERIA = ("DP", "EOd", "EA")
BOOSTING = {"learning_rate": 0.05, "num_iterations": 200, "seed": 0}
"""LightGBM's settings wherever a peer brings its own base learner; the others are LightGBM's defaults."""


def peer(module: str) -> Any:
    """Import a module of a peer, or say how to get it: the peers are not dependencies of the package."""
    try:
        return import_module(module)
    except ImportError as error:
        raise SystemExit(
            f"{module} cannot be imported ({error}); docs/benchmark.md says how to install the peers."
        ) from error


@dataclass(frozen=True)
class Setting:
    """What a rule is asked for.

    Parameters
    ----------
    criterion : str
        "DP", "EOd" or "EA".
    eps : float
        The tolerance asked for.
    aware : bool
        Whether the rule may see the group.
    """

    criterion: str
    eps: float
    aware: bool


@dataclass(frozen=True, eq=False)
class Split:
    """One data set, cut in two.

    Parameters
    ----------
    name : str
        Name of the data set.
    seed : int
        Seed of the cut.
    learn, test : Dataset
        The rows to learn from in any way, and the rows to be judged on.
    """

    name: str
    seed: int
    learn: fl.Dataset
    test: fl.Dataset


@lru_cache(maxsize=2)
def split(name: str, seed: int) -> Split:
    """Cut a data set, stratified on group and label."""
    learn, test = fl.load_dataset(name).split(TEST_SIZE, random_state=seed)
    return Split(name, seed, learn, test)


def matrix(data: fl.Dataset, aware: bool) -> tuple[Floats, list[int]]:
    """Features as numbers, and which columns hold codes of categories; the group is the last one if it is seen."""
    columns = [np.asarray(data.columns[feature.name], dtype=float) for feature in data.schema.features]
    categorical = [at for at, feature in enumerate(data.schema.features) if feature.kind != "numeric"]
    if aware:
        categorical.append(len(columns))
        columns.append(data.group.astype(float))
    return np.column_stack(columns), categorical


def gaps(decide: Floats, data: fl.Dataset) -> dict[str, float]:
    """Gap of each criterion between the groups, expected over the randomness of the decisions.

    Parameters
    ----------
    decide : ndarray of shape (n,)
        Probability of deciding 1, one per row of the data.
    data : Dataset
    """
    groups = [data.group == group for group in range(len(data.schema.groups))]
    right = correct(decide, data)

    def spread(values: Floats, given: npt.NDArray[np.bool_]) -> float:
        rates = [float(values[rows & given].mean()) for rows in groups]
        return max(rates) - min(rates)

    everybody = np.ones(len(decide), dtype=bool)
    return {
        "DP": spread(decide, everybody),
        "EOd": max(spread(decide, data.label == label) for label in (0, 1)),
        "EA": spread(right, everybody),
    }


def correct(decide: Floats, data: fl.Dataset) -> Floats:
    """Probability that each row is decided as its label says."""
    return np.where(data.label == 1, decide, 1.0 - decide)
