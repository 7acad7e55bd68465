"""Estimators are saved without pickle, come back the same in another process, and strange files are refused."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import skops.io
from applicants import applicants, numbers, quick
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

import fairlimits
from fairlimits import ConstrainedBayesClassifier, Decorrelator, InputError, estimate_outcome, load, save, solve
from fairlimits._util.archives import seal
from fairlimits.errors import FileError
from fairlimits.estimators.storage import TRUSTED
from known_people import known

X, Y, SEX = applicants(300)
TIGHT = {"DP": 0.1}

# Files on people's disks name classes by module path, so a class that moves makes these files unreadable. Before the
# first release the list follows the code; after it, a class that moves needs its old path to stay importable.
PATHS = [
    "fairlimits.data.dataset.Dataset",
    "fairlimits.data.encoding.Encoding",
    "fairlimits.data.schema.Schema",
    "fairlimits.decorrelation.results.Decorrelation",
    "fairlimits.estimators.classifier.ConstrainedBayesClassifier",
    "fairlimits.estimators.decorrelator.Decorrelator",
    "fairlimits.law.cells.distributions.CellDistribution",
    "fairlimits.law.cells.neighbours.Neighbourhood",
    "fairlimits.law.cells.origins.Origin",
    "fairlimits.law.cells.outcome_cells.OutcomeCells",
    "fairlimits.law.cells.outcome_cells.Space",
    "fairlimits.law.outcome.classifiers.Chances",
    "fairlimits.law.outcome.classifiers.ClassifierLaw",
    "fairlimits.law.outcome.classifiers.CodesView",
    "fairlimits.law.outcome.classifiers.EncodedView",
    "fairlimits.law.outcome.estimates.Outcome",
    "fairlimits.law.outcome.models.OutcomeModel",
    "fairlimits.law.outcome.recalibration.Recalibration",
    "fairlimits.limits.determinism.Determinism",
    "fairlimits.limits.frontiers.Frontier",
    "fairlimits.limits.guarantees.Guarantee",
    "fairlimits.limits.policies.CellPolicy",
    "fairlimits.limits.rules.OnLabels",
    "fairlimits.limits.rules.Rule",
    "fairlimits.notions.objectives.Costs",
    "fairlimits.notions.objectives.Objective",
    "fairlimits.notions.requirements.Difference",
    "fairlimits.notions.requirements.Limit",
    "fairlimits.notions.requirements.Ratio",
]


class Ours(LogisticRegression):  # type: ignore[misc]
    """A classifier of a user's own."""


def round_trip(estimator: Any, tmp_path: Path, **options: Any) -> Any:
    path = tmp_path / "model.skops"
    save(estimator, path)
    return load(path, **options)


@pytest.mark.parametrize(
    ("tolerances", "options"),
    [
        (TIGHT, {}),
        (TIGHT, {"aware": True}),
        ({"DP": 0.4}, {"confidence": 0.9}),
        (TIGHT, {"cells": 12}),
        (TIGHT, {"cells": 12, "randomize": False}),
        (TIGHT, {"partition": "features", "cells": 12, "estimator": None}),
        ({"DP": 0.1, "IF": 0.5}, {"partition": "blend", "cells": 12}),
        ({}, {"requirements": ["selection rate <= 0.4", "selection rate ratio >= 0.5"], "objective": "costs 1:2"}),
    ],
)
def test_classifiers(tolerances: dict[str, float], options: dict[str, Any], tmp_path: Path) -> None:
    model = quick(tolerances, **options).fit(X, Y, sensitive_features=SEX)
    again = round_trip(model, tmp_path)
    for method in ("predict", "predict_proba"):
        expected = getattr(model, method)(X, sensitive_features=SEX)
        np.testing.assert_array_equal(getattr(again, method)(X, sensitive_features=SEX), expected)
    assert again.rule_.gaps == pytest.approx(model.rule_.gaps, nan_ok=True)
    assert again.rule_.shadow_prices == pytest.approx(model.rule_.shadow_prices)
    assert again.rule_.determinism == model.rule_.determinism
    if "cells" in options:
        np.testing.assert_array_equal(again.distribution_.mass, model.distribution_.mass)


