"""People whose law is known: what an estimate says of them can be compared with the truth."""

from __future__ import annotations

from functools import cache

import numpy as np
import pyarrow as pa
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from fairlimits._util.types import Floats
from fairlimits.data import Dataset
from fairlimits.law import Outcome, estimate_outcome


def people(seed: int, rows: int, groups: int = 2, weighted: bool = False) -> tuple[pa.Table, Floats]:
    """Return a table, and for each row P(A = g, Y = y | x) as an array of shape (rows, groups, 2)."""
    rng = np.random.default_rng(seed)
    skill = rng.normal(size=rows)
    area = rng.integers(0, 3, rows)
    share = np.exp(np.outer(area - 1, np.arange(groups)) * 0.8)
    share /= share.sum(axis=1, keepdims=True)
    chance = expit(1.5 * skill[:, None] + 0.8 * (area[:, None] - 1) + 0.6 * np.arange(groups) - 0.5)
    q = np.stack([share * (1 - chance), share * chance], axis=2)
    drawn = (rng.random(rows)[:, None] < q.reshape(rows, -1).cumsum(axis=1)).argmax(axis=1)
    table = {
        "skill": skill,
        "area": np.array(["north", "east", "south"])[area],
        "sex": np.array(["f", "m", "x"])[drawn // 2],
        "hired": drawn % 2,
    }
    if weighted:
        table["w"] = rng.integers(0, 3, rows)
    return pa.table(table), q


def read(table: pa.Table) -> Dataset:
    """Read such a table."""
    weight = "w" if "w" in table.column_names else None
    return Dataset.from_frame(table, label="hired", sensitive="sex", weight=weight)


def known(seed: int, rows: int, groups: int = 2, weighted: bool = False) -> tuple[Dataset, Floats]:
    """`people`, read."""
    table, q = people(seed, rows, groups, weighted)
    return read(table), q


@cache
def known_outcome(groups: int = 2, rows: int = 4_000) -> Outcome:
    """The law that a logistic regression gives such people, fitted once a run."""
    return estimate_outcome(known(0, rows, groups)[0], estimator=LogisticRegression())
