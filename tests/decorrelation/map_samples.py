"""Distributions and tables that several tests of the maps use."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pyarrow as pa

from fairlimits.data import Dataset
from fairlimits.law.cells.building import discretize
from fairlimits.law.cells.distributions import CellDistribution


def some_distribution(seed: int, cells: int = 30, groups: int = 2, holes: float = 0.0) -> CellDistribution:
    """A random distribution with distances; `holes` is the share of cells and groups without mass."""
    rng = np.random.default_rng(seed)
    mass = rng.gamma(0.7, size=(cells, groups, 2))
    mass[rng.random((cells, groups)) < holes] = 0
    points = rng.normal(size=(cells, 3))
    return CellDistribution.from_mass(mass, np.abs(points[:, None] - points[None]).mean(axis=2))


def weighed(accuracy: float, correlation: float) -> dict[str, Any]:
    """Weights as `decorrelate` takes them."""
    return {"accuracy_weight": accuracy, "correlation_weight": correlation}


def some_table(seed: int, rows: int, groups: int = 2, weight: bool = False) -> pa.Table:
    """People whose features tell their group, and whose label depends on both."""
    rng = np.random.default_rng(seed)
    group = rng.integers(groups, size=rows)
    size = rng.normal(group, 1.0)
    colour = np.array(["red", "green", "blue", "grey"])[
        np.where(rng.random(rows) < 0.6, group % 4, rng.integers(4, size=rows))
    ]
    skill = rng.normal(size=rows)
    columns = {
        "person": np.arange(rows),
        "size": np.where(rng.random(rows) < 0.05, np.nan, size),
        "skill": skill,
        "colour": colour,
        "sex": np.array(["f", "m", "x", "y"])[group],
        "hired": (skill + 0.8 * group + rng.normal(size=rows) > 0.5).astype(int),
    }
    if weight:
        columns["w"] = rng.choice([0.0, 0.5, 1.0, 3.0], size=rows)
    return pa.table(columns)


def some_data(seed: int, rows: int, groups: int = 2, weight: bool = False) -> Dataset:
    """`some_table`, read."""
    return Dataset.from_frame(
        some_table(seed, rows, groups, weight),
        label="hired",
        sensitive="sex",
        drop="person",
        weight="w" if weight else None,
    )


@functools.cache
def discretized(groups: int = 2, cells: int = 12, weight: bool = False) -> CellDistribution:
    """Cells of 3,000 such people."""
    return discretize(
        some_data(0, 3_000, groups, weight), cells=cells, generator=None, random_state=0, partition="features"
    )
