"""A table of people with everything that makes reading in parts hard, and files of it."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

import fairlimits as fl
from fairlimits.data import Part

ROLES: dict[str, Any] = {"label": "paid", "positive": "yes", "sensitive": "sex"}


def people(n: int = 4000, seed: int = 0) -> pa.Table:
    """Numbers with and without gaps, large and small, categories with rare values and gaps, weights with zeros."""
    rng = np.random.default_rng(seed)
    sex = rng.choice(["f", "m", "x"], n, p=[0.45, 0.5, 0.05])
    age = rng.integers(18, 90, n).astype(np.float64)
    income = np.exp(rng.normal(10, 1, n))
    income[rng.random(n) < 0.2] = np.nan
    debt = rng.normal(-5, 3, n)
    job = rng.choice(["nurse", "smith", "clerk", "rare"], n, p=[0.5, 0.3, 0.199, 0.001]).astype(object)
    job[rng.random(n) < 0.05] = None
    flag = rng.random(n) < 0.3
    weight = rng.gamma(2.0, size=n)
    weight[rng.random(n) < 0.1] = 0.0
    paid = np.where(age + 5 * flag + rng.normal(0, 12, n) > 50, "yes", "no")
    columns = {"sex": sex, "age": age, "income": income, "debt": debt, "job": job, "flag": flag, "weight": weight}
    return pa.table({**{name: pa.array(v, from_pandas=True) for name, v in columns.items()}, "paid": paid})


def write(table: pa.Table, folder: Path, files: int = 3, row_group_size: int = 500) -> Path:
    """Write a table to some Parquet files."""
    folder.mkdir(exist_ok=True)
    bounds = np.linspace(0, table.num_rows, files + 1).astype(int)
    for number in range(files):
        part = table.slice(bounds[number], bounds[number + 1] - bounds[number])
        pq.write_table(part, folder / f"part{number}.parquet", row_group_size=row_group_size)
    return folder


def centroids(dist: fl.CellDistribution) -> NDArray[np.float32]:
    """Return the centroids of cells that have some."""
    assert dist.centroids is not None
    return dist.centroids


def wait_for_workers() -> None:
    """Wait until both workers are there: a cluster that loses one while the other starts again may wait forever."""
    import distributed

    client: Any = distributed.Client
    client.current().wait_for_workers(2, timeout=300)


class Killer:
    """Ends the worker that works on a certain part, once."""

    def __init__(self, work: Any, flag: Path, number: int = 2) -> None:
        wait_for_workers()
        self.work, self.flag, self.number = work, flag, number

    def __call__(self, part: Part, frame: Any) -> Any:
        if part.number == self.number and not self.flag.exists():
            self.flag.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return self.work(part, frame)
