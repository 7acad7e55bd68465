"""Bands of resampled frontiers, and many frontiers at once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import fairlimits as fl
from fairlimits.errors import InfeasibleError, InputError
from streams import ROLES, people

GRID = np.linspace(0, 0.2, 5)


@pytest.fixture(scope="module")
def dist() -> fl.CellDistribution:
    return fl.discretize(
        fl.Dataset.from_frame(people(3000), **ROLES, drop="weight"), 16, generator=None, partition="features"
    )


def larger(dist: fl.CellDistribution, times: int) -> fl.CellDistribution:
    assert dist.counts is not None
    return fl.CellDistribution(mass=dist.mass, groups=dist.groups, counts=dist.counts * times)


def test_the_band_lies_about_the_frontier_and_shrinks_with_the_rows(dist: fl.CellDistribution) -> None:
    curve = fl.frontier(dist, ["DP"], GRID)
    band = curve.band(resamples=60)
    assert band.drawn.shape == (60, 5)
    assert (band.low < band.high).all()
    # Where no constraint binds, the optimum of a resample lies higher, as that of the people lies above the truth.
    assert band.drawn[:, -1].mean() > curve.accuracy[-1]
    assert (band.low + band.high)[-1] / 2 < curve.accuracy[-1]
    narrow = fl.frontier(larger(dist, 100), ["DP"], GRID).band(resamples=60)
    ratio = (band.high - band.low)[-1] / (narrow.high - narrow.low)[-1]
    assert 5 < ratio < 20


def test_spread_is_that_of_a_share(dist: fl.CellDistribution) -> None:
    # Without a constraint that binds, accuracy in cells of many rows is a share of people.
    curve = fl.frontier(larger(dist, 1000), ["DP"], [1.0])
    band = curve.band(resamples=200)
    assert dist.counts is not None
    accuracy, n = curve.accuracy[0], 1000 * dist.counts.sum()
    assert band.drawn.std() == pytest.approx(np.sqrt(accuracy * (1 - accuracy) / n), rel=0.2)


def test_the_seed_decides(dist: fl.CellDistribution) -> None:
    curve = fl.frontier(dist, ["DP"], GRID, aware=True)
    first, again, other = (curve.band(resamples=7, random_state=seed).drawn for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)
    # A longer run starts as a shorter one.
    np.testing.assert_array_equal(curve.band(resamples=12, random_state=1).drawn[:7], first)


def test_everything_that_the_frontier_was_asked_for_is_asked_again(dist: fl.CellDistribution) -> None:
    curve = fl.frontier(dist, ["DP", "IF"], {"DP": GRID, "IF": 0.5}, requirements=["selection rate <= 0.3"])
    band = curve.band(resamples=3)
    free = fl.frontier(dist, ["DP"], GRID).band(resamples=3)
    assert (band.drawn < free.drawn).all()


def test_table_and_picture(dist: fl.CellDistribution) -> None:
    band = fl.frontier(dist, ["DP"], GRID).band(resamples=5)
    assert band.to_frame().column_names[-2:] == ["low", "high"]
    axes = band.plot(color="black")
    assert len(axes.lines) == 1
    assert len(axes.collections) == 1


def test_frontiers_are_those_that_frontier_finds(dist: fl.CellDistribution) -> None:
    found = fl.limits.trace_frontiers(dist, ["DP", ["EA", "EOd"]], GRID)
    assert [(curve.notions, curve.aware) for curve in found] == [
        (("DP",), False),
        (("DP",), True),
        (("EA", "EOd"), False),
        (("EA", "EOd"), True),
    ]
    np.testing.assert_array_equal(found[3].accuracy, fl.frontier(dist, ["EA", "EOd"], GRID, aware=True).accuracy)


def test_bad_input_is_refused(dist: fl.CellDistribution) -> None:
    curve = fl.frontier(dist, ["DP"], GRID)
    bare = fl.frontier(fl.CellDistribution.from_mass(dist.mass), ["DP"], GRID)
    with pytest.raises(InputError, match="without counts"):
        bare.band()
    with pytest.raises(InputError, match="resamples"):
        curve.band(resamples=1)
    with pytest.raises(InputError, match="confidence"):
        curve.band(confidence=2)


def test_requirements_that_resamples_cannot_meet(dist: fl.CellDistribution, monkeypatch: pytest.MonkeyPatch) -> None:
    curve = fl.frontier(dist, ["DP"], GRID)

    def refuse(*given: Any, **options: Any) -> None:
        raise InfeasibleError("no rule")

    monkeypatch.setattr("fairlimits.limits.bands.sweep", refuse)
    with pytest.raises(InfeasibleError, match="in a resample"):
        curve.band(resamples=3)
