"""`solve`, `frontier` and `tension` take people, an estimate or cells, and refuse anything else in a sentence."""

from __future__ import annotations

import inspect
from functools import cache

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import fairlimits as fl
from fairlimits.errors import InputError
from fairlimits.limits import CellPolicy, on_cells
from known_people import known


@cache
def learned() -> tuple[fl.Dataset, fl.Outcome]:
    data, _ = known(0, 1_200)
    return data, fl.estimate_outcome(data, estimator=LogisticRegression())


def test_people_are_estimated_first(monkeypatch: pytest.MonkeyPatch) -> None:
    data, outcome = learned()
    # The default learners take a while; what they estimate is tested elsewhere.
    monkeypatch.setattr("fairlimits.limits.laws.estimate_outcome", lambda given, **options: outcome)
    rule = fl.solve(data, {"DP": 0.05})
    assert isinstance(rule.policy, CellPolicy)
    assert rule.accuracy == fl.solve(outcome, {"DP": 0.05}).accuracy
    curve = fl.frontier(data, "DP", [0.0, 0.1])
    assert curve.accuracy.tolist() == fl.frontier(outcome, ["DP"], [0.0, 0.1]).accuracy.tolist()
    assert fl.tension(data, 0.05, notions=["DP", "EA"]).loss.tolist() == pytest.approx(
        fl.tension(outcome, 0.05, notions=["DP", "EA"]).loss.tolist()
    )


@pytest.mark.parametrize(
    "asked",
    [
        {"tolerances": {"IF": 0.1}},
        {"tolerances": {"DP": 0.05}, "requirements": ["selection rate <= 0.3"]},
        {"tolerances": {"DP": 0.05}, "objective": "balanced accuracy"},
    ],
)
def test_an_estimate_is_cut_into_cells_where_the_question_needs_them(asked: dict[str, object]) -> None:
    _, outcome = learned()
    rule = fl.solve(outcome, **asked)  # type: ignore[arg-type]
    assert isinstance(rule.policy, CellPolicy)
    assert rule.distribution.origin.partition == ("blend" if "IF" in rule.tolerances else "outcome")
    assert rule.optimality_gap <= 1e-8


def test_cells_of_an_estimate_say_what_the_estimate_says() -> None:
    data, outcome = learned()
    test, _ = known(1, 4_000)
    single, cells = (fl.solve(law, {"DP": 0.03}) for law in (outcome, on_cells(outcome, ["DP"])))
    assert cells.accuracy == pytest.approx(single.accuracy, abs=0.01)
    held = [fl.evaluate(rule, test) for rule in (single, cells)]
    assert held[0].accuracy.value == pytest.approx(held[1].accuracy.value, abs=0.02)
    assert np.abs(single.decide(data) - cells.decide(data)).mean() < 0.1


def test_an_exact_frontier_of_an_estimate_is_one_of_its_cells() -> None:
    _, outcome = learned()
    curve = fl.frontier(outcome, ["DP"], exact=True)
    assert curve.exact
    assert (np.diff(curve.accuracy) >= -1e-12).all()
    assert curve.distribution.origin.partition == "outcome"


@pytest.mark.parametrize("law", [None, {"DP": 0.1}, np.zeros((2, 2, 2)), "adult"])
def test_anything_else_is_refused(law: object) -> None:
    with pytest.raises(InputError, match=r"give a Dataset \(.*\), an Outcome"):
        fl.solve(law, {"DP": 0.1})
    with pytest.raises(InputError, match=r"give a Dataset \(.*\), an Outcome"):
        fl.frontier(law, ["DP"])
    with pytest.raises(InputError, match=r"give a Dataset \(.*\), an Outcome"):
        fl.tension(law)  # type: ignore[arg-type]


def test_bare_numbers_decide_nobody() -> None:
    data, _ = learned()
    rule = fl.solve(fl.CellDistribution.from_mass(np.ones((2, 2, 2))), {})
    with pytest.raises(InputError, match="bare numbers"):
        rule.decide(data)


# Data may be positional, and what a function is about; options never.
POSITIONAL = {
    "audit": ("data", "predictions"),
    "ceiling": ("data", "tolerances"),
    "compare_scenarios": ("data", "tolerances"),
    "decorrelate": ("dist", "rule"),
    "discretize": ("data", "cells"),
    "estimate_outcome": ("data",),
    "evaluate": ("rule", "rows"),
    "frontier": ("law", "notions", "tolerances"),
    "group_rates": ("labels", "predictions", "groups"),
    "load": ("path",),
    "load_dataset": ("name",),
    "merge": ("distributions",),
    "monitor": ("rule", "tables"),
    "open_data": ("source",),
    "report": ("data", "tolerances"),
    "save": ("thing", "path"),
    "solve": ("law", "tolerances"),
    "tension": ("law", "tolerance"),
}


def test_options_are_keywords_and_spelled_the_same() -> None:
    functions = {name: getattr(fl, name) for name in fl.__all__ if inspect.isfunction(getattr(fl, name))}
    assert set(functions) == set(POSITIONAL)
    known_options: set[str] = set()
    for name, function in functions.items():
        parameters = inspect.signature(function).parameters.values()
        assert tuple(own.name for own in parameters if own.kind == own.POSITIONAL_OR_KEYWORD) == POSITIONAL[name]
        known_options |= {own.name for own in parameters}
    assert not known_options & {"seed", "prediction", "tell", "dist_", "n_cells", "eps", "see_group"}
