"""Certificates: adversaries, intervals, chance, and the words."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from map_samples import discretized, some_data, some_table
from sklearn.metrics import roc_auc_score

from fairlimits.data import Dataset
from fairlimits.decorrelation import Certificate, Decorrelation, decorrelate
from fairlimits.decorrelation.adversaries import Attack, View, attack, auc_interval
from fairlimits.errors import DataError, InputError
from fairlimits.law.cells.building import discretize
from fairlimits.limits import solve


@given(st.integers(0, 10_000), st.booleans())
@settings(max_examples=40)
def test_the_area_is_that_of_scikit_learn(seed: int, ties: bool) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 60))
    score = rng.integers(4, size=n).astype(float) if ties else rng.normal(size=n)
    positive = rng.random(n) < 0.5
    positive[:2] = True, False
    weight = rng.choice([0.5, 1.0, 2.0], size=n)
    auc, low, high = auc_interval(score, positive, weight, 0.95)
    assert auc == pytest.approx(roc_auc_score(positive, score, sample_weight=weight))
    assert 0 <= low <= auc <= high <= 1


def test_the_interval_covers_the_truth() -> None:
    rng = np.random.default_rng(0)
    # P(N(1, 1) > N(0, 1)) = Phi(1 / sqrt 2)
    truth = 0.5 * (1 + math.erf(0.5))
    covered = 0
    for _ in range(400):
        positive = rng.random(150) < 0.4
        score = rng.normal(size=150) + positive
        _, low, high = auc_interval(score, positive, rng.choice([0.5, 1.0], size=150), 0.9)
        covered += low <= truth <= high
    assert 0.86 <= covered / 400 <= 0.94


def test_an_area_without_rivals_is_not_known() -> None:
    none = np.zeros(3, dtype=bool)
    assert all(math.isnan(x) for x in auc_interval(np.arange(3.0), none, np.ones(3), 0.95))


def plan_of(aware: bool, groups: int = 2, weight: bool = False) -> Decorrelation:
    dist = discretized(groups, weight=weight)
    return decorrelate(dist, solve(dist, {"DP": 0.0}, aware=aware))


@pytest.fixture(scope="module", params=[False, True], ids=["unaware", "aware"])
def certificate(request: pytest.FixtureRequest) -> Certificate:
    return plan_of(request.param).certificate(some_data(20, 4_000), random_state=1)


def test_mapped_features_do_not_tell_the_group(certificate: Certificate) -> None:
    assert (certificate.train_rows, certificate.test_rows) == (2_000, 2_000)
    assert len(certificate.null) == 200
    for found in certificate.attacks:
        assert found.low <= found.auc <= found.high
        if not found.mapped:
            assert found.auc > 0.7
        elif not found.with_label:
            assert found.auc == pytest.approx(0.5, abs=0.05)
        else:
            assert found.auc > 0.58
    assert len(certificate.attacks) == 8
    assert certificate.baseline_correlation > 0.5
    assert certificate.correlation < 2 * certificate.null.mean()
    assert 0 < certificate.p_value <= 1


def test_the_words_say_what_cannot_be_prevented(certificate: Certificate) -> None:
    words = certificate.summary()
    assert "no map of the features can prevent" in words
    assert f"{certificate.worst.auc:.3f}" in words
    assert "0.5 is guessing" in words
    assert "2,000 rows" in repr(certificate)


def test_plain_data(certificate: Certificate) -> None:
    rows = certificate.figures()
    assert len(rows) == 7
    assert rows[0] == {
        "measure": "correlation on held-out rows",
        "before": certificate.baseline_correlation,
        "after": certificate.correlation,
    }
    assert (rows[1]["after"], rows[2]["after"]) == (certificate.categories_kept, certificate.numbers_moved)
    assert {"measure", "before", "after", "low", "high"} == set(rows[3])
    assert certificate.to_frame().num_rows == 8


def test_a_map_that_hides_nothing_is_found_out() -> None:
    dist = discretized()
    plan = decorrelate(dist, solve(dist, {}), correlation_weight=0.0)
    found = plan.certificate(some_data(21, 2_000), train=some_data(22, 2_000), permutations=50)
    assert (found.train_rows, found.test_rows) == (2_000, 2_000)
    assert found.p_value == pytest.approx(1 / 51)
    assert found.worst.auc > 0.7


def test_distortion_is_that_of_rows_not_of_cells() -> None:
    """A row that keeps its cell gets the cell's values, which are not its own."""
    dist = discretized()
    people = some_data(21, 2_000)
    plan = decorrelate(dist, solve(dist, {}), correlation_weight=0.0)
    assert plan.kept_in_place == pytest.approx(1)
    found = plan.certificate(people, train=some_data(22, 500), permutations=1)
    own, mapped = people.to_frame(), plan.apply(people, random_state=0)
    kept, moved = [], []
    for feature in people.schema.features:
        old, new = own[feature.name], mapped[feature.name]
        if feature.kind == "numeric":
            values = old.to_numpy()
            moved.append(np.nanmean(np.abs(new.to_numpy() - values)) / np.nanstd(values))
        else:
            kept.append(np.mean([a == b for a, b in zip(old.to_pylist(), new.to_pylist(), strict=True)]))
    assert found.categories_kept == pytest.approx(np.mean(kept))
    assert found.numbers_moved == pytest.approx(np.mean(moved))
    assert found.numbers_moved > 0


