"""A small table with hostile names, its page, and a server for it that stops by itself."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import fairlimits as fl
from explorer.hostile_names import BOLD, HOSTILE, LABEL
from fairlimits.apps.explorer import Subject, make_app
from fairlimits.apps.explorer.server import make_server


@pytest.fixture(scope="session")
def people() -> fl.Dataset:
    rng = np.random.default_rng(0)
    n = 800
    sex = rng.integers(0, 2, n)
    age = rng.normal(40 + 5 * sex, 10, n).round(1)
    job = rng.choice(["nurse", "smith", "clerk"], n)
    paid = (age + 4 * (job == "smith") + rng.normal(0, 8, n) > 43).astype(int)
    table = pa.table({HOSTILE: np.where(sex == 1, BOLD, "f"), "age": age, "job": job, LABEL: paid})
    return fl.Dataset.from_frame(table, label=LABEL, sensitive=HOSTILE)


@pytest.fixture(scope="session")
def dist(people: fl.Dataset) -> fl.CellDistribution:
    return fl.discretize(people, 24, generator=None, random_state=0, partition="features")


@pytest.fixture(scope="session")
def subject(people: fl.Dataset, dist: fl.CellDistribution) -> Subject:
    return Subject(HOSTILE, dist, people)


@pytest.fixture(scope="session")
def app(subject: Subject) -> Any:
    pytest.importorskip("dash", reason="the extra app is not installed")
    return make_app(subject)


@pytest.fixture(scope="session")
def address(app: Any) -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        server = make_server(app, listening)
        thread = threading.Thread(target=server.run, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/"
        server.close()
