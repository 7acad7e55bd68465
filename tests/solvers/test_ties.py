"""The most even optimum: as good as the corner, within all rows, alike points decided alike."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import entr

from fairlimits import CellDistribution, Neighbourhood
from fairlimits.limits.programs import FairProgram
from fairlimits.notions import NOTIONS
from fairlimits.solvers import most_even
from fairlimits.solvers.proofs import FEASIBILITY, OPTIMALITY


def laws(cells: int, groups: int, seed: int, twins: bool) -> CellDistribution:
    rng = np.random.default_rng(seed)
    mass = rng.dirichlet(np.full(cells * groups * 2, 0.7)).reshape(cells, groups, 2)
    return CellDistribution.from_mass(np.concatenate([mass, mass]) / 2 if twins else mass)


@settings(max_examples=60, deadline=None)
@given(
    cells=st.integers(1, 30),
    groups=st.integers(2, 6),
    seed=st.integers(0, 10_000),
    names=st.lists(st.sampled_from(sorted(NOTIONS)), min_size=1, max_size=3, unique=True),
    tolerance=st.sampled_from([0.0, 0.01, 0.05, 0.2]),
    aware=st.booleans(),
)
def test_it_is_an_optimum_and_twins_are_decided_alike(
    cells: int, groups: int, seed: int, names: list[str], tolerance: float, aware: bool
) -> None:
    dist = laws(cells, groups, seed, twins=True)
    program = FairProgram(dist, tuple(names), aware, Neighbourhood())
    asked = dict.fromkeys(names, tolerance)
    solved = program.solve(asked)
    x = program.scores(solved, asked)
    assert ((x >= 0) & (x <= 1)).all()
    rows = program.rate_rows
    found = most_even(
        solved.optimum, program.cost, rows.matrix, (rows.lower(asked), rows.upper(asked)), program.variables.mass
    )
    assert found.value == pytest.approx(solved.optimum.value, abs=OPTIMALITY)
    activity = rows.matrix @ found.x
    assert (activity >= rows.lower(asked) - FEASIBILITY).all()
    assert (activity <= rows.upper(asked) + FEASIBILITY).all()
    entropy = [float(program.variables.mass @ (entr(own) + entr(1 - own))) for own in (x, solved.x)]
    assert entropy[0] >= entropy[1] - 0.05


def test_a_group_that_ties_is_decided_by_a_smooth_function_of_its_odds() -> None:
    """Equal accuracy, group seen: the easy group is held back, and every cell of it is worth neither 1 nor 0."""
    odds = np.linspace(0.05, 0.95, 20)
    easy = np.stack([1 - odds, odds], axis=1) / 20
    hard = np.full((20, 2), 0.5) / 20
    dist = CellDistribution.from_mass(np.stack([easy, hard], axis=1) / 2)
    program = FairProgram(dist, ("EA",), True, Neighbourhood())
    solved = program.solve({"EA": 0.0})
    corner = program.variables.expand(solved.x)[:, 0]
    even = program.variables.expand(program.scores(solved, {"EA": 0.0}))[:, 0]
    assert np.unique(np.round(corner, 6)).size <= 3
    # All of them tie, and accuracy is to be that of a coin: so each is decided by one.
    assert even == pytest.approx(0.5, abs=1e-6)


def test_one_optimum_is_left_as_it_is() -> None:
    dist = laws(20, 2, 0, twins=False)
    program = FairProgram(dist, ("DP",), False, Neighbourhood())
    solved = program.solve({"DP": 0.05})
    assert program.scores(solved, {"DP": 0.05}) is not None
    assert (program.scores(solved, {"DP": 0.05}) == solved.x).all()
