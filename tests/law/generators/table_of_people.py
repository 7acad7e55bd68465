"""A small table with everything that a generator must cope with."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

import fairlimits as fl


def people(n: int = 3000, seed: int = 0, weighted: bool = False, towns: int = 90, missing: bool = True) -> fl.Dataset:
    """Numbers with gaps, categories with gaps, many towns, three groups and, if wanted, weights."""
    rng = np.random.default_rng(seed)
    group = rng.choice(3, n, p=[0.5, 0.4, 0.1])
    age = np.rint(rng.normal(40 + 6 * group, 10, n))
    pay = rng.lognormal(7 + 0.02 * (age - 40), 0.4)
    job = rng.choice(["smith", "nurse", "clerk"], n)
    job = np.where(age > 60, "retired", job)
    paid = (age / 10 + (job == "smith") + group + rng.normal(0, 1, n) > 5.2).astype(int)
    town = np.array([f"town {k}" for k in rng.zipf(1.4, n) % towns], dtype=object)
    columns = {
        "sex": np.array(["f", "m", "x"])[group].tolist(),
        "age": age,
        "pay": pay,
        "job": job.tolist(),
        "town": town.tolist(),
        "paid": paid,
    }
    if missing:
        columns["age"] = np.where(rng.random(n) < 0.1, np.nan, age)
        columns["job"] = [None if gap else value for gap, value in zip(rng.random(n) < 0.05, job, strict=True)]
    columns["age"] = pa.array(columns["age"], from_pandas=True)
    if weighted:
        columns["w"] = np.where(rng.random(n) < 0.2, 0.0, 1.0 + 4.0 * paid)
    return fl.Dataset.from_frame(
        pa.table(columns), label="paid", positive=1, sensitive="sex", weight="w" if weighted else None
    )


def same(first: fl.Dataset, second: fl.Dataset) -> bool:
    """Whether two data sets hold the same rows in the same order."""
    return (
        np.array_equal(first.group, second.group)
        and np.array_equal(first.label, second.label)
        and all(np.array_equal(first.columns[k], second.columns[k], equal_nan=True) for k in first.columns)
    )
