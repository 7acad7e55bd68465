"""A group that is too small for its rates to be compared is hidden like all others."""

from __future__ import annotations

import numpy as np
import pytest

from fairlimits import CellDistribution, decorrelate, solve


@pytest.mark.parametrize("aware", [False, True])
def test_small_groups_are_hidden_too(aware: bool) -> None:
    counts = np.random.default_rng(0).integers(5, 40, (6, 3, 2))
    counts[:, 2] = [[3, 0], [0, 4], [1, 0], [0, 2], [5, 1], [0, 0]]
    dist = CellDistribution(counts / counts.sum(), ("a", "b", "c"), counts=counts, distances=1.0 - np.eye(6))
    bare = CellDistribution.from_mass(counts, distances=1.0 - np.eye(6))
    rule = solve(dist, {"DP": 0.05}, aware=aware)
    plan = decorrelate(dist, rule)
    assert plan.baseline_correlation > 0.5
    assert plan.correlation == pytest.approx(0, abs=1e-7)
    # The map is the best that a law without counts has, for the same rule without tolerances.
    free = decorrelate(bare, solve(bare, {}, aware=aware), tolerances={})
    assert decorrelate(dist, solve(dist, {}, aware=aware), tolerances={}).accuracy == pytest.approx(free.accuracy)
