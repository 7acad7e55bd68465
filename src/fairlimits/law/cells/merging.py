"""`merge`: distributions that were counted on the same cells, at several sites or on several days, as one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fairlimits._util.types import Floats
from fairlimits.errors import InputError
from fairlimits.law.cells.distributions import CellDistribution
from fairlimits.law.cells.origins import Origin

_REMEDY = "count the rows again on the cells of the first, with discretize(rows, like=first)"


def merge(distributions: Sequence[CellDistribution]) -> CellDistribution:
    """Add up what was counted on the same cells.

    The result is the same as counting all the rows at once: each distribution counts by its number of rows, or by
    their weights.

    Parameters
    ----------
    distributions : sequence of CellDistribution
        Each made from rows as they are (``generator=None``), all on the same cells: the first by `discretize`, the
        others by ``discretize(rows, like=first)``.

    Returns
    -------
    CellDistribution

    Raises
    ------
    InputError
        If the cells, the groups or the meaning of a column differ, or if a distribution was not counted.

    Examples
    --------
    >>> import fairlimits as fl
    >>> people = fl.load_dataset("adult").take(range(4_000))
    >>> here, there = people.take(range(2_000)), people.take(range(2_000, 4_000))
    >>> first = fl.discretize(here, 16, partition="features", generator=None)
    >>> second = fl.discretize(there, like=first)
    >>> both = fl.merge([first, second])
    >>> int(both.counts.sum())
    4000
    """
    given = list(distributions)
    odd = next((dist for dist in given if not isinstance(dist, CellDistribution)), None)
    if not given or odd is not None:
        what = "nothing" if odd is None else f"a {type(odd).__name__}"
        raise InputError(f"There is {what} to merge; give a list of at least one CellDistribution.")
    first = given[0]
    for number, dist in enumerate(given, 1):
        _check_counted(dist, number)
        _check_same_cells(first, dist, number)
    counts = np.sum([np.asarray(dist.counts) for dist in given], axis=0)
    weight = np.sum([_weight(dist) for dist in given], axis=0)
    total = float(weight.sum())
    weighted = any(dist.origin.total_weight is not None for dist in given)
    return CellDistribution(
        mass=weight / total,
        groups=first.groups,
        counts=counts,
        centroids=first.centroids,
        encoding=first.encoding,
        schema=first.schema,
        origin=Origin(
            rows=sum(dist.origin.rows or 0 for dist in given),
            total_weight=total if weighted else None,
            merged=sum(dist.origin.merged or 1 for dist in given),
        ),
    )


def _weight(dist: CellDistribution) -> Floats:
    """Return the weights that were counted, before they were divided by their sum."""
    total = dist.origin.total_weight
    # Without weights, exact whole numbers.
    return np.asarray(dist.counts, dtype=np.float64) if total is None else dist.mass * total


def _check_counted(dist: CellDistribution, number: int) -> None:
    if dist.counts is None or dist.centroids is None or dist.origin.rows is None:
        raise InputError(
            f"Distribution {number} is made of bare numbers, which do not say how many rows are behind them; "
            "make it with discretize."
        )
    if not dist.origin.by_features:
        raise InputError(
            f"Distribution {number} has cells of an estimate of P(A, Y | x), whose masses are not counts; "
            'make it with partition="features".'
        )
    if not dist.origin.counted:
        raise InputError(
            f"Distribution {number} has the masses of rows of the generator {dist.origin.generator}, not of people "
            "who were counted; make it with generator=None."
        )
    if dist.schema is not None and dist.schema.weight is not None and dist.origin.total_weight is None:
        raise InputError(
            f"Distribution {number} was saved without the sum of its weights, so its share is not known; make it again."
        )


def _check_same_cells(first: CellDistribution, other: CellDistribution, number: int) -> None:
    if first.groups != other.groups:
        raise InputError(
            f"Distribution {number} has the groups {', '.join(other.groups)} and the first has "
            f"{', '.join(first.groups)}; {_REMEDY}."
        )
    if first.schema != other.schema:
        raise InputError(f"Distribution {number} has columns of another meaning than the first; {_REMEDY}.")
    if first.encoding != other.encoding or not np.array_equal(first.centroids, other.centroids):  # type: ignore[arg-type]
        raise InputError(f"Distribution {number} has other cells than the first; {_REMEDY}.")
