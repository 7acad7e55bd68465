"""Estimates of P(A, Y | x): near the truth, out of fold, for every shape of data."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_info

from fairlimits import estimate_outcome
from fairlimits.data import Dataset
from fairlimits.errors import DataError, InputError
from fairlimits.law.outcome import crossfit, estimating
from fairlimits.law.outcome.exporting import UnknownLayoutError
from known_people import known, people, read

LOGISTIC = LogisticRegression()


@pytest.mark.parametrize(("groups", "weighted"), [(2, False), (3, True)])
def test_the_estimate_is_near_the_law(groups: int, weighted: bool) -> None:
    data, q = known(0, 6_000, groups, weighted)
    found = estimate_outcome(data, estimator=LOGISTIC)
    assert found.q.shape == q.shape
    assert found.q.sum(axis=(1, 2)) == pytest.approx(1)
    assert np.abs(found.q - q).mean() < 0.02
    test, truth = known(1, 2_000, groups, weighted)
    assert np.abs(found.model.predict(test) - truth).mean() < 0.02
    assert found.calibration_error() < 0.02
    assert found.chosen["P(Y|x)"] == ("LogisticRegression",)


def test_default_learners_are_tried_and_the_best_kept() -> None:
    data, q = known(0, 800)
    found = estimate_outcome(data, folds=2)
    assert set(found.losses) == {"P(Y|x)", "P(A|x,Y)"}
    for losses in found.losses.values():
        tried = {name: loss for name, loss in losses.items() if name != "chosen"}
        assert len(tried) == 4
        assert losses["chosen"] <= min(tried.values()) + 1e-12
    # The law is one that logistic regression can learn.
    assert "logistic regression" in found.chosen["P(Y|x)"]
    assert np.abs(found.q - q).mean() < 0.06


def test_no_row_is_estimated_by_learners_that_saw_it() -> None:
    """A tree that learns every row by heart would know noise that it has seen."""
    table, _ = people(0, 800)
    noise = np.random.default_rng(1).integers(0, 2, 800)
    table = table.set_column(table.column_names.index("hired"), "hired", pa.array(noise))
    data = read(table)
    found = estimate_outcome(data, estimator=DecisionTreeClassifier())
    guessed = found.q[:, :, 1].sum(axis=1) > 0.5
    assert abs((guessed == data.label).mean() - 0.5) < 0.08
    # The learners for new rows have seen them all, in most folds; what corrects them knows that they were wrong.
    seen = found.model.law.predict(data.columns, data.n_rows)[:, :, 1].sum(axis=1) > 0.5
    assert (seen == data.label).mean() > 0.8


def test_neither_jobs_nor_labels_of_new_rows_matter() -> None:
    table, _ = people(0, 600)
    first = estimate_outcome(read(table), estimator=LOGISTIC, n_jobs=1)
    second = estimate_outcome(read(table), estimator=LOGISTIC, n_jobs=4)
    assert (first.q == second.q).all()
    new, _ = people(1, 50)
    bare = new.select(["area", "skill"])
    expected = first.model.predict(Dataset.read_like(first.model.schema, new))
    assert first.model.predict(bare) == pytest.approx(expected)
    assert first.model.predict(bare.to_pandas()) == pytest.approx(expected)
    strange = bare.set_column(0, "area", pa.array(["nowhere"] * 50))
    assert first.model.predict(strange).sum(axis=(1, 2)) == pytest.approx(1)


class CountingLogistic(LogisticRegression):  # type: ignore[misc]
    """Notes how many rows it is asked to predict at a time."""

    asked: ClassVar[list[int]] = []

    def predict_proba(self, X: Any) -> Any:
        self.asked.append(len(X))
        return super().predict_proba(X)


def test_people_who_are_alike_are_estimated_once() -> None:
    table, _ = people(0, 400)
    found = estimate_outcome(read(table), estimator=CountingLogistic(), folds=2)
    # Somebody's skill is missing; so is their twin's.
    some = table.slice(0, 50).set_column(0, "skill", pa.array([None, *table["skill"].to_pylist()[1:50]], pa.float64()))
    order = np.random.default_rng(0).permutation(np.repeat(np.arange(50), 3))
    CountingLogistic.asked.clear()
    several = found.model.predict(some.take(order).select(["area", "skill"]))
    assert max(CountingLogistic.asked) == 50
    assert several == pytest.approx(found.model.predict(some.select(["area", "skill"]))[order], abs=1e-14)


def test_a_group_and_label_that_is_hardly_there() -> None:
    data, _ = known(0, 300)
    lonely = np.flatnonzero((data.group == 0) & (data.label == 1))
    keep = np.ones(300, dtype=bool)
    keep[lonely[1:]] = False
    found = estimate_outcome(data.take(keep), folds=2)
    assert np.isfinite(found.q).all()
    assert found.q.sum(axis=(1, 2)) == pytest.approx(1)


def test_one_label_only() -> None:
    data, _ = known(0, 300)
    found = estimate_outcome(data.take(data.label == 1), estimator=LOGISTIC)
    assert found.q[:, :, 1].sum(axis=1) == pytest.approx(1)


def test_hardly_any_row_counts() -> None:
    data, _ = known(0, 100)
    weight = np.zeros(100)
    weight[0] = 1
    found = estimate_outcome(Dataset(data.schema, data.columns, data.group, data.label, weight), estimator=LOGISTIC)
    assert found.q.sum(axis=(1, 2)) == pytest.approx(1)


def test_the_number_of_threads_is_as_before() -> None:
    before = [(own["filepath"], own["num_threads"]) for own in threadpool_info()]
    estimate_outcome(known(0, 100)[0], estimator=LOGISTIC, n_jobs=4)
    assert [(own["filepath"], own["num_threads"]) for own in threadpool_info()] == before


def test_calibration_is_a_table_of_bins() -> None:
    data, _ = known(0, 1_000)
    table = estimate_outcome(data, estimator=LOGISTIC).calibration(5)
    assert table.num_rows == 2 * 2 * 5
    off = np.abs(table["estimate"].to_numpy() - table["came true"].to_numpy())
    assert (off < 5 * table["standard error"].to_numpy() + 0.02).all()


def test_bad_input_gets_a_sentence() -> None:
    data, _ = known(0, 100)
    with pytest.raises(InputError, match="has no fit"):
        estimate_outcome(data, estimator=object())
    with pytest.raises(InputError, match="has no"):
        estimate_outcome(data, estimator="boosting")
    with pytest.raises(InputError, match="give an instance"):
        estimate_outcome(data, estimator=LogisticRegression)
    with pytest.raises(InputError, match="takes no weights"):
        estimate_outcome(data, estimator=KNeighborsClassifier())
    with pytest.raises(InputError, match="jobs is -1"):
        estimate_outcome(data, estimator=LOGISTIC, n_jobs=-1)
    with pytest.raises(InputError, match="folds is 1"):
        estimate_outcome(data, folds=1)
    with pytest.raises(DataError, match="too few for 5 folds"):
        estimate_outcome(data.take(np.arange(3)))
    found = estimate_outcome(data, estimator=LOGISTIC)
    with pytest.raises(InputError, match="bins is 0"):
        found.calibration(0)
    other = Dataset.from_frame(people(0, 50)[0], label="hired", sensitive="sex", drop="area")
    with pytest.raises(InputError, match="other features"):
        found.model.predict(other)


def test_progress_is_told() -> None:
    told: list[float] = []
    estimate_outcome(known(0, 100)[0], estimator=LOGISTIC, progress=lambda done, words: told.append(done))
    assert told[-1] == 1
    assert len(told) == 10
    told.clear()
    estimate_outcome(known(0, 100)[0], folds=2, progress=lambda done, words: told.append(done))
    assert told == sorted(told)
    assert told[-1] == 1


@pytest.mark.parametrize("rows", [4, 40, 400])
def test_the_default_does_not_depend_on_jobs(rows: int) -> None:
    data, _ = known(0, rows, 3, weighted=rows == 400)
    first, second = (estimate_outcome(data, folds=2, n_jobs=jobs) for jobs in (1, 4))
    assert (first.q == second.q).all()
    assert first.chosen == second.chosen
    assert (first.q > 0).all()
    assert first.q.sum(axis=(1, 2)) == pytest.approx(1)
    if rows == 40:
        assert (estimate_outcome(data, folds=2, random_state=1).q != first.q).any()


def test_processes_find_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    data, _ = known(0, 400, 3, weighted=True)
    first = estimate_outcome(data, folds=2, n_jobs=1)
    monkeypatch.setattr(crossfit, "_ROWS_FOR_PROCESSES", 0)
    second = estimate_outcome(data, folds=2, n_jobs=2)
    assert (first.q == second.q).all()
    assert first.losses == second.losses
    assert first.chosen == second.chosen
    assert (first.model.predict(data) == second.model.predict(data)).all()


def test_no_row_is_estimated_by_default_learners_that_saw_it() -> None:
    """Labels that are noise cannot be guessed out of fold; a row's own label must not leak."""
    table, _ = people(0, 600)
    noise = np.random.default_rng(1).integers(0, 2, 600)
    data = read(table.set_column(table.column_names.index("hired"), "hired", pa.array(noise)))
    found = estimate_outcome(data, folds=3)
    guessed = found.q[:, :, 1].sum(axis=1) > 0.5
    assert abs((guessed == data.label).mean() - 0.5) < 0.08


