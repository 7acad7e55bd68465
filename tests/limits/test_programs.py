"""Rates as rows of a program: one compiler for rules and maps, exact where rounding could bind."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairlimits.decorrelation.solving import make_problem
from fairlimits.law.cells.distributions import CellDistribution
from fairlimits.law.cells.neighbours import Neighbourhood
from fairlimits.limits import Variables, compile_rows, solve
from fairlimits.limits.programs import FairProgram
from fairlimits.limits.rate_rows import RateRows
from fairlimits.notions import read_requirements
from literal import GROUP_NOTIONS, Literal
from strategies import masses, tolerances

REQUIRED = ["selection rate <= 0.3", "selection rate ratio >= 0.8", "accuracy difference <= 0.1"]


def rows_of(mass: np.ndarray, aware: bool, notions: tuple[str, ...]) -> RateRows:
    return compile_rows(Variables(CellDistribution.from_mass(mass), aware), notions)


@settings(max_examples=150)
@given(masses(), st.booleans(), st.integers(0, 10_000), tolerances(individual=False, least=1))
def test_rows_are_met_exactly_where_the_gaps_are(
    mass: np.ndarray, aware: bool, seed: int, asked: dict[str, float]
) -> None:
    dist = CellDistribution.from_mass(mass)
    variables = Variables(dist, aware)
    rows = compile_rows(variables, asked)
    scores = np.random.default_rng(seed).random(len(variables))
    gaps = Literal(mass, aware).gaps(variables.expand(scores))
    parts = np.split(rows.matrix[:, : rows.n_scores] @ scores, [own.stop for own in rows.places])
    met = True
    for block, own in zip(rows.blocks, parts, strict=False):
        # The best auxiliary variable is the lowest rate.
        activity = own + block.shared * (own - block.lower).min() if block.has_auxiliary else own
        eps = block.tolerance(asked)
        met = met and bool((activity <= block.upper + block.up * eps + 1e-12).all())
        met = met and bool((activity >= block.lower + (block.down * eps if block.down else 0) - 1e-12).all())
    apart = max((gaps[name] - eps for name, eps in asked.items() if not math.isnan(gaps[name])), default=-1.0)
    if abs(apart) > 1e-9:
        assert met == (apart < 0)


@settings(max_examples=150)
@given(masses(tiny=True), st.booleans())
def test_a_coin_meets_every_row(mass: np.ndarray, aware: bool) -> None:
    rows = rows_of(mass, aware, GROUP_NOTIONS)
    coin = np.full(rows.matrix.shape[1], 0.5)
    at_zero = dict.fromkeys(GROUP_NOTIONS, 0.0)
    np.testing.assert_array_equal(rows.lower(at_zero), rows.upper(at_zero))
    np.testing.assert_allclose(rows.matrix @ coin, rows.lower(at_zero), rtol=0, atol=2e-16 * rows.n_scores)


@pytest.mark.parametrize("groups", [2, 3])
def test_groups_that_are_alike_are_not_constrained(groups: int) -> None:
    share = np.random.default_rng(0).random((6, 1, 2))
    rows = rows_of(share * np.array([1.0, 1e-5, 0.3])[None, :groups, None], False, GROUP_NOTIONS)
    if groups == 2:
        assert not rows.matrix.any()
    else:
        # Each rate with its own auxiliary variable.
        assert rows.n_auxiliary == len(rows.blocks) == 4
        assert (rows.matrix[:, rows.n_scores :].sum(axis=0) == -groups).all()


@given(masses(groups=4), st.booleans(), tolerances(individual=False))
def test_maps_are_bound_by_the_rows_of_their_rule(mass: np.ndarray, aware: bool, asked: dict[str, float]) -> None:
    dist = CellDistribution.from_mass(mass)
    finite = {name: eps for name, eps in asked.items() if math.isfinite(eps)}
    own = FairProgram(dist, tuple(finite), aware, Neighbourhood()).rate_rows
    problem = make_problem(dist, solve(dist, asked, aware=aware), None, None)
    np.testing.assert_array_equal(problem.rate_rows.matrix, own.matrix)
    lower, upper = problem.bounds
    np.testing.assert_array_equal(lower, own.lower(finite))
    np.testing.assert_array_equal(upper, own.upper(finite))


def test_the_layout_says_which_rows_belong_to_whom() -> None:
    dist = CellDistribution.from_mass(np.random.default_rng(0).random((5, 3, 2)))
    fixed = [requirement.rows(dist.rates) for requirement in read_requirements(REQUIRED)]
    rows = compile_rows(Variables(dist, False), ["EOp", "EOd", "IF"], fixed)
    assert [block.askers for block in rows.blocks] == [("EOp", "EOd"), ("EOd",), (), (), ()]
    assert rows.n_auxiliary == 2 + sum(own.shared.any() for own in fixed)
    assert [own.stop - own.start for own in rows.places] == [len(block) for block in rows.blocks]
    asked = {"EOp": math.inf, "EOd": 0.1}
    upper, lower = rows.upper(asked), rows.lower(asked)
    assert (upper - lower)[:6] == pytest.approx(np.full(6, 0.1))
    np.testing.assert_array_equal(lower[6:], np.concatenate([own.lower for own in fixed]))
    assert np.isfinite(rows.lower(dict.fromkeys(asked, math.inf))).all()
    # The rate of both follows whoever asks for less, and what is fixed follows nobody.
    duals = np.ones(len(rows))
    assert rows.slope(duals, {"EOp": 0.05, "EOd": 0.1}, {"EOp": 1.0}) == 3.0
    assert rows.slope(duals, {"EOp": 0.2, "EOd": 0.1}, {"EOp": 1.0}) == 0.0
    assert rows.moves_on_a_line({"EOp": 0.0, "EOd": 0.1}, {"EOp": 0.1, "EOd": 0.1})
    assert not rows.moves_on_a_line({"EOp": 0.0, "EOd": 0.1}, {"EOp": 0.2, "EOd": 0.1})
