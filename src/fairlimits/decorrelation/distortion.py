r"""The map that moves people least: a linear program over the entries of T, of which few are ever needed.

.. math::
    \min_{T, t} \; \sum_j P_j \sum_i d_{ij} T_{ij} \quad \text{subject to} \quad
    \sum_i T_{ij} = 1, \quad t_j = \sum_i s_i T_{ij}, \quad (t, \kappa) \text{ optimal}, \quad
    \sum_i \Big| \sum_j T_{ij} (p_g[j] - p_h[j]) \Big| \le \kappa ,

where :math:`P_j` is the mass of source j and :math:`d_{ij}` its distance to target i. Instead of being minimised among
all optimal points, distortion can also be traded against the objective by a weight.

The program starts with the nearest targets of each source and those that the exact optimum needs, and takes in more
where their reduced cost promises a gain (column generation). At any duals of the rows that sources share, no source can
do better than with its cheapest target: summed up, that bounds the whole program, and proves the map optimal once no
entry outside promises more than rounding.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from fairlimits._util.progress import Progress
from fairlimits._util.types import Flags, Floats
from fairlimits.decorrelation.exact import Exact, ExactProgram, Face
from fairlimits.decorrelation.problems import Targets
from fairlimits.decorrelation.restricted_master import Goal, Master
from fairlimits.errors import InfeasibleError, SolverError


def least_goal(program: ExactProgram, accuracy_weight: float, correlation_weight: float) -> Goal:
    """Least distortion among all optimal maps."""
    face = program.face(accuracy_weight, correlation_weight)
    correlation = _correlation(correlation_weight)
    return Goal(np.zeros(len(face.lower)), 1.0, face, "none" if face.decorrelated else correlation)


def traded_goal(
    program: ExactProgram, accuracy_weight: float, correlation_weight: float, distortion_weight: float
) -> Goal:
    """Distortion traded against accuracy and correlation."""
    unit = max(1.0, distortion_weight)
    everywhere = Face(
        program.lower,
        program.upper,
        program.row_lower,
        program.row_upper,
        pairs=np.zeros(0, dtype=np.int64),
        signs=np.zeros(0),
        decorrelated=False,
    )
    cost = program.cost(accuracy_weight / unit, correlation_weight / unit)
    return Goal(cost, distortion_weight / unit, everywhere, _correlation(correlation_weight), unit)


def _correlation(weight: float) -> Literal["any", "priced"]:
    return "priced" if weight > 0 else "any"


def best_map(program: ExactProgram, exact: Exact, goal: Goal, targets: Targets, tell: Progress) -> tuple[Floats, float]:
    """Find the map that serves a goal best.

    Parameters
    ----------
    program : ExactProgram
        The exact program.
    exact : Exact
        Its optimum: a point to start from.
    goal : Goal
        What is optimized.
    targets : Targets
        Where people may be sent.
    tell : callable
        Called with the fraction done and a few words.

    Returns
    -------
    map : ndarray of shape (targets, sources)
        Its columns sum to 1.
    gap : float
        What is left between the map and a proven bound of the goal, in the unit of the weights.
    """
    master = Master(program, goal, targets, needed=_two_ends(program, exact, targets))
    done = 0.0
    while True:
        try:
            optimum = master.solve()
        except (InfeasibleError, SolverError) as error:
            # The exact optimum is one of its points, so only rounding can hide it.
            raise SolverError(
                f"The program of the map could not be solved because of rounding ({error}): take fewer cells, merge "
                "those of very little mass, or ask for distortion=None."
            ) from error
        gains = master.gains(optimum)
        missing = float(np.maximum(gains.max(axis=0), 0).sum())
        reached = abs(optimum.value)
        done = max(done, 1 - missing / reached if missing < reached else 0.0)
        tell(done, f"{master.size:,} entries of the map, {optimum.value:.6f} and at most {missing:.1e} to gain")
        if not master.take_in(gains):
            return master.map(optimum), goal.unit * (optimum.gap + missing)


def _two_ends(program: ExactProgram, exact: Exact, targets: Targets) -> Flags:
    """Entries of the map that attains the exact optimum: to a target of highest, and one of lowest score."""
    ends = np.zeros((len(targets), len(exact.scores)), dtype=bool)
    ends[targets.score.argmin()] = exact.scores < program.high
    ends[targets.score.argmax()] |= exact.scores > program.low
    # A constant rule has one score, which is both.
    ends[targets.score.argmin()] |= program.low == program.high
    return ends
