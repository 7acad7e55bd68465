r"""Tests that may be repeated for ever: the allowed chance of a false alarm is spent period by period.

In period t an alarm of any kind may be false with chance :math:`\alpha_t = \alpha / (t (t + 1))`, which adds up to
:math:`\alpha` over all time. So an alarm does not depend on what comes later, and adding a month changes none that was
given. Half of it is for gaps beyond their tolerance, a quarter for accuracy below that of the first period, and a
quarter for drift. Gaps and accuracy are tested twice, each with half: in the period, and over all periods so far, where
a small excess that lasts is seen.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from fairlimits._util.frames import ARROW
from fairlimits._util.types import Floats, Ints
from fairlimits.evaluation.monitoring.periods import Period
from fairlimits.notions import NOTIONS, Differences, differences

GAP_PART, ACCURACY_PART, DRIFT_PART = 0.5, 0.25, 0.25
"""How the chance of a false alarm is shared out."""


@dataclass(frozen=True, eq=False)
class Known:
    """People of a known group (see `notions.People`), decided."""

    group: NDArray[np.int64]
    label: NDArray[np.int8]
    shares: Floats
    groups: tuple[str, ...]
    scores: Floats
    frame_kind: str = ARROW

    @property
    def squares(self) -> Floats:
        """Squares of what each person counts."""
        return self.shares**2

    @property
    def times(self) -> Ints:
        """1 for each person who counts."""
        return (self.shares > 0).astype(np.int64)

    @property
    def n_rows(self) -> int:
        """Number of people."""
        return len(self.group)


def known_people(periods: Sequence[Period], groups: tuple[str, ...]) -> Known:
    """The people of some periods whose group is known; a label that is not known is 0."""
    labels = [
        np.zeros(len(own.scores), dtype=np.int8) if own.people.label is None else own.people.label for own in periods
    ]
    group = np.concatenate([own.people.group for own in periods])
    there, weight = group >= 0, np.concatenate([own.people.weight for own in periods])
    share = weight[there] / (weight[there].sum() or 1.0)
    return Known(
        group[there],
        np.concatenate(labels)[there],
        share,
        groups,
        np.concatenate([own.scores for own in periods])[there],
    )


def signed_differences(people: Known, names: Sequence[str]) -> Differences:
    """Differences between groups, by notion, of the people."""
    return differences(people, people.scores, names)


def spent(period: int, allowed: float) -> float:
    """Chance of a false alarm that a period, counted from 1, may spend of all that is allowed."""
    return allowed / (period * (period + 1))


def gap_p_values(people: Known, tolerances: Mapping[str, float]) -> dict[str, float]:
    """For each notion, a bound on the chance of so wide a gap, or wider, if the true one is within its tolerance."""
    found = {}
    for name, limit in tolerances.items():
        own = signed_differences(people, [name])
        if not len(own):
            continue
        size, error = np.abs(own.value), np.maximum(own.error, 1e-12)
        beyond = ndtr((limit - size) / error) + ndtr((-limit - size) / error)
        found[name] = min(float(beyond.min()) * len(own), 1.0)
    return found


def usable(names: Sequence[str], labelled: bool) -> list[str]:
    """Notions that can be read with the labels that are there."""
    plain = [name for name in names if all(rate.event[0] == rate.event[1] and len(rate.given) == 2
             for rate in NOTIONS[name].rates)]  # fmt: skip
    return list(names) if labelled else plain


def accuracy_p_value(before: tuple[float, float], now: tuple[float, float]) -> float:
    """Chance of so low an accuracy, or lower, if it has not fallen; each is a value with its standard error."""
    error = math.hypot(before[1], now[1])
    return float(ndtr((now[0] - before[0]) / error)) if error > 0 else 1.0


def accuracy_of(periods: Sequence[Period]) -> tuple[float, float] | None:
    """Accuracy of some periods and its standard error, with a row added on either side; None without labels."""
    hits, weights = [], []
    for own in periods:
        label = own.people.label
        if label is None:
            return None
        hits.append(np.where(label == 1, own.scores, 1 - own.scores))
        weights.append(own.people.weight)
    hit, weight = np.concatenate(hits), np.concatenate(weights)
    total = float(weight.sum())
    mean = float(weight @ hit) / total
    worth = total**2 / float(weight @ weight)
    softened = (mean * worth + 1) / (worth + 2)
    return mean, math.sqrt(softened * (1 - softened) / (worth + 2))
