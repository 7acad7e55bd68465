"""Our own rules, as the benchmark runs them: pointwise rules on the cross-fitted estimate of P(A, Y | x)."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import fairlimits as fl
from benchmarks.peers.bases import Estimates
from benchmarks.peers.splits import Floats, Setting, Split
from fairlimits.law import ClassifierLaw, Outcome, OutcomeModel


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
    # The test rows were estimated before, so the model that would do it is not needed.
    outcome = Outcome(split.learn, estimates.fit, OutcomeModel(split.learn.schema, ClassifierLaw((), ())), {}, {})
    rule = fl.solve(outcome, {setting.criterion: setting.eps}, aware=setting.aware)
    return lambda: rule.policy.scores_at(estimates.test, split.test.group)
