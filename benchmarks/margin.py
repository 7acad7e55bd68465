"""Does a tolerance hold out of sample? Rules with and without a margin, where the truth is known.

A full table is taken as the law. Rows are drawn from it with replacement, a rule is learned from them, and its gap is
computed exactly on the whole table.
"""

from __future__ import annotations

import os
import warnings
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from itertools import product
from multiprocessing import get_context
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression

import fairlimits as fl
from benchmarks.cases import table
from fairlimits.notions import NOTIONS as REGISTRY
from fairlimits.notions import tally

DATA = ("adult", "dutch")
LEARNERS = ("logistic", "default")
"""Logistic regression, which is quick and learns no row by heart, and the learners that a user gets without asking."""
NOTIONS = ("DP", "EOd", "EA")
CONFIDENCE = 0.95
TOLERANCE = 0.05
ROWS = 20_000
DRAWS = 100

_load = cache(fl.load_dataset)


def draw(name: str, learner: str, seed: int, rows: int = ROWS, eps: float = TOLERANCE) -> list[dict[str, Any]]:
    """Gap and accuracy on the law of rules learned from one draw, with and without a margin."""
    law = _load(name)
    chosen = np.random.default_rng(seed).integers(0, law.n_rows, rows)
    estimator = LogisticRegression(solver="newton-cholesky") if learner == "logistic" else None
    outcome = fl.estimate_outcome(law.take(chosen), estimator=estimator, random_state=seed, n_jobs=1)
    q = outcome.model.predict(law)
    results = []
    for notion, aware, confidence in product(NOTIONS, (False, True), (None, CONFIDENCE)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", fl.limits.MarginWarning)
            warnings.simplefilter("ignore", fl.limits.ConstantRuleWarning)
            rule = fl.solve(outcome, {notion: eps}, aware=aware, confidence=confidence)
        cell = rule.policy.locate(law.columns, law.group, q)
        found = tally(law, rule.policy.scores_at(cell, law.group)[None])
        rates = [found.rate(rate)[0] for rate in REGISTRY[notion].rates]
        results.append(
            {
                "data": name,
                "learner": learner,
                "seed": seed,
                "notion": notion,
                "aware": aware,
                "margin": confidence is not None,
                "gap": max(float(own.max() - own.min()) for own in rates),
                "accuracy": float(found.accuracy()[0]),
                "tightened by": rule.margins.get(notion, 0.0),
                "constant": rule.is_constant,
            }
        )
    return results


def run() -> list[dict[str, Any]]:
    """Both data sets and kinds of learners, a draw a core."""
    draws = list(product(DATA, LEARNERS, range(DRAWS)))
    with ProcessPoolExecutor(os.cpu_count(), get_context("spawn")) as pool:
        return [row for rows in pool.map(draw, *zip(*draws, strict=True)) for row in rows]


def markdown(results: list[dict[str, Any]], eps: float = TOLERANCE) -> str:
    """Write the table."""
    lines = []
    for name, learner, notion, aware in product(DATA, LEARNERS, NOTIONS, (False, True)):
        place = (name, learner, notion, aware)
        own = [r for r in results if (r["data"], r["learner"], r["notion"], r["aware"]) == place]
        if not own:
            continue
        plain, safe = ([r for r in own if r["margin"] is margin] for margin in (False, True))
        cost = np.mean([r["accuracy"] for r in plain]) - np.mean([r["accuracy"] for r in safe])
        lines.append(
            (
                name,
                learner,
                str(len(safe)),
                f"{notion}, {'aware' if aware else 'unaware'}",
                f"{np.mean([r['gap'] <= eps for r in plain]):.0%}",
                f"{np.mean([r['gap'] <= eps for r in safe]):.0%}",
                f"{max(r['gap'] for r in plain):.3f}, {max(r['gap'] for r in safe):.3f}",
                f"{np.mean([r['tightened by'] for r in safe]):.3f}",
                f"{100 * cost:.2f} points",
                f"{np.mean([r['constant'] for r in safe]):.0%}",
            )
        )
    heads = (
        "data",
        "learners",
        "draws",
        "notion",
        "within, plain",
        "within, margin",
        "largest gaps",
        "margin",
        "cost",
        "constant rule",
    )
    return f"Tolerance {eps:g}, {ROWS:,} rows a draw.\n\n{table(heads, lines)}"


if __name__ == "__main__":
    print(markdown(run()))
