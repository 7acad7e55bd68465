"""Billions of points and of resamples, and numbers that no float holds, are refused at once, in a sentence."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fairlimits as fl
from fairlimits.decorrelation import decorrelation_frontier
from fairlimits.errors import InputError
from fairlimits.limits import ratio_frontier
from fairlimits.notions import Costs

# More than any machine has memory for.
MANY = 10**15
TOO_LARGE = 10**400


def law() -> fl.CellDistribution:
    """Return a law with counts."""
    counts = np.random.default_rng(0).integers(40, 90, (4, 2, 2))
    return fl.CellDistribution(mass=counts / counts.sum(), groups=("a", "b"), counts=counts)


@pytest.mark.parametrize(
    "ask",
    [
        lambda dist: fl.frontier(dist, "DP", range(MANY)),
        lambda dist: fl.frontier(dist, "DP", range(10**30)),
        lambda dist: fl.frontier(dist, ["DP", "EA"], {"DP": 0.1, "EA": range(MANY)}),
        lambda dist: fl.frontier(dist, "DP", [0.1]).band(resamples=MANY),
        lambda dist: ratio_frontier(dist, range(MANY)),
        lambda dist: ratio_frontier(dist, [TOO_LARGE]),
        lambda dist: decorrelation_frontier(dist, fl.solve(dist, {}), range(MANY)),
        lambda dist: decorrelation_frontier(dist, fl.solve(dist, {}), [TOO_LARGE]),
        lambda dist: fl.decorrelate(dist, fl.solve(dist, {}), accuracy_weight=TOO_LARGE),
        lambda _: Costs(TOO_LARGE, 1),
        lambda _: fl.Neighbourhood(theta=TOO_LARGE),
        lambda _: fl.Neighbourhood(eta=-TOO_LARGE),
        lambda _: fl.Neighbourhood(eta=True),
    ],
)
def test_what_is_beyond_all_memory_and_numbers_is_refused(ask: Callable[[fl.CellDistribution], Any]) -> None:
    with pytest.raises(InputError, match=r"more|too large|True|not a list|array of numbers"):
        ask(law())
