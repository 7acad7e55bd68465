"""The post-processing of Xian and Zhao, written anew: a linear program on predicted P(A, Y | x), and its duals.

Every row of the learning part is a cell. Rates and accuracy are read off the predictions, not the labels, and the
multipliers of the fairness rows make a rule for new rows: decide 1 where gain - multipliers . rates > 0. Ties are
broken by noise on the gain, on new rows too: without it equalized odds leaves a whole group tied. The noise is uniform,
so the probability of deciding 1 has a closed form.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import numpy as np
import numpy.typing as npt
from scipy.optimize import linprog

from benchmarks.peers.bases import Estimates
from benchmarks.peers.splits import Floats, Setting, Split

_NOISE = 0.005
"""Half the width of the noise on the gain."""


def fit(split: Split, setting: Setting, estimates: Estimates) -> Callable[[], Floats]:
    """Fit the program for one setting; the answer gives the probability of deciding 1 for the test rows."""
    q = _seen(estimates.fit, split.learn.group[estimates.rows] if setting.aware else None)
    noise = np.random.default_rng([split.seed, 1]).uniform(-_NOISE, _NOISE, size=len(q))
    rule = _solve(q, noise, setting)

    def decide() -> Floats:
        return rule(_seen(estimates.test, split.test.group if setting.aware else None))

    return decide


def _seen(joint: Floats, group: npt.NDArray[np.int64] | None) -> Floats:
    """P(A, Y | what the rule sees): if it sees the group, the other groups have no mass."""
    if group is None:
        return joint
    own = np.zeros_like(joint)
    rows = np.arange(len(joint))
    own[rows, group] = joint[rows, group] / joint[rows, group].sum(axis=1, keepdims=True)
    return own


def _rates(criterion: str, q: Floats, total: Floats) -> tuple[list[Floats], list[Floats]]:
    """Rates of all groups, ``rate[g] = constant[g] + sum_i mass[i] coefficient[i, g] score[i]``, rate by rate.

    ``total`` is the mass of each group and label, over all cells.
    """
    everybody = total.sum(axis=1)
    if criterion == "DP":
        return [q.sum(axis=2) / everybody], [np.zeros(len(total))]
    if criterion == "EOd":
        return [q[:, :, label] / total[:, label] for label in (0, 1)], [np.zeros(len(total))] * 2
    return [(q[:, :, 1] - q[:, :, 0]) / everybody], [total[:, 0] / everybody]


def _gain(q: Floats) -> Floats:
    return np.asarray(q[:, :, 1].sum(axis=1) - q[:, :, 0].sum(axis=1))


def _differences(criterion: str, q: Floats, total: Floats) -> tuple[Floats, Floats]:
    """Coefficients and constants of every difference between two groups' rates."""
    rows, constants = [], []
    for coefficient, constant in zip(*_rates(criterion, q, total), strict=True):
        for one, other in combinations(range(len(total)), 2):
            rows.append(coefficient[:, one] - coefficient[:, other])
            constants.append(constant[one] - constant[other])
    return np.array(rows), np.array(constants)


def _solve(q: Floats, noise: Floats, setting: Setting) -> Callable[[Floats], Floats]:
    mass = 1.0 / len(q)
    total = q.mean(axis=0)
    rows, constants = _differences(setting.criterion, q, total)
    # Each difference is a variable of its own, held within the tolerance. The costs are those of whole rows, not of
    # their mass, so that the noise stands clear of the solver's precision.
    answer = linprog(
        np.concatenate([-(_gain(q) + noise), np.zeros(len(rows))]),
        A_eq=np.hstack([rows * mass, -np.eye(len(rows))]),
        b_eq=-constants,
        bounds=[(0.0, 1.0)] * len(q) + [(-setting.eps, setting.eps)] * len(rows),
        method="highs-ds",
        options={"presolve": False},
    )
    if answer.status != 0:
        raise RuntimeError(f"The program was not solved: {answer.message}")
    multipliers = answer.eqlin.marginals * mass

    def rule(new: Floats) -> Floats:
        margin = _gain(new) + multipliers @ _differences(setting.criterion, new, total)[0]
        return np.asarray(np.clip(0.5 + margin / (2 * _NOISE), 0.0, 1.0))

    return rule
