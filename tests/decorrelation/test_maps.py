"""Plans: figures read off the map, files, and input that cannot be used."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from map_samples import discretized, some_distribution, weighed

from fairlimits.decorrelation import Decorrelation, Multipliers, decorrelate
from fairlimits.errors import FileError, InputError
from fairlimits.law.cells.distributions import CellDistribution
from fairlimits.law.cells.neighbours import Neighbourhood
from fairlimits.limits import solve
from fairlimits.limits.rules import Rule
from literal import Hood, Literal

HOOD = Neighbourhood(percentile=20.0)


@pytest.fixture(params=[False, True], ids=["unaware", "aware"])
def aware(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


def test_every_figure_is_that_of_the_map(aware: bool) -> None:
    dist = some_distribution(0, cells=9, groups=3, holes=0.15)
    rule = solve(dist, {"DP": 0.2, "IF": 0.3}, aware=aware, neighbours=HOOD)
    plan = decorrelate(dist, rule, **weighed(15.0, 1.0))
    literal = Literal(dist.mass, aware, dist.distances, Hood(percentile=20.0))
    N, G = dist.n_cells, dist.n_groups
    scores, after = rule.scores, np.zeros(rule.scores.shape)
    sent = np.zeros((G, N * G if aware else N))
    distortion = kept = 0.0
    for g in range(G):
        columns = plan.maps[g if aware else 0]
        for j in range(N):
            held = dist.mass[j, g].sum()
            for b in range(columns.shape[0]):
                i, score = b % N, scores[b % N, b // N] if aware else scores[b]
                chance = columns[b, j]
                if aware:
                    after[j, g] += chance * score
                elif g == 0:
                    after[j] += chance * score
                sent[g, b] += chance * held / dist.mass[:, g].sum()
                distortion += held * chance * dist.distances[i, j]  # type: ignore[index]
                kept += held * chance * (i == j)
    assert plan.mapped_scores == pytest.approx(after)
    assert plan.accuracy == pytest.approx(literal.accuracy(after))
    assert plan.gaps == pytest.approx(literal.gaps(after))
    assert plan.rule_gaps == pytest.approx(literal.gaps(scores))
    assert plan.rule_accuracy == pytest.approx(rule.accuracy)
    assert plan.correlation == pytest.approx(max(np.abs(a - b).sum() for a in sent for b in sent))
    assert plan.distortion == pytest.approx(distortion)
    assert plan.kept_in_place == pytest.approx(kept)
    law = dist.mass.sum(axis=2) / dist.mass.sum(axis=(0, 2))
    baseline = max(np.abs(law[:, g] - law[:, h]).sum() for g in range(G) for h in range(G))
    assert plan.baseline_correlation == (2.0 if aware else pytest.approx(baseline))
    assert plan.objective == pytest.approx(15 * plan.accuracy - plan.correlation)
    assert [columns.shape for columns in plan.maps] == ([(N * G, N)] * G if aware else [(N, N)])


def test_figures_have_a_row_for_every_figure(aware: bool) -> None:
    dist = some_distribution(1)
    plan = decorrelate(dist, solve(dist, {"DP": 0.1}, aware=aware))
    rows = {row["measure"]: (row["before"], row["after"]) for row in plan.figures()}
    assert list(rows) == [
        "correlation",
        "accuracy",
        *(f"gap {name}" for name in ("DP", "EA", "EOp", "PE", "EOd", "IF")),
        "mass kept in place",
        "mean distance moved, cell to cell",
    ]
    assert rows["accuracy"] == (plan.rule_accuracy, plan.accuracy)
    assert rows["mass kept in place"] == (1.0, plan.kept_in_place)
    assert "least distortion" in repr(plan)


def test_saved_and_loaded(aware: bool, tmp_path: Path) -> None:
    dist = some_distribution(2, cells=10, holes=0.1)
    rule = solve(dist, {"DP": 0.1, "IF": 0.5}, aware=aware, neighbours=HOOD)
    plans = [
        decorrelate(dist, rule),
        decorrelate(dist, rule, distortion_weight=1.0),
        decorrelate(dist, rule, method="multipliers", multipliers=Multipliers(inner_steps=5, max_iterations=2)),
    ]
    for plan in plans:
        plan.save(tmp_path / "plan.npz")
        again = Decorrelation.load(tmp_path / "plan.npz")
        assert np.array_equal(np.stack(again.maps), np.stack(plan.maps))
        assert np.array_equal(again.scores, plan.scores)
        for name in (
            "aware",
            "tolerances",
            "neighbours",
            "accuracy_weight",
            "correlation_weight",
            "optimum",
            "method",
            "choice",
            "distortion_weight",
            "converged",
            "iterations",
            "correlation",
            "gaps",
        ):
            assert getattr(again, name) == getattr(plan, name), name
        assert again.optimality_gap == pytest.approx(plan.optimality_gap, nan_ok=True)
        assert np.array_equal(again.distribution.mass, dist.mass)


def test_a_loaded_plan_maps_rows_alike(tmp_path: Path) -> None:
    from map_samples import some_data

    dist = discretized()
    plan = decorrelate(dist, solve(dist, {"DP": 0.0}))
    plan.save(tmp_path / "plan.npz")
    rows = some_data(1, 50)
    assert Decorrelation.load(tmp_path / "plan.npz").apply(rows, 3).equals(plan.apply(rows, 3))


def test_files_that_are_no_plans(tmp_path: Path) -> None:
    dist = some_distribution(3, cells=5)
    rule = solve(dist, {"DP": 0.1})
    rule.save(tmp_path / "rule.npz")
    with pytest.raises(FileError, match="holds a rule, not a plan"):
        Decorrelation.load(tmp_path / "rule.npz")
    with pytest.raises(FileError, match="no file"):
        Decorrelation.load(tmp_path / "none.npz")
    decorrelate(dist, rule).save(tmp_path / "plan.npz")
    header, arrays = _read(tmp_path / "plan.npz")
    for damage in (
        {"maps": arrays["maps"][:, :4, :4]},
        {"maps": arrays["maps"] * 0.5},
        {"maps": -arrays["maps"]},
        {"scores": arrays["scores"][:3]},
        {"scores": arrays["scores"] + 1.5},
    ):
        with pytest.raises(FileError, match=r"plan is damaged"):
            Decorrelation._unpack(header, arrays | damage)
    for odd in ({"method": "guess"}, {"choice": "none"}):
        with pytest.raises(FileError, match="unknown kind"):
            Decorrelation._unpack(header | odd, arrays)
    with pytest.raises(FileError, match="damaged"):
        Decorrelation._unpack({key: value for key, value in header.items() if key != "optimum"}, arrays)


def _read(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    from fairlimits._util.archives import read_archive

    return read_archive(path, "plan")


def test_a_plan_for_other_cells_or_groups_is_refused(aware: bool) -> None:
    dist = some_distribution(4, cells=6)
    plan = decorrelate(dist, solve(dist, {"DP": 0.1}, aware=aware))
    for other in (some_distribution(4, cells=7), some_distribution(4, cells=6, groups=3)):
        if other.n_cells != 6 or aware:
            with pytest.raises(InputError, match=r"fit|shapes"):
                Decorrelation(**{**vars_of(plan), "distribution": other})


def vars_of(plan: Decorrelation) -> dict[str, Any]:
    from dataclasses import fields

    return {field.name: getattr(plan, field.name) for field in fields(plan)}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"accuracy_weight": -1.0}, "A weight is -1"),
        ({"correlation_weight": -0.5}, "A weight is -0.5"),
        ({"correlation_weight": float("nan")}, "A weight is nan"),
        ({"accuracy_weight": float("inf")}, "A weight is inf"),
        ({"accuracy_weight": "much"}, "A weight is 'much'"),
        ({"distortion_weight": -1.0}, "A weight is -1"),
        ({"distortion_weight": 1.0, "distortion": None}, "leave out distortion_weight"),
        ({"distortion": "most"}, "distortion is 'most'"),
        ({"method": "magic"}, "The method is 'magic'"),
        ({"multipliers": Multipliers()}, "method='multipliers'"),
        ({"method": "multipliers", "distortion_weight": 1.0}, "take no distortion_weight"),
        ({"tolerances": {"XX": 0.1}}, "not a fairness notion"),
        ({"tolerances": {"DP": -0.1}}, "at least 0"),
        ({"neighbours": "near"}, "neighbours are 'near'; give a Neighbourhood"),
        ({"method": "multipliers", "multipliers": {"tau": 1.0}}, "give them as Multipliers"),
    ],
)
def test_options_that_cannot_be_used(options: dict[str, Any], message: str) -> None:
    dist = some_distribution(5, cells=5)
    with pytest.raises(InputError, match=message):
        decorrelate(dist, solve(dist, {"DP": 0.1}), **options)


def test_rules_that_do_not_fit() -> None:
    dist = some_distribution(6, cells=5)
    with pytest.raises(InputError, match="rule is for 6 cells and the distribution has 5"):
        decorrelate(dist, solve(some_distribution(6, cells=6), {}))
    with pytest.raises(InputError, match="for the groups 0, 1, 2 and the distribution has 0, 1"):
        decorrelate(dist, solve(some_distribution(6, cells=5, groups=3), {}))
    with pytest.raises(InputError, match="takes a CellDistribution and a Rule, got CellDistribution and dict"):
        decorrelate(dist, {"DP": 0.1})  # type: ignore[arg-type]
    with pytest.raises(InputError, match="needs distances"):
        bare = CellDistribution.from_mass(dist.mass)
        decorrelate(bare, solve(bare, {}), tolerances={"IF": 0.1})


def test_too_many_cells_for_a_map(monkeypatch: pytest.MonkeyPatch) -> None:
    dist = some_distribution(7, cells=5)
    rule = solve(dist, {})
    # By name, because `fairlimits.decorrelation` is the function once the package has been imported.
    monkeypatch.setattr(sys.modules["fairlimits.decorrelation.solving"], "MOST_CELLS", 4)
    with pytest.raises(InputError, match="use at most 4 cells"):
        decorrelate(dist, rule)


def test_a_rule_of_another_distribution_on_the_same_cells() -> None:
    dist = some_distribution(8, cells=6)
    other: Rule = solve(some_distribution(9, cells=6), {"DP": 0.1})
    plan = decorrelate(dist, other, tolerances={})
    assert plan.distribution is dist
    assert plan.correlation == pytest.approx(0, abs=1e-12)


def test_a_neighbourhood_of_its_own() -> None:
    dist = some_distribution(10, cells=12)
    rule = solve(dist, {"IF": 0.2}, neighbours=Neighbourhood(percentile=5.0))
    assert decorrelate(dist, rule).neighbours == rule.neighbours
    wider = Neighbourhood(percentile=100.0)
    plan = decorrelate(dist, rule, neighbours=wider)
    assert plan.neighbours == wider
    assert plan.gaps["IF"] <= 0.2 + 1e-8
