"""Does a tolerance hold out of sample? Rules with and without a margin, where the truth is known.

A full table is taken as the law. Rows are drawn from it with replacement, a rule is learned from them, and its gap is
computed exactly on the whole table.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression

import fairlimits as fl
from benchmarks.cases import table
from fairlimits.criteria import NOTIONS as REGISTRY
from fairlimits.judge import tally

DATA = ("adult", "dutch")
NOTIONS = ("DP", "EOd", "EA")
CONFIDENCE = 0.95
TOLERANCE = 0.05
ROWS = 20_000
DRAWS = 100


def draws(name: str, count: int = DRAWS, rows: int = ROWS, eps: float = TOLERANCE) -> Iterator[dict[str, Any]]:
    """Gap and accuracy on the law, draw by draw, with and without a margin."""
    law = fl.load_dataset(name)
    for seed in range(count):
        chosen = np.random.default_rng(seed).integers(0, law.n_rows, rows)
        # A learner that is quick and learns no row by heart: rows drawn twice are in two folds.
        learner = LogisticRegression(solver="newton-cholesky")
        outcome = fl.estimate_outcome(law.take(chosen), estimator=learner, random_state=seed)
        q = outcome.model.predict(law)
        for notion in NOTIONS:
            for aware in (False, True):
                for confidence in (None, CONFIDENCE):
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore", fl.MarginWarning)
                        rule = fl.solve_pointwise(outcome, {notion: eps}, aware=aware, confidence=confidence)
                    found = tally(law, rule.scores_of(q, law.group)[None])
                    rates = [found.rate(rate)[0] for rate in REGISTRY[notion].rates]
                    yield {
                        "data": name,
                        "seed": seed,
                        "notion": notion,
                        "aware": aware,
                        "margin": confidence is not None,
                        "gap": max(float(own.max() - own.min()) for own in rates),
                        "accuracy": float(found.accuracy()[0]),
                        "tightened by": rule.margins[notion],
                        "constant": rule.constant is not None,
                    }


def run() -> list[dict[str, Any]]:
    """Both data sets."""
    return [row for name in DATA for row in draws(name)]


def markdown(results: list[dict[str, Any]], eps: float = TOLERANCE) -> str:
    """Write the table."""
    lines = []
    for name in dict.fromkeys(row["data"] for row in results):
        for notion in NOTIONS:
            for aware in (False, True):
                own = [r for r in results if (r["data"], r["notion"], r["aware"]) == (name, notion, aware)]
                plain, safe = ([r for r in own if r["margin"] is margin] for margin in (False, True))
                cost = np.mean([r["accuracy"] for r in plain]) - np.mean([r["accuracy"] for r in safe])
                lines.append(
                    (
                        name,
                        f"{notion}, {'aware' if aware else 'unaware'}",
                        f"{np.mean([r['gap'] <= eps for r in plain]):.0%}",
                        f"{np.mean([r['gap'] <= eps for r in safe]):.0%}",
                        f"{max(r['gap'] for r in plain):.3f}, {max(r['gap'] for r in safe):.3f}",
                        f"{np.mean([r['tightened by'] for r in safe]):.3f}",
                        f"{100 * cost:.2f} points",
                        f"{np.mean([r['constant'] for r in safe]):.0%}",
                    )
                )
    heads = ("data", "notion", "within, plain", "within, margin", "largest gaps", "margin", "cost", "constant rule")
    count = len({row["seed"] for row in results})
    return f"Tolerance {eps:g}, {ROWS:,} rows drawn, {count} draws.\n\n{table(heads, lines)}"


if __name__ == "__main__":
    print(markdown(run()))
