"""Explanations: what they say must be what the rule does."""

from __future__ import annotations

import math
import re
from itertools import product

import numpy as np
import pyarrow.compute as pc
import pytest

from fairlimits.errors import InputError
from fairlimits.law import discretize
from fairlimits.limits import Explanation, Explanations, solve
from known_people import known, known_outcome, people, read

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


@pytest.mark.parametrize("tolerances", [{"DP": 0.02}, {"EOd": 0.03}, {"DP": 0.05, "EA": 0.02}])
@pytest.mark.parametrize("groups", [2, 3])
def test_thresholds_are_those_that_decide_new_people(groups: int, tolerances: dict[str, float]) -> None:
    rule = solve(known_outcome(groups), tolerances, aware=True)
    found, new = rule.explain(), known(5, 2_000, groups)[0]
    decided, free = rule.decide(new), solve(known_outcome(groups), {}, aware=True).decide(new)
    chance = np.array([own.chance for own in rule.explain(new).people])
    for g, line in enumerate(found.records()):
        own = new.group == g
        np.testing.assert_array_equal(decided[own] == 0, chance[own] <= line["no up to"])
        np.testing.assert_array_equal(decided[own] == 1, chance[own] > line["yes above"])
        np.testing.assert_array_equal(free[own] == 1, chance[own] > line["yes above, without"])
        assert f"{line['yes above']:.3f}" in found.summary()
        lot = own & (decided > 0) & (decided < 1)
        if line["odds from"] is not None:
            assert (decided[lot] >= line["odds from"] - 1e-9).all()
            assert (decided[lot] <= line["odds to"] + 1e-9).all()
            np.testing.assert_array_equal(decided[own] >= 0.5, chance[own] > line["even at"])
        else:
            assert not lot.any()
    loose = solve(known_outcome(groups), {"DP": 0.95}, aware=True).explain()
    assert "No constraint changes anything" in loose.summary()


def test_thresholds_of_everybody_and_nobody_are_words() -> None:
    everybody = solve(known_outcome(), {}, requirements=["selection rate >= 1"], aware=True).explain()
    assert "f: everybody (without" in everybody.summary()
    nobody = solve(known_outcome(), {}, requirements=["selection rate <= 0"], aware=True).explain()
    assert "m: nobody (without" in nobody.summary()
    assert [line["yes above"] for line in nobody.records()] == [1, 1]


@pytest.mark.parametrize(("groups", "aware", "randomize"), list(product((2, 3), (False, True), (False, True))))
def test_what_constraints_changed_is_what_solving_without_them_gives(groups: int, aware: bool, randomize: bool) -> None:
    law, new = known_outcome(groups), known(5, 400, groups)[0]
    asked, requirement = {"DP": 0.1, "EOd": 0.15}, "selection rate <= 0.4"
    rule = solve(law, asked, requirements=[requirement], aware=aware, randomize=randomize)
    told = rule.explain(new).people

    def scores(tolerances: dict[str, float], requirements: list[str]) -> list[float]:
        again = solve(law, tolerances, requirements=requirements, aware=aware, randomize=randomize)
        return list(again.decide(new))

    without = {name: scores({k: v for k, v in asked.items() if k != name}, [requirement]) for name in asked}
    without[requirement] = scores(asked, [])
    free = scores({}, [])
    for at, own in enumerate(told):
        assert own.without == free[at]
        changed = {name for name, each in without.items() if round(each[at], 2) != round(own.score, 2)}
        assert {name for name in without if f"without {name}" in own.change} == changed
        assert bool(own.change) == bool(changed or free[at] != own.score)


@pytest.mark.parametrize("aware", [False, True])
@pytest.mark.parametrize("tolerances", [{"DP": 0.02}, {"EOd": 0.03}, {"DP": 0.05, "EA": 0.02}])
def test_the_margin_of_a_person_has_the_sign_of_the_decision(tolerances: dict[str, float], aware: bool) -> None:
    people = solve(known_outcome(3), tolerances, aware=aware).explain(known(5, 3_000, 3)[0]).people
    margin, score = (np.array([getattr(own, name) for own in people]) for name in ("margin", "score"))
    assert (score[margin > 1e-6] == 1).all()
    assert (score[margin < -1e-6] == 0).all()
    assert not any("otherwise" in own.summary() for own in people)


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


def test_groups_that_are_answers_are_told_from_decisions() -> None:
    table = people(0, 900)[0]
    named = table.set_column(2, "sex", pc.if_else(pc.equal(table["sex"], "f"), "yes", "no"))
    for aware in (False, True):
        rule = solve(discretize(read(named), 12, partition="features"), {"DP": 0.02}, aware=aware)
        words = rule.explain().summary()
        assert re.search(r"% of group no become a yes and .*% of group yes become a yes", words, re.DOTALL)
        assert not re.search(r"(?<!group )\b(yes|no)(:| with label| become)", words)


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
