"""Rules without coins: within the tolerances, and as near to the optimum with coins as they say."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pytest

from fairlimits.errors import FileError, InfeasibleError, InputError
from fairlimits.law import CellDistribution
from fairlimits.limits import Determinism, Rule, frontier, solve
from fairlimits.limits.frontiers import Frontier
from known_people import known_outcome


def small(seed: int, cells: int = 7, groups: int = 2) -> CellDistribution:
    return CellDistribution.from_mass(np.random.default_rng(seed).integers(0, 30, (cells, groups, 2)))


def best_of_all(dist: CellDistribution, tolerances: dict[str, float]) -> float:
    """Accuracy of the best of all rules without coins, tried one by one."""
    best = -1.0
    for scores in product((0.0, 1.0), repeat=dist.n_cells):
        rule = Rule(policy=solve(dist, {}).policy.__class__(dist, np.array(scores), False), tolerances={},
                    accuracy=0.0, bayes_accuracy=0.0)  # fmt: skip
        if all(rule.gaps[name] <= eps + 1e-9 for name, eps in tolerances.items()):
            own = np.array(scores)[:, None]
            best = max(best, float((dist.mass[:, :, 1] * own + dist.mass[:, :, 0] * (1 - own)).sum()))
    return best


@pytest.mark.parametrize("groups", [2, 3])
@pytest.mark.parametrize("tolerances", [{"DP": 0.1}, {"EOd": 0.2}, {"DP": 0.15, "EOp": 0.1}])
def test_the_best_of_all_rules_is_found(tolerances: dict[str, float], groups: int) -> None:
    for seed in range(4):
        dist = small(seed, groups=groups)
        rule = solve(dist, tolerances, randomize=False)
        beside = rule.determinism
        assert beside is not None
        assert set(np.unique(rule.scores)) <= {0.0, 1.0}
        assert all(rule.gaps[name] <= eps + 1e-7 for name, eps in tolerances.items())
        assert rule.accuracy == pytest.approx(best_of_all(dist, tolerances), abs=1e-6)
        free = solve(dist, tolerances)
        assert beside.accuracy == pytest.approx(free.accuracy)
        assert beside.gaps["DP"] == pytest.approx(free.gaps["DP"])
        assert beside.cost_at_most == pytest.approx(free.accuracy - rule.accuracy, abs=1e-7)
        assert rule.optimality_gap == beside.cost_at_most


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
    assert rule.determinism is not None
    assert rule.determinism.accuracy - rule.accuracy <= rule.determinism.cost_at_most + 1e-9
    assert rule.guarantee.limits["DP"] <= 0.1 + 1e-9


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
        Determinism.from_dict({"accuracy": 2, "gaps": {}, "by_lot": 0, "cost_at_most": 0})