def test_repeats_exactly() -> None:
    people = some_data(23, 600)
    one, two = (plan_of(False).certificate(people, permutations=5, random_state=3) for _ in range(2))
    assert one.attacks == two.attacks
    assert np.array_equal(one.null, two.null)


def test_three_groups_and_weights() -> None:
    found = plan_of(True, groups=3, weight=True).certificate(some_data(24, 1_500, 3, weight=True), permutations=20)
    assert {a.group for a in found.attacks} == {"f", "m", "x"}
    assert len(found.attacks) == 24
    assert found.worst.auc < 0.6


def test_columns_without_a_single_value() -> None:
    table = some_table(27, 400).append_column("nothing", pa.array([None] * 400, pa.float64()))
    table = table.append_column("none", pa.array([None] * 400, pa.string()))
    people = Dataset.from_frame(table, label="hired", sensitive="sex", drop="person")
    dist = discretize(people, cells=6, generator=None, random_state=0, partition="features")
    plan = decorrelate(dist, solve(dist, {"DP": 0.0}))
    assert plan.certificate(people, permutations=5).worst.auc < 0.6
    assert plan.apply(people)["nothing"].null_count == plan.apply(people)["none"].null_count == 400


def test_a_group_of_few_rows_is_not_attacked_and_chance_is_no_find() -> None:
    """A single person is told by any rule, and the best of many guesses looks better than one."""
    rng = np.random.default_rng(5)
    found = chance = 0
    for seed in range(20):
        train, test = (nobody_to_tell(rng, 400) for _ in range(2))
        attacks = attack(SCHEMA, train, test, mapped=True, with_label=False, confidence=0.95, random_state=seed)
        assert {a.group for a in attacks if math.isnan(a.auc)} == {"one"}
        known = [a for a in attacks if not math.isnan(a.auc)]
        assert len(known) == 10
        found += any(a.low > 0.5 for a in known)
        chance += any(a.auc - (a.auc - a.low) * 1.960 / 2.807 > 0.5 for a in known)
    assert found <= 2 < chance


def nobody_to_tell(rng: np.random.Generator, rows: int) -> View:
    """Features that have nothing to do with the group; one group is a single person."""
    group = np.append(rng.integers(5, size=rows), 5)
    values = rng.normal(size=rows + 1)
    return View(
        (values * 3).astype(np.int64) + 20, {"x": values}, (values > 0).astype(np.int64), group, np.ones(rows + 1)
    )


SCHEMA = Dataset.from_frame(
    pa.table({"x": np.arange(12.0), "who": [*"abcde", "one"] * 2, "y": [0, 1] * 6}), label="y", sensitive="who"
).schema