def test_the_default_learners_are_a_few_arrays(tmp_path: Path) -> None:
    model = ConstrainedBayesClassifier(TIGHT).fit(X, Y, sensitive_features=SEX)
    again = round_trip(model, tmp_path)
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    assert (tmp_path / "model.skops").stat().st_size < 200_000


# Three trees are a bad estimate, and it is said.
@pytest.mark.filterwarnings("ignore::fairlimits.limits.MarginWarning")
def test_a_booster_with_categories_of_its_own(tmp_path: Path) -> None:
    booster = HistGradientBoostingClassifier(max_iter=3, categorical_features=[1])
    model = quick(TIGHT, estimator=booster).fit(X, Y, sensitive_features=SEX)
    again = round_trip(model, tmp_path)
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize(
    "changed",
    [
        {"rule_": None},
        {"_schema": None},
        {"classes_": np.zeros(2)},
        {"groups_": ("a", "b")},
        {"n_features_in_": 1},
        {"feature_names_in_": np.array(["other", "job"])},
        {"_sensitive_names": "sex"},
        {"prefit": True},
        {"random_state": -1},
        {"draw_by": "lot"},
        {"neighbours": 5},
    ],
)
def test_parts_that_contradict_each_other_are_refused(changed: dict[str, Any]) -> None:
    model = quick(TIGHT).fit(X, Y, sensitive_features=SEX)
    state = model.__getstate__()
    again = type(model).__new__(type(model))
    again.__setstate__(state | {"_frontier": 0})
    assert again.frontier_.plug_in == pytest.approx(model.frontier_.plug_in)
    with pytest.raises((InputError, TypeError)):
        type(model).__new__(type(model)).__setstate__(state | changed)


def test_post_processors_and_pipelines(tmp_path: Path) -> None:
    fitted = make_pipeline(StandardScaler(), LogisticRegression()).fit(numbers(X), Y)
    model = quick(TIGHT, prefit=fitted).fit(numbers(X), Y, sensitive_features=SEX)
    again = round_trip(model, tmp_path)
    np.testing.assert_array_equal(again.predict(numbers(X)), model.predict(numbers(X)))
    whole = make_pipeline(StandardScaler(), quick(TIGHT))
    whole.fit(numbers(X), Y, constrainedbayesclassifier__sensitive_features=SEX)
    np.testing.assert_array_equal(round_trip(whole, tmp_path).predict(numbers(X)), whole.predict(numbers(X)))


@pytest.mark.parametrize("options", [{}, {"aware": True}, {"partition": "outcome", "estimator": LogisticRegression()}])
def test_maps(options: dict[str, Any], tmp_path: Path) -> None:
    model = Decorrelator(TIGHT, cells=8, **options).fit(X, Y, sensitive_features=SEX)
    again = round_trip(model, tmp_path)
    expected = model.transform(X, sensitive_features=SEX)
    pd.testing.assert_frame_equal(again.transform(X, sensitive_features=SEX), expected)
    assert again.plan_.figures() == model.plan_.figures()


def test_bare_rules(tmp_path: Path) -> None:
    data = fairlimits.Dataset.from_frame(X.assign(sex=SEX, hired=Y), label="hired", sensitive="sex")
    rule = solve(estimate_outcome(data, estimator=LogisticRegression()), TIGHT)
    np.testing.assert_array_equal(round_trip(rule, tmp_path).decide(data), rule.decide(data))


@pytest.mark.parametrize("estimator", [None, LogisticRegression()])
def test_estimates(estimator: Any, tmp_path: Path) -> None:
    data, _ = known(0, 300)
    found = estimate_outcome(data, estimator=estimator, folds=2)
    save(found, tmp_path / "estimate")
    again = load(tmp_path / "estimate")
    assert (again.model.predict(data) == found.model.predict(data)).all()
    assert solve(again, TIGHT).accuracy == solve(found, TIGHT).accuracy


