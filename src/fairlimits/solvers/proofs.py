r"""The proof that a point is an optimum of a linear program, whatever solver found it.

The program is

.. math:: \max_x c \cdot x \quad \text{subject to} \quad l \le x \le u,\; L \le A x \le U .

For any duals y of the rows, weak duality bounds the optimum from above by

.. math:: \sum_j \max(r_j l_j, r_j u_j) + \sum_k \max(y_k L_k, y_k U_k), \qquad r = c - A^T y ,

so a feasible x whose value equals that bound is optimal, whatever the solver says about itself. It is checked in plain
floating point.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np

from fairlimits._util.types import Floats

# How far a returned point may miss a row, in the row's own units, and its value the bound.
FEASIBILITY = 1e-8
OPTIMALITY = 1e-8


@dataclass(frozen=True)
class Optimum:
    """A proven optimum.

    Parameters
    ----------
    x : ndarray of shape (n,)
        The point, within its bounds exactly.
    value : float
        Its objective, ``c . x``.
    duals : ndarray of shape (m,)
        Dual of each row: how fast the optimum rises with the bound that the row presses against.
        Positive at the upper bound, negative at the lower one.
    gap : float
        Distance between value and upper bound that is left.
    reduced : ndarray of shape (n,)
        What is left of the objective once the rows are paid for, ``c - A^T y``: positive at an upper bound,
        negative at a lower one.
    """

    x: Floats
    value: float
    duals: Floats
    gap: float
    reduced: Floats


class Ending(Enum):
    """How a solve can end without a proven optimum."""

    INFEASIBLE = "the solver says that no point meets all rows"
    STOPPED = "the solver was stopped before it had finished"
    UNSOLVED = "the solver ended in any other way than with an optimum"
    UNPROVEN = "weak duality does not prove what the solver found"


@dataclass(frozen=True)
class Failure:
    """Why there is no answer, or none that is proven: for programs to go by, and in words that continue a sentence."""

    ending: Ending
    reason: str


def certificate(
    cost: Floats,
    box: tuple[Floats, Floats],
    x: Floats,
    activity: Floats,
    duals: Floats,
    reduced: Floats,
    bounds: tuple[Floats, Floats],
) -> Optimum | Failure:
    """Prove that one point is optimal (see `certificates`), or say what is wrong with it."""
    lower, upper = bounds
    proven = certificates(cost, box, x[None], activity[None], duals[None], reduced[None], (lower[None], upper[None]))
    return proven if isinstance(proven, Failure) else proven[0]


def certificates(
    cost: Floats,
    box: tuple[Floats, Floats],
    x: Floats,
    activity: Floats,
    duals: Floats,
    reduced: Floats,
    bounds: tuple[Floats, Floats],
) -> list[Optimum] | Failure:
    """Prove that points are optimal by weak duality, or say what is wrong with one.

    Parameters
    ----------
    cost : ndarray of shape (n,)
    box : tuple of ndarray of shape (n,)
        Bounds of the variables.
    x : ndarray of shape (P, n)
        The points.
    activity : ndarray of shape (P, m)
        Their rows' values, ``A x``.
    duals : ndarray of shape (P, m)
        Duals of the rows, y.
    reduced : ndarray of shape (P, n)
        ``c - A^T y``.
    bounds : tuple of ndarray of shape (P, m)
        Bounds of the rows.
    """
    lower, upper = bounds
    missed = np.maximum(lower - activity, activity - upper).max(initial=0.0)
    if not missed <= FEASIBILITY:
        return Failure(
            Ending.UNPROVEN, f"the point found misses a constraint by {missed:.1e}, more than {FEASIBILITY:.0e}"
        )
    values = x @ cost
    highest = np.maximum(reduced * box[0], reduced * box[1]).sum(axis=1)
    # A dual of 0 on a side without a bound adds nothing, where 0 * inf would be NaN.
    pressed = np.where(duals > 0, upper, lower)
    pressed[duals == 0] = 0
    gaps = highest + (duals * pressed).sum(axis=1) - values
    if not gaps.max() <= OPTIMALITY:
        far = f"{gaps.max():.1e} below the optimum, more than {OPTIMALITY:.0e}"
        return Failure(Ending.UNPROVEN, f"the point found may be {far}")
    return [Optimum(*found) for found in zip(x, values.tolist(), duals, gaps.tolist(), reduced, strict=True)]
