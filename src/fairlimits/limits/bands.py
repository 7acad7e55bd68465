"""`frontier_band`: how far a frontier would move if other people had been counted; and many frontiers at once.

The people are resampled: each number of the distribution is replaced by a draw from the Poisson law whose mean is the
rows behind it, and the frontier is found again. An optimum over cells is biased: it takes chance for structure, and
chance gaps of small groups for gaps that it must close. The optimum of a resample is off by about as much again, so the
band is reflected at the frontier: with q the quantiles of the resampled values and v the frontier's own, it reaches
from 2v - q(high) to 2v - q(low).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
from matplotlib.axes import Axes

from fairlimits._util.dask import run_all
from fairlimits._util.plotting import axes_or_new, colour_of, figure_style
from fairlimits._util.progress import Progress, silent
from fairlimits._util.types import Floats
from fairlimits.errors import InfeasibleError, InputError
from fairlimits.law import CellDistribution
from fairlimits.limits.frontiers import Frontier, Tolerances, frontier
from fairlimits.notions import check_confidence

# Resamples that are one piece of work on a cluster.
_AT_ONCE = 5


@dataclass(frozen=True, eq=False)
class FrontierBand:
    """A frontier with the band that its counts leave open.

    Parameters
    ----------
    frontier : Frontier
        The frontier of the counts.
    low, high : ndarray of shape (P,)
        Ends of the band at each point, for what the rules are best at.
    drawn : ndarray of shape (resamples, P)
        The resampled frontiers; NaN where no rule meets the requirements.
    confidence : float
        Of the band, at each point by itself.
    """

    frontier: Frontier
    low: Floats
    high: Floats
    drawn: Floats
    confidence: float

    def to_frame(self) -> pa.Table:
        """The frontier's table, with two more columns."""
        table = self.frontier.to_frame()
        return table.append_column("low", pa.array(self.low)).append_column("high", pa.array(self.high))

    def plot(self, ax: Axes | None = None, **options: Any) -> Axes:
        """Draw the frontier and its band; `options` go to matplotlib's ``plot``."""
        with figure_style():
            ax = axes_or_new(ax)
            grid = self.frontier.grid
            moving = [name for name, values in grid.items() if np.ptp(values) > 0] or list(grid)
            colour = options.pop("color", colour_of(" + ".join(moving)))
            ax.fill_between(grid[moving[0]], self.low, self.high, color=colour, alpha=0.2, linewidth=0)
            return self.frontier.plot(ax, color=colour, **options)


def frontier_band(
    curve: Frontier,
    *,
    resamples: int = 200,
    confidence: float = 0.95,
    random_state: int = 0,
    client: Any = None,
    progress: Progress | None = None,
) -> FrontierBand:
    """Find the band that the counts behind a frontier leave open.

    Parameters
    ----------
    curve : Frontier
        A frontier of a distribution with counts. With a generator, as many people are drawn from it as there are
        real rows; rows of one cell, group and label count the same, also where they have weights.
    resamples : int, default=200
        How often the people are drawn anew.
    confidence : float, default=0.95
        Of the band, at each point by itself.
    random_state : int, default=0
        Seed; the same seed gives the same band, on any number of workers.
    client : distributed.Client, optional
        The Dask cluster to share the resamples out to.
    progress : callable, optional
        Called with the fraction done and a few words.

    Returns
    -------
    FrontierBand

    Notes
    -----
    The band is about the law on these cells. That other cells, or other features, would allow better rules is not in
    it. It is made at each point by itself, so where small groups leave much open its upper end may lie above what
    looser tolerances reach.
    """
    dist = curve.distribution
    if dist.counts is None:
        raise InputError("This distribution was made without counts, so people cannot be drawn anew.")
    if isinstance(resamples, bool) or not isinstance(resamples, int | np.integer) or resamples < 2:
        raise InputError(f"The number of resamples is {resamples!r}; it must be a whole number of at least 2.")
    tail = (1 - check_confidence(confidence)) / 2
    numbers = [range(start, min(start + _AT_ONCE, resamples)) for start in range(0, resamples, _AT_ONCE)]
    work = partial(_again, curve, random_state)
    drawn = np.concatenate(run_all(work, numbers, client=client, tell=progress or silent))
    met = drawn[~np.isnan(drawn).any(axis=1)]
    if len(met) < 2:
        raise InfeasibleError("No rule meets the requirements in a resample of the people; relax them.")
    low, high = np.quantile(met, [1 - tail, tail], axis=0)
    return FrontierBand(curve, 2 * curve.value - low, 2 * curve.value - high, drawn, confidence)


def frontiers(
    dist: CellDistribution,
    notions: Sequence[str | Sequence[str]],
    tolerances: Tolerances | None = None,
    *,
    aware: Sequence[bool] = (False, True),
    client: Any = None,
    progress: Progress | None = None,
    **options: Any,
) -> list[Frontier]:
    """Trace many frontiers of one distribution, here or on a cluster.

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
    """
    wanted = [([each] if isinstance(each, str) else list(each), bool(seen)) for each in notions for seen in aware]
    work = partial(_one, dist, tolerances, options)
    found = run_all(work, wanted, client=client, tell=progress or silent)
    return [replace(curve, distribution=dist) for curve in found]


def _one(
    dist: CellDistribution, tolerances: Tolerances | None, options: dict[str, Any], wanted: tuple[list[str], bool]
) -> Frontier:
    return frontier(dist, wanted[0], tolerances, aware=wanted[1], **options)


def _again(curve: Frontier, random_state: int, numbers: range) -> Floats:
    values = np.full((len(numbers), len(curve)), np.nan)
    for at, number in enumerate(numbers):
        dist = _resampled(curve.distribution, np.random.default_rng([random_state, number]))
        try:
            values[at] = frontier(
                dist,
                curve.notions,
                dict(curve.grid),
                aware=curve.aware,
                neighbours=curve.neighbours,
                requirements=curve.requirements,
                objective=curve.objective,
            ).value
        except InfeasibleError:
            continue  # stays NaN
    return values


def _resampled(dist: CellDistribution, rng: np.random.Generator) -> CellDistribution:
    """Draw as many people anew as there are rows, about."""
    behind = np.asarray(dist.counts, dtype=np.float64)
    if not dist.origin.counted:
        behind = dist.mass * behind.sum()
    with np.errstate(invalid="ignore", divide="ignore"):
        mass = np.where(behind > 0, dist.mass * rng.poisson(behind) / behind, 0.0)
    if not mass.any():
        raise InputError("A resample of so few rows is empty; a band needs more people.")
    return replace(dist, mass=mass / mass.sum())
