"""Several frontiers at once, here or on a cluster; and frontiers over a ratio of rates."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fairlimits._util.dask import run_all
from fairlimits._util.memory import refuse_too_many
from fairlimits._util.progress import Progress, or_silent
from fairlimits.errors import InputError, SmallGroupsWarning
from fairlimits.law import CellDistribution, Neighbourhood
from fairlimits.limits.frontiers import Frontier
from fairlimits.limits.laws import Law, on_cells
from fairlimits.limits.policies import CellPolicy
from fairlimits.limits.solving import solve
from fairlimits.limits.tracing import Tolerances, frontier
from fairlimits.notions import ACCURACY, Objective, Ratio, Requirement, rate_name, read_requirements

DEFAULT_RATIOS = np.linspace(0.5, 1, 26)

# Of a point at least, beside its scores.
_POINT_BYTES = 2000


def trace_frontiers(
    dist: CellDistribution,
    notions: Sequence[str | Sequence[str]],
    tolerances: Tolerances | None = None,
    *,
    aware: Sequence[bool] = (False, True),
    client: Any = None,
    progress: Progress | None = None,
    **options: Any,
) -> list[Frontier]:
    """Trace several frontiers of one distribution, here or on a cluster.

    Parameters
    ----------
    dist : CellDistribution
        The joint law of cell, group and label.
    notions : sequence of str or sequence of str
        For each frontier, the notions to constrain.
    tolerances
        As in `frontier`, for all of them.
    aware : sequence of bool
        With the group hidden, seen, or both.
    client : distributed.Client, optional
        The Dask cluster to share them out to.
    progress : callable, optional
        Called with the fraction done and a few words.
    **options
        As in `frontier`, for all of them.

    Returns
    -------
    list of Frontier
        In the order of `notions`, those of one entry of `notions` in the order of `aware`.

    Examples
    --------
    >>> import fairlimits as fl
    >>> dist = fl.CellDistribution.from_mass([[[4, 1], [2, 0]], [[2, 2], [1, 2]], [[0, 1], [1, 4]]])
    >>> curves = fl.limits.trace_frontiers(dist, ["DP", "EOp"], [0.05, 0.1])
    >>> [(curve.notions, curve.aware) for curve in curves]
    [(('DP',), False), (('DP',), True), (('EOp',), False), (('EOp',), True)]
    """
    wanted = [([each] if isinstance(each, str) else list(each), bool(seen)) for each in notions for seen in aware]
    work = partial(_one, dist, tolerances, options)
    found = run_all(work, wanted, client=client, tell=or_silent(progress))
    return [curve if curve.distribution is dist else _on(curve, dist) for curve in found]


def _one(
    dist: CellDistribution, tolerances: Tolerances | None, options: dict[str, Any], wanted: tuple[list[str], bool]
) -> Frontier:
    return frontier(dist, wanted[0], tolerances, aware=wanted[1], **options)


def _on(curve: Frontier, dist: CellDistribution) -> Frontier:
    """The frontier with this copy of its distribution, not the one that a worker sent back."""
    rules = tuple(replace(rule, policy=CellPolicy(dist, rule.scores, rule.aware)) for rule in curve.rules)
    return replace(curve, rules=rules)


def ratio_frontier(
    law: Law,
    ratios: ArrayLike | None = None,
    *,
    rate: str = "selection rate",
    tolerances: Mapping[str, float] | None = None,
    aware: bool = False,
    neighbours: Neighbourhood | None = None,
    requirements: Iterable[Requirement | str] = (),
    objective: Objective | str = ACCURACY,
    random_state: int = 0,
    progress: Progress | None = None,
) -> Frontier:
    """Find the best rule at each of some ratios between the lowest and the highest rate of a group.

    The optimum is not concave in the ratio, for the ratio multiplies a variable: the points are proven optima, and
    nothing is said about what lies between them.

    Parameters
    ----------
    law : Outcome, CellDistribution or Dataset
        The joint law of features, group and label (see `solve`); an estimate is cut into cells.
    ratios : array-like, optional
        Smallest ratios allowed, each in 0 to 1; by default 26 from 0.5 to 1.
    rate : str, default="selection rate"
        The rate: of selection, the ratio 0.8 is the four-fifths rule.
    tolerances, aware, neighbours, requirements, objective, random_state
        What else is asked of all rules (see `solve`).
    progress : callable, optional
        Called with the fraction done and a few words.

    Returns
    -------
    Frontier
        Its grid holds the ratios, by the name of what they are of, such as "selection rate ratio".

    Examples
    --------
    >>> import fairlimits as fl
    >>> dist = fl.CellDistribution.from_mass([[[4, 1], [2, 0]], [[2, 2], [1, 2]], [[0, 1], [1, 4]]])
    >>> curve = fl.limits.ratio_frontier(dist, [0.5, 0.8, 1.0])
    >>> curve.accuracy.round(3).tolist()
    [0.75, 0.657, 0.6]
    """
    refuse_too_many(ratios, "ratios", _POINT_BYTES)
    try:
        asked = np.asarray(DEFAULT_RATIOS if ratios is None else ratios, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        asked = np.zeros(0)
    if asked.ndim != 1 or not len(asked) or not ((asked >= 0) & (asked <= 1)).all():
        raise InputError("The ratios are not a list of numbers in 0 to 1; give some, such as [0.5, 0.8, 1].")
    others, name = read_requirements(requirements), rate_name(rate)
    dist = on_cells(law, () if tolerances is None else tolerances, random_state, progress)
    rules, tell = [], or_silent(progress)
    with warnings.catch_warnings():
        # Said already, of the cells.
        warnings.simplefilter("ignore", SmallGroupsWarning)
        for done, ratio in enumerate(asked.tolist(), 1):
            rules.append(
                solve(
                    dist,
                    {} if tolerances is None else tolerances,
                    aware=aware,
                    neighbours=neighbours,
                    requirements=(*others, Ratio(name, ratio)),
                    objective=objective,
                )
            )
            tell(done / len(asked), f"ratio {done} of {len(asked)}")
    return Frontier(tuple(rules), {f"{name} ratio": asked})
