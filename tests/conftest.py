"""Settings of all tests: repeatable examples, and figures that need no screen."""

from __future__ import annotations

from collections.abc import Iterator

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest
from hypothesis import HealthCheck, settings

mpl.use("Agg")

settings.register_profile(
    "fairlimits",
    deadline=None,
    derandomize=True,
    database=None,
    max_examples=50,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("fairlimits")


@pytest.fixture(autouse=True)
def _close_figures() -> Iterator[None]:
    """Leave no figure open for the next test."""
    yield
    plt.close("all")
