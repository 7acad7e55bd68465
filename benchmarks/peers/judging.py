"""Judges decisions on test rows over the groups that can be compared, the same ones for everybody."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

import fairlimits as fl
from benchmarks.peers.bases import Estimates
from benchmarks.peers.splits import CRITERIA, Floats, Setting, Split, correct
from benchmarks.peers.thresholds import Decide, PostProcessor
from fairlimits.notions import ESTIMABLE_ROWS, tally


def judge(decided: Floats, split: Split) -> dict[str, object]:
    """Accuracy of all test rows, and gaps between rates that have 30 learning rows behind them.

    Ours sets other rates aside by default, so it cannot be asked to keep them; which they are is told by the learning
    rows, before anybody decides.
    """
    learn, test = split.learn, split.test
    found = replace(tally(test, decided[None]), counts=learn.counts)
    constant = np.full(test.n_rows, float(learn.label.mean() > 0.5))
    return {
        "accuracy": float(found.accuracy()[0]),
        "gaps": {name: float(found.gap(name)[0]) for name in CRITERIA},
        "constant": float(correct(constant, test).mean()),
        "n_learn": learn.n_rows,
        "n_test": test.n_rows,
    }


def compared_groups(counts: npt.NDArray[np.int64], criterion: str) -> npt.NDArray[np.int64]:
    """Groups of which at least one rate is compared, and of which both labels are there, as thresholds need them.

    Parameters
    ----------
    counts : ndarray of int of shape (G, 2)
        Learning rows of each group and label.
    criterion : str
        "DP" or "EOd".
    """
    behind = counts.sum(axis=1, keepdims=True) if criterion == "DP" else counts
    return np.flatnonzero((behind >= ESTIMABLE_ROWS).any(axis=1) & counts.all(axis=1))


def on_compared_groups(fit: PostProcessor, split: Split, setting: Setting, estimates: Estimates) -> Decide:
    """Fit a post-processor to the groups that are compared; all others are decided where the score says.

    A peer that had to hold a group of ten people to its tolerance would pay for what nobody judges.
    """
    kept = compared_groups(split.learn.counts, setting.criterion)
    if len(kept) == len(split.learn.groups):
        return fit(split, setting, estimates)
    learned, tested = (np.isin(own.group, kept) for own in (split.learn, split.test))
    part = replace(split, learn=_regrouped(split.learn, learned, kept), test=_regrouped(split.test, tested, kept))
    rows = np.arange(part.learn.n_rows)
    decide = fit(part, setting, Estimates(rows, estimates.fit[learned], estimates.test[tested], estimates.seconds))

    def decide_all() -> Floats:
        decided = (estimates.test > 0.5).astype(float)
        decided[tested] = decide()
        return decided

    return decide_all


def _regrouped(data: fl.Dataset, rows: npt.NDArray[np.bool_], kept: npt.NDArray[np.int64]) -> fl.Dataset:
    """Rows of some groups, numbered from 0 as error-parity asks."""
    own = data.take(rows)
    schema = replace(own.schema, groups=tuple(data.groups[group] for group in kept))
    return replace(own, schema=schema, group=np.searchsorted(kept, own.group))
