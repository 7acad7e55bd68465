"""The four conditional laws that q(x) = P(A, Y | x) is put together from, each learned by the learners that suit it.

q is written in two ways, P(Y|x) P(A|x,Y) and P(A|x) P(Y|x,A), and the mean of both is taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np

from fairlimits._util.types import Floats, Ints
from fairlimits.law.outcome.learners import Chances, Rows

# A chance of 0 that comes true would make the log-loss infinite.
_LEAST_CHANCE = 1e-6


@dataclass(frozen=True)
class Factor:
    """A conditional law to be learned.

    Parameters
    ----------
    name : str
        What it is called in tables.
    target : {"group", "label"}
        Whose chances.
    given : {"group", "label"} or None
        What is known beside the features.
    """

    name: str
    target: Literal["group", "label"]
    given: Literal["group", "label"] | None = None


FACTORS = (
    Factor("P(Y|x)", "label"),
    Factor("P(A|x,Y)", "group", "label"),
    Factor("P(A|x)", "group"),
    Factor("P(Y|x,A)", "label", "group"),
)


def predict_given(fitted: Chances, rows: Rows, size: int | None) -> Floats:
    """Chances of the classes for every value of what is given.

    Parameters
    ----------
    fitted : Chances
        The learner.
    rows : Rows
        The rows.
    size : int or None
        Number of values that the given variable can take; None if nothing is given.

    Returns
    -------
    ndarray of shape (n_rows, size or 1, classes)
    """
    if size is None:
        return fitted.predict(rows, None, None)[:, None]
    return np.stack([fitted.predict(rows, value, size) for value in range(size)], axis=1)


def joint(label: Floats, group_given_label: Floats, group: Floats, label_given_group: Floats) -> Floats:
    """Put q together from its factors, each of shape (n, values given, classes), as (n, G, 2)."""
    first = label[:, 0, None, :] * np.swapaxes(group_given_label, 1, 2)
    second = group[:, 0, :, None] * label_given_group
    return np.asarray((first + second) / 2)


def log_loss(chances: Floats, target: Ints, weight: Floats) -> float:
    """Mean of minus the logarithm of the chance given to what came true."""
    hit = np.maximum(chances[np.arange(len(target)), target], _LEAST_CHANCE)
    return float(weight @ -np.log(hit) / weight.sum())


def best_average(chances: Sequence[Floats], target: Ints, weight: Floats) -> tuple[tuple[int, ...], float]:
    """Which learners' plain average has the lowest log-loss.

    Parameters
    ----------
    chances : sequence of ndarray of shape (n, classes)
        Out-of-fold chances of each learner.
    target : ndarray of int of shape (n,)
        What came true.
    weight : ndarray of shape (n,)

    Returns
    -------
    chosen : tuple of int
        Positions of the learners.
    loss : float
    """
    best: tuple[tuple[int, ...], float] | None = None
    for count in range(1, len(chances) + 1):
        for members in combinations(range(len(chances)), count):
            loss = log_loss(np.mean([chances[m] for m in members], axis=0), target, weight)
            if best is None or loss < best[1]:
                best = members, loss
    assert best is not None
    return best
