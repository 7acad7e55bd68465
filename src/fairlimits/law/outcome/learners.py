"""The learners of a two-way chance that are tried by default, and how each is fitted.

They are boosting with native categories, boosting with categories ordered by the rate of the target (target
encoding), and logistic regression. How large the trees are depends on the number of rows.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from scipy.special import logit
from threadpoolctl import threadpool_limits

from fairlimits._util.types import Flags, Floats
from fairlimits.law.outcome.codes import Bytes
from fairlimits.law.outcome.ensembles import Member
from fairlimits.law.outcome.exporting import export_trees
from fairlimits.law.outcome.trees import Singles

MANY_ROWS = 20_000
"""Rows from which on trees are large, steps are long, and logistic regression is left out if it does not help."""

FEW_ROWS = 6_000
"""Rows below which trees are small."""

# Rows below which trees whose leaves have 20 rows find nothing to split in a fold.
_FEWEST_FOR_TREES = 60

# Most trees of a first fit.
_MOST_TREES = 400

# A first fit that is best with fewer trees has too high a learning rate.
_TOO_SOON = 20
_SHORT_STEP = 0.1

# Pseudo-rows at the overall rate, added to each category before categories are ordered by their rate.
_PSEUDO_ROWS = 20

# The Newton steps of logistic regression cost the square of the number of columns.
_MOST_NEWTON_COLUMNS = 300
_MOST_STEPS = 1_000

# Largest entry of the gradient at which Newton's method stops: the mean log-loss is within 1e-8 of the least then.
_TOLERANCE = 1e-6

# Scikit-learn's models set the warning filters of the process, each for itself, and must not do so at the same time.
_ALONE = threading.Lock()

# Rows on which exported trees are compared with scikit-learn's.
_COMPARED = 8


@dataclass(frozen=True)
class Booster:
    """Gradient boosting on coded features.

    Parameters
    ----------
    name : str
        What it is called in tables.
    leaves : int
        Leaves of a tree.
    rate : float
        Learning rate.
    penalty : float
        Added to the sum of second derivatives in each leaf.
    ordered : bool
        Whether categories are put in order by the rate of the target, instead of being split in any two parts.
    patience : int
        Trees without gain after which a first fit stops (early stopping).
    margin : float
        The other folds grow this many times the trees that were best in the first fold.
    """

    name: str
    leaves: int
    rate: float
    penalty: float = 0.0
    ordered: bool = False
    patience: int = 15
    margin: float = 1.25


@dataclass(frozen=True)
class Logistic:
    """Logistic regression on encoded features."""

    name: str = "logistic regression"


@dataclass(frozen=True)
class OverallRate:
    """The same chance for everybody."""

    name: str = "overall rate"


Learner: TypeAlias = Booster | Logistic | OverallRate


def learners_for(rows: int, both: bool) -> tuple[Learner, ...]:
    """Return the learners that are tried on so many rows; `both` says whether both classes are among them."""
    if not both:
        return (OverallRate(),)
    if rows < _FEWEST_FOR_TREES:
        return OverallRate(), Logistic()
    return *_boosters_for(rows), Logistic()


def _boosters_for(rows: int) -> tuple[Booster, ...]:
    if rows < FEW_ROWS:
        return (
            Booster("boosting, 4 leaves", 4, 0.2),
            Booster("boosting, 8 leaves", 8, 0.15),
            Booster("boosting on ordered categories, 16 leaves", 16, 0.15, ordered=True),
        )
    if rows < MANY_ROWS:
        return (
            Booster("boosting, 16 leaves", 16, 0.15),
            Booster("boosting on ordered categories, 16 leaves", 16, 0.15, ordered=True),
        )
    return (
        Booster("boosting, 20 leaves", 20, 0.3, 1.0, patience=10, margin=1.1),
        Booster("boosting on ordered categories, 20 leaves", 20, 0.3, 2.0, ordered=True, patience=10, margin=1.1),
    )


@dataclass(frozen=True, eq=False)
class Sample:
    """Rows to learn a two-way chance from, all with positive weight and both classes among them.

    Parameters
    ----------
    codes : ndarray of uint8 of shape (n, features)
        Coded features; a given variable comes last.
    target : ndarray of bool of shape (n,)
    weight : ndarray of shape (n,), optional
        1 on average; None if all are equal.
    """

    codes: Bytes
    target: Flags
    weight: Floats | None = None


def load_learners() -> None:
    """Load the package that trees are grown with, which takes seconds."""
    import sklearn.ensemble  # noqa: F401


@contextmanager
def one_thread_each() -> Iterator[None]:
    """Let no fit use several threads, which would wait for each other at every step; fits run in parallel instead."""
    with threadpool_limits(limits=1):
        yield


def fit_booster(
    booster: Booster, sizes: tuple[int, ...], nominal: tuple[bool, ...], sample: Sample, trees: int, seed: int
) -> Member:
    """Grow a number of trees."""
    return _grow(booster, sizes, nominal, sample, None, trees, seed)[0]


def fit_first(
    booster: Booster, sizes: tuple[int, ...], nominal: tuple[bool, ...], sample: Sample, held: Sample, seed: int
) -> tuple[Booster, Member, int]:
    """Grow trees until they gain no more on held-out rows (early stopping).

    Returns
    -------
    booster : Booster
        The booster, with a lower learning rate if its own was too high.
    member : Member
        The trees, a few more than were best.
    trees : int
        How many trees the other folds should grow.
    """
    member, best = _grow(booster, sizes, nominal, sample, held, _MOST_TREES, seed)
    if len(sample.target) + len(held.target) >= MANY_ROWS and best < _TOO_SOON and booster.rate > _SHORT_STEP:
        return fit_first(replace(booster, rate=_SHORT_STEP), sizes, nominal, sample, held, seed)
    return booster, member, max(int(np.ceil(booster.margin * best)), 1)


def fit_logistic(encoded: Singles, sample: Sample) -> Member:
    """Fit logistic regression on encoded features, of which a given variable is the last column.

    The mean over rows of weight times log-loss, times their number, plus half the squared length of the coefficients
    is minimal: what scikit-learn's `LogisticRegression` does by default.
    """
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression

    if not encoded.shape[1]:
        rate = np.average(sample.target, weights=sample.weight)
        return Member(float(logit(rate)), coefficients=np.zeros(0, np.float32))
    newton = encoded.shape[1] <= _MOST_NEWTON_COLUMNS
    model = LogisticRegression(
        solver="newton-cholesky" if newton else "lbfgs", tol=_TOLERANCE if newton else 1e-4, max_iter=_MOST_STEPS
    )
    with _ALONE, warnings.catch_warnings():
        # Where it starts at the optimum, as for columns that are constant, it finds no better step.
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(encoded, sample.target, sample_weight=sample.weight)
    return Member(float(model.intercept_[0]), coefficients=model.coef_[0].astype(np.float32))


def _grow(
    booster: Booster,
    sizes: tuple[int, ...],
    nominal: tuple[bool, ...],
    sample: Sample,
    held: Sample | None,
    trees: int,
    seed: int,
) -> tuple[Member, int]:
    """Grow trees; also return how many were best on the rows held out."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    by_name = [at for at in range(len(sizes)) if nominal[at] and not booster.ordered and sizes[at] > 2]
    # Scikit-learn moves categorical columns to the front, so they are put there at once.
    features = [*by_name, *(at for at in range(len(sizes)) if at not in by_name)]
    seen_as = []
    for at in features:
        if at in by_name:
            seen_as.append(_present(sample.codes[:, at], sizes[at]))
        elif nominal[at] and sizes[at] > 2:
            seen_as.append(_ranks(sample.codes[:, at], sizes[at], sample))
        else:
            seen_as.append(np.append(np.arange(sizes[at], dtype=np.float64), np.nan))
        if np.isnan(seen_as[-1][sample.codes[:, at]]).all():
            # Scikit-learn cannot bin a column without values.
            seen_as[-1] = np.zeros(sizes[at] + 1)

    def matrix(codes: Bytes) -> Floats:
        out = np.empty((len(codes), len(features)), order="F")
        for at, (feature, values) in enumerate(zip(features, seen_as, strict=True)):
            out[:, at] = values[codes[:, feature]]
        return out

    model = HistGradientBoostingClassifier(
        learning_rate=booster.rate,
        max_iter=trees,
        max_leaf_nodes=booster.leaves,
        l2_regularization=booster.penalty,
        max_features=0.5,
        categorical_features=list(range(len(by_name))) or None,
        early_stopping=held is not None,
        n_iter_no_change=booster.patience,
        tol=0.0,
        scoring="loss",
        random_state=seed,
    )
    options = {}
    if held is not None:
        options = {"X_val": matrix(held.codes), "y_val": held.target, "sample_weight_val": held.weight}
    model.fit(matrix(sample.codes), sample.target, sample_weight=sample.weight, **options)
    exported, base = export_trees(model, sizes, features, seen_as, sample.codes[:_COMPARED])
    best = trees if held is None else int(np.argmax(model.validation_score_))
    return Member(base, exported), best


