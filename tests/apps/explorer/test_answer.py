"""The figures of the page are those of `solve`, `frontier` and `decorrelate`."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import fairlimits as fl
from fairlimits.apps.explorer import Subject
from fairlimits.apps.explorer.answer import Choices, answer, curve, read_choices
from fairlimits.apps.explorer.picture import plotly_figure
from fairlimits.evaluation import Study


@pytest.mark.parametrize("aware", [False, True])
@pytest.mark.parametrize("tolerances", [{}, {"DP": 0.05}, {"EA": 0.02, "EOd": 0.1}, {"DP": 0.03, "IF": 0.2}])
def test_figures_are_those_of_solve(dist: fl.CellDistribution, tolerances: dict[str, float], aware: bool) -> None:
    found = answer(dist, Choices(tolerances, aware, False, "DP"))
    rule = fl.solve(dist, tolerances, aware=aware)
    assert found["accuracy"] == rule.accuracy
    assert found["best"] == rule.bayes_accuracy
    assert found["other_accuracy"] == fl.solve(dist, tolerances, aware=not aware).accuracy
    assert found["gaps"] == rule.gaps
    assert found["shadow_prices"] == rule.shadow_prices
    assert found["decorrelation"] is None
    json.dumps(found, allow_nan=False)
    # How each group fares, and between whom each gap lies.
    rates = found["rates"]
    assert list(rates["groups"]) == list(dist.groups)
    selected = {name: own["selection rate"]["value"] for name, own in rates["groups"].items()}
    gap = rates["gaps"]["DP"]
    assert gap["value"] == pytest.approx(rule.gaps["DP"])
    if gap["lowest"] is not None:
        assert selected[gap["highest"]] - selected[gap["lowest"]] == pytest.approx(rule.gaps["DP"])
    share = dist.mass.sum(axis=(0, 2))
    right = [own["accuracy"]["value"] for own in rates["groups"].values()]
    assert share @ right == pytest.approx(rule.accuracy)


def test_the_position_is_the_tolerance_or_else_the_gap(dist: fl.CellDistribution) -> None:
    assert answer(dist, Choices({"DP": 0.05}, False, False, "DP"))["at"] == 0.05
    free = answer(dist, Choices({}, False, False, "DP"))
    assert free["at"] == free["gaps"]["DP"]


@pytest.mark.parametrize("aware", [False, True])
def test_independence_asks_for_parity(dist: fl.CellDistribution, aware: bool) -> None:
    found = answer(dist, Choices({"DP": 0.1, "EA": 0.05}, aware, True, "DP"))
    asked = fl.solve(dist, {"DP": 0.1, "EA": 0.05}, aware=aware)
    plan = fl.decorrelate(dist, asked, distortion=None)
    assert found["accuracy"] == fl.solve(dist, {"DP": 0.0, "EA": 0.05}, aware=aware).accuracy
    assert found["at"] == 0
    assert found["decorrelation"] == {
        "free_accuracy": asked.accuracy,
        "limit": found["accuracy"],
        "correlation": plan.baseline_correlation,
        "fixed_accuracy": plan.accuracy,
        "fixed_correlation": plan.correlation,
    }
    assert set(found["shadow_prices"]) == {"DP", "EA"}


@pytest.mark.parametrize("others", [{}, {"EA": 0.03}, {"IF": 0.3}])
@pytest.mark.parametrize("aware", [False, True])
def test_the_position_lies_on_the_curve(dist: fl.CellDistribution, others: dict[str, float], aware: bool) -> None:
    found = curve(dist, "DP", others, aware, 0.3)
    assert found["exact"] == ("IF" not in others)
    at = found["tolerance"][3]
    rule = fl.solve(dist, {"DP": at, **others}, aware=aware)
    assert np.interp(at, found["tolerance"], found["accuracy"]) == pytest.approx(rule.accuracy, abs=1e-9)
    between = np.interp(0.07, found["tolerance"], found["accuracy"])
    limit = fl.solve(dist, {"DP": 0.07, **others}, aware=aware).accuracy
    assert between <= limit + 1e-9
    if found["exact"]:
        assert between == pytest.approx(limit, abs=1e-9)


def test_seeing_the_group_never_costs_accuracy(dist: fl.CellDistribution) -> None:
    rng = np.random.default_rng(1)
    for _ in range(20):
        names = rng.choice(fl.notions.ALL_NOTIONS, rng.integers(1, 4), replace=False)
        tolerances = {str(name): float(rng.uniform(0, 0.2)) for name in names}
        found = answer(dist, Choices(tolerances, True, bool(rng.integers(2)), "DP"))
        assert found["accuracy"] >= found["other_accuracy"] - 1e-9


def test_what_is_not_estimable_is_none() -> None:
    dist = fl.CellDistribution.from_mass([[[3, 2], [1, 0]], [[1, 4], [2, 0]]])
    found = answer(dist, Choices({"DP": 0.1}, False, False, "EOp"))
    assert found["gaps"]["EOp"] is None
    assert found["gaps"]["IF"] is None
    assert found["at"] is None
    subject = Subject("tiny", dist)
    assert "IF" not in subject.notions
    assert not subject.estimable["EOp"]


@pytest.mark.parametrize("value", [None, -0.1, "much", float("nan")])
def test_bad_tolerances_are_refused(value: Any) -> None:
    with pytest.raises(fl.InputError, match="DP"):
        read_choices({"DP": value}, False, False, "DP")


def test_a_curve_is_solved_once(dist: fl.CellDistribution, monkeypatch: pytest.MonkeyPatch) -> None:
    subject = Subject("people", dist)
    first = subject.curve("DP", {"EA": 0.05}, True)
    monkeypatch.setattr("fairlimits.apps.explorer.answer.frontier", None)
    assert subject.curve("DP", {"EA": 0.05}, True) is first


def test_sliders_end_beyond_the_free_rule(dist: fl.CellDistribution) -> None:
    subject = Subject("people", dist)
    for name, end in subject.ends.items():
        assert end >= max(fl.solve(dist, {}, aware=aware).gaps[name] for aware in (False, True))
        assert end <= 1


def test_what_no_rule_passes_is_drawn_where_it_is_known(people: fl.Dataset, dist: fl.CellDistribution) -> None:
    choices = Choices({"DP": 0.05}, aware=False, decorrelated=False, moving="DP")
    assert Subject("people", dist, people).above(choices) is None
    subject = Subject("people", dist, people, study=Study.of(people))
    above = subject.above(choices)
    assert above is not None
    assert max(above["accuracy"]) <= 1
    curves = {aware: subject.curve("DP", {}, aware) for aware in (True, False)}
    drawn = plotly_figure(subject.answer(choices), curves, [], above)
    assert "no rule passes (95%)" in [trace["name"] for trace in drawn["data"]]
    assert subject.above(Choices({"IF": 0.1}, aware=False, decorrelated=False, moving="IF")) is None
