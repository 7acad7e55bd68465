"""Our own rules, as the benchmark runs them: on cells of the cross-fitted estimate of P(A, Y | x)."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import fairlimits as fl
from benchmarks.peers.bases import Estimates
from benchmarks.peers.splits import Floats, Setting, Split
from fairlimits.law import Outcome, OutcomeModel
from fairlimits.law.outcome.classifiers import ClassifierLaw
from fairlimits.law.outcome.recalibration import Recalibration


def estimate(split: Split, file: Path) -> None:
    """Estimate P(A, Y | x) on the learning rows, out of fold, and for the test rows; keep both, and the seconds."""
    start = time.process_time()
    found = fl.estimate_outcome(split.learn, random_state=split.seed, n_jobs=1)
    test = found.model.predict(split.test)
    file.parent.mkdir(parents=True, exist_ok=True)
    beside = file.with_suffix(".part.npz")
    np.savez(beside, oof=found.q, test=test, seconds=time.process_time() - start)
    os.replace(beside, file)


def ours(split: Split, setting: Setting, estimates: Estimates) -> Callable[[], Floats]:
    """Fit our rule at one tolerance; the answer gives its probability of deciding 1 for the test rows."""
    outcome = _outcome(split, estimates)
    rule = fl.solve(outcome, {setting.criterion: setting.eps}, aware=setting.aware)
    cell = rule.policy.locate(split.test.columns, split.test.group, estimates.test)
    return lambda: rule.policy.scores_at(cell, split.test.group)


_LAST: dict[tuple[str, int], Outcome] = {}


def _outcome(split: Split, estimates: Estimates) -> Outcome:
    """The estimate as the package knows it; the same one for all settings of a split, so that it is cut once."""
    if (split.name, split.seed) not in _LAST:
        _LAST.clear()
        # The test rows were estimated before, so the model that would do it is not needed.
        groups = len(split.learn.groups)
        model = OutcomeModel(
            split.learn.schema, ClassifierLaw((), ()), Recalibration(0.0, 1.0, np.zeros((2, groups, 2)))
        )
        _LAST[split.name, split.seed] = Outcome(split.learn, estimates.fit, model, {}, {})
    return _LAST[split.name, split.seed]
