"""`cross_fit`: a cross-fitted estimate of q(x) = P(A, Y | x), all that accuracy and group notions depend on.

Every row's q comes from learners that did not see the row, so that rules solved on these rows hold on others. A new
row's q is the average over the learners of all folds.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy as np

from fairlimits._util.callers import outside
from fairlimits._util.progress import Progress, or_silent
from fairlimits._util.threads import usable_cores
from fairlimits._util.types import Flags, Floats, Ints
from fairlimits._util.workers import MOST_PROCESSES, Team
from fairlimits.data import Dataset, Encoding, check_seed
from fairlimits.law.outcome.classifiers import ClassifierLaw, fit_chances, view_for
from fairlimits.law.outcome.estimates import Outcome
from fairlimits.law.outcome.exporting import UnknownLayoutError
from fairlimits.law.outcome.fitting import Table, fit_apart, fit_law, run_jobs
from fairlimits.law.outcome.learners import load_learners, one_thread_each
from fairlimits.law.outcome.models import OutcomeModel, SplitLaw
from fairlimits.law.outcome.recalibration import Recalibration
from fairlimits.law.outcome.splits import LEAST_CHANCE

# A process takes two to three seconds of its core to start and to load scikit-learn. This many rows take about twice
# that to learn from: with more, two processes are faster than one even if they have to start.
_ROWS_FOR_PROCESSES = 10_000


def cross_fit(
    data: Dataset, fold: Ints, folds: int, *, estimator: Any, random_state: int, n_jobs: int | None, tell: Progress
) -> Outcome:
    """Learn q on people whose fold is known (see `estimate_outcome`)."""

    def told(done: int, total: int) -> None:
        tell(done / total, f"learning P(A, Y | x), fit {done} of {total}")

    with _team(data, n_jobs, estimator) as team, one_thread_each():
        if estimator is None:
            try:
                return _by_splits(data, fold, folds, random_state, team, told)
            except UnknownLayoutError as error:
                warnings.warn(
                    f"{error} One booster is used through predict_proba instead, which is slower; please report this.",
                    RuntimeWarning,
                    stacklevel=outside(),
                )
                from sklearn.ensemble import HistGradientBoostingClassifier

                estimator = HistGradientBoostingClassifier(max_features=0.5, early_stopping=False)
        return _by_classifier(estimator, data, fold, folds, random_state, team.threads, told)


def estimate_apart(
    data: Dataset,
    fold: Ints,
    watched: Flags | None = None,
    *,
    random_state: int = 0,
    progress: Progress | None = None,
) -> Floats:
    """Estimate q(x) = P(A, Y | x) for the people of each fold from people of the other folds alone.

    With watched people (a validation set), each fold has a table of its own: the other folds' people to learn from, and
    its own watched people to stop and choose learners by. Nothing but the features of the fold's other people is used
    for them. Else the choice of learners, and of their number of trees, is common to all folds.

    Parameters
    ----------
    data : Dataset
        The people.
    fold : ndarray of int of shape (n,)
        Fold of each, from 0 on.
    watched : ndarray of bool of shape (n,), optional
        Validation rows: not learned from, they say when to stop learning for their own fold.
    random_state : int, default=0
        Seed of the learners.
    progress : callable, optional
        Called with the fraction done and a few words.

    Returns
    -------
    ndarray of shape (n, G, 2)
    """
    tell_fraction = or_silent(progress)

    def tell(done: int, total: int) -> None:
        tell_fraction(done / total, _told(done, total))

    # Nothing need be learned for a fold without people.
    fold = np.unique(fold, return_inverse=True)[1].reshape(-1)
    folds, seed = int(fold.max()) + 1, check_seed(random_state)
    if watched is None:
        with _team(data, None, None) as team, one_thread_each():
            return fit_law(Table.of(data, fold, folds, seed), team, tell)[1]
    q = np.empty((data.n_rows, len(data.groups), 2))
    laws = learn_apart(data, fold, folds, watched, random_state=random_state, progress=progress)
    with one_thread_each():
        for k, law in enumerate(laws):
            own = np.flatnonzero(fold == k)
            q[own] = law.predict({name: values[own] for name, values in data.columns.items()}, len(own))
    return q


def learn_apart(
    data: Dataset,
    fold: Ints,
    folds: int,
    watched: Flags,
    *,
    random_state: int = 0,
    progress: Progress | None = None,
) -> list[SplitLaw]:
    """Learn q(x) for each of some folds from people of the other folds, while some of its own are watched.

    Parameters
    ----------
    data, fold, watched, random_state, progress
        See `estimate_apart`.
    folds : int
        Number of folds; one may be without people.

    Returns
    -------
    list of SplitLaw
    """
    tell_fraction, tables = or_silent(progress), []
    with _team(data, None, None) as team, one_thread_each():
        for k in range(folds):
            rows = np.flatnonzero(watched == (fold == k))
            own = (fold[rows] == k).astype(np.int64)
            tables.append(Table.of(data.take(rows), own, 2, check_seed(random_state)))
        return fit_apart(tables, team, lambda done, total: tell_fraction(done / total, _told(done, total)))


def _told(done: int, total: int) -> str:
    return f"learning from other kinds of people, fit {done} of {total}"


def _team(data: Dataset, n_jobs: int | None, estimator: Any) -> Team:
    """Return the team that fits: processes where they pay, for the package's own learners; a user's may not be pickled.

    Scikit-learn's own parallel code resets the warning filters of the process for a moment, so that two of its models
    fitted in two threads can lose them for good. Fits of small trees gain nothing from threads anyway.
    """
    if estimator is not None:
        one_by_one = n_jobs is None and _is_of_scikit_learn(estimator)
        return Team(1 if one_by_one else n_jobs or usable_cores(), prepare=load_learners)
    if data.n_rows < _ROWS_FOR_PROCESSES:
        return Team(1, prepare=load_learners)
    return Team(n_jobs or min(usable_cores(), MOST_PROCESSES), processes=True, prepare=load_learners)


def _is_of_scikit_learn(estimator: Any) -> bool:
    return type(estimator).__module__.partition(".")[0] == "sklearn"


def _by_splits(
    data: Dataset,
    fold: Ints,
    folds: int,
    random_state: int,
    team: Team,
    tell: Callable[[int, int], None],
) -> Outcome:
    law, q, answers = fit_law(Table.of(data, fold, folds, random_state), team, tell)
    losses = {name: own.losses for name, own in answers.items()}
    chosen = {name: own.chosen for name, own in answers.items()}
    return _recalibrated(data, q, law, losses, chosen)


def _by_classifier(
    estimator: Any,
    data: Dataset,
    fold: Ints,
    folds: int,
    random_state: int,
    pool: ThreadPoolExecutor,
    tell: Callable[[int, int], None],
) -> Outcome:
    weight, label = data.shares * data.n_rows, data.label.astype(np.int64)
    view = view_for(estimator, data.schema, Encoding.fit(data))
    jobs = []
    for k in range(folds):
        seen = np.flatnonzero(fold != k)
        columns = {name: values[seen] for name, values in data.columns.items()}
        fit = partial(fit_chances, estimator, view, columns, weight=weight[seen], random_state=random_state)
        jobs.append(partial(fit, label[seen], 2, given=None))
        jobs.append(partial(fit, data.group[seen], len(data.groups), given=label[seen]))
    found = run_jobs(pool, jobs, lambda done: tell(done, len(jobs)))
    law = ClassifierLaw(tuple(found[::2]), tuple(found[1::2]))
    q = np.empty((data.n_rows, len(data.groups), 2))
    for k in range(folds):
        held = np.flatnonzero(fold == k)
        columns = {name: values[held] for name, values in data.columns.items()}
        q[held] = law.predict_fold(k, columns, len(held))
    name = type(estimator).__name__
    true = q[np.arange(data.n_rows), :, data.label].sum(axis=1)
    both = q[np.arange(data.n_rows), data.group, data.label]
    losses = {}
    for factor, chance in (("P(Y|x)", true), ("P(A|x,Y)", both / true)):
        loss = _mean_loss(chance, weight)
        losses[factor] = {name: loss, "chosen": loss}
    return _recalibrated(data, q, law, losses, dict.fromkeys(losses, (name,)))


def _recalibrated(
    data: Dataset,
    q: Floats,
    law: SplitLaw | ClassifierLaw,
    losses: Mapping[str, Mapping[str, float]],
    chosen: Mapping[str, tuple[str, ...]],
) -> Outcome:
    correction = Recalibration.fit(q, data.shares, data.group, data.label.astype(np.int64))
    return Outcome(data, correction.apply(q), OutcomeModel(data.schema, law, correction), losses, chosen)


def _mean_loss(chance: Floats, weight: Floats) -> float:
    return float(weight @ -np.log(np.maximum(chance, LEAST_CHANCE)) / weight.sum())


def deal_folds(data: Dataset, folds: int, random_state: int) -> Ints:
    """Return the fold of each row, stratified by group and label."""
    order = np.random.default_rng(random_state).permutation(data.n_rows)
    order = order[np.argsort((data.group * 2 + data.label)[order], kind="stable")]
    fold = np.empty(data.n_rows, dtype=np.int64)
    fold[order] = np.arange(data.n_rows) % folds
    return fold
