"""`challenge`: a model that does better than the estimated frontier shows that the estimate is too low."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from fairlimits._util.types import Floats
from fairlimits.data import Dataset
from fairlimits.errors import InputError
from fairlimits.evaluation.evaluations import ManyRules, check_resamples, row_scores
from fairlimits.limits import Frontier, PointwiseRule, Rule, solve
from fairlimits.notions import (
    NOT_ESTIMABLE,
    NOTIONS,
    RESAMPLES,
    Estimate,
    Tally,
    check_confidence,
    gap_estimates,
    percentile_estimate,
    resampled,
    tally,
)


class BeatenWarning(UserWarning):
    """A model is better than the estimated frontier, beyond what chance explains: the estimate is too low."""


@dataclass(frozen=True, eq=False)
class Challenge:
    """A model against an estimated frontier, on the same rows.

    Parameters
    ----------
    notion : str
        The notion whose gap both are compared at.
    accuracy : Estimate
        The model's accuracy.
    gap : Estimate
        The model's gap.
    frontier_accuracy : float
        Held-out accuracy of the best mixture of the frontier's rules, the rule without tolerances, and a constant
        one, whose gap on these rows is at most the model's.
    lead : Estimate
        The model's accuracy less that, from paired resamples.
    """

    notion: str
    accuracy: Estimate
    gap: Estimate
    frontier_accuracy: float
    lead: Estimate

    @property
    def beaten(self) -> bool:
        """Whether the model is better than the estimated frontier beyond what chance explains."""
        return self.lead.low > 0

    def __str__(self) -> str:
        if not self.accuracy.known or not self.gap.known:
            return f"The model's {self.notion} gap is not estimable on these rows."
        where = f"accuracy {self.accuracy.value:.4f} at a {self.notion} gap of {self.gap.value:.4f}"
        if self.beaten:
            return (
                f"THE ESTIMATED LIMIT IS TOO LOW: a model reaches {where}, and the best rule we found there has "
                f"{self.frontier_accuracy:.4f} ({self.lead.value:+.4f}, interval {self.lead.low:+.4f} to "
                f"{self.lead.high:+.4f}). Estimate again with the model's own learner, estimate_outcome(data, "
                "estimator=...), with its features, or with more rows; and make sure that the model never saw these "
                "rows."
            )
        return (
            f"The model reaches {where}; the best rule we found there has {self.frontier_accuracy:.4f} "
            f"(lead of the model {self.lead.value:+.4f}, interval {self.lead.low:+.4f} to {self.lead.high:+.4f})."
        )


def challenge(
    frontier: ManyRules,
    rows: Dataset,
    predictions: ArrayLike,
    *,
    confidence: float = 0.95,
    resamples: int = RESAMPLES,
    random_state: int = 0,
) -> Challenge:
    """Compare a model's decisions with an estimated frontier, on rows that neither has seen.

    Parameters
    ----------
    frontier : Frontier or PointwiseFrontier
        The estimated limit, over a range of tolerances on one group notion; an aware one, unless the model does not
        see the group.
    rows : Dataset
        Rows that took no part in frontier or model.
    predictions : array-like of shape (n,)
        The model's decisions, 0 or 1, or its probability of deciding 1.
    confidence, resamples, random_state
        See `evaluate`.

    Warns
    -----
    BeatenWarning
        If the model is better than the frontier beyond what chance explains.
    """
    name, *others = frontier.grid
    if others:
        raise InputError(
            f"The frontier holds {name} and {' and '.join(others)} at once, and a model that meets one of them would "
            "seem to beat it; give a frontier of one notion."
        )
    if name not in NOTIONS:
        raise InputError(f"{name} is no group notion, so a model's decisions have no gap in it; choose another.")
    check_confidence(confidence)
    check_resamples(resamples)
    model = check_predictions(predictions, rows.n_rows)
    scores = np.vstack([model, row_scores(frontier, rows), row_scores(_unconstrained(frontier), rows)])
    found, drawn = tally(rows, scores), resampled(rows, scores, resamples, random_state)
    gap = gap_estimates(found, drawn, rows.counts, confidence)[0][name]
    accuracy = percentile_estimate(float(found.accuracy()[0]), drawn.accuracy()[:, 0], confidence)
    best, lead = np.nan, NOT_ESTIMABLE
    if gap.known:
        value, best = _lead(found, name)
        again = np.array([_lead(_one(drawn, b), name)[0] for b in range(resamples)])
        lead = percentile_estimate(value, again, confidence)
    result = Challenge(name, accuracy, gap, best, lead)
    if result.beaten:
        warnings.warn(str(result), BeatenWarning, stacklevel=2)
    return result


def check_predictions(predictions: ArrayLike, n_rows: int) -> Floats:
    """Return predictions as numbers from 0 to 1, one a row."""
    try:
        values = np.asarray(predictions, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("The predictions are no numbers; give 0 or 1, or a probability, for each row.") from None
    if values.shape != (n_rows,):
        raise InputError(f"The predictions have shape {values.shape} and there are {n_rows} rows; give one a row.")
    if not ((values >= 0) & (values <= 1)).all():
        raise InputError("Some predictions lie outside 0 to 1, or are missing; give 0 or 1, or a probability.")
    return values


def hull(gaps: Floats, accuracy: Floats, constant: float, at: float) -> float:
    """Accuracy of the best mixture of rules whose gap is at most `at`.

    Mixing two rules mixes their rates, so the mixture's gap is at most the mixture of the gaps. A rule that decides
    all alike, of accuracy `constant`, has no gap.
    """
    x, y = np.append(gaps, 0.0), np.append(accuracy, constant)
    order = np.lexsort((-y, x))
    corners: list[tuple[float, float]] = []
    for point in zip(x[order].tolist(), y[order].tolist(), strict=True):
        if corners and point[1] <= corners[-1][1]:
            continue
        while len(corners) >= 2 and _above(corners[-2], corners[-1], point):
            corners.pop()
        corners.append(point)
    return float(np.interp(at, [c[0] for c in corners], [c[1] for c in corners]))


def _above(left: tuple[float, float], middle: tuple[float, float], right: tuple[float, float]) -> bool:
    """Whether the line from left to right passes above, or through, the middle."""
    return (middle[1] - left[1]) * (right[0] - left[0]) <= (right[1] - left[1]) * (middle[0] - left[0])


def _unconstrained(frontier: ManyRules) -> Rule | PointwiseRule:
    """The frontier's rule without tolerances: a model's gap can be larger than any that the frontier goes up to."""
    if isinstance(frontier, Frontier):
        return solve(frontier.distribution, {}, aware=frontier.aware)
    first = frontier.rules[0]
    return replace(first, multipliers=np.zeros(first.multipliers.shape), constant=None)


def _lead(found: Tally, name: str) -> tuple[float, float]:
    """The first point's accuracy less the best mixture of the others at its gap; and that mixture's accuracy."""
    accuracy = found.accuracy()
    gap = np.zeros(len(accuracy))
    for rate in NOTIONS[name].rates:
        rates = found.rate(rate)
        gap = np.fmax(gap, np.nanmax(rates, axis=1) - np.nanmin(rates, axis=1))
    # Equal accuracy is met by a coin, all other notions by deciding all alike.
    share = float(found.mass[:, 1].sum() / found.mass.sum())
    constant = 0.5 if name == "EA" else max(share, 1 - share)
    best = hull(gap[1:], accuracy[1:], constant, float(gap[0]))
    return float(accuracy[0] - best), best


def _one(drawn: Tally, resample: int) -> Tally:
    return Tally(drawn.mass[resample], drawn.decided[resample])
