"""People of unknown group: what every gap may be over all ways to fill it in, and what it is under an assumption.

With the sizes of two groups given, their rates are farthest apart if the people of unknown group with the highest
values are in the one and those with the lowest in the other. So all ways to fill in groups come down to how many go
where, and these are tried one by one.

The other figure assumes that whether the group is missing depends on the features (and the label) only: then a person
of unknown group counts in each group by the chance that the rule's own estimate gives it. Nothing in the rows can show
whether that is so.
"""

from __future__ import annotations

import math
from itertools import combinations
from typing import NamedTuple

import numpy as np

from fairlimits._util.small_samples import enough
from fairlimits._util.types import Floats
from fairlimits.evaluation.monitoring.periods import Period
from fairlimits.notions import NOTIONS, Rate, spread

# Bounds nearer than this are the same.
_ROUNDING = 1e-12


class GapBounds(NamedTuple):
    """What a gap can be where some groups are not known.

    Parameters
    ----------
    low, high : float
        Over all ways to fill the groups in. The upper end is reached by one of them; no way falls below the lower one.
    if_by_features : float
        If missingness depends on features and label only, by the chances of the rule's estimate.
    """

    low: float
    high: float
    if_by_features: float


def gap_bounds(period: Period, name: str) -> GapBounds | None:
    """Bounds of a notion's gap; None if no group is missing, or labels that it needs are."""
    unknown = period.people.group < 0
    if not unknown.any():
        return None
    found = [own for rate in NOTIONS[name].rates if (own := _of_rate(period, rate)) is not None]
    if not found:
        return None
    return GapBounds(*(max(own[at] for own in found) for at in range(3)))


def rate_values(period: Period, rate: Rate) -> tuple[Floats, Floats] | None:
    """For each person, the probability of what a rate counts, and what the person weighs in it; None without labels."""
    label = period.people.label
    if label is None:
        if rate.event[0] != rate.event[1] or len(rate.given) < 2:
            return None
        label = np.zeros(len(period.scores), dtype=np.int8)
    event = np.asarray(rate.event, dtype=np.float64)[label.astype(np.int64)]
    value = event[:, 1] * period.scores + event[:, 0] * (1 - period.scores)
    return value, period.shares * np.isin(label, rate.given)


def _of_rate(period: Period, rate: Rate) -> GapBounds | None:
    read = rate_values(period, rate)
    if read is None:
        return None
    value, weight = read
    group, groups = period.people.group, period.q.shape[1]
    known = [(group == g) & (weight > 0) for g in range(groups)]
    compared = [g for g in range(groups) if enough(np.array([known[g].sum()]))[0]]
    if len(compared) < 2:
        return None
    loose = (group < 0) & (weight > 0)
    order = np.argsort(-value[loose], kind="stable")
    free = value[loose][order], weight[loose][order]
    sums = {g: (float(weight[known[g]].sum()), float((weight * value)[known[g]].sum())) for g in compared}
    low, high = 0.0, 0.0
    for g, h in combinations(compared, 2):
        others = groups > 2
        top, bottom = _widest(sums[g], sums[h], free, others), -_widest(sums[h], sums[g], free, others)
        high = max(high, top, -bottom)
        low = max(low, 0.0 if bottom <= _ROUNDING and top >= -_ROUNDING else min(abs(bottom), abs(top)))
    return GapBounds(low, high, _by_features(period, value, weight, compared))


def _widest(
    first: tuple[float, float], second: tuple[float, float], free: tuple[Floats, Floats], others: bool
) -> float:
    """Largest difference of the first rate minus the second over all ways to share out people, highest values first."""
    value, weight = free
    taken = np.concatenate([[0.0], np.cumsum(weight)])
    hit = np.concatenate([[0.0], np.cumsum(weight * value)])
    upper = (first[1] + hit) / (first[0] + taken)
    lower = (second[1] + hit[-1] - hit) / (second[0] + taken[-1] - taken)
    best = float((upper - lower).max())
    if others and int(upper.argmax()) <= int(lower.argmin()):
        # People that widen neither side may be of another group.
        best = max(best, float(upper.max() - lower.min()))
    return best


def _by_features(period: Period, value: Floats, weight: Floats, compared: list[int]) -> float:
    """Gap of a rate where people of unknown group count by their chances of being in each."""
    chance = period.q.sum(axis=2)
    if period.people.label is not None:
        of_label = period.q[np.arange(len(chance)), :, period.people.label]
        total = of_label.sum(axis=1, keepdims=True)
        # Where nobody of the label was seen, the features alone must do.
        chance = np.where(total > 0, of_label / np.where(total > 0, total, 1.0), chance)
    member = np.where(
        (period.people.group < 0)[:, None],
        chance,
        period.people.group[:, None] == np.arange(chance.shape[1]),
    )
    total = (weight[:, None] * member).sum(axis=0)
    rates = ((weight * value)[:, None] * member).sum(axis=0) / np.where(total > 0, total, math.nan)
    return float(spread(rates[compared]))
