"""Small data in place of the paper's three data sets."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import fairlimits as fl


def people(seed: int, rows: int = 900) -> fl.Dataset:
    """Two groups whose features and base rates differ; one number, two categories."""
    rng = np.random.default_rng(seed)
    sex = rng.integers(0, 2, rows)
    age = rng.normal(40 + 6 * sex, 10, rows).round(1)
    job = rng.choice(["nurse", "smith", "clerk"], rows, p=[0.4, 0.3, 0.3])
    town = np.where(rng.random(rows) < 0.3 + 0.3 * sex, "<b>north</b>", "south")
    paid = age + 6 * (job == "smith") + 4 * sex + rng.normal(0, 8, rows) > 45
    table = {"sex": np.where(sex == 1, "Male", "Female"), "age": age, "job": job, "town": town, "paid": paid}
    return fl.Dataset.from_frame(pa.table(table), label="paid", sensitive="sex")


@pytest.fixture(scope="session")
def small() -> dict[str, fl.Dataset]:
    return {name: people(seed) for seed, name in enumerate(("adult", "law", "dutch"))}


@pytest.fixture
def _small_data(small: dict[str, fl.Dataset], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fl, "load_dataset", lambda name: small[name])
