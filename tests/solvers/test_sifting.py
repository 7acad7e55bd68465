"""Very many variables, a few at a time: the optimum is that of all of them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairlimits.errors import InfeasibleError
from fairlimits.law.cells.distributions import CellDistribution
from fairlimits.limits import programs, solve
from fairlimits.limits.tracing import frontier
from fairlimits.notions.requirements import Limit, Ratio
from fairlimits.notions.rows import Requirement
from fairlimits.solvers import sifting
from strategies import masses, tolerances


@pytest.fixture
def in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    few_at_a_time(monkeypatch)


def few_at_a_time(patch: pytest.MonkeyPatch, sample: int = 3, at_once: int = 2) -> None:
    patch.setattr(programs, "SIFTED", 0)
    patch.setattr(sifting, "_SAMPLE", sample)
    patch.setattr(sifting, "_AT_ONCE", at_once)


REQUIRED: list[list[Requirement]] = [[], [Limit("selection rate", at_most=0.3)], [Ratio("selection rate", 0.8)]]


@settings(max_examples=200)
@given(masses(cells=8, groups=4), tolerances(individual=False), st.booleans(), st.sampled_from(REQUIRED))
def test_small_parts_find_the_same_optimum(
    mass: np.ndarray, asked: dict[str, float], aware: bool, required: list[Requirement]
) -> None:
    dist = CellDistribution.from_mass(mass)
    try:
        whole = solve(dist, asked, aware=aware, requirements=required)
    except InfeasibleError:
        with pytest.MonkeyPatch.context() as patch, pytest.raises(InfeasibleError):
            few_at_a_time(patch)
            solve(dist, asked, aware=aware, requirements=required)
        return
    with pytest.MonkeyPatch.context() as patch:
        few_at_a_time(patch)
        parts = solve(dist, asked, aware=aware, requirements=required)
    assert parts.accuracy == pytest.approx(whole.accuracy, abs=2e-8)
    for name, eps in asked.items():
        assert np.isnan(parts.gaps[name]) or parts.gaps[name] <= eps + 2e-8
    for name, price in whole.shadow_prices.items():
        assert parts.shadow_prices[name] >= -1e-9
        assert price >= -1e-9


def many(cells: int, whole_numbers: bool, seed: int = 0) -> CellDistribution:
    rng = np.random.default_rng(seed)
    mass = rng.gamma(0.7, size=(cells, 2, 2))
    return CellDistribution.from_mass(rng.poisson(mass) + (rng.random((cells, 1, 1)) < 0.01) if whole_numbers else mass)


@pytest.mark.parametrize("whole_numbers", [False, True])
@pytest.mark.parametrize("asked", [{"DP": 0.0}, {"EOd": 0.02}, {"DP": 0.01, "EA": 0.01}, {}])
def test_many_cells(monkeypatch: pytest.MonkeyPatch, asked: dict[str, float], whole_numbers: bool) -> None:
    """Counts make ties by the thousand: most people are the only ones of their cell."""
    dist = many(6_000, whole_numbers)
    whole = solve(dist, asked)
    few_at_a_time(monkeypatch, 500, 300)
    parts = solve(dist, asked)
    assert parts.accuracy == pytest.approx(whole.accuracy, abs=2e-8)
    assert parts.shadow_prices == pytest.approx(whole.shadow_prices, abs=1e-4)
    # A basic optimum leaves few scores between 0 and 1.
    filled = dist.mass.sum(axis=(1, 2)) > 0
    assert ((parts.scores > 1e-9) & (parts.scores < 1 - 1e-9))[filled].sum() <= 3


def test_a_frontier_in_parts(in_parts: None) -> None:
    dist = many(300, False)
    curve = frontier(dist, ["EOd"], np.linspace(0, 0.2, 5))
    exact = frontier(dist, ["EOd"], {"EOd": (0.0, 0.2)}, exact=True)
    assert (np.diff(curve.accuracy) >= -1e-9).all()
    assert np.interp(curve.grid["EOd"], exact.grid["EOd"], exact.accuracy) == pytest.approx(curve.accuracy, abs=1e-7)


def test_what_nothing_can_meet_is_said(in_parts: None) -> None:
    with pytest.raises(InfeasibleError, match="Relaxing one is enough"):
        solve(many(50, False), {"DP": 0.0}, requirements=["accuracy >= 0.999"])


def test_ties_without_any_constraint(monkeypatch: pytest.MonkeyPatch) -> None:
    few_at_a_time(monkeypatch, 50, 20)
    monkeypatch.setattr(sifting, "_BUNDLES", 10)
    dist = CellDistribution.from_mass(np.ones((300, 2, 2)))
    assert solve(dist, {}).accuracy == pytest.approx(0.5)
    assert solve(dist, {"EOd": 0.0, "EA": 0.0}, aware=True).accuracy == pytest.approx(0.5)
