"""The four situations side by side."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from sklearn.linear_model import LogisticRegression

from fairlimits import Scenarios, audit, compare_scenarios
from fairlimits.errors import InputError, SmallGroupsWarning
from fairlimits.evaluation import BeatenWarning
from fairlimits.evaluation.scenario_results import Situation
from fairlimits.notions import NOT_ESTIMABLE, Estimate
from known_people import known, people, read


@cache
def compared(notion: str = "EOd") -> Scenarios:
    data = read(people(0, 4_000)[0])
    return compare_scenarios(data, {notion: 0.05}, estimator=LogisticRegression(), resamples=200)


def test_six_lines_and_four_costs() -> None:
    found = compared()
    assert [own.name for own in found.situations] == [
        "group hidden",
        "group hidden, decorrelated",
        "group hidden, decorrelated after the rule was fixed",
        "group seen",
        "group seen, decorrelated",
        "group seen, decorrelated after the rule was fixed",
    ]
    assert found.learned == 2_800
    assert found.tested == 1_200
    assert 0 < found.calibration_error < 0.05
    assert found.to_frame().num_rows == 6
    assert found.costs_to_frame().num_rows == 4
    words = found.summary()
    assert "best rule we found" in words
    # A tolerance holds on the rows learned from: what it came to on others is said.
    assert f"EOd {found.find(aware=True).evaluation.gaps['EOd'].hundredths(' points')}" in words
    assert f"EOd {found.find(aware=False).evaluation.gaps['EOd'].hundredths(' points')}" in words
    assert "a rule that we could not find may do better" in words


def test_less_freedom_costs_accuracy() -> None:
    found = compared()
    for cost in found.costs:
        assert cost.plug_in > -2e-3
        assert cost.held_out.low <= cost.held_out.value <= cost.held_out.high
    hidden, apart = found.find(aware=False), found.find(aware=False, decorrelated=True)
    assert apart.evaluation.plug_in < hidden.evaluation.plug_in
    # Paired intervals are narrower than those of the figures themselves.
    width = found.costs[0].held_out.high - found.costs[0].held_out.low
    assert width < hidden.evaluation.accuracy.high - hidden.evaluation.accuracy.low


def test_decorrelated_with_a_free_rule_means_no_gap_in_selection() -> None:
    for aware in (False, True):
        assert compared().find(aware=aware, decorrelated=True).evaluation.gaps["DP"].low < 0.02


def test_individual_fairness_takes_cells() -> None:
    assert compared("IF").find(aware=True).evaluation.accuracy.value > 0.5


def test_a_model_is_placed_beside_the_limit() -> None:
    table, _ = people(0, 3_000)
    table = table.append_column("decided", pa.array((table["skill"].to_numpy() > 0).astype(float)))
    options: dict[str, Any] = {"estimator": LogisticRegression(), "resamples": 200, "predictions": "decided"}
    found = compare_scenarios(read(table), {"DP": 0.05}, **options)
    assert found.audit is not None
    assert not found.audit["decided"].beaten
    # The same model, asked about by audit, gets the same answer.
    same = {key: value for key, value in options.items() if key != "predictions"}
    alone = audit(read(table), "decided", notions=["DP"], aware=True, **same)
    assert alone.to_frame().equals(found.audit.to_frame())
    assert alone.summary() == found.audit.summary()
    # A model that knows the label shows that the features do not tell all.
    perfect = table.set_column(table.column_names.index("decided"), "decided", table["hired"].cast(pa.float64()))
    with pytest.warns(BeatenWarning):
        found = compare_scenarios(read(perfect), {"EOd": 0.05}, **options)
    assert found.audit is not None
    assert found.audit["decided"].beaten


def test_bad_input_gets_a_sentence() -> None:
    data = read(people(0, 300)[0])
    with pytest.raises(InputError, match="between 0 and 2"):
        compare_scenarios(data, {"DP": 0.1}, correlation=3)
    with pytest.raises(InputError, match="is not in the table"):
        compare_scenarios(data, {"DP": 0.1}, predictions="decided")
    with pytest.raises(InputError, match="not numbers"):
        compare_scenarios(data, {"DP": 0.1}, predictions="area")
    with pytest.raises(InputError, match="reach from"):
        compare_scenarios(data, {"DP": 0.1}, predictions="skill")
    table, _ = people(0, 300)
    decided = read(table.append_column("decided", pa.array(np.ones(300))))
    with pytest.raises(InputError, match="in a group notion"):
        compare_scenarios(decided, {"IF": 0.1}, predictions="decided")
    with pytest.raises(InputError, match="resamples"):
        compare_scenarios(data, {"DP": 0.1}, resamples=np.int64(1))  # type: ignore[arg-type]


def test_what_cannot_be_compared_is_said_once_for_all_situations() -> None:
    data, _ = known(0, 600)
    few = data.take((data.group == 1) | (np.cumsum(data.group == 0) <= 24))
    with pytest.warns(SmallGroupsWarning) as caught:
        found = compare_scenarios(few, {"EOp": 0.05}, estimator=LogisticRegression(), resamples=100)
    said = [str(own.message) for own in caught if issubclass(own.category, SmallGroupsWarning)]
    assert len(said) == 1
    assert "Nothing to compare in EOp, DP" in said[0]
    assert not found.situations[0].evaluation.gaps["EOp"].known


def with_gap(gap: Estimate) -> Scenarios:
    def change(own: Situation) -> Situation:
        evaluation = own.evaluation
        rates = evaluation.by_group
        told = {**rates.gaps, "EOd": rates.gaps["EOd"]._replace(estimate=gap, chance="" if gap.low > 0 else "the gap")}
        held = replace(
            evaluation,
            gaps={**evaluation.gaps, "EOd": gap},
            at_most={**evaluation.at_most, "EOd": gap.high},
            by_group=replace(rates, gaps=told),
        )
        return replace(own, evaluation=held)

    return replace(compared(), situations=tuple(change(own) for own in compared().situations))


@pytest.mark.parametrize(
    ("gap", "words"),
    [
        ((0.02, 0.01, 0.04), ", within 5 points ("),
        ((0.08, 0.06, 0.1), ", above 5 points ("),
        ((0.04, 0.0, 0.1), ", whether it is within 5 points cannot be told from these rows ("),
    ],
)
def test_words_say_whether_a_tolerance_is_kept_and_who_is_lowest(gap: tuple[float, float, float], words: str) -> None:
    said = with_gap(Estimate(*gap)).summary()
    assert words in said
    assert " lowest for " in said
    assert ("which chance may explain" in said) == (gap[1] == 0)
    assert "EOd not estimable" in with_gap(NOT_ESTIMABLE).summary()


@pytest.mark.parametrize(
    ("cost", "words"),
    [
        ((0.02, 0.01, 0.04), "Hiding the group costs 2.0 points of accuracy (interval 1.0 to 4.0)."),
        ((-0.02, -0.03, 0.04), "Hiding the group: -2.0 points of accuracy (interval -3.0 to 4.0), so no cost is shown"),
        ((-0.02, -0.03, -0.01), "Hiding the group gains 2.0 points of accuracy (interval 1.0 to 3.0) on these rows"),
    ],
)
def test_words_say_what_a_cost_shows(cost: tuple[float, float, float], words: str) -> None:
    costs = (replace(compared().costs[0], held_out=Estimate(*cost)),)
    assert words in replace(compared(), costs=costs).summary()


def test_rates_of_each_group_are_those_of_the_evaluation() -> None:
    found = compared()
    frame = found.rates_to_frame()
    assert frame.num_rows == 6 * 2
    assert frame["group"].to_pylist() == ["f", "m"] * 6
    content = found.to_dict()
    json.dumps(content, allow_nan=False)
    for own, record in zip(found.situations, content["situations"], strict=True):
        assert record["rates by group"] == own.evaluation.by_group.to_dict()
    assert content["model"] is None


def test_certified_situations_keep_their_tolerance_at_a_price() -> None:
    plain, safe = (
        compare_scenarios(known(0, 4_000)[0], {"DP": 0.1}, estimator=LogisticRegression(), certify=own)
        for own in (False, True)
    )
    for aware in (False, True):
        assert safe.find(aware=aware).evaluation.at_most["DP"] < plain.find(aware=aware).evaluation.at_most["DP"]
        assert safe.find(aware=aware).evaluation.plug_in < plain.find(aware=aware).evaluation.plug_in
    with pytest.raises(InputError, match="individual fairness cannot"):
        compare_scenarios(known(0, 400)[0], {"DP": 0.15, "IF": 0.1}, certify=True)