def test_where_no_two_groups_have_rows_enough_nothing_is_compared() -> None:
    plan = plan_of(False)
    people = some_data(20, 4_000)
    few = np.concatenate([np.flatnonzero(people.group == 0)[:25], np.flatnonzero(people.group == 1)[:200]])
    found = plan.certificate(people.take(few), train=people, permutations=9)
    assert math.isnan(found.correlation)
    assert math.isnan(found.worst.auc)
    assert "no two groups have 30 rows" in found.summary()
    assert "nan" not in f"{found.summary()} {found!r}"


def test_rows_that_cannot_be_used() -> None:
    plan, people = plan_of(False), some_data(25, 200)
    with pytest.raises(InputError, match="pass Datasets"):
        plan.certificate(people.to_frame())
    for many in (0, 1.5, "many"):
        with pytest.raises(InputError, match=r"permutations is .*whole number of at least 1"):
            plan.certificate(people, permutations=many)  # type: ignore[arg-type]
    for confidence in (1, 0.0, "high"):
        with pytest.raises(InputError, match=r"confidence is .*between 0 and 1"):
            plan.certificate(people, confidence=confidence)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="random_state is -1"):
        plan.certificate(people, random_state=-1)
    with pytest.raises(DataError, match="of one group only"):
        plan.certificate(people.take(people.group == 0))
    with pytest.raises(InputError, match="groups f, m, x, the plan was made for f, m"):
        plan.certificate(some_data(26, 200, 3))
    other = Dataset.from_frame(people.to_frame(), label="hired", sensitive="sex", drop="size")
    with pytest.raises(InputError, match="differ in size"):
        plan.certificate(other)


def some_attacks(*ends: tuple[bool, bool, float, float, float]) -> tuple[Attack, ...]:
    return tuple(
        Attack("gradient boosting", mapped, label, "b", low + (high - low) * at, low, high)
        for mapped, label, low, high, at in ends
    )


BEFORE, HIDDEN, TOLD = (False, False, 0.7, 0.8, 0.5), (True, False, 0.47, 0.53, 0.5), (True, True, 0.55, 0.65, 0.5)


@pytest.mark.parametrize(
    ("changed", "said", "unsaid"),
    [
        ({}, "these rows show no better", "shows nothing"),
        ({1: (True, False, 0.52, 0.6, 0.5)}, "something of the group is left in them", "no better"),
        ({1: (True, False, 0.344, 0.857, 0.5)}, "reaches what was told before: on so few rows this shows", "no better"),
        ({0: (False, False, 0.4, 0.7, 0.5)}, "before the map no adversary was clearly better either", "no better"),
        ({2: (True, True, 0.44, 0.52, 0.5)}, "is not clearly better than guessing", "can prevent"),
        ({1: (True, False, math.nan, math.nan, 0.5)}, "is not estimable", "nan"),
        ({2: (True, True, math.nan, math.nan, 0.5)}, "also knows the label tells it is not estimable", "nan"),
    ],
)
def test_sentences_are_chosen_by_the_figures(
    certificate: Certificate, changed: dict[int, tuple[bool, bool, float, float, float]], said: str, unsaid: str
) -> None:
    ends = [changed.get(at, own) for at, own in enumerate((BEFORE, HIDDEN, TOLD))]
    found = replace(
        certificate,
        attacks=some_attacks(*ends),
        null=np.linspace(0, 0.2, 99),
        correlation=0.1,
        baseline_null=np.zeros(99),
    )
    assert said in found.summary()
    assert unsaid not in found.summary()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"correlation": 0.1}, "apart in 95% of the cases (p = 0.510): no more than chance explains."),
        ({"correlation": 0.3}, "(p = 0.010): more than chance explains."),
        ({"correlation": 0.1, "baseline_null": np.full(99, 2.0)}, "on so few rows that was so before the map too"),
        ({"correlation": 0.3, "null": np.zeros(9)}, "with 9 shuffles p is never below 0.100, which shows nothing."),
    ],
)
def test_a_test_that_can_show_nothing_says_so(certificate: Certificate, changes: dict[str, Any], said: str) -> None:
    base: dict[str, Any] = {"null": np.linspace(0, 0.2, 99), "baseline_null": np.zeros(99)}
    assert said in replace(certificate, **{**base, **changes}).summary()
