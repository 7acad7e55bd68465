"""`estimate_outcome`: from a table of people, of any size, to an estimate of q(x) = P(A, Y | x)."""

from __future__ import annotations

from typing import Any, overload

import numpy as np

from fairlimits._util.progress import Progress, or_silent
from fairlimits.data import Dataset, Stream, check_seed, open_rows
from fairlimits.errors import DataError, InputError
from fairlimits.law.outcome.classifiers import check_estimator
from fairlimits.law.outcome.crossfit import cross_fit, deal_folds
from fairlimits.law.outcome.estimates import Outcome
from fairlimits.law.outcome.streamed import StreamedOutcome, estimate_streamed

FOLDS = 5
"""Folds of the cross-fit."""


@overload
def estimate_outcome(
    data: Dataset,
    *,
    estimator: Any = ...,
    folds: int = ...,
    random_state: int = ...,
    n_jobs: int | None = ...,
    progress: Progress | None = ...,
) -> Outcome: ...


@overload
def estimate_outcome(
    data: Any,
    *,
    estimator: Any = ...,
    folds: int = ...,
    random_state: int = ...,
    n_jobs: int | None = ...,
    progress: Progress | None = ...,
    **columns: Any,
) -> Outcome | StreamedOutcome: ...


def estimate_outcome(
    data: Any,
    *,
    estimator: Any = None,
    folds: int = FOLDS,
    random_state: int = 0,
    n_jobs: int | None = None,
    progress: Progress | None = None,
    **columns: Any,
) -> Outcome | StreamedOutcome:
    """Estimate q(x) = P(A, Y | x) by cross-fitting.

    q is written as P(Y | x) P(A | x, Y). By default each factor is learned by gradient boosting and by logistic
    regression in every fold, and the learners whose plain average has the lowest out-of-fold log-loss are kept;
    more than two groups are told apart by a tree of two-way splits. The result is recalibrated once, for each group and
    label, as strongly as the rows justify.

    A table that does not fit into memory, or is on a cluster, is given as a path, an Arrow dataset or a Dask DataFrame.
    Then the learners are fitted on a sample of all its files, which grows until more rows do not help
    (``outcome.learning_curve``), and q is computed for every row, part by part, whenever it is needed.

    Parameters
    ----------
    data : Dataset, or what `open_data` takes or returns with ``stream=True``
        The people.
    estimator : scikit-learn classifier, optional
        What to learn with instead: anything with ``fit(X, y, sample_weight)`` and ``predict_proba``. Tree models
        (scikit-learn's trees, forests and boosting, LightGBM, XGBoost, CatBoost) see a column for each feature: numbers
        as they are, categories as codes, NaN for a missing value if they support it. All others, and
        pipelines, see numbers scaled, a column for each category, and no missing values. For P(A | x, Y) the label is
        the last column.
    folds : int, default=5
        Folds, each with its share of every group and label; of rows that are not in memory, dealt out by a hash.
    random_state : int, default=0
        Seed of folds and learners.
    n_jobs : int, optional
        Fits that run side by side; the result does not depend on it. By default, from 10,000 rows on, the default
        learners are fitted in as many processes as there are cores, at most 8, and on fewer rows one by one; a
        classifier of yours in as many threads as there are cores, or one by one if it is of scikit-learn.
    progress : callable, optional
        Called with the fraction done and a few words.
    **columns
        How to read `data` that is neither a Dataset nor a Stream: ``label``, ``sensitive``, ``positive``, ``client``
        and the other options of `open_data`.

    Returns
    -------
    Outcome or StreamedOutcome
        The latter for rows that are not in memory; `solve` and the like take both.

    Examples
    --------
    >>> import fairlimits as fl
    >>> from sklearn.linear_model import LogisticRegression
    >>> data = fl.load_dataset("adult").take(range(3_000))
    >>> outcome = fl.estimate_outcome(data, estimator=LogisticRegression(max_iter=500))
    >>> outcome.q.shape  # rows, groups, labels
    (3000, 2, 2)
    >>> bool(outcome.calibration_error() < 0.05)
    True
    """
    if isinstance(folds, bool) or not isinstance(folds, int | np.integer) or folds < 2:
        raise InputError(f"The number of folds is {folds!r}; give a whole number of at least 2.")
    if n_jobs is not None and n_jobs < 1:
        raise InputError(f"The number of jobs is {n_jobs!r}; give at least 1, or leave it out.")
    random_state, folds = check_seed(random_state), int(folds)
    if estimator is not None:
        check_estimator(estimator)
    options: dict[str, Any] = {
        "estimator": estimator,
        "random_state": random_state,
        "n_jobs": n_jobs,
        "tell": or_silent(progress),
    }
    people = open_rows(data, **columns)
    if isinstance(people, Stream):
        return estimate_streamed(people, folds=folds, **options)
    if people.n_rows < folds:
        raise DataError(f"The table has {people.n_rows} rows, too few for {folds} folds; give more rows.")
    return cross_fit(people, deal_folds(people, folds, random_state), folds, **options)
