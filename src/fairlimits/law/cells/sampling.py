r"""How many rows a number of cells needs: Observation 1 of the paper, in both directions and cell by cell.

By Hoeffding's inequality and the union bound over the 2G combinations of group and label, the shares
P(A=g, Y=y | cell) read from n rows of one cell are all within Delta of the truth with probability delta if

.. math:: 4 G \exp(-2 \Delta^2 n) \le 1 - \delta .

With M rows spread evenly over N cells, n = M / N. The bound speaks of the source that the rows were drawn
from: rows of a generator say how well the *generator* is known, not the population behind it.
"""

from __future__ import annotations

import math
from typing import TypeGuard

import numpy as np
from numpy.typing import ArrayLike

from fairlimits._util.types import Floats
from fairlimits.errors import InputError


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float | np.number)


def _check_count(what: str, count: float) -> None:
    if not (_is_number(count) and 0 <= count < math.inf):
        raise InputError(f"The number of {what} is {count!r}; it must be a number of at least 0.")


def _log_term(confidence: float, error: float, groups: int) -> float:
    if not (_is_number(confidence) and 0 < confidence < 1):
        raise InputError(f"The confidence is {confidence}; it must lie strictly between 0 and 1, such as 0.95.")
    if not (_is_number(error) and error > 0):
        raise InputError(f"The error is {error}; it must be above 0, such as 0.05.")
    if not (_is_number(groups) and groups >= 1):
        raise InputError(f"The number of groups is {groups}; it must be at least 1.")
    return math.log(4 * groups / (1 - confidence))


def samples_needed(cells: int, *, confidence: float = 0.95, error: float = 0.05, groups: int = 2) -> int:
    """Return the rows that `cells` equally filled cells need (M in Observation 1).

    Parameters
    ----------
    cells : int
        Number of cells, N.
    confidence : float, default=0.95
        The probability that all shares of a cell are within `error` (delta).
    error : float, default=0.05
        The largest error of a share (Delta).
    groups : int, default=2
        Number of groups, G. The 8 in the paper is 4G for its two groups.

    Examples
    --------
    >>> samples_needed(256)
    259849
    """
    _check_count("cells", cells)
    return math.ceil(cells * _log_term(confidence, error, groups) / (2 * error**2))


def cells_supported(samples: int, *, confidence: float = 0.95, error: float = 0.05, groups: int = 2) -> int:
    """Return the cells that `samples` rows can fill to the wanted precision: the inverse of `samples_needed`.

    Examples
    --------
    >>> [cells_supported(rows) for rows in (48_842, 20_798, 60_420)]
    [48, 20, 59]
    """
    _check_count("rows", samples)
    term = _log_term(confidence, error, groups)
    return math.floor(samples * 2 * error**2 / term)


def share_errors(counts: ArrayLike, *, confidence: float = 0.95, groups: int = 2) -> Floats:
    """Return the error (Delta) that each cell's own count of rows guarantees; 1 (no guarantee) for an empty cell."""
    rows = np.asarray(counts, dtype=np.float64)
    term = _log_term(confidence, 1.0, groups)
    with np.errstate(divide="ignore"):
        return np.minimum(np.sqrt(term / (2 * rows)), 1.0)
