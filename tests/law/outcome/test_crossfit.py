"""Estimates of P(A, Y | x): near the truth, out of fold, for every shape of data."""

from __future__ import annotations

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
from fairlimits.law.outcome.factors import best_average, joint, log_loss
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
    assert set(found.losses) == {"P(Y|x)", "P(A|x,Y)", "P(A|x)", "P(Y|x,A)"}
    for losses in found.losses.values():
        tried = {name: loss for name, loss in losses.items() if name != "chosen"}
        assert len(tried) == 3
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
    # The model for new rows has seen them all, in most folds.
    seen = found.model.predict(data)[:, :, 1].sum(axis=1) > 0.5
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
    assert len(told) == 20


def test_factors_make_the_joint_law() -> None:
    rng = np.random.default_rng(0)
    q = rng.dirichlet(np.ones(6), 5).reshape(5, 3, 2)
    label, group = q.sum(axis=1), q.sum(axis=2)
    given_label = np.swapaxes(q / label[:, None], 1, 2)
    given_group = q / group[:, :, None]
    assert joint(label[:, None], given_label, group[:, None], given_group) == pytest.approx(q)


def test_an_average_is_chosen_if_it_is_better() -> None:
    target = np.array([0, 1])
    first, second = np.array([[0.9, 0.1], [0.5, 0.5]]), np.array([[0.5, 0.5], [0.1, 0.9]])
    members, loss = best_average([first, second], target, np.ones(2))
    assert members == (0, 1)
    assert loss == pytest.approx(-np.log(0.7))
    assert log_loss(np.array([[1.0, 0.0]]), np.array([1]), np.ones(1)) < 20
