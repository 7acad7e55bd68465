"""Bounds for several sets of multipliers as one curve over tolerances, with a limit for all of it at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import norm

from fairlimits._util.threads import ONE_BLAS_THREAD
from fairlimits._util.types import Floats
from fairlimits.evaluation.ceilings.bounds import Near, find_bounds
from fairlimits.evaluation.ceilings.forecasts import Forecast
from fairlimits.evaluation.ceilings.questions import Question
from fairlimits.evaluation.ceilings.twins import Seen

# Draws for the quantile of the largest of several errors.
_DRAWS = 20_000


@dataclass(frozen=True, eq=False)
class Curve:
    """A ceiling at some tolerances.

    Parameters
    ----------
    value : ndarray of shape (P,)
        The estimate of the bound at each point; right on average or too high.
    upper : ndarray of shape (P,)
        What no rule passes, with a confidence in all points at once.
    standard_error : ndarray of shape (P,)
        Of the value.
    alone : ndarray of shape (P,)
        How much of the value is due to people without a twin, of whom everything is taken to be known.
    duals : ndarray of shape (P, R)
        The multipliers of the rows.
    rows : tuple of str
        What the rows are.
    """

    value: Floats
    upper: Floats
    standard_error: Floats
    alone: Floats
    duals: Floats
    rows: tuple[str, ...]


def find_curve(
    question: Question, people: Seen, grid: list[dict[str, float]], confidence: float, given_kinds: bool = False
) -> Curve:
    """Bound what any rule attains at each of some tolerances.

    Every set of multipliers is a bound at all tolerances, a straight line; the curve is the lowest of them at each
    point.

    Parameters
    ----------
    question : Question
    people : Seen
        The people, and those who say which multipliers to take.
    grid : list of dict of str to float
        The tolerances.
    confidence : float
        Of the upper limits.
    given_kinds : bool, default=False
        Whether the limits are about people of just these kinds, and not about people from the same law.
    """
    single = float(norm.ppf(confidence))
    # What is multiplied is small: threads of BLAS would wait for each other longer than that takes.
    with ONE_BLAS_THREAD:
        forecast, near = Forecast.of(question, people, single), Near.of(question, people.shares)
        different = np.unique(forecast.choose(grid), axis=0)
        credits = [near.lagrangian.credit(own) for own in different]
        bounds = find_bounds(near, different, people.evidence(credits, [forecast.least(own) for own in different]))
    values = np.array([bounds.values(at) for at in grid]).T
    covariance = bounds.given_kinds if given_kinds else bounds.covariance
    spread = np.sqrt(np.maximum(np.diag(covariance), 0))
    limits = values + (_quantile(covariance, spread, confidence) * spread)[:, None]
    best = limits.argmin(axis=0)
    points = np.arange(len(grid))
    # The bound of a rule that knows every label: it needs no estimate.
    most = near.lagrangian.best(near.shares)
    return Curve(
        np.minimum(values[best, points], most),
        np.minimum(limits[best, points], most),
        spread[best],
        bounds.alone[best],
        different[best],
        near.lagrangian.names(question),
    )


def _quantile(covariance: Floats, spread: Floats, confidence: float) -> float:
    """How many standard errors to add to each value so that all reach their means, with a confidence in all at once."""
    if len(spread) == 1:
        return float(norm.ppf(confidence))
    unit = np.where(spread > 0, spread, 1)
    values, vectors = np.linalg.eigh(covariance / unit / unit[:, None])
    root = vectors * np.sqrt(np.maximum(values, 0))
    draws = np.random.default_rng(0).standard_normal((_DRAWS, len(spread))) @ root.T
    return float(np.quantile(draws.max(axis=1), confidence))
