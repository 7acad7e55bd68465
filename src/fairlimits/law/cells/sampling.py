r"""How many rows a number of cells needs: Observation 1 of the paper, in both directions and cell by cell.

By Hoeffding's inequality and the union bound over the 2G combinations of group and label, the shares
P(A=g, Y=y | cell) read from n rows of one cell are all within Delta of the truth with probability delta if

.. math:: 4 G \exp(-2 \Delta^2 n) \le 1 - \delta .

With M rows spread evenly over N cells, n = M / N. The bound speaks of the source that the rows were drawn
from: rows of a generator say how well the *generator* is known, not the population behind it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeGuard

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq
from scipy.stats import norm

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
    """Rows that `cells` equally filled cells need (M in Observation 1).

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
    """Cells that `samples` rows can fill to the wanted precision: the inverse of `samples_needed`.

    Examples
    --------
    >>> [cells_supported(rows) for rows in (48_842, 20_798, 60_420)]
    [48, 20, 59]
    """
    _check_count("rows", samples)
    term = _log_term(confidence, error, groups)
    return math.floor(samples * 2 * error**2 / term)


def share_errors(counts: ArrayLike, *, confidence: float = 0.95, groups: int = 2) -> Floats:
    """Error (Delta) that each cell's own count of rows guarantees; 1, that is nothing, for an empty cell."""
    rows = np.asarray(counts, dtype=np.float64)
    term = _log_term(confidence, 1.0, groups)
    with np.errstate(divide="ignore"):
        return np.minimum(np.sqrt(term / (2 * rows)), 1.0)


def rows_to_certify(
    gap: float,
    *,
    shares: Sequence[float] = (0.5, 0.5),
    rate: float = 0.5,
    true_gap: float = 0.0,
    confidence: float = 0.95,
    power: float = 0.8,
) -> int:
    r"""Rows needed to show that a gap between two groups is at most `gap`.

    A rate of n rows has a standard error of :math:`\sqrt{r(1-r)/n}`, so the difference between groups with shares
    :math:`p_g` of n rows has one of :math:`\sigma = \sqrt{r(1-r) \sum_g 1/(p_g n)}`. Its two-sided interval, of z
    errors to each side, has to lie within -gap and gap. If the difference is really d (`true_gap`), that happens with
    probability

    .. math:: \Phi\left(\frac{gap - d}{\sigma} - z\right) + \Phi\left(\frac{gap + d}{\sigma} - z\right) - 1 ,

    and n is the smallest for which this is at least `power`.

    Parameters
    ----------
    gap : float
        What the gap is to be shown to stay within.
    shares : sequence of float
        Share of all rows that each of the two groups has *in the condition of the rate*: for equal opportunity, the
        share of rows that are of the group and have label 1.
    rate : float, default=0.5
        About how large the rates are; 0.5 is the worst case.
    true_gap : float, default=0
        How large the gap really is.
    confidence : float, default=0.95
        Of the interval.
    power : float, default=0.8
        Probability that the rows suffice.

    Examples
    --------
    >>> rows_to_certify(0.05)
    4203
    >>> rows_to_certify(0.05, shares=(0.05, 0.2))
    26269
    """
    for what, value in (("gap", gap), ("confidence", confidence), ("power", power), ("rate", rate)):
        if not (_is_number(value) and 0 < value < 1):
            raise InputError(f"The {what} is {value!r}; it must lie strictly between 0 and 1.")
    if not (_is_number(true_gap) and 0 <= true_gap < gap):
        raise InputError(f"The true gap is {true_gap!r}; only one below {gap:g} can be shown to be, so give less.")
    if len(shares) != 2 or min(shares) <= 0 or sum(shares) > 1 + 1e-9:
        raise InputError(f"The shares are {shares!r}; give two of more than 0 that sum to 1 at most.")
    z = float(norm.ppf((1 + confidence) / 2))

    def short(precision: float) -> float:
        """What is missing to the power where 1 / sigma is `precision`."""
        ends = norm.cdf((gap - true_gap) * precision - z) + norm.cdf((gap + true_gap) * precision - z)
        return power + 1 - float(ends)

    # Both ends together miss by chance at most twice as often as the nearer one alone.
    most = (z + float(norm.ppf((1 + power) / 2))) / (gap - true_gap)
    precision = float(brentq(short, 0, most * (1 + 1e-9), xtol=1e-12 * most))
    return math.ceil(precision**2 * rate * (1 - rate) * sum(1 / share for share in shares))
