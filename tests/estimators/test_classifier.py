"""`ConstrainedBayesClassifier` keeps tolerances, draws by the row, and tells what is wrong with what it is given."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from applicants import applicants, gap, numbers, quick
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from fairlimits import CellDistribution, ConstrainedBayesClassifier, Frontier, InputError, Rule
from fairlimits.errors import DataError, SmallGroupsWarning

X, Y, SEX = applicants()
NEW_X, NEW_Y, NEW_SEX = applicants(1_500, seed=1)
TIGHT = {"DP": 0.05}


@pytest.fixture(scope="module")
def unaware() -> ConstrainedBayesClassifier:
    return quick(TIGHT).fit(X, Y, sensitive_features=SEX)


@pytest.fixture(scope="module")
def aware() -> ConstrainedBayesClassifier:
    return quick(TIGHT, aware=True).fit(X, Y, sensitive_features=SEX)


def test_the_gap_is_kept_and_costs_accuracy(
    unaware: ConstrainedBayesClassifier, aware: ConstrainedBayesClassifier
) -> None:
    free = quick().fit(X, Y, sensitive_features=SEX)
    assert gap(free.predict(NEW_X) == 1, NEW_SEX) > 0.15
    assert gap(unaware.predict(NEW_X) == 1, NEW_SEX) < 0.11
    decided = aware.predict(NEW_X, sensitive_features=NEW_SEX)
    assert gap(decided == 1, NEW_SEX) < 0.11
    assert free.score(NEW_X, NEW_Y) > aware.score(NEW_X, NEW_Y, sensitive_features=NEW_SEX) > 0.65
    assert aware.rule_.accuracy > unaware.rule_.accuracy


def test_attributes_explain_the_rule(unaware: ConstrainedBayesClassifier) -> None:
    assert isinstance(unaware.rule_, Rule)
    assert unaware.rule_.gaps["DP"] <= 0.05 + 1e-3
    assert unaware.groups_ == ("f", "m")
    assert isinstance(unaware.distribution_, CellDistribution)
    assert unaware.distribution_.n_cells == 256
    assert unaware.distribution_ is unaware.distribution_
    assert isinstance(unaware.frontier_, Frontier)
    assert tuple(unaware.frontier_.grid) == ("DP",)
    assert list(unaware.feature_names_in_) == ["skill", "area"]


def test_the_probability_is_that_of_the_draw() -> None:
    # In few cells many people tie.
    unaware = quick(TIGHT, cells=12).fit(X, Y, sensitive_features=SEX)
    chance = unaware.predict_proba(NEW_X)
    assert chance.shape == (1_500, 2)
    np.testing.assert_allclose(chance.sum(axis=1), 1)
    undecided = (chance[:, 1] > 0.05) & (chance[:, 1] < 0.95)
    assert undecided.sum() > 20
    drawn = []
    for seed in range(8):
        unaware.set_params(random_state=seed)
        drawn.append(unaware.predict(NEW_X[undecided]) == 1)
    off = np.mean(drawn, axis=0) - chance[undecided, 1]
    # Each is a mean of 8 draws, with a standard error of 0.18 at most.
    assert np.abs(off).max() < 0.8
    assert abs(off.mean()) < 0.1


def test_the_same_row_gets_the_same_decision(unaware: ConstrainedBayesClassifier) -> None:
    all_at_once = unaware.predict(NEW_X[:200])
    shuffled = np.random.default_rng(0).permutation(200)
    np.testing.assert_array_equal(unaware.predict(NEW_X.iloc[shuffled]), all_at_once[shuffled])
    np.testing.assert_array_equal([unaware.predict(NEW_X[at : at + 1])[0] for at in range(4)], all_at_once[:4])
    for kind in (pl.from_pandas, pa.Table.from_pandas):
        np.testing.assert_array_equal(unaware.predict(kind(NEW_X[:200])), all_at_once)
    assert unaware.predict(NEW_X.iloc[[5] * 9])[0] == all_at_once[5]


def test_unaware_predictions_do_not_look_at_the_group(unaware: ConstrainedBayesClassifier) -> None:
    np.testing.assert_array_equal(unaware.predict(X), unaware.predict(X, sensitive_features=np.zeros(3)))


def test_people_alike_are_drawn_one_by_one_unless_asked() -> None:
    # Few cells, so that somebody is in the one whose people are decided by lot.
    unaware = quick(TIGHT, cells=6).fit(X, Y, sensitive_features=SEX)
    chance = unaware.predict_proba(NEW_X)[:, 1]
    tossed = int(np.argmax(np.minimum(chance, 1 - chance)))
    assert 0 < chance[tossed] < 1
    alike = NEW_X.iloc[[tossed] * 2_000]
    own = unaware.predict(alike)
    np.testing.assert_array_equal(own, unaware.predict(alike))
    assert own.mean() == pytest.approx(chance[tossed], abs=0.05)
    assert own[0] == unaware.predict(alike[:1])[0]
    together = clone(unaware).set_params(draw_by="content").fit(X, Y, sensitive_features=SEX)
    assert len(set(together.predict(alike))) == 1
    with pytest.raises(InputError, match="'row' or 'content'"):
        quick(TIGHT, draw_by="day").fit(X, Y, sensitive_features=SEX)


def test_without_coins_nothing_is_drawn_and_the_price_is_bounded(unaware: ConstrainedBayesClassifier) -> None:
    hard = quick(TIGHT, randomize=False).fit(X, Y, sensitive_features=SEX)
    beside = hard.rule_.determinism
    assert beside is not None
    assert beside.accuracy == pytest.approx(unaware.rule_.accuracy)
    assert 0 <= unaware.rule_.accuracy - hard.rule_.accuracy <= beside.cost_at_most + 1e-12
    assert max(hard.rule_.gaps[name] - value for name, value in TIGHT.items()) <= 1e-7
    chance = hard.predict_proba(NEW_X)
    assert set(np.unique(chance)) == {0.0, 1.0}
    np.testing.assert_array_equal(hard.predict(NEW_X), chance.argmax(axis=1))


@pytest.mark.parametrize(
    ("tolerances", "options"),
    [
        (TIGHT, {"cells": 20}),
        (TIGHT, {"cells": 20, "aware": True}),
        (TIGHT, {"partition": "features", "estimator": None}),
        (TIGHT, {"partition": "blend"}),
        ({"DP": 0.05, "IF": 0.3}, {"partition": "blend", "cells": 30}),
        ({"IF": 0.3}, {"cells": 10}),
        ({}, {"requirements": "selection rate <= 0.3"}),
        ({}, {"objective": "balanced accuracy", "cells": 12}),
    ],
)
def test_cells(tolerances: dict[str, float], options: dict[str, Any]) -> None:
    model = quick(tolerances, **options).fit(X, Y, sensitive_features=SEX)
    assert isinstance(model.rule_, Rule)
    assert model.distribution_ is model.rule_.distribution
    assert model.distribution_.n_cells == options.get("cells", 256)
    for name, tolerance in tolerances.items():
        assert model.rule_.gaps[name] <= tolerance + 1e-6
    assert isinstance(model.frontier_, Frontier)
    assert model.frontier_.notions == (tuple(tolerances) or ("DP",))
    decided = model.predict(NEW_X, sensitive_features=NEW_SEX)
    assert np.mean(decided == NEW_Y) > 0.6
    if "DP" in tolerances:
        assert gap(decided, NEW_SEX) < 0.2
    if "requirements" in options:
        assert decided.mean() < 0.36


def test_text_labels_and_classes_sorted_as_scikit_learn_does() -> None:
    words = np.array(["no", "yes"])[Y]
    model = quick(TIGHT).fit(X, words, sensitive_features=SEX)
    assert list(model.classes_) == ["no", "yes"]
    numbered = quick(TIGHT).fit(X, Y, sensitive_features=SEX)
    np.testing.assert_array_equal(model.predict(X) == "yes", numbered.predict(X) == 1)
    assert model.rule_.policy.schema.positive == "yes"  # type: ignore[union-attr]


def test_three_groups() -> None:
    X3, y3, sex3 = applicants(900, seed=2, groups=3)
    model = quick({"DP": 0.1}, aware=True).fit(X3, y3, sensitive_features=sex3)
    assert model.groups_ == ("f", "m", "x")
    assert gap(model.predict(X3, sensitive_features=sex3), sex3) < 0.2


def test_several_sensitive_columns_make_intersections() -> None:
    old = np.random.default_rng(0).random(len(X)) < 0.4
    both = pd.DataFrame({"sex": SEX, "old": old})
    model = quick({"DP": 0.1}, aware=True).fit(X, Y, sensitive_features=both)
    assert model.groups_ == ("f / False", "f / True", "m / False", "m / True")
    decided = model.predict(X, sensitive_features=both)
    # By name where there are names, else by position.
    np.testing.assert_array_equal(model.predict(X, sensitive_features=both[["old", "sex"]]), decided)
    as_array = np.column_stack([SEX, old.astype(object)])
    np.testing.assert_array_equal(model.predict(X, sensitive_features=as_array), decided)
    with pytest.raises(DataError, match="give the same ones"):
        model.predict(X, sensitive_features=both.rename(columns={"old": "aged"}))
    with pytest.raises(DataError, match="2 when the estimator was fitted"):
        model.predict(X, sensitive_features=SEX)


@pytest.mark.parametrize(
    "kind", [list, np.asarray, pd.Series, lambda own: pl.Series("sex", list(own)), lambda own: pa.array(list(own))]
)
def test_sensitive_features_of_any_kind(kind: Callable[[Any], Any], aware: ConstrainedBayesClassifier) -> None:
    expected = aware.predict(X, sensitive_features=SEX)
    np.testing.assert_array_equal(aware.predict(X, sensitive_features=kind(SEX)), expected)
    again = quick(TIGHT, aware=True).fit(X, Y, sensitive_features=kind(SEX))
    np.testing.assert_array_equal(again.predict(X, sensitive_features=SEX), expected)


@pytest.mark.parametrize("frame", [pl.from_pandas, pa.Table.from_pandas])
def test_frames_of_any_kind(frame: Callable[[Any], Any], unaware: ConstrainedBayesClassifier) -> None:
    model = quick(TIGHT).fit(frame(X), Y, sensitive_features=SEX)
    assert list(model.feature_names_in_) == ["skill", "area"]
    np.testing.assert_array_equal(model.predict(frame(X)), unaware.predict(X))


def test_arrays_have_no_names() -> None:
    model = quick(TIGHT).fit(numbers(X), Y, sensitive_features=SEX)
    assert not hasattr(model, "feature_names_in_")
    assert [own.name for own in model.rule_.policy.schema.features] == ["x0", "x1", "x2"]  # type: ignore[union-attr]
    without_names = quick(TIGHT).fit(pd.DataFrame(numbers(X)), Y, sensitive_features=SEX)
    np.testing.assert_array_equal(model.predict(numbers(X)), without_names.predict(numbers(X)))


def test_an_array_of_objects_keeps_its_kinds(unaware: ConstrainedBayesClassifier) -> None:
    objects = X.to_numpy(dtype=object)
    model = quick(TIGHT).fit(objects, Y, sensitive_features=SEX)
    assert [own.kind for own in model.rule_.policy.schema.features] == ["numeric", "categorical"]  # type: ignore[union-attr]
    np.testing.assert_array_equal(model.predict(objects), unaware.predict(X))


def test_the_sensitive_column_may_be_a_feature_too() -> None:
    with_sex = X.assign(sex=SEX)
    model = quick(TIGHT).fit(with_sex, Y, sensitive_features=with_sex["sex"])
    assert model.predict(with_sex).shape == (len(X),)


def test_weights_count() -> None:
    weight = np.where(SEX == "f", 3.0, 1.0)
    plain = quick(TIGHT).fit(X, Y, sensitive_features=SEX)
    ones = quick(TIGHT).fit(X, Y, sensitive_features=SEX, sample_weight=np.ones(len(X)))
    np.testing.assert_array_equal(plain.predict(X), ones.predict(X))
    weighted = quick(TIGHT).fit(X, Y, sensitive_features=SEX, sample_weight=weight)
    assert weighted.rule_.bayes_accuracy != pytest.approx(plain.rule_.bayes_accuracy)
    with pytest.raises(DataError, match="one class only"):
        quick().fit(X, Y, sample_weight=Y)


def test_a_small_group_is_said_to_be_small() -> None:
    few = np.where(np.arange(len(X)) < 6, "x", SEX)
    with pytest.warns(SmallGroupsWarning) as caught:
        model = quick(TIGHT).fit(X, Y, sensitive_features=few)
    (said,) = (str(own.message) for own in caught if issubclass(own.category, SmallGroupsWarning))
    assert said.startswith(
        "Set aside, with fewer than 30 rows behind a rate: x (6 rows); these people count in accuracy"
    )
    assert model.groups_ == ("f", "m", "x")
    # The others are held to the tolerance.
    assert max(model.rule_.gaps[name] - value for name, value in TIGHT.items()) <= 1e-7


def test_missing_values_and_unseen_categories() -> None:
    holes = X.copy()
    holes.loc[::7, "skill"] = np.nan
    holes.loc[::5, "area"] = None
    model = quick(TIGHT).fit(holes, Y, sensitive_features=SEX)
    strange = NEW_X[:50].assign(area="west")
    assert model.predict(strange).shape == (50,)
    np.testing.assert_allclose(model.predict_proba(strange), model.predict_proba(strange.assign(area=None)))


def test_without_sensitive_features_there_is_one_group() -> None:
    model = quick().fit(X, Y)
    assert model.groups_ == ("everybody",)
    assert model.score(NEW_X, NEW_Y) > 0.7
    assert np.isnan(model.rule_.gaps["DP"])
    assert not hasattr(model, "frontier_")
    with pytest.raises(InputError, match="give sensitive_features"):
        quick(TIGHT).fit(X, Y)
    with pytest.raises(InputError, match="one only"):
        quick(TIGHT).fit(X, Y, sensitive_features=["all"] * len(X))
    with pytest.raises(InputError, match="aware=True"):
        quick(aware=True).fit(X, Y)


def test_a_pipeline_as_estimator() -> None:
    pipeline = make_pipeline(StandardScaler(), make_pipeline(StandardScaler(), LogisticRegression()))
    model = quick(TIGHT, estimator=pipeline).fit(X, Y, sensitive_features=SEX)
    assert model.score(NEW_X, NEW_Y) > 0.6


@pytest.mark.parametrize("classifier", [LogisticRegression(), LinearSVC()])
def test_a_fitted_model_is_post_processed(classifier: Any) -> None:
    fitted = classifier.fit(numbers(NEW_X), NEW_Y)
    before = gap(fitted.predict(numbers(X)), SEX)
    model = quick(TIGHT, aware=True, prefit=fitted).fit(numbers(X), Y, sensitive_features=SEX)
    decided = model.predict(numbers(X), sensitive_features=SEX)
    assert gap(decided, SEX) < 0.1 < before
    assert len(model.rule_.policy.schema.features) == 1  # type: ignore[union-attr]
    with pytest.raises(InputError, match="FrozenEstimator"):
        clone(model).fit(numbers(X), Y, sensitive_features=SEX)
    frozen = clone(model.set_params(prefit=FrozenEstimator(fitted)))
    again = frozen.fit(numbers(X), Y, sensitive_features=SEX).predict(numbers(X), sensitive_features=SEX)
    np.testing.assert_array_equal(again, decided)


def test_scores_alone_are_enough() -> None:
    scores = LogisticRegression().fit(numbers(NEW_X), NEW_Y).decision_function(numbers(X))
    model = quick(TIGHT, prefit="scores").fit(scores, Y, sensitive_features=SEX)
    np.testing.assert_array_equal(model.predict(scores), model.predict(pd.Series(scores)))
    np.testing.assert_array_equal(model.predict(scores), model.predict(scores[:, None]))
    with pytest.raises(InputError, match="one column of scores"):
        quick(TIGHT, prefit="scores").fit(X, Y, sensitive_features=SEX)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"tolerances": {"XY": 0.1}}, "not a fairness notion"),
        ({"tolerances": 0.1}, "give a dict"),
        ({"partition": "rows"}, "partition"),
        ({"cells": 0}, "cells is 0"),
        ({"requirements": "selection rate <= 0.5", "confidence": 0.9}, "confidence"),
        ({"confidence": 2}, "confidence"),
        ({"partition": "features"}, "leave out the estimator"),
        ({"random_state": None}, "random_state is None"),
        ({"random_state": -1}, "random_state is -1"),
        ({"prefit": "score"}, "'scores'"),
        ({"prefit": LogisticRegression()}, "not fitted"),
        ({"prefit": 3}, "neither predict_proba"),
        ({"estimator": 3}, "has no fit"),
        ({"estimator": make_pipeline(StandardScaler(), KNeighborsClassifier())}, "takes no weights"),
        ({"objective": "fame"}, "fame"),
        ({"requirements": "be fair"}, "be fair"),
    ],
)
def test_choices_that_cannot_be_used(options: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        quick(**options).fit(X, Y, sensitive_features=SEX)


def test_what_is_wrong_with_the_rows_is_said(
    unaware: ConstrainedBayesClassifier, aware: ConstrainedBayesClassifier
) -> None:
    with pytest.raises(NotFittedError):
        quick().predict(X)
    with pytest.raises(InputError, match="pass sensitive_features"):
        aware.predict(X)
    with pytest.raises(DataError, match="not among the known ones"):
        aware.predict(X, sensitive_features=["z"] * len(X))
    with pytest.raises(DataError, match="give those of the same rows"):
        aware.predict(X, sensitive_features=SEX[:9])
    with pytest.raises(DataError, match="missing values"):
        aware.predict(X, sensitive_features=[None, *SEX[1:]])
    with pytest.raises(DataError, match="missing values"):
        quick().fit(X, Y, sensitive_features=np.where(SEX == "f", np.nan, 1.0))
    with pytest.raises(DataError, match=r"shape \(800, 1, 1\)"):
        quick().fit(X, Y, sensitive_features=SEX[:, None, None])
    with pytest.raises(ValueError, match="same order"):
        unaware.predict(X[["area", "skill"]])
    with pytest.raises(ValueError, match="unseen at fit"):
        unaware.predict(X.rename(columns={"area": "place"}))
    with pytest.raises(DataError, match="cannot be read as numbers"):
        unaware.predict(X.assign(skill="high"))
    with pytest.raises(ValueError, match="Only binary classification"):
        quick().fit(X, np.arange(len(X)) % 3)
    with pytest.raises(DataError, match="one class only"):
        quick().fit(X, np.ones(len(X)))
    with pytest.raises(DataError, match="give a label for each row"):
        quick().fit(X, Y[:-1])
