"""`ceiling` as people call it, and that nothing in a bound was chosen by the people whom it is made of."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import fairlimits as fl
from fairlimits.data import Feature, Schema
from fairlimits.errors import DataError, InputError
from fairlimits.evaluation import Study
from fairlimits.evaluation.ceilings.curves import find_curve
from fairlimits.evaluation.ceilings.forecasts import Forecast
from fairlimits.evaluation.ceilings.kinds import coarsen
from fairlimits.evaluation.ceilings.questions import Question
from fairlimits.evaluation.ceilings.resolutions import propose_steps
from fairlimits.evaluation.ceilings.twins import Twins
from fairlimits.law import estimate_apart
from fairlimits.notions import ACCURACY


def table(rows: int, seed: int = 0, flip: np.ndarray | None = None, weighted: bool = False) -> pa.Table:
    """People of 60 kinds."""
    rng = np.random.default_rng(seed)
    age, area = rng.integers(20, 40, rows), rng.integers(0, 3, rows)
    sex = rng.random(rows) < 0.3 + 0.2 * area
    hired = rng.random(rows) < 1 / (1 + np.exp(-(age - 30) / 4 - sex))
    if flip is not None:
        hired = hired ^ flip
    columns = {
        "age": age.astype(float),
        "area": np.array(["n", "e", "s"])[area],
        "sex": np.where(sex, "m", "f"),
        "hired": hired.astype(int),
    }
    if weighted:
        columns["w"] = rng.integers(0, 4, rows).astype(float)
    return pa.table(columns)


def people(rows: int = 1_500, seed: int = 0, **options: object) -> fl.Dataset:
    weight = "w" if options.get("weighted") else None
    return fl.Dataset.from_frame(table(rows, seed, **options), label="hired", sensitive="sex", weight=weight)  # type: ignore[arg-type]


@cache
def study() -> Study:
    return Study.of(people())


def test_a_ceiling_is_above_what_is_found_and_below_perfection() -> None:
    top = fl.ceiling(people(), {"DP": 0.05})
    assert study().ceiling({"DP": 0.05}).upper == top.upper
    found = fl.solve(fl.discretize(people(), 60, partition="features"), {"DP": 0.05}).accuracy
    assert found - 0.02 < top.value < top.upper < 1
    assert top.twins == 1.0
    assert top.kinds == 60
    assert top.on_twins.upper < 1
    assert top.duals.keys() == {"selection rate, f - m"}
    assert "95% confidence" in top.summary()


def test_more_is_asked_for_at_a_lower_ceiling() -> None:
    free = study().ceiling({})
    curve = study().ceiling({"DP": np.array([0.0, 0.1, 1.0])})
    assert (np.diff(curve.upper) >= 0).all()
    # Three bounds at once take more room than one, and less than if they had nothing in common (2.13 for 1.64).
    assert curve.upper[2] < free.upper + 0.48 * free.curve.standard_error[0]
    assert curve.to_frame().num_rows == 3
    capacity = study().ceiling({}, requirements=["selection rate <= 0.1"])
    assert capacity.upper < free.upper
    assert study().ceiling({}, objective="balanced accuracy").upper < 1
    assert study().ceiling({}, objective="costs 1:5").upper <= 0


def test_individual_fairness_is_left_out_and_said() -> None:
    top = study().ceiling({"DP": 0.1, "IF": 0.1})
    assert top.left_out == ("IF",)
    assert "IF is left out" in top.summary()
    assert top.upper == study().ceiling({"DP": 0.1}).upper


def test_people_alone_are_taken_to_be_known() -> None:
    rng = np.random.default_rng(0)
    frame = table(400).append_column("noise", pa.array(rng.normal(size=400)))
    alone = fl.ceiling(fl.Dataset.from_frame(frame, label="hired", sensitive="sex"), {})
    assert alone.twins == 0
    assert alone.value == alone.upper == 1
    assert np.isnan(alone.on_twins.upper)
    assert alone.says_little
    assert "cannot say" in alone.summary()


def test_what_is_learned_for_a_fold_does_not_depend_on_its_people() -> None:
    rng = np.random.default_rng(4)
    columns = {"age": rng.integers(20, 40, 600).astype(float), "area": rng.integers(0, 5, 600).astype(float)}
    features = tuple(Feature(name, "numeric") for name in columns)
    schema = Schema(features, label="hired", positive=1, negative=0, sensitive=("sex",), groups=("a", "b", "c"))
    fold = rng.integers(3, size=20)[(columns["age"] - 20).astype(int)]
    watched = rng.random(600) < 0.2
    theirs = (fold == 1) & ~watched
    found = []
    for change in (0, 1):
        # Other labels, groups (of which there are as many as of others, almost) and weights of the fold's people.
        draw = np.random.default_rng(6)
        group, label, weight = (
            draw.integers(0, 3, 600),
            draw.integers(0, 2, 600).astype(np.int8),
            draw.random(600) + 0.5,
        )
        draw = np.random.default_rng(7 + change)
        group[theirs], label[theirs], weight[theirs] = draw.integers(0, 3, (3, theirs.sum())) * [[1], [0], [2]] + [
            [0],
            [1],
            [1],
        ]
        found.append(estimate_apart(fl.Dataset(schema, columns, group, label, weight), fold, watched))
    np.testing.assert_array_equal(found[0][fold == 1], found[1][fold == 1])
    assert not np.array_equal(found[0][fold == 0], found[1][fold == 0])


def sorted_people(own: Study) -> Twins:
    assert isinstance(own.twins, Twins)
    return own.twins


def test_multipliers_depend_only_on_people_set_apart() -> None:
    apart = sorted_people(study()).apart
    flip = np.random.default_rng(2).random(len(apart)) < 0.2
    other = Study.of(people(flip=flip & ~apart))
    np.testing.assert_array_equal(sorted_people(other).apart, apart)
    for asked in ({"DP": 0.05}, {"EOd": 0.1}):
        assert other.ceiling(asked).duals == study().ceiling(asked).duals
        question = Question(tuple(asked), (), ACCURACY, people().groups, people().counts)
        least = [
            Forecast.of(question, own.twins.seen(False), 1.645).least(
                np.full(own.ceiling(asked).curve.duals.shape[1], 0.1)
            )
            for own in (other, study())
        ]
        assert least[0] == least[1]
    one, same = (sorted_people(own).seen(False).crowd.strength for own in (other, study()))
    np.testing.assert_array_equal(one, same)


def test_no_fold_has_people_of_a_kind_of_another() -> None:
    crowd = sorted_people(study()).seen(False).crowd
    assert crowd.counts.sum() == (~sorted_people(study()).apart).sum()
    assert len(crowd.counts) <= 60
    np.testing.assert_allclose(crowd.chances.sum(axis=1), 1)


def test_weights_of_nought_are_nobodys_twins() -> None:
    data = people(300, weighted=True)
    kept = data.take(np.asarray(data.weight) > 0)
    first, second = fl.ceiling(data, {"DP": 0.05}), fl.ceiling(kept, {"DP": 0.05})
    assert first.upper == second.upper
    assert first.rows == kept.n_rows


def test_coarser_steps_make_more_people_alike() -> None:
    data = people(300)
    fine, coarse = fl.ceiling(data, {}), fl.ceiling(data, {}, resolution={"age": 10})
    assert coarse.kinds == 6 < fine.kinds
    assert coarse.twins >= fine.twins
    assert "age in steps of 10" in coarse.summary()
    assert set(coarsen(data, {"age": 10}).columns["age"]) == {20.0, 30.0}


def test_steps_are_proposed_where_nothing_is_lost() -> None:
    rng = np.random.default_rng(3)
    frame = table(2_000).append_column("noise", pa.array(rng.integers(0, 1000, 2_000).astype(float)))
    data = fl.Dataset.from_frame(frame, label="hired", sensitive="sex")
    found = propose_steps(data, 0)
    assert found.steps["noise"] >= 100
    assert found.steps.get("age", 1.0) <= 5
    assert found.loss.low <= 0
    assert "noise by" in found.summary()


def test_the_true_limit_is_not_passed() -> None:
    question = Question(("DP",), (), ACCURACY, people().groups, people().counts)
    held = []
    for seed in range(3):
        own = Study.of(people(1_000, seed))
        held.append(find_curve(question, own.twins.seen(False), [{"DP": 0.1}], 0.95).upper[0])
    # The best accuracy at DP <= 0.1, of the law that the tables are drawn from, on its 60 kinds.
    age, area = (own.reshape(-1) for own in np.meshgrid(np.arange(20, 40), np.arange(3)))
    man = 0.3 + 0.2 * area
    chance = 1 / (1 + np.exp(-(age - 30) / 4 - np.array([[0.0], [1.0]])))
    share = np.stack([1 - man, man])
    mass = np.stack([share * (1 - chance), share * chance], axis=-1).transpose(1, 0, 2)
    truth = fl.solve(fl.CellDistribution.from_mass(mass), {"DP": 0.1}).accuracy
    assert (np.array(held) >= truth).all()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"resolution": "fine"}, "auto"),
        ({"resolution": {"agee": 5}}, "Did you mean"),
        ({"resolution": {"area": 5}}, "not a number"),
        ({"resolution": {"age": 0}}, "above 0"),
        ({"confidence": 2}, "confidence"),
    ],
)
def test_bad_options_are_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        fl.ceiling(people(200), {}, **options)


def test_bad_questions_are_refused() -> None:
    with pytest.raises(InputError, match="dict"):
        fl.ceiling(people(200), [0.1])  # type: ignore[arg-type]
    with pytest.raises(InputError, match="Dataset"):
        fl.ceiling(table(200), {})
    with pytest.raises(DataError, match="at least 50"):
        fl.ceiling(people(40), {})
