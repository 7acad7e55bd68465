r"""Who tries to tell the group from features, and how well it goes on rows that took no part in learning it.

The area under the ROC curve is the probability that a person of the group gets a higher score than another one.
With placements :math:`V_i`, the share of the other class that row i is ranked correctly against, it is the mean of
:math:`V` over either class, and its variance is estimated by

.. math:: \sum_{class} \frac{m}{m-1} \sum_{i=1}^m w_i^2 (V_i - \mathrm{AUC})^2 ,

with weights :math:`w_i` that sum to 1 in each class; with equal weights this is DeLong's estimate (1988).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri
from sklearn.ensemble import HistGradientBoostingClassifier
from threadpoolctl import threadpool_limits

from fairlimits._util.small_samples import enough
from fairlimits._util.types import Flags, Floats, Ints
from fairlimits.data import Schema, category_columns

Adversary = Literal["group rate of the cell", "gradient boosting"]

# With fewer rows, threads wait for each other longer than they work.
_ROWS_FOR_THREADS = 100_000


@dataclass(frozen=True)
class Attack:
    """How well an adversary tells a group from the others on held-out rows.

    Parameters
    ----------
    adversary : {"group rate of the cell", "gradient boosting"}
        Who tries: a count of groups in each cell, or a booster on the values.
    mapped : bool
        Whether the features are mapped ones.
    with_label : bool
        Whether the adversary also sees the label Y.
    group : str
        The group to be told from all others.
    auc : float
        Area under the ROC curve: 0.5 is guessing; NaN if the group, or all others, have fewer than 30 rows.
    low, high : float
        Its confidence interval. Those of all adversaries and groups hold at once: the best of several attacks would
        otherwise look better than guessing by chance.
    """

    adversary: Adversary
    mapped: bool
    with_label: bool
    group: str
    auc: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class View:
    """What an adversary sees of some rows.

    Parameters
    ----------
    cell : ndarray of int of shape (n,)
        The cell (or bin) of each.
    values : mapping of str to ndarray of shape (n,)
        The values of each, coded as in `Dataset.columns`.
    label, group : ndarray of int of shape (n,)
    weight : ndarray of shape (n,)
    """

    cell: Ints
    values: Mapping[str, NDArray[Any]]
    label: Ints
    group: Ints
    weight: Floats


def attack(
    schema: Schema,
    train: View,
    test: View,
    *,
    mapped: bool,
    with_label: bool,
    confidence: float,
    random_state: int,
) -> list[Attack]:
    """Let both adversaries learn on some rows and try on others.

    Two groups are told apart by one attack, more by one for each group against all others.
    """
    groups = schema.groups
    found: list[Attack] = []
    chances: dict[Adversary, Floats] = {
        "group rate of the cell": _cell_rates(train, test, len(groups), with_label),
        "gradient boosting": _boosted(schema, train, test, with_label, random_state),
    }
    told = range(len(groups)) if len(groups) > 2 else (1,)
    rows = rows_by_group(test, len(groups))
    known = {g: bool(enough(rows[g]) and enough(rows.sum() - rows[g])) for g in told}
    each = 1 - (1 - confidence) / max(len(chances) * sum(known.values()), 1)
    for adversary, chance in chances.items():
        for g in told:
            interval = (math.nan,) * 3
            if known[g]:
                interval = auc_interval(chance[:, g], test.group == g, test.weight, each)
            found.append(Attack(adversary, mapped, with_label, groups[g], *interval))
    return found


def rows_by_group(view: View, groups: int) -> Ints:
    """Number of rows of each group that have weight."""
    return np.bincount(view.group[view.weight > 0], minlength=groups)


def _cell_rates(train: View, test: View, groups: int, with_label: bool) -> Floats:
    """Share of each group in the cell (and label) of each test row, as the training rows have it."""
    size = 1 + max(int(train.cell.max(initial=0)), int(test.cell.max(initial=0)))

    def place(view: View) -> Ints:
        return view.cell * 2 + view.label if with_label else view.cell

    places = 2 * size if with_label else size
    held = np.bincount(place(train) * groups + train.group, weights=train.weight, minlength=places * groups).reshape(
        places, groups
    )
    overall = held.sum(axis=0) / held.sum()
    total = held.sum(axis=1, keepdims=True)
    rates = np.where(total > 0, held / np.where(total > 0, total, 1), overall)
    return rates[place(test)]


def _boosted(schema: Schema, train: View, test: View, with_label: bool, random_state: int) -> Floats:
    """Chance of each group for each test row, by gradient boosting on the values."""

    def matrix(view: View) -> Floats:
        columns = [np.asarray(column, dtype=np.float64) for column in view.values.values()]
        return np.column_stack([*columns, view.label] if with_label else columns)

    nominal = category_columns(len(feature.categories) for feature in schema.features)
    model = HistGradientBoostingClassifier(categorical_features=nominal, random_state=random_state)
    chances = np.zeros((len(test.group), len(schema.groups)))
    learned, tried = matrix(train), matrix(test)
    # Nothing can be learned from a column without a single value, and the booster refuses it.
    empty = np.isnan(learned).all(axis=0)
    learned[:, empty] = tried[:, empty] = 0.0
    with threadpool_limits(1 if len(train.group) < _ROWS_FOR_THREADS else None):
        model.fit(learned, train.group, sample_weight=train.weight)
        chances[:, model.classes_] = model.predict_proba(tried)
    return chances


def auc_interval(score: Floats, positive: Flags, weight: Floats, confidence: float) -> tuple[float, float, float]:
    """Area under the ROC curve, and its confidence interval.

    Parameters
    ----------
    score : ndarray of shape (n,)
    positive : ndarray of bool of shape (n,)
    weight : ndarray of shape (n,)
        Weight of each row.
    confidence : float
        Of the interval, by the normal distribution.
    """
    if not (weight[positive].sum() > 0 and weight[~positive].sum() > 0):
        return math.nan, math.nan, math.nan
    level = np.unique(score, return_inverse=True)[1]
    placed = {}
    for side in (True, False):
        chosen = positive == side
        rivals = np.bincount(level, weights=weight * ~chosen, minlength=int(level.max()) + 1)
        below = np.cumsum(rivals) - rivals / 2
        share = below / rivals.sum()
        placed[side] = (share if side else 1 - share)[level[chosen]], weight[chosen] / weight[chosen].sum()
    auc = float(placed[True][0] @ placed[True][1])
    variance = 0.0
    for value, share in placed.values():
        rows = int((share > 0).sum())
        variance += float((share**2) @ (value - auc) ** 2) * rows / max(rows - 1, 1)
    half = float(ndtri((1 + confidence) / 2)) * math.sqrt(variance)
    return auc, max(auc - half, 0.0), min(auc + half, 1.0)
