"""The map that moves people least, against the literal program, and the maps on the way to it."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from literal_maps import LiteralMaps
from map_samples import some_distribution, weighed

from fairlimits.decorrelation import decorrelate, restricted_master
from fairlimits.errors import SolverError
from fairlimits.law.cells.distributions import CellDistribution
from fairlimits.limits import solve
from literal import Hood, Literal
from strategies import neighbourhood

WEIGHTS = [(15.0, 25.0), (15.0, 2.0), (15.0, 0.3), (1.0, 0.05), (0.0, 1.0), (1.0, 0.0)]


def random_case(seed: int) -> tuple[np.ndarray, np.ndarray, Hood, bool, dict[str, float], tuple[float, float]]:
    """Two to four groups, cells and groups without mass, any notions and weights."""
    rng = np.random.default_rng(seed)
    groups = int(rng.choice([2, 2, 3, 4]))
    aware = bool(rng.random() < 0.5)
    cells = int(rng.integers(2, 5 if aware else 7))
    mass = rng.gamma(0.7, size=(cells, groups, 2))
    kind = rng.integers(3)
    if kind == 1:
        mass[rng.random(cells) < 0.3] = 0
    elif kind == 2:
        mass[rng.random((cells, groups)) < 0.3] = 0
    if mass.sum() == 0:
        mass[0] = 1
    points = rng.normal(size=(cells, 2))
    hood = Hood(percentile=float(rng.choice([100.0, 50.0])), mode=str(rng.choice(["mean", "each", "all"])))
    names = rng.choice(["DP", "EA", "EOp", "PE", "EOd", "IF"], size=rng.integers(0, 4), replace=False)
    asked = {str(name): float(rng.choice([0.0, 0.02, 0.1, 0.3])) for name in names}
    weights = WEIGHTS[int(rng.integers(len(WEIGHTS)))]
    return mass, np.abs(points[:, None] - points[None]).mean(axis=2), hood, aware, asked, weights


@pytest.fixture(params=[(20, 10), (1, 1)], ids=["usual", "one target at a time"])
def targets_at_a_time(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Small programs hold all entries at once, unless they are made to take them in one by one."""
    first, more = request.param
    monkeypatch.setattr(restricted_master, "_FIRST_TARGETS", first)
    monkeypatch.setattr(restricted_master, "_MORE_TARGETS", more)


@pytest.mark.usefixtures("targets_at_a_time")
@pytest.mark.parametrize("start", range(0, 120, 20))
def test_least_and_traded_distortion_are_those_of_the_literal_program(start: int) -> None:
    for seed in range(start, start + 20):
        mass, distances, hood, aware, asked, weights = random_case(seed)
        dist = CellDistribution.from_mass(mass, distances)
        rule = solve(dist, asked, aware=aware, neighbours=neighbourhood(hood))
        literal = LiteralMaps(Literal(mass, aware, distances, hood), rule.scores, asked, distances)
        least = decorrelate(dist, rule, **weighed(*weights))
        assert least.objective == pytest.approx(least.optimum, abs=1e-8), seed
        assert least.optimum == pytest.approx(literal.optimum(*weights), abs=1e-7), seed
        # The literal program's slack buys it distortion at a steep price: it is left almost none.
        expected = literal.least_distortion(*weights, slack=1e-11)
        assert least.distortion == pytest.approx(expected, abs=1e-6), seed
        assert least.distortion >= literal.least_distortion(*weights, slack=1e-9) - 1e-7, seed  # type: ignore[operator]
        traded = decorrelate(dist, rule, **weighed(*weights), distortion_weight=2.0)
        reached = traded.objective - 2.0 * traded.distortion
        assert reached == pytest.approx(literal.traded(*weights, 2.0), abs=1e-7), seed
        for plan in (least, traded):
            assert plan.optimality_gap <= 1e-8
            for name, eps in asked.items():
                assert not plan.gaps[name] > eps + 1e-7, seed


@given(seed=st.integers(0, 10_000), aware=st.booleans())
@settings(max_examples=25)
def test_without_a_weight_on_correlation_nobody_moves(seed: int, aware: bool) -> None:
    mass, distances, hood, _, asked, _ = random_case(seed)
    dist = CellDistribution.from_mass(mass, distances)
    rule = solve(dist, asked, aware=aware, neighbours=neighbourhood(hood))
    plan = decorrelate(dist, rule, **weighed(15.0, 0.0))
    assert plan.distortion == pytest.approx(0, abs=1e-12)
    assert plan.kept_in_place == pytest.approx(1, abs=1e-12)
    held = dist.mass.sum(axis=2)
    for g, columns in enumerate(plan.maps):
        filled = np.flatnonzero(held[:, g] > 0 if aware else held.sum(axis=1) > 0)
        assert np.array_equal(columns[g * dist.n_cells + filled, filled], np.ones(len(filled)))


@pytest.mark.parametrize("options", [{}, {"distortion": None}])
def test_only_the_ratio_of_the_weights_matters(options: dict[str, Any]) -> None:
    dist = some_distribution(4, cells=10)
    rule = solve(dist, {"EA": 0.05})
    usual = decorrelate(dist, rule, **weighed(15.0, 2.0), **options)
    for unit in (1e-200, 1e-9, 1e9, 1e200):
        plan = decorrelate(dist, rule, **weighed(15.0 * unit, 2.0 * unit), **options)
        assert np.allclose(plan.maps[0], usual.maps[0], atol=1e-9)
        assert plan.optimum == pytest.approx(usual.optimum * unit)
        assert plan.objective == pytest.approx(plan.optimum)
        assert plan.optimality_gap <= 1e-8 * (unit if options else 1.0)