def test_people_of_weight_0_have_no_say() -> None:
    data, _ = known(0, 300)
    weight = np.repeat([1.0, 0.0], 150)
    first = estimate_outcome(Dataset(data.schema, data.columns, data.group, data.label, weight), folds=2)
    turned = np.where(weight > 0, data.label, 1 - data.label).astype(np.int8)
    columns = {**data.columns, "skill": np.where(weight > 0, data.columns["skill"], 1e9)}
    second = Dataset(data.schema, columns, data.group, turned, weight)
    # The same folds, which are dealt out by label.
    fold = np.arange(300) % 2
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(estimating, "deal_folds", lambda *_: fold)
        first = estimate_outcome(Dataset(data.schema, data.columns, data.group, data.label, weight), folds=2)
        found = estimate_outcome(second, folds=2)
    assert found.q[:150] == pytest.approx(first.q[:150], abs=1e-6)


def test_weights_count_like_repeated_rows() -> None:
    """Three to one among people who are alike."""
    table = pa.table({"x": [0.0] * 80, "sex": ["f", "m"] * 40, "hired": [0, 0, 1, 1] * 20, "w": [3, 3, 1, 1] * 20})
    data = Dataset.from_frame(table, label="hired", sensitive="sex", weight="w")
    assert estimate_outcome(data, folds=2).q[:, :, 1].sum(axis=1) == pytest.approx(0.25, abs=1e-4)


