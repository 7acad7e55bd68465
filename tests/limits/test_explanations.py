"""Explanations: what they say must be what the rule does."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest

from fairlimits.errors import InputError
from fairlimits.law import discretize
from fairlimits.limits import Explanation, Explanations, solve
from known_people import known, known_outcome, people

NEW = known(5, 400)[0]


@pytest.mark.parametrize(("groups", "aware"), list(product((2, 3), (False, True))))
@pytest.mark.parametrize("tolerances", [{"DP": 0.05}, {"EOd": 0.1}, {"DP": 0.1, "EA": 0.05}])
def test_margins_decide_as_the_rule_does(groups: int, aware: bool, tolerances: dict[str, float]) -> None:
    rule = solve(known_outcome(groups), tolerances, aware=aware)
    found = rule.explain()
    assert isinstance(found, Explanation)
    assert found.agreement == pytest.approx(1, abs=1e-6)
    share = {name: own for name, own in found.changed.items() if name != "by lot"}
    np.testing.assert_allclose(sum(share.values()), 1)
    free = solve(known_outcome(groups), {}, aware=aware)
    np.testing.assert_allclose(share["stay yes"] + share["become no"], free.explain().changed["stay yes"])
    for name in found.weights.added:
        assert name in found.summary()


def test_requirements_and_costs_are_in_the_margins() -> None:
    rule = solve(
        known_outcome(),
        {},
        requirements=["selection rate <= 0.2", "selection rate ratio >= 0.9"],
        objective="costs 1:2",
    )
    found = rule.explain()
    assert found.agreement == pytest.approx(1, abs=1e-6)
    assert "selection rate <= 0.2 takes" in found.summary()
    assert "above 0.333" in found.summary()


def test_a_rule_that_sees_the_group_has_thresholds() -> None:
    rule = solve(known_outcome(), {"DP": 0.02}, aware=True)
    found = rule.explain()
    mass = rule.distribution.mass
    for g, line in enumerate(found.records()):
        chance = mass[:, g, 1] / mass[:, g].sum(axis=1)
        sure = (rule.scores[:, g] == 1) | (rule.scores[:, g] == 0)
        assert ((chance > line["yes above"]) == (rule.scores[:, g] == 1))[sure].all()
        assert line["yes above, without"] == pytest.approx(0.5)
    loose = solve(known_outcome(), {"DP": 0.9}, aware=True).explain()
    assert "No constraint changes anything" in loose.summary()


def test_people_are_told_what_changed_and_what_moved_them() -> None:
    rule = solve(known_outcome(), {"DP": 0.01})
    found = rule.explain(NEW)
    assert isinstance(found, Explanations)
    np.testing.assert_array_equal([own.score for own in found.people], rule.decide(NEW))
    changed = [own for own in found.people if own.change]
    assert changed
    assert all("without DP" in own.change for own in changed)
    # Skill makes the label; who has much of it is moved by it, up.
    best = int(np.argmax(NEW.columns["skill"]))
    name, _, by = found.people[best].moved[0]
    assert (name, by > 0) == ("skill", True)
    assert found.to_frame().num_rows == 400
    assert "400 people" in found.summary()
    one = rule.explain(people(5, 3)[0].slice(0, 1))
    assert "margin" in one.summary()
    with pytest.raises(InputError, match="at most at a time"):
        rule.explain(known(1, 10_001)[0])


def test_cells_of_features_are_explained_too() -> None:
    rule = solve(discretize(known(0, 900)[0], 12, partition="features"), {"DP": 0.05}, aware=True)
    assert rule.explain().agreement == pytest.approx(1, abs=1e-6)
    assert not any(math.isnan(own.margin) for own in rule.explain(NEW).people)


def test_certified_rules_say_how_far_the_words_go() -> None:
    rule = solve(known_outcome(), {"DP": 0.1}, confidence=0.9, randomize=False)
    assert "These words describe" in rule.explain().summary()
    assert rule.explain().agreement > 0.95


@pytest.mark.parametrize("aware", [False, True])
def test_draws_repeat_and_say_what_they_do_to_gaps(aware: bool) -> None:
    rule = solve(known_outcome(), {"EOd": 0.02}, aware=aware)
    table = people(3, 500)[0]
    once, again = rule.draw(table), rule.draw(table)
    np.testing.assert_array_equal(once.decided, again.decided)
    sure = (once.scores == 0) | (once.scores == 1)
    np.testing.assert_array_equal(once.decided[sure], once.scores[sure])
    assert "realised gap" in once.summary()
    double = table.take(np.tile(np.arange(500), 2))
    together = rule.draw(double, draw_by="content")
    np.testing.assert_array_equal(together.decided[:500], together.decided[500:])
    assert together.alike == 500
    # Twice as many draws spread less; drawn together, no less than before.
    assert together.spread["row"] == pytest.approx(once.spread["row"] / np.sqrt(2))
    if not aware:
        assert together.spread["content"] == pytest.approx(once.spread["content"])
