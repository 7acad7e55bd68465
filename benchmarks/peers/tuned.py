"""LightGBM as a careful user of the peers would have it: tuned, stopped early, with cross-validated scores."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

import fairlimits as fl
from benchmarks.peers.bases import Estimates
from benchmarks.peers.splits import Floats, Split, matrix, peer

LEAVES = (7, 15, 31)
RATES = (0.05, 0.1)
FOLDS = 5
_MOST_TREES = 1_000
_PATIENCE = 15


@dataclass(frozen=True, eq=False)
class Tuned:
    """The best of the grid.

    Parameters
    ----------
    settings : dict of str to Any
        LightGBM's parameters, with the number of trees.
    out_of_fold : ndarray of shape (n,) or (n, classes)
        Chances of the rows, each by the booster that did not see it.
    boosters : tuple of Booster
        One for each fold.
    """

    settings: dict[str, Any]
    out_of_fold: Floats
    boosters: tuple[Any, ...]

    def predict(self, features: Floats) -> Floats:
        """Chances of new rows: the mean over the folds, which is better than any of them."""
        trees = self.settings["num_iterations"]
        return np.asarray(np.mean([own.predict(features, num_iteration=trees) for own in self.boosters], axis=0))


def objective(target: npt.NDArray[Any]) -> dict[str, Any]:
    """LightGBM's objective for two classes or more."""
    classes = int(target.max()) + 1
    return {"objective": "binary"} if classes == 2 else {"objective": "multiclass", "num_class": classes}


def tune(
    features: Floats,
    categorical: list[int],
    target: npt.NDArray[Any],
    fold: npt.NDArray[np.int64],
    rates: tuple[float, ...] = RATES,
) -> Tuned:
    """Try every leaves and rate of the grid in all folds, each stopped when its mean held-out log-loss rises."""
    lightgbm = peer("lightgbm")
    parts = [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(FOLDS)]
    best: tuple[float, dict[str, Any], Any] | None = None
    for leaves in LEAVES:
        for rate in rates:
            settings = objective(target) | {
                "num_leaves": leaves,
                "learning_rate": rate,
                "verbose": -1,
                "num_threads": 1,
                "seed": 0,
            }
            rows = lightgbm.Dataset(features, label=target, categorical_feature=categorical, params=settings)
            found = lightgbm.cv(
                settings,
                rows,
                num_boost_round=_MOST_TREES,
                folds=parts,
                callbacks=[lightgbm.early_stopping(_PATIENCE, verbose=False)],
                return_cvbooster=True,
            )
            losses = next(own for name, own in found.items() if name.endswith("logloss-mean"))
            if best is None or min(losses) < best[0]:
                trees = int(np.argmin(losses)) + 1
                best = min(losses), settings | {"num_iterations": trees}, found["cvbooster"]
    assert best is not None
    _, settings, model = best
    boosters = tuple(model.boosters)
    chances = [
        own.predict(features[held], num_iteration=settings["num_iterations"])
        for own, (_, held) in zip(boosters, parts, strict=True)
    ]
    out_of_fold = np.empty((len(target), *chances[0].shape[1:]))
    for (_, held), own in zip(parts, chances, strict=True):
        out_of_fold[held] = own
    return Tuned(settings, out_of_fold, boosters)


def folds_of(data: fl.Dataset, seed: int) -> npt.NDArray[np.int64]:
    """Fold of each row: every group and label is dealt out evenly."""
    order = np.random.default_rng(seed).permutation(data.n_rows)
    order = order[np.argsort((2 * data.group + data.label)[order], kind="stable")]
    fold = np.empty(data.n_rows, dtype=np.int64)
    fold[order] = np.arange(data.n_rows) % FOLDS
    return fold


# Both criteria of both post-processors work on the same scores.
@lru_cache(maxsize=1)
def tuned_scores(split: Split, aware: bool, rates: tuple[float, ...] = RATES) -> tuple[Estimates, Tuned]:
    """Estimates of P(Y = 1 | x), or P(Y = 1 | x, A), for all learning rows out of fold and for the test rows."""
    features, categorical = matrix(split.learn, aware)
    start = time.process_time()
    found = tune(features, categorical, split.learn.label, folds_of(split.learn, split.seed), rates)
    seconds = time.process_time() - start
    test = found.predict(matrix(split.test, aware)[0])
    return Estimates(np.arange(split.learn.n_rows), found.out_of_fold, test, seconds), found
