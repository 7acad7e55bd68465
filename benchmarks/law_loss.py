"""Held-out log-loss of q(x) = P(A, Y | x) on few rows: the default law beside each learner alone, and LightGBM."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from functools import partial
from itertools import product
from multiprocessing import get_context
from unittest.mock import patch

import numpy as np
import numpy.typing as npt

import fairlimits as fl
from benchmarks.cases import table
from benchmarks.peers.compare import Comparison, interval
from benchmarks.peers.points import overlap
from benchmarks.peers.splits import Floats, Split, matrix, peer
from benchmarks.peers.tables import FEW_ROWS, SMALL, Case
from benchmarks.peers.tuned import folds_of, objective, tune
from fairlimits.law.outcome import fitting
from fairlimits.law.outcome.learners import Learner, learners_for

CUTS = 5
PROCESSES = 2
CASES = FEW_ROWS + SMALL
OURS = "ours"
_LIGHTGBM = "LightGBM, "
_LEAST_CHANCE = 1e-7

Losses = dict[str, float]


def losses(case: Case, seed: int) -> Losses:
    """Mean held-out log-loss of group and label, of every way to learn, for one cut."""
    warnings.simplefilter("ignore")
    split = case.cut(seed)
    found = {OURS: _loss(_law(split), split)}
    for learner in learners_for(split.learn.n_rows, both=True):
        with alone(learner):
            found[learner.name] = _loss(_law(split), split)
    found[f"{_LIGHTGBM}default"] = _loss(_boosted(split, tuned=False), split)
    found[f"{_LIGHTGBM}tuned"] = _loss(_boosted(split, tuned=True), split)
    return found


def _law(split: Split) -> Floats:
    return fl.estimate_outcome(split.learn, random_state=split.seed, n_jobs=1).model.predict(split.test)


@contextmanager
def alone(learner: Learner) -> Iterator[None]:
    """Leave one learner in the pool; folds, recalibration and all else stay. A pool that lacks it stays whole."""

    def only(rows: int, both: bool) -> tuple[Learner, ...]:
        pool = learners_for(rows, both)
        return (learner,) if learner in pool else pool

    with patch.object(fitting, "learners_for", only):
        yield


def _boosted(split: Split, tuned: bool) -> Floats:
    """Estimate q of the test rows by P(Y | x) P(A | x, Y), both factors by LightGBM."""
    features, categorical = matrix(split.learn, aware=False)
    new, _ = matrix(split.test, aware=False)
    given = np.column_stack([features, split.learn.label])
    fit = partial(_fit, fold=folds_of(split.learn, split.seed) if tuned else None, categorical=categorical)
    label, group = fit(features, target=split.learn.label), fit(given, target=split.learn.group)
    chances = label(new)
    q = np.empty((len(new), len(split.learn.groups), 2))
    for y in (0, 1):
        q[:, :, y] = group(np.column_stack([new, np.full(len(new), y)]))
        q[:, :, y] *= chances[:, [y]]
    return q


class _Chances:
    """Chances of all classes, whatever the shape in which LightGBM gives them."""

    def __init__(self, model: object) -> None:
        self._model = model

    def __call__(self, features: Floats) -> Floats:
        found = np.asarray(self._model.predict(features))  # type: ignore[attr-defined]
        return found if found.ndim == 2 else np.column_stack([1 - found, found])


def _fit(
    features: Floats, *, target: npt.NDArray[np.integer], fold: npt.NDArray[np.int64] | None, categorical: list[int]
) -> _Chances:
    """Tune LightGBM on folds; without folds, its defaults on all rows."""
    if fold is not None:
        return _Chances(tune(features, categorical, target, fold))
    lightgbm = peer("lightgbm")
    settings = objective(target) | {"verbose": -1, "num_threads": 1, "seed": 0}
    rows = lightgbm.Dataset(features, label=target, categorical_feature=categorical, params=settings)
    return _Chances(lightgbm.train(settings, rows))


def _loss(q: Floats, split: Split) -> float:
    true = q[np.arange(len(q)), split.test.group, split.test.label]
    return float(-np.log(np.maximum(true, _LEAST_CHANCE)).mean())


def run(cases: Sequence[Case] = CASES, cuts: int = CUTS) -> dict[Case, list[Losses]]:
    """All cases, cut by cut."""
    jobs = list(product(range(cuts), cases))
    found: dict[Case, list[Losses]] = {case: [] for case in cases}
    with ProcessPoolExecutor(PROCESSES, get_context("spawn")) as pool:
        for (_, case), own in zip(jobs, pool.map(losses, *zip(*((c, s) for s, c in jobs), strict=True)), strict=True):
            found[case].append(own)
    return found


def best_single(own: Sequence[Losses]) -> str:
    """The learner alone with the lowest mean loss over all cuts: known afterwards only, so hard to beat."""
    names = [name for name in own[0] if name != OURS and not name.startswith(_LIGHTGBM)]
    return min(names, key=lambda name: float(np.mean([losses[name] for losses in own])))


def against(own: Sequence[Losses], name: str, shared: float) -> Comparison:
    """Loss of ours minus another's, cut by cut, with an interval that accounts for what the cuts have in common."""
    return interval([losses[OURS] - losses[name] for losses in own], overlap(shared))


def markdown(found: dict[Case, list[Losses]]) -> str:
    """Write ours in nats, and by how much it is above each of the others."""
    rows, behind, doubtful = [], 0, 0
    for case, own in found.items():
        shared, best = case.shared(), best_single(own)
        behind += against(own, best, shared).low > 0
        doubtful += against(own, best, 0.0).low > 0
        rows.append([f"**{case.title}**", OURS, _level(own, OURS), "", "", ""])
        for name in own[0]:
            if name != OURS:
                each = against(own, name, shared)
                mark = "best alone" if name == best else ""
                rows.append(["", name, _level(own, name), _gap(own, name), _ends(each), mark])
    return (
        "Mean of -log q(x) at group and label of new rows, q by default and by each of its learners as the only one "
        "(same folds, same recalibration); LightGBM with the same two factors, its defaults on all rows, or tuned on "
        f"five folds (docs/benchmarks/peers_tuned.md) and averaged over them. {max(map(len, found.values()))} cuts: "
        "1,000, 3,000 or 6,000 rows to learn from and the others (20,000 at most) to judge on, or 80 to 20. "
        "Differences are paired by cut, in thousandths of a nat, plus or minus their standard error over the cuts; "
        "minus is in our favour. 95% intervals with the variance s² (1/J + ρ/(1 − ρ)) over J cuts, ρ the share of "
        "learning rows in common.\n\n"
        f"The bar: not worse than the best learner alone, beyond noise. Worse in {behind} of {len(found)} cases; if "
        f"cuts had nothing in common, in {doubtful}.\n\n"
        + table(["learned from", "learner", "log-loss", "ours - it", "95% interval", ""], rows)
    )


def _level(own: Sequence[Losses], name: str) -> str:
    return f"{np.mean([losses[name] for losses in own]):.4f}"


def _gap(own: Sequence[Losses], name: str) -> str:
    differences = 1000 * np.array([losses[OURS] - losses[name] for losses in own])
    error = differences.std(ddof=1) / np.sqrt(len(own)) if len(own) > 1 else np.nan
    return f"{differences.mean():+.1f} ± {error:.1f}"


def _ends(each: Comparison) -> str:
    return f"{1000 * each.low:+.1f} to {1000 * each.high:+.1f}"
