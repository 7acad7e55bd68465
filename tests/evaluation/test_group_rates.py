"""Rates of groups: against plain counting, against fairlearn, and what few rows do."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from fairlearn import metrics
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest
from sklearn.metrics import accuracy_score, precision_score, recall_score

import fairlimits as fl
from fairlimits import CellDistribution
from fairlimits.errors import DataError, InputError
from fairlimits.limits import by_group
from fairlimits.notions import plug_in_rates


def people(n: int = 3_000, seed: int = 0, groups: int = 3) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(seed)
    group = np.array([f"g{own}" for own in rng.integers(0, groups, n)])
    label = (rng.random(n) < 0.4).astype(int)
    decided = (rng.random(n) < 0.2 + 0.4 * label + 0.1 * (group == "g1")).astype(int)
    return label, decided, group


def test_every_figure_is_what_counting_gives() -> None:
    label, decided, group = people()
    found = fl.group_rates(label, decided, group)
    for g, name in enumerate(found.groups):
        y, d = label[group == name], decided[group == name]
        expected = {
            "base rate": y.mean(),
            "selection rate": d.mean(),
            "true positive rate": recall_score(y, d),
            "false positive rate": d[y == 0].mean(),
            "accuracy": accuracy_score(y, d),
            "precision": precision_score(y, d),
        }
        assert {figure: own[g].value for figure, own in found.figures.items()} == pytest.approx(expected)
        wilson = binomtest(int(d.sum()), len(d)).proportion_ci(method="wilson")
        own = found.figures["selection rate"][g]
        assert (own.low, own.high) == pytest.approx((wilson.low, wilson.high))


@pytest.mark.parametrize("groups", [2, 6])
@pytest.mark.parametrize("weighted", [False, True])
def test_fairlearn_says_the_same(groups: int, weighted: bool) -> None:
    label, decided, group = people(groups=groups)
    weights = np.random.default_rng(2).uniform(0.1, 5, len(label)) if weighted else None
    found = fl.group_rates(label, decided, group, weights=weights)
    measured = {
        "selection rate": metrics.selection_rate,
        "true positive rate": metrics.true_positive_rate,
        "false positive rate": metrics.false_positive_rate,
        "accuracy": accuracy_score,
        "precision": precision_score,
    }
    frame = metrics.MetricFrame(
        metrics=measured,
        y_true=label,
        y_pred=decided,
        sensitive_features=group,
        sample_params=None if weights is None else {name: {"sample_weight": weights} for name in measured},
    )
    for name in measured:
        assert [own.value for own in found.figures[name]] == pytest.approx(frame.by_group[name].to_numpy())
    gaps = frame.difference()
    expected = {
        "DP": gaps["selection rate"],
        "EA": gaps["accuracy"],
        "EOp": gaps["true positive rate"],
        "PE": gaps["false positive rate"],
        "EOd": max(gaps["true positive rate"], gaps["false positive rate"]),
    }
    assert {name: own.estimate.value for name, own in found.gaps.items()} == pytest.approx(expected)
    assert found.impact_ratio.value == pytest.approx(frame.ratio()["selection rate"])


def test_gaps_say_who_is_lowest_and_highest_and_agree_with_evaluate() -> None:
    data = fl.load_dataset("adult").take(np.arange(4_000))
    learn, test = data.split(0.5)
    rule = fl.solve(fl.discretize(learn, 20, partition="features", generator=None), {"DP": 0.05})
    held_out = fl.evaluate(rule, test)
    found = fl.group_rates(test.label, rule.decide(test), np.array(test.groups)[test.group])
    for name, gap in found.gaps.items():
        assert gap.estimate == pytest.approx(held_out.gaps[name])
        assert held_out.by_group.gaps[name].lowest == gap.lowest
    selected = [own.value for own in found.figures["selection rate"]]
    assert found.gaps["DP"].lowest == found.groups[int(np.argmin(selected))]
    assert found.gaps["DP"].highest == found.groups[int(np.argmax(selected))]


def test_few_rows_are_not_estimable() -> None:
    label, decided, group = people(600)
    group = np.where(np.arange(600) < 20, "rare", group)
    found = fl.group_rates(label, decided, group)
    rare = found.groups.index("rare")
    assert not any(own[rare].known for own in found.figures.values())
    assert not found.ratios[rare].known
    assert "rare" not in {own for gap in found.gaps.values() for own in (gap.lowest, gap.highest)}
    assert found.to_dict()["groups"]["rare"]["accuracy"] is None
    assert found.to_dict()["groups"]["rare"]["rows"] == 20


def test_nobody_to_compare() -> None:
    label, decided, _ = people(200)
    found = fl.group_rates(label, decided, ["all"] * 200)
    assert not found.impact_ratio.known
    assert "not estimable" in found.summary()


@given(rate=st.sampled_from([0.0, 0.02, 0.5, 1.0]), other=st.sampled_from([0.0, 0.3, 1.0]), seed=st.integers(0, 20))
@settings(max_examples=60, deadline=None)
def test_intervals_hold_their_figure(rate: float, other: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    group = np.repeat(["a", "b"], 60)
    label, decided = rng.random(120) < 0.5, rng.random(120) < np.where(group == "a", rate, other)
    found = fl.group_rates(label, decided, group)
    for own in [*found.ratios, *(each for figure in found.figures.values() for each in figure)]:
        assert not own.known or 0 <= own.low <= own.value <= own.high
    assert all(own.high <= 1 for figure in found.figures.values() for own in figure if own.known)


def test_weights_count_people_several_times() -> None:
    label, decided, group = people(800)
    weight = np.random.default_rng(1).integers(1, 4, 800)
    weighted = fl.group_rates(label, decided, group, weights=weight)
    repeated = fl.group_rates(*(np.repeat(own, weight) for own in (label, decided, group)))
    for name, own in weighted.figures.items():
        assert [each.value for each in own] == pytest.approx([each.value for each in repeated.figures[name]])
        # Repeated people are no more people: the interval of weighted ones is wider.
        assert all(a.high - a.low > b.high - b.low for a, b in zip(own, repeated.figures[name], strict=True))


def test_frames_come_out_as_they_came_in() -> None:
    label, decided, group = people(300)
    assert isinstance(fl.group_rates(label, decided, pd.Series(group)).to_frame(), pd.DataFrame)
    assert isinstance(fl.group_rates(label, decided, pl.Series(group)).to_frame(), pl.DataFrame)
    assert isinstance(fl.group_rates(label, decided, group).to_frame(), pa.Table)


def test_several_columns_make_groups_of_their_combinations() -> None:
    label, decided, group = people(900, groups=2)
    second = np.where(np.arange(900) % 2 == 0, "x", "y")
    found = fl.group_rates(label, decided, pd.DataFrame({"one": group, "two": second}))
    assert len(found.groups) == 4


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"labels": ["yes", "no"] * 50}, "labels == value"),
        ({"labels": np.arange(100)}, "0 or 1"),
        ({"predictions": np.full(100, 3.0)}, "threshold"),
        ({"predictions": np.full(100, np.nan)}, "missing 100 times"),
        ({"predictions": np.zeros(99)}, "100 labels and 99 predictions"),
        ({"groups": ["a"] * 99}, "100 rows and 99"),
        ({"groups": [None, *["a"] * 99]}, "missing"),
        ({"weights": np.zeros(100)}, "weights"),
        ({"confidence": 95}, "confidence"),
    ],
)
def test_bad_input_gets_a_sentence(change: dict[str, Any], words: str) -> None:
    given_: dict[str, Any] = {"labels": [0, 1] * 50, "predictions": [1, 0] * 50, "groups": ["a", "b"] * 50}
    with pytest.raises((InputError, DataError), match=words):
        fl.group_rates(**{**given_, **change})


def test_the_picture_shows_every_group() -> None:
    found = fl.group_rates(*people(900))
    legend = found.plot().get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == list(found.groups)


def test_of_many_groups_no_two_look_alike() -> None:
    found = fl.group_rates(*people(2_000, groups=11))
    lines = found.plot().lines
    drawn = [line for line in lines if line.get_marker() in ("o", "^")]
    assert len({(line.get_color(), line.get_marker()) for line in drawn}) == 11


def test_ratios_to_next_to_nothing_are_not_estimable() -> None:
    label, _, group = people(300, groups=2)
    found = fl.group_rates(label, np.full(300, 1e-12), group)
    assert not found.impact_ratio.known
    assert found.gaps["DP"].estimate.known


def test_the_plug_in_rates_of_a_rule_are_those_of_its_rows() -> None:
    data = fl.load_dataset("adult").take(np.arange(4_000))
    dist = fl.discretize(data, 20, partition="features", generator=None)
    for aware in (False, True):
        rule = fl.solve(dist, {"DP": 0.05}, aware=aware)
        found = plug_in_rates(dist.rates, by_group(rule.scores, aware, dist.n_groups))
        rows = fl.evaluate(rule, data).by_group
        assert found.rows == rows.rows
        for name, own in found.shown.items():
            assert [each.value for each in own] == pytest.approx([each.value for each in rows.shown[name]])
        for name, gap in found.gaps.items():
            assert gap.estimate.value == pytest.approx(rule.gaps[name])
            assert (gap.rate, gap.lowest, gap.highest) == rows.gaps[name][1:4]
        assert "nan" not in str(found)
        json.dumps(found.to_dict(), allow_nan=False)
        found.plot().figure.canvas.draw()


def test_plug_in_rates_with_few_rows_or_without_any() -> None:
    few = CellDistribution.from_mass(np.ones((3, 2, 2)))
    free = plug_in_rates(few.rates, np.zeros((3, 2)))
    assert free.rows == (None, None)
    assert not free.impact_ratio.known
    assert not any(own.known for own in free.figures["precision"])
    # Nobody is lower than anybody: no group is named.
    assert free.gaps["DP"].estimate.value == 0
    assert str(free.gaps["DP"]) == "0.0 points"
    assert free.to_dict()["gaps"]["DP"]["lowest"] is None
    label, decided, group = people(600)
    group = np.where(np.arange(600) < 20, "rare", group)
    table = pd.DataFrame({"x": decided, "g": group, "y": label})
    dist = fl.discretize(fl.Dataset.from_frame(table, label="y", sensitive="g"), 2, partition="features")
    found = plug_in_rates(dist.rates, np.ones((dist.n_cells, dist.n_groups)))
    rare = found.groups.index("rare")
    assert not any(own[rare].known for own in found.shown.values())


def test_a_direction_that_chance_may_explain_is_said_to_be_one() -> None:
    label, decided, group = people(groups=2)
    found = fl.group_rates(label, decided, group)
    assert str(found.gaps["DP"]).endswith("selection rate lowest for g0, highest for g1")
    shuffled = fl.group_rates(label, decided, np.random.default_rng(3).permutation(group))
    assert str(shuffled.gaps["DP"]).endswith(", which chance may explain")


def test_printing_shows_every_figure_of_every_group_and_names_as_they_are() -> None:
    label, decided, group = people(900)
    found = fl.group_rates(label, decided, np.where(group == "g0", "$a_$", group))
    text = str(found)
    assert text.splitlines()[0].split() == ["rate,", "%", "group", "value"]
    assert text.count("$a_$ (") == 7
    assert text.endswith(found.summary())
    found.plot().figure.canvas.draw()


def test_who_is_lowest_may_be_chance_where_that_somebody_is_cannot() -> None:
    """A group of few people is lowest, by chance; two of many differ for certain."""
    decided = np.r_[np.arange(2_000) % 10 < 3, np.arange(2_000) % 10 < 5, np.arange(40) % 10 < 2]
    group = np.repeat(["a", "b", "few"], [2_000, 2_000, 40])
    gap = fl.group_rates(np.arange(4_040) % 2, decided, group).gaps["DP"]
    assert (gap.lowest, gap.highest, gap.chance) == ("few", "b", "")
    decided = np.r_[np.arange(2_000) % 10 < 3, np.arange(2_000) % 10 < 4, np.arange(40) % 40 < 10]
    gap = fl.group_rates(np.arange(4_040) % 2, decided, group).gaps["DP"]
    assert gap.estimate.low > 0
    assert (gap.lowest, gap.highest, gap.chance) == ("few", "b", "the groups")
    assert gap.direction.endswith("though chance may explain which groups these are")
    same = fl.group_rates(np.arange(400) % 2, np.arange(400) % 7 < 3, np.repeat(["a", "b"], 200))
    assert same.gaps["DP"].chance == "the gap"
    assert same.to_dict()["gaps"]["DP"]["chance may explain"] == "the gap"
