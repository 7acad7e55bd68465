"""`discretize`: from a table of people to the joint law on cells, all steps in order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from fairlimits.counting import count_cells
from fairlimits.data import Dataset, Encoding
from fairlimits.distribution import CellDistribution
from fairlimits.errors import InputError
from fairlimits.quantize import DEFAULT_RELATIVE_ERROR, assign, fit_codebook


def discretize(
    data: Dataset,
    cells: int = 256,
    *,
    partition: Literal["features"] = "features",
    relative_error: float = DEFAULT_RELATIVE_ERROR,
    random_state: int = 0,
    progress: Callable[[float, str], None] | None = None,
) -> CellDistribution:
    """Estimate the joint law of cell, group and label from the rows of a table.

    The features are encoded, cut into cells by Lloyd's algorithm, and the rows of each cell, group and label
    are counted. Neither group nor label takes part in making the cells.

    Parameters
    ----------
    data : Dataset
        The people.
    cells : int, default=256
        Number of cells, N.
    partition : {"features"}, default="features"
        What the cells cut: the feature space, as in the paper.
    relative_error : float
        Stop when a pass lowers the quantization error by less than this share; the paper uses 0.01.
    random_state : int, default=0
        Seed; the same seed gives the same cells.
    progress : callable, optional
        Called with the fraction done and a few words.

    Returns
    -------
    CellDistribution
    """
    if partition != "features":
        raise InputError(f"The partition is {partition!r}; the one known is 'features'.")
    encoding = Encoding.fit(data)
    rows = encoding.transform(data.columns, data.n_rows)
    codebook = fit_codebook(
        rows,
        cells,
        weights=data.weight,
        relative_error=relative_error,
        random_state=random_state,
        progress=progress,
    )
    counts = count_cells(assign(rows, codebook.centroids), data, cells)
    return CellDistribution(
        mass=counts.weight / counts.weight.sum(),
        groups=data.groups,
        counts=counts.rows,
        centroids=codebook.centroids,
        encoding=encoding,
        schema=data.schema,
        info={
            "rows": data.n_rows,
            "cells": cells,
            "partition": partition,
            "generator": None,
            "random_state": random_state,
            "relative_error": relative_error,
            "distortion": codebook.distortion,
            "iterations": codebook.iterations,
        },
    )
