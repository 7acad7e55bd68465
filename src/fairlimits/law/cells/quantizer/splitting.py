"""A quick start for Lloyd's iteration: rows are split in two, again and again."""

from __future__ import annotations

from heapq import heappop, heappush

import numpy as np

from fairlimits._util.types import Floats, Ints
from fairlimits.law.cells.quantizer.nearest import Floats32
from fairlimits.law.cells.quantizer.rows import Rows

# Points nearer to each other than this, in units of the rows, are the same.
_SAME = 1e-5


def split_start(rows: Rows, cells: int) -> Floats32:
    """Split the part of largest error at its mean, across the column of largest variance, until there are `cells`.

    The cost grows with the logarithm of `cells`, not with `cells`. Lloyd's iteration from here ends at an error that is
    a few percent above that of `fit_codebook`.

    Parameters
    ----------
    rows : Rows
        At least one.
    cells : int
        Most parts.

    Returns
    -------
    ndarray of float32, shape (N, d)
        The means of the parts; fewer than `cells` where rows have fewer distinct points.
    """
    wide = rows.values.astype(np.float64)
    parts: list[tuple[float, int, Ints, Floats, Floats]] = []
    whole: list[Floats] = []
    made = 0

    def add(members: Ints) -> None:
        nonlocal made
        weight = rows.weights[members, None]
        # By numpy's own sums, not by BLAS, whose sums depend on the number of threads.
        mean = (weight * wide[members]).sum(axis=0) / weight.sum()
        errors = (weight * (wide[members] - mean) ** 2).sum(axis=0)
        made += 1
        if errors.sum() <= _SAME**2 * weight.sum():
            whole.append(mean)
        else:
            # Numbered, so that of equal errors the oldest part comes first.
            heappush(parts, (-float(errors.sum()), made, members, mean, errors))

    add(np.arange(len(wide)))
    while parts and len(parts) + len(whole) < cells:
        _, _, members, mean, errors = heappop(parts)
        column = int(errors.argmax())
        below = wide[members, column] <= mean[column]
        if below.all():
            # These rows differ from their mean by rounding only.
            whole.append(mean)
            continue
        add(members[below])
        add(members[~below])
    return np.array([*whole, *(mean for _, _, _, mean, _ in parts)], dtype=np.float32)
