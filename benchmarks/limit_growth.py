"""`growth`: how the estimated limit grows with the number of cells, plug-in and held out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from fairlimits._util.progress import Progress
from fairlimits.data import Dataset
from fairlimits.errors import InputError
from fairlimits.evaluation import evaluate
from fairlimits.law import Partition, check_enough_rows, check_partitions, discretize, estimate_outcome
from fairlimits.limits import solve
from fairlimits.notions import check_tolerances

CELLS = (16, 32, 64, 128, 256, 512)


def growth(
    data: Dataset,
    tolerances: Mapping[str, float],
    *,
    cells: Sequence[int] = CELLS,
    partitions: Sequence[Partition] = ("features", "outcome"),
    test_size: float = 0.3,
    estimator: Any = None,
    confidence: float = 0.95,
    random_state: int = 0,
    progress: Progress | None = None,
) -> pa.Table:
    """Solve on more and more cells, and evaluate every rule on the same held-out rows.

    More cells raise a limit as long as they tell people apart who differ; after that, only the plug-in figure rises.

    Parameters
    ----------
    data : Dataset
        The people; they are split in rows to learn from and rows to evaluate on.
    tolerances : mapping of str to float
        Largest gap allowed for each notion.
    cells : sequence of int
        Numbers of cells.
    partitions : sequence of {"features", "outcome", "blend"}
        What the cells cut; see `discretize`.
    test_size, estimator, confidence, random_state
        See `compare_scenarios`.
    progress : callable, optional
        Called with the fraction done and a few words.

    Returns
    -------
    pyarrow.Table
        A row for each partition, number of cells, and group hidden or seen, with plug-in and held-out accuracy and
        gaps.
    """
    asked = check_tolerances(tolerances)
    if not cells or not partitions:
        raise InputError("No number of cells, or no partition, was given; give at least one of each.")
    check_partitions(partitions)
    learn, test = data.split(test_size, random_state)
    check_enough_rows(int(learn.counts.sum()), max(cells))
    outcome = None
    if any(partition != "features" for partition in partitions):
        if progress is not None:
            progress(0.0, "learning P(A, Y | x)")
        outcome = estimate_outcome(learn, estimator=estimator, random_state=random_state)
    records: list[dict[str, Any]] = []
    for p, partition in enumerate(partitions):
        for number, count in enumerate(cells):
            if progress is not None:
                progress((p + number / len(cells)) / len(partitions), f"{count} cells of the {partition}")
            dist = discretize(
                learn, count, partition=partition, generator=None, outcome=outcome, random_state=random_state
            )
            for aware in (False, True):
                found = evaluate(solve(dist, asked, aware=aware), test, confidence=confidence)
                records.append({"partition": partition, "cells": count, "aware": aware, **found.to_dict()})
    return pa.Table.from_pylist(records)
