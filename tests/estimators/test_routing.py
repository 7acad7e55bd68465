"""Pipelines, grid searches and metadata routing carry the sensitive features."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest
from applicants import applicants, gap, numbers, quick
from sklearn import config_context
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from fairlimits import Decorrelator

X, Y, SEX = applicants(400)
TOLERANCES = [{"DP": 0.3}, {"DP": 0.02}]


@pytest.fixture
def routing() -> Iterator[None]:
    with config_context(enable_metadata_routing=True):
        yield


def test_clone_and_parameters() -> None:
    model = quick({"DP": 0.1}, aware=True, cells=8)
    again = clone(model)
    assert again.get_params() == model.get_params() | {
        "estimator": again.estimator,
        **{key: value for key, value in again.get_params().items() if key.startswith("estimator__")},
    }
    assert again.tolerances == {"DP": 0.1}
    assert again.set_params(estimator__C=0.5).estimator.C == 0.5


def test_in_a_pipeline_without_routing() -> None:
    steps = make_pipeline(
        make_column_transformer((StandardScaler(), ["skill"]), (OneHotEncoder(sparse_output=False), ["area"])),
        quick({"DP": 0.05}),
    )
    steps.fit(X, Y, constrainedbayesclassifier__sensitive_features=SEX)
    assert gap(steps.predict(X), SEX) < 0.15
    assert steps[:-1].get_feature_names_out().shape == (4,)


def test_in_a_grid_search_without_routing() -> None:
    search = GridSearchCV(quick(), {"tolerances": TOLERANCES}, cv=2).fit(numbers(X), Y, sensitive_features=SEX)
    assert search.best_params_ == {"tolerances": {"DP": 0.3}}


@pytest.mark.usefixtures("routing")
def test_an_aware_classifier_in_a_pipeline() -> None:
    model = quick({"DP": 0.05}, aware=True)
    steps = Pipeline([("scale", StandardScaler()), ("decide", model)])
    steps.fit(numbers(X), Y, sensitive_features=SEX)
    assert gap(steps.predict(numbers(X), sensitive_features=SEX), SEX) < 0.15
    assert steps.predict_proba(numbers(X), sensitive_features=SEX).shape == (len(X), 2)
    assert steps.score(numbers(X), Y, sensitive_features=SEX) > 0.6


@pytest.mark.usefixtures("routing")
def test_an_aware_classifier_in_a_grid_search() -> None:
    search = GridSearchCV(quick(aware=True), {"tolerances": TOLERANCES}, cv=2)
    search.fit(X, Y, sensitive_features=SEX, sample_weight=np.ones(len(X)))
    assert search.best_params_ == {"tolerances": {"DP": 0.3}}
    assert search.best_estimator_.groups_ == ("f", "m")


@pytest.mark.usefixtures("routing")
def test_other_scorers_judge_an_unaware_classifier() -> None:
    model = quick({"DP": 0.05})
    found = cross_validate(
        model, X, Y, cv=2, scoring=["balanced_accuracy", "roc_auc"], params={"sensitive_features": SEX}
    )
    assert (found["test_balanced_accuracy"] > 0.5).all()
    assert (found["test_roc_auc"] > 0.5).all()


@pytest.mark.usefixtures("routing")
def test_a_map_before_a_classifier() -> None:
    hide = Decorrelator({"DP": 0.1}, cells=16)
    steps = Pipeline(
        [
            ("hide", hide),
            ("learn", make_pipeline(OneHotEncoder(handle_unknown="ignore"), LogisticRegression())),
        ]
    )
    steps.fit(X, Y, sensitive_features=SEX)
    assert steps.predict(X).shape == (len(X),)
    assert gap(steps.predict(X), SEX) < 0.2


@pytest.mark.usefixtures("routing")
def test_an_aware_map_before_a_classifier() -> None:
    hide = Decorrelator({"DP": 0.1}, cells=16, aware=True)
    steps = Pipeline(
        [("hide", hide), ("code", OneHotEncoder(handle_unknown="ignore")), ("learn", LogisticRegression())]
    )
    steps.fit(X, Y, sensitive_features=SEX)
    assert steps.predict(X, sensitive_features=pd.Series(SEX)).shape == (len(X),)


@pytest.mark.parametrize("options", [{}, {"aware": True}, {"partition": "features", "estimator": None, "cells": 8}])
def test_the_chance_of_the_label_ranks_people_whatever_is_decided(options: dict[str, Any]) -> None:
    model = quick({"DP": 0.0}, **options).fit(X, Y, sensitive_features=SEX)
    seen = {"sensitive_features": SEX} if model.aware else {}
    chance = model.predict_label_proba(X, **seen)
    assert chance.shape == (len(X), 2)
    np.testing.assert_allclose(chance.sum(axis=1), 1)
    assert ((chance >= 0) & (chance <= 1)).all()
    positive = model.classes_[1] == Y
    assert roc_auc_score(positive, chance[:, 1]) > 0.6
    assert abs(chance[:, 1].mean() - positive.mean()) < 0.05