ODD = {
    "constant": [1.0] * 120,
    "empty": [None] * 120,
    "huge": [(-1.0) ** i * 10.0 ** (i % 300) for i in range(120)],
    "far": [np.finfo(np.float64).max * (i % 3 - 1) for i in range(120)],
    "near": [1.0 + (i % 2) * np.finfo(np.float64).eps for i in range(120)],
    "holes": [None if i % 7 == 0 else float(i) for i in range(120)],
    "names": [f"n{i}" for i in range(118)] + ["n0", None],
    "one": ["only"] * 120,
}


@pytest.mark.parametrize("feature", [*ODD, None])
def test_features_of_every_shape(feature: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """The default learners, each feature alone and all together."""
    # Tables with names are refused when they are read; the learners take them.
    monkeypatch.setattr("fairlimits.data.features._FEW", 1000)
    kinds = {"constant": pa.float64(), "empty": pa.float64()}
    chosen = ODD if feature is None else {feature: ODD[feature]}
    columns = {name: pa.array(values, kinds.get(name)) for name, values in chosen.items()}
    rng = np.random.default_rng(0)
    table = pa.table({**columns, "sex": rng.choice(["f", "m"], 120), "hired": rng.integers(0, 2, 120)})
    data = Dataset.from_frame(table, label="hired", sensitive="sex", numeric=[n for n in chosen if n in kinds])
    found = estimate_outcome(data, folds=2)
    assert (found.q > 0).all()
    assert found.q.sum(axis=(1, 2)) == pytest.approx(1)
    assert found.model.predict(data).sum(axis=(1, 2)) == pytest.approx(1)


def test_more_categories_than_codes(monkeypatch: pytest.MonkeyPatch) -> None:
    # Tables group that many, but the learners take them.
    monkeypatch.setattr("fairlimits.data.features._FEW", 1000)
    rng = np.random.default_rng(0)
    town = rng.integers(0, 400, 1_500)
    hired = (rng.random(1_500) < np.where(town < 20, 0.9, 0.2)).astype(int)
    table = pa.table({"town": [f"t{t:03}" for t in town], "sex": rng.choice(["f", "m"], 1_500), "hired": hired})
    data = Dataset.from_frame(table, label="hired", sensitive="sex", categorical="town")
    found = estimate_outcome(data, folds=2)
    assert found.q.sum(axis=(1, 2)) == pytest.approx(1)
    new = pa.table({"town": ["t001", "somewhere else"]})
    q = found.model.predict(new)
    assert q.sum(axis=(1, 2)) == pytest.approx(1)


def test_groups_and_labels_that_are_not_there() -> None:
    data, _ = known(0, 200, 3)
    group = np.where(data.group == 2, 0, data.group)
    found = estimate_outcome(Dataset(data.schema, data.columns, group, data.label), folds=2)
    assert (found.q[:, 2] < 1e-5).all()
    assert (found.q > 0).all()
    alone = Dataset(data.schema, data.columns, np.zeros_like(group), np.ones_like(data.label))
    found = estimate_outcome(alone, folds=2)
    assert found.q[:, 0, 1] == pytest.approx(1, abs=1e-5)
    assert (found.q > 0).all()
    # A single member of a group is in one fold only.
    group = np.where(np.arange(200) == 7, 2, group)
    found = estimate_outcome(Dataset(data.schema, data.columns, group, data.label), folds=2)
    assert (found.q[:, 2].sum(axis=1) > 1e-3).all()


def test_many_groups_are_told_apart() -> None:
    """P(A | x, Y) with three groups is learned by two splits, and is near the law."""
    data, q = known(0, 3_000, 3)
    found = estimate_outcome(data, folds=2)
    assert len(found.losses) == 3
    assert np.abs(found.q - q).mean() < 0.03
    assert "in 2 two-way splits" in found.summary()


def test_if_trees_cannot_be_read_predict_proba_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    def strange(*_: Any) -> None:
        raise UnknownLayoutError("The trees cannot be read.")

    monkeypatch.setattr("fairlimits.law.outcome.learners.export_trees", strange)
    data, q = known(0, 600)
    with pytest.warns(RuntimeWarning, match="cannot be read"):
        found = estimate_outcome(data, folds=2)
    assert found.chosen["P(Y|x)"] == ("HistGradientBoostingClassifier",)
    assert np.abs(found.q - q).mean() < 0.1


def test_a_bin_in_which_all_came_true_has_no_error() -> None:
    # 47 shares of 1 / 47 sum to a little more than 1.
    n = 47
    table = pa.table({"x": [1.0, 2.0] * n, "g": ["a"] * n + ["b"] * n, "y": [1] * n + [0] * n})
    data = Dataset.from_frame(table, label="y", positive=1, sensitive="g")
    certain = np.zeros((2 * n, 2, 2))
    certain[:n, 0, 1] = certain[n:, 1, 0] = 1.0
    outcome = replace(estimate_outcome(data, estimator=LOGISTIC), q=certain)
    assert outcome.calibration(2)["standard error"].to_pylist() == [0.0] * 8
