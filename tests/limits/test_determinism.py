"""Rules without coins: within the tolerances, and as near to the optimum with coins as they say."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from fairlimits.errors import FileError, InfeasibleError, InputError
from fairlimits.law import CellDistribution
from fairlimits.limits import Determinism, Rule, UncertifiedWarning, frontier, solve
from fairlimits.limits.frontiers import Frontier
from fairlimits.notions import NOTIONS, group_gaps, read_objective, read_requirements
from known_people import known_outcome


def small(seed: int, cells: int = 7, groups: int = 2) -> CellDistribution:
    return CellDistribution.from_mass(np.random.default_rng(seed).integers(0, 30, (cells, groups, 2)))


def every_rule(dist: CellDistribution, aware: bool) -> np.ndarray:
    """Scores (R, N, G) of all rules without coins."""
    shape = (dist.n_cells, dist.n_groups if aware else 1)
    rules = np.array(list(product((0.0, 1.0), repeat=shape[0] * shape[1]))).reshape(-1, *shape)
    return np.broadcast_to(rules, (len(rules), dist.n_cells, dist.n_groups))


def best_of_all(dist: CellDistribution, tolerances: dict[str, float], aware: bool, asked: str, goal: str) -> float:
    """Value of the best of all rules without coins, tried one by one; -inf if there is none."""
    objective, requirement = read_objective(goal), read_requirements([asked] if asked else [])
    rules = every_rule(dist, aware)
    gaps = group_gaps(dist.rates, rules)
    # A gap without two groups is NaN, and constrains nothing.
    kept = np.ones(len(rules), dtype=bool)
    for name, eps in tolerances.items():
        kept &= ~(gaps[name] > eps + 1e-7)
    for own in requirement:
        value, bound = np.array([own.value(dist.rates, scores) for scores in rules]), float(asked.split()[-1])
        kept &= (value <= bound + 1e-7) if "<=" in asked else (value >= bound - 1e-7)
    return max((float(objective.value(dist.rates, own)) for own in rules[kept]), default=-np.inf)


@st.composite
def questions(draw: st.DrawFn) -> tuple[CellDistribution, dict[str, float], bool, str, str]:
    groups, aware = draw(st.integers(2, 4)), draw(st.booleans())
    cells = draw(st.integers(1, 8 // groups if aware else 8))
    counts = draw(st.lists(st.integers(0, 40), min_size=cells * groups * 2, max_size=cells * groups * 2))
    mass = np.array(counts, dtype=float).reshape(cells, groups, 2)
    mass[0, 0] += 1
    names = draw(st.lists(st.sampled_from(sorted(NOTIONS)), max_size=3, unique=True))
    tolerances = {name: draw(st.sampled_from([0.0, 0.01, 0.05, 0.1, 0.3])) for name in names}
    asked = draw(st.sampled_from(["", "", "selection rate <= 0.3", "selection rate >= 0.5", "accuracy >= 0.6"]))
    goal = draw(st.sampled_from(["accuracy", "balanced accuracy", "costs 1:5"]))
    return CellDistribution.from_mass(mass), tolerances, aware, asked, goal


@given(questions())
@settings(max_examples=40, deadline=None)
def test_the_best_of_all_rules_is_found_and_the_cost_is_proven(
    question: tuple[CellDistribution, dict[str, float], bool, str, str],
) -> None:
    dist, tolerances, aware, asked, goal = question
    best = best_of_all(*question)
    more: dict[str, Any] = {"aware": aware, "requirements": [asked] if asked else [], "objective": goal}
    try:
        rule = solve(dist, tolerances, randomize=False, **more)
    except InfeasibleError:
        assert best == -np.inf
        return
    except InputError:
        # Of one label alone there is no balanced accuracy.
        assume(False)
    beside = rule.determinism
    assert beside is not None
    assert set(np.unique(rule.scores)) <= {0.0, 1.0}
    assert not any(rule.gaps[name] > eps + 1e-7 for name, eps in tolerances.items())
    assert rule.value == pytest.approx(best, abs=1e-5)
    assert best <= rule.value + beside.cost_at_most + 1e-7
    free = solve(dist, tolerances, **more)
    assert beside.accuracy == pytest.approx(free.accuracy, abs=1e-7)
    assert beside.cost_at_most == pytest.approx(free.value - rule.value, abs=1e-6)
    assert rule.optimality_gap == beside.cost_at_most
    for name, gap in beside.gaps.items():
        assert gap == pytest.approx(free.gaps[name], abs=1e-7, nan_ok=True)


@pytest.mark.parametrize("aware", [False, True])
def test_on_many_cells_it_costs_next_to_nothing(aware: bool, tmp_path: Path) -> None:
    rule = solve(known_outcome(), {"EOd": 0.05}, aware=aware, randomize=False)
    assert rule.determinism is not None
    assert rule.determinism.cost_at_most < 1e-3
    assert rule.on_labels is not None
    assert "No decision is drawn" in rule.summary()
    loose = solve(known_outcome(), {"DP": 0.9}, randomize=False).determinism
    assert loose is not None
    assert loose.costs_nothing
    assert "costs nothing" in loose.summary()
    assert Determinism.from_dict(rule.determinism.to_dict()) == rule.determinism


def test_certified_rules_do_without_coins_too() -> None:
    rule = solve(known_outcome(), {"DP": 0.1}, randomize=False, confidence=0.9)
    assert rule.guarantee is not None
    assert rule.guarantee.certified
    assert set(np.unique(rule.scores)) <= {0.0, 1.0}
    assert rule.guarantee.limits["DP"] <= 0.1 + 1e-9
    # Beside the rule with coins that is certified too; the bound is that of all rules within the tolerance on the law.
    beside, with_coins = rule.determinism, solve(known_outcome(), {"DP": 0.1}, confidence=0.9)
    assert beside is not None
    assert (beside.accuracy, beside.confidence) == (with_coins.accuracy, 0.9)
    best = solve(known_outcome(), {"DP": 0.1}).accuracy
    assert beside.cost_at_most == pytest.approx(max(best - rule.accuracy, 0), abs=1e-7)
    assert "With coins and confidence 0.9" in rule.summary()
    assert "on the law" in frontier(known_outcome(), "DP", [0.1], confidence=0.9, randomize=False).summary()


def test_rules_that_cannot_be_certified_come_near_without_coins_too() -> None:
    # Two groups cannot have gaps of next to nothing without coins; the rule that comes nearest is one of narrow gaps.
    with pytest.warns(UncertifiedWarning, match="nearest"):
        rule = solve(known_outcome(), {"DP": 0.001}, randomize=False, confidence=0.9)
    assert rule.gaps["DP"] < 0.05 < solve(known_outcome(), {}).gaps["DP"]


def test_frontiers_say_what_it_costs_and_are_kept(tmp_path: Path) -> None:
    curve = frontier(small(0), ["DP"], [0.05, 0.1, 0.4], randomize=False)
    table = curve.to_frame()
    with_coins = frontier(small(0), ["DP"], [0.05, 0.1, 0.4])
    np.testing.assert_allclose(table["accuracy with coins"], with_coins.accuracy)
    assert (np.array(table["no coins cost at most"]) >= -1e-12).all()
    assert "No decision is drawn" in curve.summary()
    curve.save(tmp_path / "curve.npz")
    again = Frontier.load(tmp_path / "curve.npz")
    assert [own.determinism.cost_at_most for own in again.rules if own.determinism] == pytest.approx(
        [own.determinism.cost_at_most for own in curve.rules if own.determinism]
    )
    curve.rules[0].save(tmp_path / "rule.npz")
    assert Rule.load(tmp_path / "rule.npz").determinism is not None


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(InputError, match="leave IF out"):
        solve(small(0), {"IF": 0.1}, randomize=False)
    with pytest.raises(InputError, match="no breakpoints"):
        frontier(small(0), "DP", exact=True, randomize=False)
    with pytest.raises(InputError, match="True or False"):
        solve(small(0), {}, randomize=1)  # type: ignore[arg-type]
    with pytest.raises(InfeasibleError, match="allow coins"):
        solve(small(1), {"EA": 0.0}, randomize=False)
    with pytest.raises(FileError, match="cannot be"):
        Determinism.from_dict({"accuracy": 2, "gaps": {}, "by_lot": 0, "cost_at_most": 0, "confidence": None})
