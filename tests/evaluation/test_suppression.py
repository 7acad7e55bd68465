"""Nothing that rests on few people is shown, nor can it be worked out from what is."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

import fairlimits as fl
from fairlimits._util.suppression import withheld
from fairlimits.errors import InputError
from fairlimits.notions import Gap, suppress_rates

# A size that no other figure has by chance.
FEW, LEAST = 23, 40


@st.composite
def tables(draw: st.DrawFn) -> tuple[np.ndarray, int, np.ndarray]:
    groups, parts = draw(st.integers(1, 6)), draw(st.sampled_from([1, 2, 4]))
    sizes = st.one_of(st.integers(0, 12), st.integers(0, 400))
    people = draw(st.lists(st.lists(sizes, min_size=parts, max_size=parts), min_size=groups, max_size=groups))
    shown = draw(st.lists(st.booleans(), min_size=groups, max_size=groups))
    return np.array(people, dtype=float), draw(st.integers(2, 20)), np.array(shown)


@given(tables())
def test_neither_few_people_nor_what_is_left_of_a_total_is_shown(case: tuple[np.ndarray, int, np.ndarray]) -> None:
    people, least, there = case
    out = withheld(people, least, there)
    size = people.sum(axis=1)
    told = there & ~out & (size > 0)
    assert (people[told] >= least).all()
    left = people[~told & (size > 0)]
    few = (people[size > 0] < least).any()
    if few and told.any():
        assert len(left) > 1
        assert (left.sum(axis=0) >= least).all()
    assert not (out & ~there).any()
    assert few or not out.any()


def decided(sizes: list[int], seed: int) -> tuple[Any, Any, Any, Any]:
    rng = np.random.default_rng(seed)
    group = np.repeat([f"g{g}" for g in range(len(sizes))], sizes)
    label = rng.integers(0, 2, len(group))
    decision = np.where(rng.random(len(group)) < 0.8, label, 1 - label)
    return label, decision, group, rng.choice([1.0, 5.0], len(group))


@settings(deadline=None, max_examples=60)
@given(st.lists(st.integers(1, 120), min_size=2, max_size=5), st.integers(2, 30), st.integers(0, 99), st.booleans())
def test_every_part_of_a_group_that_shown_rates_tell_of_has_enough_people(
    sizes: list[int], least: int, seed: int, weighted: bool
) -> None:
    label, decision, group, weights = decided(sizes, seed)
    options = {"weights": weights} if weighted else {}
    found = fl.group_rates(label, decision, group, suppress=least, **options).to_dict()["groups"]
    parts = {
        name: [int(((group == name) & (label == y) & (decision == d)).sum()) for y in (0, 1) for d in (0, 1)]
        for name in found
    }
    unseen = []
    for name, own in found.items():
        n00, n01, n10, n11 = parts[name]
        assert own["rows"] == "suppressed" or own["rows"] == sum(parts[name]) >= least
        for figure, sides in {
            "base rate": (n00 + n01, n10 + n11),
            "selection rate": (n00 + n10, n01 + n11),
            **dict.fromkeys(("true positive rate", "false positive rate", "accuracy", "precision"), parts[name]),
        }.items():
            assert not isinstance(own[figure], dict) or min(sides) >= least
        if not isinstance(own["accuracy"], dict):
            unseen.append(parts[name])
    if len(unseen) < len(found) and any(min(own) < least for own in parts.values()):
        # Accuracy of all people is shown elsewhere: what is left of it is not that of few.
        assert len(unseen) > 1
        assert min(np.sum(unseen, axis=0)) >= least


def people(n: int = 1_500) -> fl.Dataset:
    rng = np.random.default_rng(3)
    group = np.array(["few"] * FEW + ["next"] * 170 + ["many"] * (n - FEW - 170))
    age = rng.normal(40, 10, n)
    frame = pd.DataFrame(
        {
            "group": group,
            "age": np.where(np.arange(n) % 100 == 7, np.nan, age),
            "job": rng.choice(["a", "b"], n),
            "paid": (age + 6 * (group == "many") + rng.normal(0, 9, n) > 42).astype(int),
            "model": (age > 44).astype(int),
        }
    )
    return fl.Dataset.from_frame(frame, label="paid", positive=1, sensitive="group")


def numbers(value: Any) -> Iterator[float]:
    if isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from numbers(inner)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield float(value)


def test_gaps_of_a_rate_without_figures_are_shown_where_those_of_accuracy_are() -> None:
    """A notion may compare groups in a rate that no table of rates lists."""
    label, decision, group, _ = decided([400, 400, 300, 60], 0)
    rates = fl.group_rates(label, decision, group)
    estimate = rates.gaps["DP"].estimate
    gaps = {
        "DP": Gap(estimate, "rejection rate", "g0", "g1"),
        "EA": Gap(estimate, "rejection rate", "g0", "g3"),
    }
    shown = suppress_rates(replace(rates, gaps=gaps), 10)
    assert [figure.suppressed for figure in shown.figures["accuracy"]] == [False, False, True, True]
    assert [gap.estimate.suppressed for gap in shown.gaps.values()] == [False, True]


def test_a_report_hides_few_people_on_the_page_in_words_and_as_data() -> None:
    data = people()
    found = fl.report(data, estimator=LogisticRegression(), suppress=LEAST)
    content = found.to_dict()
    assert content["suppress"] == LEAST
    rows = {own["name"]: own["rows"] for own in content["groups"]}
    # The second group is left out too, or the first would be what is left of the total.
    assert rows == {"few": "suppressed", "next": "suppressed", "many": 1_500 - FEW - 170}
    for fares in content["held_out"]["fares"]:
        for line in fares["groups"]:
            assert (line["group"] == "many") == isinstance(line["rows"], int)
    small = {FEW, 170, FEW + 170, round(0.3 * FEW), round(0.7 * FEW), 51, 119}
    assert not small & set(numbers({key: content[key] for key in ("groups", "warnings", "held_out")}))
    plain = re.sub(r"<svg.*?</svg>|<style.*?</style>|<pre>.*?</pre>", "", found.to_html(), flags=re.DOTALL)
    for text in (plain, found.summary(), " ".join(own["text"] for own in content["warnings"])):
        assert f"fewer than {LEAST} people" in text or text is not plain
        assert not re.search(rf"\b({FEW}|170|{FEW + 170}) (rows|people)", text)
    # Fifteen of 1,500 ages are missing: they are fewer than 40 too.
    assert next(own for own in content["features"] if own["name"] == "age")["missing"] == "suppressed"
    json.dumps(content, allow_nan=False)


def test_an_audit_hides_them_in_tables_files_and_words() -> None:
    options = {"predictions": "model", "estimator": LogisticRegression(), "resamples": 100}
    found, whole = (fl.audit(people(), suppress=least, **options) for least in (LEAST, None))
    rates = found.rates_to_frame()
    for own in rates[rates["group"] != "many"].itertuples():
        assert "rows" in own.suppressed
        assert np.isnan(own.rows)
    assert "suppressed" in str(found)
    assert "few (7" in " ".join(whole.notes)
    assert "few (7" not in " ".join(found.notes)
    lines = found.to_frame()
    assert lines["gap"].isna().all()
    # What is said of all people stays.
    assert lines["accuracy"].equals(whole.to_frame()["accuracy"])
    stream = io.StringIO()
    rates.to_csv(stream)
    assert "nan" not in stream.getvalue()


def test_scenarios_and_evaluations_hide_them_alike() -> None:
    data = people()
    options = {"estimator": LogisticRegression(), "resamples": 100, "suppress": LEAST}
    found = fl.compare_scenarios(data, {"DP": 0.05}, **options)
    for own in found.to_dict()["situations"]:
        assert own["gap DP"] == "suppressed"
        assert own["rates by group"]["groups"]["few"]["rows"] == "suppressed"
    learn, test = data.split(0.3)
    rule = fl.solve(fl.estimate_outcome(learn, estimator=LogisticRegression()), {"DP": 0.05})
    evaluation = fl.evaluate(rule, test, suppress=LEAST)
    assert evaluation.gaps["DP"].suppressed
    assert evaluation.counts is None
    assert evaluation.set_aside == ("few", "next")
    assert "suppressed" in str(evaluation.by_group)
    assert evaluation.to_frame().set_index("figure").loc["gap DP", "suppressed"]


@pytest.mark.parametrize("least", [1, 0, -3, 2.5, True, "10"])
def test_a_threshold_is_a_number_of_people(least: Any) -> None:
    with pytest.raises(InputError, match=r"suppress is .*; give the fewest people that a figure may rest on"):
        fl.report(people(), suppress=least)
    with pytest.raises(InputError, match="suppress is"):
        fl.group_rates([0, 1], [0, 1], ["a", "b"], suppress=least)
