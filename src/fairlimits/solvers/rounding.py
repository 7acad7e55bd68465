r"""A good point of zeros and ones near a proven optimum of a linear program, which bounds the value of any such point.

The program is to maximise :math:`c \cdot x` under :math:`L \le A x \le U` with x in [0, 1], of which the first
variables shall be 0 or 1. With the optimum's reduced costs r, a point loses :math:`|r_j|` at least for each variable
that leaves the bound where the optimum has it, so few of those with a large one can. A basic optimum has at most as
many fractional variables as there are rows at a bound. A branch-and-bound search decides which of the variables of
small reduced cost change with them: few matter (the *core* of a knapsack problem), and all others stay where the
optimum has them. What is found is checked; how good it is follows from the optimum's own bound, not from what the
search says of itself.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fairlimits._util.types import Floats, Ints
from fairlimits.solvers.lp import draft_binary
from fairlimits.solvers.proofs import FEASIBILITY, Optimum

# Variables that may change, those of the smallest reduced cost: first a few, then more where these leave no point that
# is good enough, and many only where they leave no point at all: among many, the search loses its way.
_CORES = (120, 1_000, 20_000)
_GOOD, _FEW = 1e-4, 1_000

# Nodes of the search for each core, and how near to the bound it may stop.
_NODES, _NEAR = 500, 1e-6

# A value nearer to 0 or 1 than this is rounded to it.
_INTEGRAL = 1e-9


@dataclass(frozen=True)
class Rounded:
    """A point whose first variables are all 0 or 1.

    Parameters
    ----------
    x : ndarray of shape (n,)
        The point; it meets all rows.
    value : float
        Its objective.
    bound : float
        Upper bound on the objective of any point, fractional or not: proven by weak duality.
    """

    x: Floats
    value: float
    bound: float


def round_optimum(
    optimum: Optimum, cost: Floats, matrix: Floats, bounds: tuple[Floats, Floats], scores: int
) -> Rounded | None:
    """Find the best point near an optimum whose first variables are 0 or 1; None if none was found.

    Parameters
    ----------
    optimum : Optimum
        A proven optimum of the program, a corner if possible.
    cost : ndarray of shape (n,)
        The objective.
    matrix : ndarray of shape (m, n)
        The rows; all variables lie in [0, 1].
    bounds : tuple of ndarray of shape (m,)
        Bounds of the rows.
    scores : int
        Variables that are to be 0 or 1; those behind them are auxiliary.
    """
    bound = optimum.value + optimum.gap
    first = optimum.x[:scores]
    if bool((np.minimum(first, 1 - first) <= _INTEGRAL).all()):
        x = np.concatenate([np.rint(first), optimum.x[scores:]])
        if _meets(matrix @ x, bounds):
            return Rounded(x, float(cost @ x), bound)
    # Fractional variables have no reduced cost, so they come first.
    order = np.argsort(np.abs(optimum.reduced[:scores]), kind="stable")
    best: Rounded | None = None
    for size in _CORES:
        point = _search(optimum, cost, matrix, bounds, np.sort(order[:size]), scores)
        if point is not None and (best is None or cost @ point > best.value):
            best = Rounded(point, float(cost @ point), bound)
        if size >= scores or (best is not None and (size >= _FEW or bound - best.value <= _GOOD)):
            break
    return best


def _search(
    optimum: Optimum, cost: Floats, matrix: Floats, bounds: tuple[Floats, Floats], core: Ints, scores: int
) -> Floats | None:
    """The best point found where only a core and the auxiliary variables may move; it meets the rows."""
    x = np.concatenate([np.rint(optimum.x[:scores]), optimum.x[scores:]])
    moving = np.concatenate([core, np.arange(scores, len(x))])
    rest = x.copy()
    rest[moving] = 0.0
    fixed = matrix @ rest
    found = draft_binary(
        cost[moving],
        matrix[:, moving],
        (bounds[0] - fixed, bounds[1] - fixed),
        np.arange(len(moving)) < len(core),
        most_nodes=_NODES,
        gap=_NEAR,
    )
    if found is None:
        return None
    x[moving] = np.concatenate([np.rint(found[: len(core)]), found[len(core) :]])
    return x if _meets(matrix @ x, bounds) else None


def _meets(activity: Floats, bounds: tuple[Floats, Floats]) -> bool:
    return bool((activity >= bounds[0] - FEASIBILITY).all() and (activity <= bounds[1] + FEASIBILITY).all())
