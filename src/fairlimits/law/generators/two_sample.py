"""Whether a machine can tell two tables of people apart, learn the same from both, or find rows of one in the other."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import roc_auc_score
from threadpoolctl import threadpool_limits

from fairlimits._util.types import Flags, Floats
from fairlimits.data import Dataset, category_columns


def two_sample_auc(first: Dataset, second: Dataset, random_state: int = 0) -> float:
    """Return the AUC of a classifier that tells rows of `first` from rows of `second`.

    Gradient boosting sees every column, group and label included, learns one half of both tables and is judged on
    the other. 0.5 means that it cannot tell them apart.

    Parameters
    ----------
    first, second : Dataset
        Tables of one schema.
    random_state : int, default=0
        Seed of halves and classifier.
    """
    matrix = np.vstack([_matrix(first, with_label=True), _matrix(second, with_label=True)])
    source = np.repeat([0, 1], [first.n_rows, second.n_rows])
    weight = np.concatenate([_weights(first), _weights(second)])
    learned = np.zeros(len(matrix), dtype=bool)
    rng = np.random.default_rng(random_state)
    for value in (0, 1):
        rows = rng.permutation(np.flatnonzero(source == value))
        learned[rows[: len(rows) // 2]] = True
    score = _chances(first, matrix[learned], source[learned], weight[learned], matrix[~learned], random_state)
    return float(roc_auc_score(source[~learned], score, sample_weight=weight[~learned]))


def label_accuracy(train: Dataset, test: Dataset, random_state: int = 0) -> float:
    """Return the share of labels of `test` that gradient boosting, trained on `train`, predicts from X and A."""
    if len(np.unique(train.label)) < 2:
        chances = np.full(test.n_rows, float(train.label[0]))
    else:
        chances = _chances(train, _matrix(train), train.label, _weights(train), _matrix(test), random_state)
    return float(np.average((chances > 0.5) == test.label, weights=_weights(test)))


def copied_share(rows: Dataset, source: Dataset) -> float:
    """Return the share of `rows` that equal some row of `source` in every column, group and label included."""
    count = rows.n_rows
    key = np.zeros(count + source.n_rows, dtype=np.int64)
    for first, second in zip(_columns(rows), _columns(source), strict=True):
        _, codes = np.unique(np.concatenate([first, second]), return_inverse=True)
        # Numbering the combinations anew after each column keeps the numbers small.
        _, key = np.unique(key * (int(codes.max()) + 1) + codes, return_inverse=True)
    found: Flags = np.isin(key[:count], key[count:])
    return float(np.average(found, weights=_weights(rows)))


def _columns(dataset: Dataset) -> list[NDArray[Any]]:
    return [dataset.group, dataset.label, *dataset.columns.values()]


def _matrix(dataset: Dataset, with_label: bool = False) -> Floats:
    columns = [dataset.group, *dataset.columns.values()]
    if with_label:
        columns.append(dataset.label)
    return np.column_stack(columns).astype(np.float64)


def _weights(dataset: Dataset) -> Floats:
    return np.ones(dataset.n_rows) if dataset.weight is None else np.asarray(dataset.weight)


def _chances(
    dataset: Dataset, matrix: Floats, target: NDArray[Any], weight: Floats, asked: Floats, random_state: int
) -> Floats:
    """Return the chance of target 1 in the rows `asked`, by gradient boosting that knows the categorical columns."""
    sizes = [len(dataset.groups), *(len(feature.categories) for feature in dataset.schema.features)]
    model = HistGradientBoostingClassifier(
        categorical_features=category_columns(sizes), early_stopping=False, random_state=random_state
    )
    # Its threads wait for each other at every step: on a busy machine two take ten times as long as one.
    with threadpool_limits(limits=1, user_api="openmp"):
        return np.asarray(model.fit(matrix, target, weight).predict_proba(asked)[:, 1])