def _present(codes: Bytes, size: int) -> Floats:
    """Return the categories that occur as 0, 1, ...; the others as missing."""
    values = np.full(size + 1, np.nan)
    there = np.unique(codes[codes < size])
    values[there] = np.arange(len(there))
    return values


def _ranks(codes: Bytes, size: int, sample: Sample) -> Floats:
    """Return the rank of each category by the target's rate, with pseudo-rows at the overall rate."""
    weight = np.ones(len(codes)) if sample.weight is None else sample.weight
    rows = np.bincount(codes, weight, minlength=size + 1)[:size]
    hits = np.bincount(codes, weight * sample.target, minlength=size + 1)[:size]
    overall = float(weight @ sample.target / weight.sum())
    rate = (hits + _PSEUDO_ROWS * overall) / (rows + _PSEUDO_ROWS)
    values = np.full(size + 1, np.nan)
    values[np.argsort(rate, kind="stable")] = np.arange(size)
    return values


def losses_by_trees(member: Member, held: Sample) -> Floats:
    """Return the sum of weighted log-losses of a booster on held-out rows after each of its trees, of shape (T,)."""
    assert member.trees is not None
    trees, base = member.trees, member.base
    total = np.zeros(len(trees))
    sign = np.where(held.target, -1.0, 1.0).astype(np.float32)
    weight = np.ones(len(sign), dtype=np.float32) if held.weight is None else held.weight.astype(np.float32)
    block = 4_096
    for start in range(0, len(sign), block):
        rows = slice(start, start + block)
        scores = trees.reached(trees.masks(held.codes[rows]))
        np.cumsum(scores, axis=1, out=scores)
        scores += np.float32(base)
        scores *= sign[rows, None]
        # log(1 + exp(s)), without overflow.
        total += weight[rows] @ np.logaddexp(np.float32(0), scores)
    return total


def pick_count(losses: list[Floats]) -> int:
    """Return the number of trees, the same in all folds, with the lowest loss over all folds."""
    shortest = min(map(len, losses))
    return int(np.argmin(np.sum([sums[:shortest] for sums in losses], axis=0))) + 1
