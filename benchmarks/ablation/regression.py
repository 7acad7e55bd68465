"""Logistic regression, as it is fitted for an estimate of q(x): our Newton's method against scikit-learn's solvers.

Each line is all fits of one estimate. What is asked of all is a mean log-loss (with the penalty) within 1e-8 of the
least, which is found by scikit-learn's Newton's method to its last digit. Scikit-learn's solvers are run with looser
and tighter tolerances, and the fastest run that gets there counts; ours has what it uses, whatever it reaches.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression

import fairlimits as fl
from benchmarks.ablation.highs import Attempt, limited, on_one_thread, patience, replaced
from benchmarks.ablation.lines import Line
from fairlimits._util.types import Floats
from fairlimits.law.outcome import fitting, learners
from fairlimits.law.outcome.learners import Sample
from fairlimits.law.outcome.trees import Singles

SETTLED = 1e-8
_SOLVERS = ("lbfgs", "newton-cholesky", "newton-cg")
_TOLERANCES = (1e-3, 1e-4, 1e-5, 1e-6, 1e-8)
_STEPS = 1_000

_TABLES: tuple[tuple[str, dict[str, Any], int | None], ...] = (
    ("adult", {}, 1_000),
    ("adult", {}, 6_000),
    ("adult", {}, None),
    ("law", {}, None),
)

Fit = tuple[Singles, Sample]


def regression() -> Iterator[Line]:
    """Logistic regression on tables of different sizes."""
    for name, options, rows in _TABLES:
        data = fl.load_dataset(name, **options)
        if rows is not None:
            data = data.take(np.random.default_rng(0).choice(data.n_rows, rows, replace=False))
        fits = _fits(data)
        columns = fits[0][0].shape[1]
        yield _line(
            fits, f"{name}, {len(data.groups)} groups, {data.n_rows:,} rows, {columns} columns, {len(fits)} fits"
        )


def _fits(data: fl.Dataset) -> list[Fit]:
    """The regressions that come up in one estimate."""
    found: list[Fit] = []

    def seen(encoded: Singles, sample: Sample) -> Any:
        found.append((encoded, sample))
        return learners.fit_logistic(encoded, sample)

    with replaced(fitting, "fit_logistic", seen):
        fl.estimate_outcome(data, n_jobs=1)
    return found


def loss(fit: Fit, found: Floats) -> float:
    """Mean of weight times log-loss, with the penalty; the intercept comes last."""
    encoded, sample = fit
    weight = np.ones(len(encoded)) if sample.weight is None else sample.weight
    z = encoded.astype(np.float64) @ found[:-1] + found[-1]
    total = weight @ np.logaddexp(0, np.where(sample.target, -z, z)) + found[:-1] @ found[:-1] / 2
    return float(total / len(encoded))


def _ours(fit: Fit) -> Floats:
    member = learners.fit_logistic(*fit)
    assert member.coefficients is not None
    return np.append(member.coefficients.astype(np.float64), member.base)


def _theirs(solver: str, tolerance: float, fit: Fit) -> Floats:
    encoded, sample = fit
    model = LogisticRegression(solver=solver, tol=tolerance, max_iter=_STEPS)
    model.fit(encoded, sample.target, sample_weight=sample.weight)
    return np.append(model.coef_[0].astype(np.float64), model.intercept_[0])


def _line(fits: list[Fit], case: str) -> Line:
    least = [_least(fit) for fit in fits]
    own = _all_of(fits, least, _ours)
    others = {}
    for solver in _SOLVERS:
        runs = [
            limited(partial(_all_of, fits, least, partial(_theirs, solver, size)), patience(own))
            for size in _TOLERANCES
        ]
        reached = [run for run in runs if not run.failure]
        others[f"scikit-learn, {solver}"] = min(reached or runs, key=lambda run: run.seconds)
    return Line("logistic regression", case, own, others)


def _least(fit: Fit) -> float:
    encoded, sample = fit
    with warnings.catch_warnings():
        # The last digit is not reached, which is said.
        warnings.simplefilter("ignore")
        return loss(fit, _theirs("newton-cholesky", 1e-12, (encoded.astype(np.float64), sample)))


def _all_of(fits: list[Fit], least: list[float], call: Callable[[Fit], Floats]) -> Attempt:
    """Seconds of all fits, and how many of them end farther from the least loss than is asked."""
    total, off = 0.0, []
    for fit, lowest in zip(fits, least, strict=True):
        seconds, found = on_one_thread(partial(call, fit))
        total += seconds
        off.append(loss(fit, found) - lowest)
    far = [own for own in off if not own <= SETTLED]
    return Attempt(total, None, f"{len(far)} of {len(off)} farther off, up to {max(far):.0e}" if far else "")
