"""A start near the optimum changes how long it takes to find the optimum, and nothing else."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from fairlimits.decorrelation import decorrelate
from fairlimits.errors import InfeasibleError
from fairlimits.law.cells.distributions import CellDistribution
from fairlimits.law.cells.neighbours import Neighbourhood
from fairlimits.limits import solve
from fairlimits.limits.programs import FairProgram
from fairlimits.limits.rules import Rule
from fairlimits.solvers import pairs
from fairlimits.solvers.interior import program
from fairlimits.solvers.interior.program import InteriorProgram
from literal import Hood
from strategies import Case, cases, hoods, neighbourhood, tolerances


def from_within(patch: pytest.MonkeyPatch) -> list[bool]:
    """Let every program with neighbours begin from within; tells which found a start."""
    began: list[bool] = []
    start = InteriorProgram.start

    def told(self: InteriorProgram) -> Any:
        found = start(self)
        began.append(found is not None)
        return found

    for name in ("FEW_PAIRS", "MANY_VARIABLES", "PATIENCE"):
        patch.setattr(pairs, name, 0)
    patch.setattr(InteriorProgram, "start", told)
    return began


@settings(max_examples=200)
@given(cases(distances=True, cells=8, groups=4), tolerances(), st.booleans(), hoods())
def test_the_optimum_is_the_same(case: Case, asked: dict[str, float], aware: bool, hood: Hood) -> None:
    asked = {**asked, "IF": asked.get("IF", 0.1)}

    def found() -> Rule | None:
        try:
            return solve(case.dist(), asked, aware=aware, neighbours=neighbourhood(hood))
        except InfeasibleError:
            return None

    usual = found()
    with pytest.MonkeyPatch.context() as patch:
        from_within(patch)
        within = found()
    assert (usual is None) == (within is None)
    if usual is not None and within is not None:
        assert within.accuracy == pytest.approx(usual.accuracy, abs=2e-8)
        for name, eps in asked.items():
            assert np.isnan(within.gaps[name]) or within.gaps[name] <= eps + 2e-8


def on_a_line(cells: int, groups: int = 2, seed: int = 0) -> CellDistribution:
    """Cells whose neighbours are those nearby on a line."""
    rng = np.random.default_rng(seed)
    place = np.sort(rng.random(cells))
    distance = np.abs(place[:, None] - place)
    near = sp.coo_array(np.triu(np.where(distance < 0.1, distance, 0), 1))
    return CellDistribution.from_mass(rng.gamma(0.7, size=(cells, groups, 2)), distances=near)


@pytest.mark.parametrize("aware", [False, True])
@pytest.mark.parametrize("groups", [2, 3])
@pytest.mark.parametrize("asked", [{"EA": 0.05, "EOd": 0.05}, {"DP": 0.0}, {}])
def test_a_start_is_found_and_saves_steps(asked: dict[str, float], groups: int, aware: bool) -> None:
    dist = on_a_line(300, groups)
    tolerance = {**asked, "IF": 0.02}
    usual = solve(dist, tolerance, aware=aware)
    with pytest.MonkeyPatch.context() as patch:
        began = from_within(patch)
        within = solve(dist, tolerance, aware=aware)
        assert began == [True]
    assert within.accuracy == pytest.approx(usual.accuracy, abs=1e-8)


def test_the_start_names_the_tight_constraints() -> None:
    dist = on_a_line(300)
    asked = {"EA": 0.05, "EOd": 0.05, "IF": 0.02}
    rule = solve(dist, asked)
    program = FairProgram(dist, tuple(asked), False, Neighbourhood())
    comparison = program.variables.compare(Neighbourhood())
    bounds = program.rate_rows.lower(asked), program.rate_rows.upper(asked)
    allowed = comparison.looseness * 0.02
    kept = program._program
    inner = InteriorProgram(kept.cost, kept.box, kept.dense, bounds, comparison, allowed)
    start = inner.start()
    assert start is not None
    assert (rule.scores[start.columns < 0] < 1e-3).all()
    assert (rule.scores[start.columns > 0] > 1 - 1e-3).all()
    tight = start.pairs[start.pair_rows != 0]
    difference = rule.scores[comparison.first] - rule.scores[comparison.second]
    np.testing.assert_allclose(np.abs(difference)[tight], allowed[tight], atol=1e-3)
    assert len(tight) > 0


def test_where_the_way_is_lost_the_simplex_method_goes_on_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    dist = on_a_line(100)
    asked = {"EOd": 0.05, "IF": 0.02}
    usual = solve(dist, asked)
    began = from_within(monkeypatch)
    monkeypatch.setattr(program, "cg", lambda _, values, **__: (np.full(len(values), np.nan), 0))
    assert solve(dist, asked).accuracy == pytest.approx(usual.accuracy, abs=1e-8)
    assert began == [False]


def test_a_coin_that_is_not_within_is_no_start(monkeypatch: pytest.MonkeyPatch) -> None:
    dist = on_a_line(100)
    began = from_within(monkeypatch)
    strict = solve(dist, {"DP": 0.05, "IF": 0.0})
    assert strict.gaps["IF"] <= 1e-9
    floor = solve(dist, {"DP": 0.05, "IF": 0.02}, requirements=["selection rate <= 0.3"])
    assert floor.gaps["IF"] <= 0.02 + 1e-8
    assert began == [False, False]


def test_patience_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    began = from_within(monkeypatch)
    monkeypatch.setattr(pairs, "PATIENCE", 1_000)
    solve(on_a_line(100), {"IF": 0.02})
    assert began == []


@pytest.mark.parametrize("aware", [False, True])
def test_maps_are_the_same_too(aware: bool) -> None:
    dist = on_a_line(60)
    rule = solve(dist, {"EOd": 0.05, "IF": 0.02}, aware=aware)
    usual = decorrelate(dist, rule, distortion=None)
    with pytest.MonkeyPatch.context() as patch:
        from_within(patch)
        within = decorrelate(dist, rule, distortion=None)
    assert within.objective == pytest.approx(usual.objective, abs=1e-6)


def test_rows_that_say_the_same_do_no_harm() -> None:
    program = FairProgram(on_a_line(100), ("EA", "EOd", "IF"), False, Neighbourhood())
    kept, asked = program._program, {"EA": 0.05, "EOd": 0.05, "IF": 0.02}
    comparison = program.variables.compare(Neighbourhood())
    twice = np.vstack([kept.dense, kept.dense])
    lower, upper = program.rate_rows.lower(asked), program.rate_rows.upper(asked)
    bounds = np.concatenate([lower, lower]), np.concatenate([upper, upper])
    inner = InteriorProgram(kept.cost, kept.box, twice, bounds, comparison, comparison.looseness * 0.02)
    start = inner.start()
    assert start is not None
    assert (start.rows[: len(kept.dense)] == start.rows[len(kept.dense) :]).all()
