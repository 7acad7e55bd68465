"""Settings of all tests: repeatable examples, and figures that need no screen."""

from __future__ import annotations

import matplotlib as mpl
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
