"""`Band`: how far a frontier would move if other people had been counted.

The people are resampled: each number of the distribution is replaced by a draw from the Poisson law whose mean is the
rows behind it, and the frontier is found again. An optimum over cells is biased: it takes chance for structure, and
chance gaps of small groups for gaps that it must close. The optimum of a resample is off by about as much again, so the
band is reflected at the frontier: with q the quantiles of the resampled values and v the frontier's own, it reaches
from 2v - q(high) to 2v - q(low).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from fairlimits._util.dask import run_all
from fairlimits._util.frames import ARROW, of_user_kind
from fairlimits._util.memory import rows_that_fit
from fairlimits._util.plotting import COLOURS, axes_or_new, figure_style
from fairlimits._util.progress import Progress, or_silent
from fairlimits._util.types import Floats
from fairlimits.errors import InfeasibleError, InputError
from fairlimits.law import CellDistribution, Neighbourhood
from fairlimits.limits.breakpoints import sweep
from fairlimits.limits.programs import FairProgram
from fairlimits.notions import Objective, Requirement, check_confidence

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Resamples that are one piece of work on a cluster.
_AT_ONCE = 5


@dataclass(frozen=True, eq=False, repr=False)
class Band:
    """The band that the counts behind a frontier leave open.

    Parameters
    ----------
    at : ndarray of shape (P,)
        Where the frontier's points lie.
    value : ndarray of shape (P,)
        The frontier itself, for what its rules are best at.
    low, high : ndarray of shape (P,)
        Ends of the band at each point, for what the rules are best at.
    drawn : ndarray of shape (resamples, P)
        The resampled frontiers; NaN where no rule meets the requirements.
    confidence : float
        Of the band, at each point by itself.
    """

    at: Floats
    value: Floats
    low: Floats
    high: Floats
    drawn: Floats
    confidence: float
    frame_kind: str = ARROW

    @of_user_kind
    def to_frame(self) -> pa.Table:
        """The frontier and the ends of its band as a table, a row for each point."""
        return pa.table({"at": self.at, "value": self.value, "low": self.low, "high": self.high})

    def summary(self) -> str:
        """Say how wide the band is."""
        width = self.high - self.low
        return (
            f"With confidence {self.confidence:g} at each point by itself, the counts leave {width.min():.4f} to "
            f"{width.max():.4f} open ({len(self.drawn)} resamples)."
        )

    def plot(self, ax: Axes | None = None, **options: Any) -> Axes:
        """Draw the frontier and its band; `options` go to matplotlib's ``plot``."""
        with figure_style():
            ax = axes_or_new(ax)
            (line,) = ax.plot(self.at, self.value, **{"color": COLOURS["aware"], **options})
            ax.fill_between(self.at, self.low, self.high, color=line.get_color(), alpha=0.2, linewidth=0)
            ax.set_xlabel("largest gap, or smallest ratio, allowed")
            ax.set_ylabel(f"plug-in, with its {self.confidence:.0%} band")
        return ax

    def __repr__(self) -> str:
        return f"Band({len(self.low)} points, confidence {self.confidence:g}, {len(self.drawn)} resamples)"


@dataclass(frozen=True, eq=False)
class Retrace:
    """Traces a frontier again on other cells; small, so that it can be sent to workers.

    Parameters
    ----------
    grid : mapping of str to ndarray of shape (P,)
        Tolerance of each notion at each point.
    aware, neighbours, requirements, objective
        What was asked of the frontier's rules.
    """

    grid: Mapping[str, Floats]
    aware: bool
    neighbours: Neighbourhood
    requirements: tuple[Requirement, ...]
    objective: Objective

    def __call__(self, dist: CellDistribution) -> Floats:
        """Values at the points, on other cells."""
        program = FairProgram(dist, tuple(self.grid), self.aware, self.neighbours, self.requirements, self.objective)
        return np.array([point.value for point in sweep(program, self.grid, or_silent(None))])


def find_band(
    dist: CellDistribution,
    at: Floats,
    value: Floats,
    retrace: Retrace,
    *,
    resamples: int,
    confidence: float,
    random_state: int,
    client: Any = None,
    progress: Progress | None = None,
) -> Band:
    """Find the band of a frontier (see `Frontier.band`).

    Parameters
    ----------
    dist : CellDistribution
        Cells with counts.
    at, value : ndarray of shape (P,)
        Where the frontier's points lie, and its values there.
    retrace : Retrace
        Its values on other cells.
    resamples, confidence, random_state, client, progress
        See `Frontier.band`.
    """
    if dist.counts is None:
        raise InputError("This distribution was made without counts, so people cannot be drawn anew.")
    if isinstance(resamples, bool) or not isinstance(resamples, int | np.integer) or resamples < 2:
        raise InputError(f"The number of resamples is {resamples!r}; it must be a whole number of at least 2.")
    if rows_that_fit(resamples, 2 * value.nbytes + 16) is not None:
        raise InputError(f"{resamples:,} resamples take more memory than there is; give fewer: 200 show the band.")
    tail = (1 - check_confidence(confidence)) / 2
    numbers = [range(start, min(start + _AT_ONCE, resamples)) for start in range(0, resamples, _AT_ONCE)]
    work = partial(_again, dist, retrace, len(value), random_state)
    drawn = np.concatenate(run_all(work, numbers, client=client, tell=or_silent(progress)))
    met = drawn[~np.isnan(drawn).any(axis=1)]
    if len(met) < 2:
        raise InfeasibleError("No rule meets the requirements in a resample of the people; relax them.")
    low, high = np.quantile(met, [1 - tail, tail], axis=0)
    return Band(at, value, 2 * value - low, 2 * value - high, drawn, confidence, dist.frame_kind)


def _again(dist: CellDistribution, retrace: Retrace, points: int, random_state: int, numbers: range) -> Floats:
    values = np.full((len(numbers), points), np.nan)
    for at, number in enumerate(numbers):
        other = _resampled(dist, np.random.default_rng([random_state, number]))
        try:
            values[at] = retrace(other)
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