def test_what_is_left_to_gain_is_told_in_the_unit_of_the_weights() -> None:
    dist = some_distribution(4, cells=10)
    rule = solve(dist, {"DP": 0.1})
    one, million = (decorrelate(dist, rule, **weighed(w, w), distortion_weight=3 * w) for w in (1.0, 1e6))
    assert np.allclose(million.maps[0], one.maps[0], atol=1e-9)
    assert million.optimality_gap == pytest.approx(1e6 * one.optimality_gap, rel=0.1, abs=1e-7)


def test_without_distances_any_move_counts_one() -> None:
    rng = np.random.default_rng(3)
    mass = rng.gamma(0.7, size=(5, 2, 2))
    dist = CellDistribution.from_mass(mass)
    rule = solve(dist, {"DP": 0.1})
    plan = decorrelate(dist, rule)
    literal = LiteralMaps(Literal(mass), rule.scores, {"DP": 0.1})
    assert plan.distortion == pytest.approx(literal.least_distortion(15.0, 25.0, slack=1e-11), abs=1e-6)
    assert plan.distortion == pytest.approx(1 - plan.kept_in_place, abs=1e-12)


@pytest.mark.parametrize(
    ("aware", "asked"),
    [(False, {"DP": 0.0}), (True, {"DP": 0.0}), (False, {"EA": 0.05, "EOd": 0.05, "IF": 0.1}), (True, {"EA": 0.02})],
)
def test_column_generation_finds_what_all_entries_at_once_find(
    aware: bool, asked: dict[str, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    dist = some_distribution(5, cells=60, holes=0.1)
    rule = solve(dist, asked, aware=aware)
    some = {weights: decorrelate(dist, rule, **weighed(*weights)) for weights in ((15.0, 25.0), (15.0, 1.0))}
    monkeypatch.setattr(restricted_master, "_FIRST_TARGETS", 10_000)
    for weights, plan in some.items():
        whole = decorrelate(dist, rule, **weighed(*weights))
        assert plan.distortion == pytest.approx(whole.distortion, abs=1e-8)
        assert plan.objective == pytest.approx(plan.optimum, abs=1e-8)


def test_the_least_distorting_map_keeps_most_people_where_two_points_keep_nobody() -> None:
    dist = some_distribution(6, cells=60)
    rule = solve(dist, {"DP": 0.0})
    least, two = decorrelate(dist, rule), decorrelate(dist, rule, distortion=None)
    assert least.correlation < 1e-10
    assert two.correlation < 1e-10
    assert least.accuracy == pytest.approx(two.accuracy, abs=1e-9)
    assert least.kept_in_place > 0.4 > 0.1 > two.kept_in_place
    assert least.distortion < two.distortion / 2
    assert (two.choice, least.choice) == ("two points", "least distortion")
    assert np.count_nonzero(two.maps[0].sum(axis=1)) <= 2


def test_distortion_falls_as_its_weight_rises() -> None:
    dist = some_distribution(7)
    rule = solve(dist, {"DP": 0.1})
    plans = [decorrelate(dist, rule, distortion_weight=weight) for weight in (0.0, 0.1, 1.0, 10.0, 100.0, 1e4)]
    distortion = [plan.distortion for plan in plans[1:]]
    assert all(a >= b - 1e-9 for a, b in pairwise(distortion))
    assert plans[0].objective == pytest.approx(plans[0].optimum, abs=1e-8)
    assert plans[-1].distortion == pytest.approx(0, abs=1e-9)
    assert all(plan.choice == "distortion traded" for plan in plans)


def test_cells_without_mass_are_no_targets_and_go_where_others_go() -> None:
    dist = some_distribution(8, cells=12, holes=0.3)
    held = dist.mass.sum(axis=2).copy()
    mass = dist.mass.copy()
    mass[3] = 0
    held[3] = 0
    dist = CellDistribution.from_mass(mass, dist.distances)
    nearest = min((j for j in range(12) if held[j].sum() > 0), key=lambda j: dist.distances[3, j])  # type: ignore[index]
    unaware = decorrelate(dist, solve(dist, {"DP": 0.0})).maps[0]
    assert np.all(unaware[3] == 0)
    assert np.allclose(unaware[:, 3], unaware[:, nearest])
    maps = decorrelate(dist, solve(dist, {"DP": 0.0}, aware=True)).maps
    empty = [g * 12 + i for g in range(2) for i in range(12) if held[i, g] == 0]
    assert len(empty) > 2
    for columns in maps:
        assert np.all(columns[empty] == 0)
        assert np.allclose(columns.sum(axis=0), 1)
    lone = next(i for i in range(12) if (held[i] > 0).sum() == 1)
    assert np.allclose(maps[0][:, lone], maps[1][:, lone])


def test_progress_is_told() -> None:
    dist = some_distribution(9, cells=40)
    told: list[tuple[float, str]] = []
    decorrelate(dist, solve(dist, {"DP": 0.0}), progress=lambda fraction, words: told.append((fraction, words)))
    fractions = [fraction for fraction, _ in told]
    assert fractions == sorted(fractions)
    assert fractions[-1] == 1.0
    assert any("entries of the map" in words for _, words in told)


def test_a_solver_that_fails_is_reported_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    dist = some_distribution(10)
    rule = solve(dist, {"DP": 0.0})

    def fail(*_: Any) -> None:
        raise SolverError("no way")

    monkeypatch.setattr(restricted_master.Master, "solve", fail)
    with pytest.raises(SolverError, match=r"because of rounding \(no way\).*distortion=None"):
        decorrelate(dist, rule)
