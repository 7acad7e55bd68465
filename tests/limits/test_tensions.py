"""Tension: what two notions cost together beyond the dearer one alone."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairlimits.errors import InputError
from fairlimits.law.cells.distributions import CellDistribution
from fairlimits.limits.tensions import tension
from fairlimits.notions.registry import ALL_NOTIONS
from literal import GROUP_NOTIONS, Hood
from strategies import Case, cases, hoods, neighbourhood

EXACT = 2e-7


@settings(max_examples=25)
@given(cases(), hoods(("mean", "each", "all")), st.booleans(), st.sampled_from([0.0, 0.03, 0.1, 1.0, math.inf]))
def test_tension_is_that_of_the_literal_programs(case: Case, hood: Hood, aware: bool, eps: float) -> None:
    found = tension(case.dist(), eps, aware=aware, neighbours=neighbourhood(hood))
    names = ALL_NOTIONS if case.distances is not None else GROUP_NOTIONS
    assert found.notions == names
    assert (found.tolerance, found.aware) == (eps, aware)
    literal = case.literal(aware, hood)
    best = literal.majority()
    loss = np.array([[best - literal.optimum({one: eps, other: eps}) for one in names] for other in names])  # type: ignore[operator]
    alone = np.diag(loss)
    np.testing.assert_allclose(found.loss, alone, atol=EXACT)
    np.testing.assert_allclose(found.pair_loss, loss, atol=EXACT)
    np.testing.assert_allclose(found.matrix, loss - np.maximum(alone[:, None], alone), atol=2 * EXACT)
    check(found.matrix, found.pair_loss)


def check(matrix: np.ndarray, pair_loss: np.ndarray) -> None:
    """Two notions never cost less than one of them."""
    np.testing.assert_array_equal(matrix, matrix.T)
    np.testing.assert_array_equal(pair_loss, pair_loss.T)
    assert (matrix >= -EXACT).all()
    assert (np.diag(matrix) == 0).all()
    assert (pair_loss >= -EXACT).all()


@pytest.mark.parametrize("aware", [False, True])
def test_a_notion_does_not_clash_with_its_own_part(aware: bool) -> None:
    mass = np.random.default_rng(0).gamma(0.7, size=(12, 3, 2))
    found = tension(CellDistribution.from_mass(mass), 0.01, aware=aware)
    at = {name: k for k, name in enumerate(found.notions)}
    for part in ("EOp", "PE"):
        assert found.matrix[at[part], at["EOd"]] == pytest.approx(0, abs=EXACT)
        assert found.loss[at[part]] <= found.loss[at["EOd"]] + EXACT
    assert found.matrix.max() > 1e-3


def test_pairs_as_a_table_the_tensest_first() -> None:
    mass = np.random.default_rng(1).gamma(0.7, size=(12, 2, 2))
    found = tension(CellDistribution.from_mass(mass), 0.02)
    frame = found.to_frame().to_pydict()
    assert len(frame["tension"]) == 10
    assert frame["tension"] == sorted(frame["tension"], reverse=True)
    at = {name: k for k, name in enumerate(found.notions)}
    for one, other, first, second, together, tense in zip(*frame.values(), strict=True):
        assert first == found.loss[at[one]]
        assert second == found.loss[at[other]]
        assert together == found.pair_loss[at[one], at[other]]
        assert tense == pytest.approx(together - max(first, second), abs=1e-15)


def test_chosen_notions_keep_their_order() -> None:
    dist = CellDistribution.from_mass(np.random.default_rng(2).gamma(0.7, size=(6, 2, 2)))
    whole, part = tension(dist, 0.05), tension(dist, 0.05, notions=["PE", "DP"])
    assert part.notions == ("PE", "DP")
    at = [whole.notions.index(name) for name in part.notions]
    np.testing.assert_allclose(part.pair_loss, whole.pair_loss[np.ix_(at, at)], atol=EXACT)
    single = tension(dist, 0.05, notions=["DP"])
    assert tension(dist, 0.05, notions="DP").notions == single.notions == ("DP",)
    assert single.matrix.tolist() == [[0.0]]
    assert single.to_frame().num_rows == 0


@pytest.mark.parametrize(
    ("eps", "options"),
    [
        (-0.1, {}),
        (math.nan, {}),
        ("much", {}),
        (0.1, {"notions": ["XX"]}),
        (0.1, {"notions": ["DP", "DP"]}),
        (0.1, {"notions": ["IF"]}),
        (0.1, {"notions": []}),
        (-1, {"notions": ["DP"]}),
    ],
)
def test_impossible_asks_are_refused(eps: Any, options: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        tension(CellDistribution.from_mass(np.ones((2, 2, 2))), eps, **options)
