"""`cut_outcome`: from an estimate of q(x) = P(A, Y | x) to the joint law on cells."""

from __future__ import annotations

import numpy as np

from fairlimits._util.progress import Progress
from fairlimits._util.types import Floats, Ints
from fairlimits.data import Dataset, Encoding
from fairlimits.errors import InputError
from fairlimits.law.cells.counts import count_cells
from fairlimits.law.cells.distributions import CellDistribution
from fairlimits.law.cells.origins import Origin, Partition
from fairlimits.law.cells.outcome_cells import OutcomeCells, Space, chance_cuts, chances_of_label
from fairlimits.law.cells.quantizer.codebook import (
    DEFAULT_RELATIVE_ERROR,
    Codebook,
    assign,
    check_enough_rows,
    fit_codebook,
    refine,
)
from fairlimits.law.cells.quantizer.nearest import Floats32
from fairlimits.law.cells.quantizer.rows import Rows
from fairlimits.law.cells.quantizer.splitting import split_start
from fairlimits.law.outcome import Outcome, StreamedOutcome, estimate_outcome

# Weight of the features where cells cut features and outcome together.
_BLEND = 0.5

ROWS_PER_CELL = 64
"""Rows per cell that cells are placed by: more take longer, and place them no better."""

# Where cells cut q alone there are more than enough of them, and how exactly they are placed does not matter.
_RELATIVE_ERROR = 0.01
_PASSES = 300

# Decimals in which two points must differ to be distinct.
_DIGITS = 5


def cut_outcome(
    data: Dataset,
    cells: int,
    partition: Partition,
    outcome: Outcome | StreamedOutcome | None,
    relative_error: float | None,
    random_state: int,
    tell: Progress,
) -> CellDistribution:
    """Cut an estimate of q, alone or with the features, into cells whose masses are sums of q (see `discretize`)."""
    if isinstance(outcome, StreamedOutcome) or (outcome is not None and outcome.data is not data):
        raise InputError("The outcome was estimated on other rows; give the Dataset that it was made from.")
    # Checked before the estimate is made, which takes a while.
    check_enough_rows(int(data.counts.sum()), cells)
    known = outcome
    if known is None:
        known = estimate_outcome(data, random_state=random_state, progress=lambda done, words: tell(0.9 * done, words))
    encoding = Encoding.fit(data)
    encoded = encoding.transform_dataset(data)
    share, q = known.weight, known.q
    space = Space.fit(q, share, encoding, encoded, features_weight(partition))
    placed = space.place(q, encoded)
    sample = _sample(np.flatnonzero(share > 0), ROWS_PER_CELL * cells, random_state)
    relative_error = error_to_stop_at(relative_error, partition)
    codebook = place_cells(
        Rows(placed[sample], share[sample]),
        cells,
        partition,
        relative_error,
        random_state,
        lambda done, words: tell(0.9 + 0.1 * done, words),
    )
    return _summed(known, encoding, encoded, space, codebook, placed, partition, random_state, relative_error)


def features_weight(partition: Partition) -> float:
    """Return the weight of the features in the space that the cells cut."""
    return _BLEND if partition == "blend" else 0.0


def error_to_stop_at(relative_error: float | None, partition: Partition) -> float:
    """Return the share by which a pass must lower the quantization error for another one to follow."""
    if relative_error is not None:
        return relative_error
    return DEFAULT_RELATIVE_ERROR if partition == "blend" else _RELATIVE_ERROR


def place_cells(
    points: Rows, cells: int, partition: Partition, relative_error: float, random_state: int, tell: Progress
) -> Codebook:
    """Fit the codebook of cells to some rows."""
    find = _people if partition == "blend" else _chances
    return find(points, cells, relative_error, random_state, tell)


def _chances(points: Rows, cells: int, relative_error: float, random_state: int, tell: Progress) -> Codebook:
    """Fit a codebook to q alone, quickly."""
    tell(0.0, "cutting cells")
    return refine(points, split_start(points, cells), relative_error, _PASSES, tell)


def _people(points: Rows, cells: int, relative_error: float, random_state: int, tell: Progress) -> Codebook:
    """Fit a codebook carefully, for cells that people are compared by and moved between."""
    # Where most people have a twin, there are fewer points to cut than cells were asked for.
    cells = min(cells, len(np.unique(np.round(points.values, _DIGITS), axis=0)))
    return fit_codebook(
        points.values,
        cells,
        weights=points.weights,
        relative_error=relative_error,
        random_state=random_state,
        progress=tell,
    )


def _summed(
    known: Outcome,
    encoding: Encoding,
    encoded: Floats32,
    space: Space,
    codebook: Codebook,
    placed: Floats32,
    partition: Partition,
    random_state: int,
    relative_error: float,
) -> CellDistribution:
    """Sum q over the rows of each cell."""
    data, share = known.data, known.weight
    cells, at = len(codebook.centroids), assign(placed, codebook.centroids)
    mass = _sums(at, share, known.q.reshape(len(at), -1), cells).reshape(cells, *known.q.shape[1:])
    # The centres are read, and compared for individual fairness, as the mean of a cell's rows.
    total = np.bincount(at, weights=share, minlength=cells)
    centres = _sums(at, share, encoded, cells) / np.where(total > 0, total, 1.0)[:, None]
    cuts = None
    if partition == "outcome":
        cuts = chance_cuts(mass, chances_of_label(known.q), share[:, None] * known.q.sum(axis=2))
    return CellDistribution(
        mass=mass / mass.sum(),
        groups=data.groups,
        counts=count_cells(at, data, cells).rows,
        centroids=centres.astype(np.float32),
        encoding=encoding,
        schema=data.schema,
        places=OutcomeCells(known.model, space, codebook.centroids, cuts),
        origin=Origin(
            rows=data.n_rows,
            partition=partition,
            random_state=random_state,
            relative_error=float(relative_error),
            distortion=codebook.distortion,
            iterations=codebook.iterations,
        ),
    )


def _sums(at: Ints, share: Floats, values: Floats | Floats32, cells: int) -> Floats:
    """Return the weighted sum of rows in each cell, column by column."""
    columns = [np.bincount(at, weights=share * column, minlength=cells) for column in values.T]
    return np.stack(columns, axis=1).astype(np.float64)


def _sample(rows: Ints, most: int, random_state: int) -> Ints:
    """Return the rows, or `most` of them drawn without replacement if there are more."""
    if len(rows) <= most:
        return rows
    return np.sort(np.random.default_rng(random_state).choice(rows, most, replace=False))
