"""The estimates that post-processors work on: a booster of their own, or our cross-fitted estimates."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.peers.splits import BOOSTING, Floats, Split, matrix, peer

OWN = "boosting"
OURS = "ours"
HELD_OUT = 0.25
"""Share of the learning rows that a held-out post-processor is fitted on."""


@dataclass(frozen=True, eq=False)
class Estimates:
    """Estimates for the rows that a post-processor is fitted on, and for the test rows.

    Parameters
    ----------
    rows : ndarray of int
        Numbers of the learning rows to fit on.
    fit : ndarray of shape (len(rows),) or (len(rows), G, 2)
        Estimated P(Y = 1 | x), or P(A = g, Y = y | x).
    test : ndarray of shape (n_test,) or (n_test, G, 2)
        The same for the test rows.
    seconds : float
        What the estimates cost, in seconds of one core; NaN if it was not noted.
    """

    rows: npt.NDArray[np.int64]
    fit: Floats
    test: Floats
    seconds: float


@dataclass(frozen=True)
class Base:
    """Where a method's estimates come from.

    Parameters
    ----------
    name : str
        "boosting": one LightGBM of the peer's own. "ours": our estimates, out of fold for learning rows and averaged
        over the folds for test rows.
    cache : Path
        Folder of our estimates: ``{data}-{seed}.npz`` with ``oof`` of shape (n_learn, G, 2), ``test`` of shape
        (n_test, G, 2) and, if known, ``seconds``.
    """

    name: str
    cache: Path

    def ready(self, split_name: str, seed: int) -> bool:
        """Whether the estimates can be had."""
        return self.name != OURS or self.file(split_name, seed).exists()

    def joint(self, split: Split) -> Estimates:
        """Estimates of P(A, Y | x) that use no group: a held-out part for boosting, all learning rows for ours."""
        return _ours(self.file(split.name, split.seed)) if self.name == OURS else _boosted_joint(split)

    def scores(self, split: Split, aware: bool, held_out: bool) -> Estimates:
        """Estimates of P(Y = 1 | x), or P(Y = 1 | x, A) if the group is seen.

        Parameters
        ----------
        split : Split
        aware : bool
        held_out : bool
            Whether the booster leaves out the rows that the post-processor is fitted on; ours are always out of fold.
        """
        if self.name != OURS:
            return _boosted(split, aware, held_out)
        joint = self.joint(split)
        return Estimates(
            joint.rows,
            score(joint.fit, split.learn.group if aware else None),
            score(joint.test, split.test.group if aware else None),
            joint.seconds,
        )

    def file(self, name: str, seed: int) -> Path:
        """File of our estimates for a split."""
        return self.cache / f"{name}-{seed}.npz"


def score(joint: Floats, group: npt.NDArray[np.int64] | None) -> Floats:
    """P(Y = 1) from P(A, Y), given the group if it is known."""
    if group is None:
        return np.asarray(joint[:, :, 1].sum(axis=1))
    own = joint[np.arange(len(joint)), group]
    return np.asarray(own[:, 1] / own.sum(axis=1))


def held_out_rows(split: Split) -> npt.NDArray[np.bool_]:
    """Mark the learning rows that a held-out post-processor is fitted on: a quarter of every group and label."""
    learn = split.learn
    random = np.random.default_rng(split.seed)
    marked = np.zeros(len(learn.label), dtype=bool)
    for group in range(len(learn.schema.groups)):
        for label in (0, 1):
            rows = np.flatnonzero((learn.group == group) & (learn.label == label))
            marked[random.permutation(rows)[: round(HELD_OUT * len(rows))]] = True
    return marked


def boost(features: Floats, categorical: list[int], target: npt.NDArray[Any]) -> Any:
    """Fit LightGBM as every peer gets it."""
    classes = int(target.max()) + 1
    kind = {"objective": "binary"} if classes == 2 else {"objective": "multiclass", "num_class": classes}
    parameters = BOOSTING | kind | {"verbose": -1, "num_threads": 1}
    lightgbm = peer("lightgbm")
    rows = lightgbm.Dataset(features, label=target, categorical_feature=categorical, params=parameters)
    return lightgbm.train(parameters, rows)


# A post-processor is fitted for many tolerances on the same estimates.
@lru_cache(maxsize=8)
def _boosted(split: Split, aware: bool, held_out: bool) -> Estimates:
    features, categorical = matrix(split.learn, aware)
    chosen = held_out_rows(split)
    rows = np.flatnonzero(chosen) if held_out else np.arange(len(chosen))
    fitted = ~chosen if held_out else np.ones(len(chosen), dtype=bool)
    start = time.process_time()
    model = boost(features[fitted], categorical, split.learn.label[fitted])
    fit = np.asarray(model.predict(features[rows]))
    seconds = time.process_time() - start
    return Estimates(rows, fit, np.asarray(model.predict(matrix(split.test, aware)[0])), seconds)


@lru_cache(maxsize=8)
def _boosted_joint(split: Split) -> Estimates:
    learn = split.learn
    features, categorical = matrix(learn, aware=False)
    chosen = held_out_rows(split)
    rows = np.flatnonzero(chosen)
    shape = (-1, len(learn.schema.groups), 2)
    start = time.process_time()
    model = boost(features[~chosen], categorical, (2 * learn.group + learn.label)[~chosen])
    fit = np.asarray(model.predict(features[rows])).reshape(shape)
    seconds = time.process_time() - start
    test = np.asarray(model.predict(matrix(split.test, aware=False)[0])).reshape(shape)
    return Estimates(rows, fit, test, seconds)


@lru_cache(maxsize=8)
def _ours(path: Path) -> Estimates:
    with np.load(path, allow_pickle=False) as file:
        seconds = float(file["seconds"]) if "seconds" in file else float("nan")
        return Estimates(np.arange(len(file["oof"])), file["oof"], file["test"], seconds)
