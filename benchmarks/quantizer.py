"""Cells of 1,000,000 Adult-like rows: our quantizer against scikit-learn's KMeans on the same rows.

Rows of Adult, encoded as in the package, are drawn with replacement and given a little noise, so that no two are
equal. Both distortions are evaluated by the same code, in double precision. Processor time is measured beside the
seconds that pass, because it hardly depends on what else the machine is doing.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans

from benchmarks.cases import table, timed
from fairlimits.data import Encoding, load_dataset
from fairlimits.law import distortion, fit_codebook

CELLS = 256
NOISE = 0.01  # standard deviation; the columns' own is about 0.2


def adult_like(rows: int, seed: int) -> NDArray[np.float32]:
    """Encoded rows of Adult, bootstrapped, with normal noise on every column."""
    adult = load_dataset("adult")
    encoded = Encoding.fit(adult).transform_dataset(adult)
    rng = np.random.default_rng(seed)
    drawn = encoded[rng.integers(len(encoded), size=rows)]
    drawn += np.float32(NOISE) * rng.standard_normal(drawn.shape, dtype=np.float32)
    return drawn


def measure(rows: int, seed: int) -> dict[str, float]:
    """Fit both on the same rows."""
    values = adult_like(rows, seed)
    start = time.process_time()
    ours, codebook = timed(partial(fit_codebook, values, CELLS, random_state=seed))
    between = time.process_time()
    peer = KMeans(n_clusters=CELLS, n_init=1, max_iter=300, tol=1e-4, random_state=seed)
    theirs, fitted = timed(partial(peer.fit, values))
    end = time.process_time()
    reached = distortion(values, fitted.cluster_centers_)
    return {
        "seed": seed,
        "seconds": ours,
        "seconds_sklearn": theirs,
        "speedup": theirs / ours,
        "processor_seconds": between - start,
        "processor_seconds_sklearn": end - between,
        "distortion": codebook.distortion,
        "distortion_sklearn": reached,
        "distortion_ratio": codebook.distortion / reached,
        "passes": codebook.iterations,
        "passes_sklearn": int(fitted.n_iter_),
    }


def run(seeds: Sequence[int] = (0, 1, 2), rows: int = 1_000_000) -> dict[str, Any]:
    """Measure every seed; plain values, ready for JSON."""
    results = [measure(rows, seed) for seed in seeds]
    return {
        "rows": rows,
        "cells": CELLS,
        "seeds": results,
        "mean": {key: float(np.mean([result[key] for result in results])) for key in results[0] if key != "seed"},
    }


def markdown(results: dict[str, Any]) -> str:
    """Write the results as a Markdown table."""
    heads = [
        "seed",
        "seconds",
        "scikit-learn",
        "times faster",
        "CPU seconds",
        "scikit-learn",
        "distortion",
        "scikit-learn",
        "ratio",
    ]
    lines = [*results["seeds"], {"seed": "mean", **results["mean"]}]
    body = [
        [
            str(line["seed"]),
            f"{line['seconds']:.1f}",
            f"{line['seconds_sklearn']:.1f}",
            f"{line['speedup']:.1f}",
            f"{line['processor_seconds']:.1f}",
            f"{line['processor_seconds_sklearn']:.1f}",
            f"{line['distortion']:.4f}",
            f"{line['distortion_sklearn']:.4f}",
            f"{line['distortion_ratio']:.4f}",
        ]
        for line in lines
    ]
    title = f"{results['rows']:,} rows into {results['cells']} cells."
    return f"{title}\n\n{table(heads, body)}"


def main() -> None:
    """Measure, and print the table."""
    print(markdown(run()))


if __name__ == "__main__":
    main()