def test_estimates_that_were_tampered_with_are_refused(tmp_path: Path) -> None:
    save(estimate_outcome(known(0, 300)[0], folds=2), tmp_path / "estimate")
    content = bytearray((tmp_path / "estimate").read_bytes())
    # Within the largest array, whose content is checked; not all of what stands between arrays is.
    content[len(content) * 2 // 3] ^= 64
    (tmp_path / "estimate").write_bytes(content)
    with pytest.raises(FileError):
        load(tmp_path / "estimate")


def test_rows_are_not_written(tmp_path: Path) -> None:
    marked = X.assign(skill=X["skill"].where(X.index != 7, 2.718281828459))
    model = quick(TIGHT).fit(marked, Y, sensitive_features=SEX)
    again = round_trip(model, tmp_path)
    mark = np.float64(2.718281828459).tobytes()
    with zipfile.ZipFile(tmp_path / "model.skops") as archive:
        assert not [name for name in archive.namelist() if mark in archive.read(name)]
    assert again.frontier_.plug_in == pytest.approx(model.frontier_.plug_in)
    assert (again.distribution_.mass == model.distribution_.mass).all()


def test_in_a_fresh_process(tmp_path: Path) -> None:
    model = quick(TIGHT).fit(X, Y, sensitive_features=SEX)
    save(model, tmp_path / "model.skops")
    X.to_csv(tmp_path / "rows.csv", index=False)
    program = (
        "import fairlimits, pandas\n"
        "model = fairlimits.load('model.skops')\n"
        "print(*model.predict(pandas.read_csv('rows.csv', float_precision='round_trip')), sep='')\n"
    )
    source = str(Path(fairlimits.__file__).parents[1])
    run = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": source},
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout.strip() == "".join(map(str, model.predict(X)))


def test_untrusted_types_are_refused_and_named(tmp_path: Path) -> None:
    model = quick(TIGHT, estimator=Ours()).fit(X, Y, sensitive_features=SEX)
    name = f"{Ours.__module__}.Ours"
    with pytest.raises(FileError, match=f"not trusted: {name}"):
        round_trip(model, tmp_path)
    again = round_trip(model, tmp_path, trusted=[name])
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    with pytest.raises(InputError, match="give a list"):
        load(tmp_path / "model.skops", trusted=name)


def test_what_would_run_a_program_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "evil.skops"
    skops.io.dump(quick(prefit=make_pipeline(FunctionTransformer(os.getcwd), LogisticRegression())), path)
    with pytest.raises(FileError, match="not a file that fairlimits saved"):
        load(path)
    seal(path, "estimator")
    with pytest.raises(FileError, match=r"not trusted: .*getcwd"):
        load(path)


def test_module_paths_in_files_stay() -> None:
    assert sorted(name for name in TRUSTED if name.startswith("fairlimits.")) == PATHS


def test_files_that_are_not_ours(tmp_path: Path) -> None:
    path = tmp_path / "model.skops"
    with pytest.raises(FileError, match="no file"):
        load(path)
    save(quick(TIGHT).fit(X, Y, sensitive_features=SEX), path)
    whole = path.read_bytes()
    for part in (b"", b"rubbish", whole[: len(whole) // 2], whole[:200] + bytes(50) + whole[250:]):
        path.write_bytes(part)
        with pytest.raises(FileError, match="damaged"):
            load(path)
    skops.io.dump({"a": 1}, path)
    seal(path, "estimator")
    with pytest.raises(FileError, match="holds a dict"):
        load(path)
    with pytest.raises(FileError):
        load(tmp_path)


def test_what_cannot_be_saved_is_said_and_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="A dict cannot be saved"):
        save({}, tmp_path / "model.skops")
    with pytest.raises(FileError, match="does not exist"):
        save(quick(), tmp_path / "nowhere" / "model.skops")
    save(quick(), tmp_path / "model.skops")
    before = (tmp_path / "model.skops").read_bytes()
    with pytest.raises(InputError, match="cannot be saved"):
        save(quick(prefit=make_pipeline(FunctionTransformer(x for x in range(0)))), tmp_path / "model.skops")
    assert (tmp_path / "model.skops").read_bytes() == before
    assert [own.name for own in tmp_path.iterdir()] == ["model.skops"]
