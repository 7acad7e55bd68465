r"""The paper's own solvers of (5) and (31): the method of multipliers (9)-(10) and its alternating version (32).

With the rows :math:`L \le R t \le U` of all fairness constraints on the scores :math:`t = T^T s` after the map, and
:math:`v(T)` how far each row is missed on each side, one iteration is

.. math::
    T \leftarrow \arg\min_T \; -\lambda \, \mathrm{accuracy}(t) + \beta \|T (p_a - p_b)\|_1
        + \rho \cdot v(T) + \tfrac{\tau}{2} \|v(T)\|^2 , \qquad \rho \leftarrow \rho + \tau \, v(T) ,

the minimum being sought by a projected subgradient method with momentum whose rate falls, in each iteration anew,
from `first_rate` to `last_rate`; every column of T is projected onto the simplex as Duchi et al. (2008) do. A
rule that sees the group has a map for each group, and their minima are sought in turn. The method stops when
:math:`\|\Delta T\|^2 + \|\Delta \rho\|^2` falls below `tolerance`, or at the limit of iterations.

The paper gives neither :math:`\tau` nor the number of inner steps nor the way the rate falls nor the start, which is
the identity here. The method is kept as the reference that the exact one is compared with.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

import numpy as np
import scipy.sparse as sp

from fairlimits._util.progress import Progress
from fairlimits._util.types import Flags, Floats
from fairlimits.decorrelation.problems import Problem
from fairlimits.errors import InputError
from fairlimits.notions import INDIVIDUAL
from fairlimits.solvers import difference_rows, times

Schedule = Literal["geometric", "linear"]


@dataclass(frozen=True)
class Multipliers:
    r"""Settings of the method of multipliers.

    Parameters
    ----------
    tau : float, default=100.0
        Weight :math:`\tau` of missed constraints, and step of their multipliers.
    inner_steps : int, default=1000
        Subgradient steps of each minimisation.
    schedule : {"geometric", "linear"}, default="geometric"
        How the rate falls over the steps of a minimisation.
    momentum : float, default=0.9
        Share of the last step that the next one carries on.
    first_rate, last_rate : float, default=1e-2 and 1e-12
        Rates of the first and the last step.
    tolerance : float, default=1e-4
        Sum of squared changes of the map and the multipliers at which the method stops.
    max_iterations : int, default=50
        Iterations after which it stops in any case; whether it did is in the plan.

    Examples
    --------
    >>> import fairlimits as fl
    >>> dist = fl.CellDistribution.from_mass([[[2, 1], [1, 0]], [[0, 1], [2, 3]]])
    >>> settings = fl.decorrelation.Multipliers(inner_steps=200, max_iterations=20)
    >>> plan = fl.decorrelate(dist, fl.solve(dist, {"DP": 0.1}), method="multipliers", multipliers=settings)
    >>> plan.method, plan.correlation < plan.baseline_correlation
    ('multipliers', True)
    """

    tau: float = 100.0
    inner_steps: int = 1000
    schedule: Schedule = "geometric"
    momentum: float = 0.9
    first_rate: float = 1e-2
    last_rate: float = 1e-12
    tolerance: float = 1e-4
    max_iterations: int = 50

    def __post_init__(self) -> None:
        for name in ("inner_steps", "max_iterations"):
            value = getattr(self, name)
            if not (isinstance(value, int | np.integer) and value >= 1):
                raise InputError(f"{name} is {value!r}; it must be a whole number of at least 1.")
        for name in ("tau", "first_rate", "last_rate", "tolerance"):
            value = getattr(self, name)
            if not (isinstance(value, int | float | np.number) and math.isfinite(value) and value > 0):
                raise InputError(f"{name} is {value!r}; it must be a number above 0.")
        if self.last_rate > self.first_rate:
            raise InputError(f"The rate rises from {self.first_rate:g} to {self.last_rate:g}; it must fall, or stay.")
        if not (isinstance(self.momentum, int | float | np.number) and 0 <= self.momentum < 1):
            raise InputError(f"The momentum is {self.momentum!r}; it must be at least 0 and below 1.")
        if self.schedule not in get_args(Schedule):
            raise InputError(f"The schedule is {self.schedule!r}; use {' or '.join(get_args(Schedule))}.")

    def rates(self) -> Floats:
        """Rate of each step of a minimisation."""
        space = np.geomspace if self.schedule == "geometric" else np.linspace
        return np.asarray(space(self.first_rate, self.last_rate, self.inner_steps))

    def to_dict(self) -> dict[str, Any]:
        """Return the settings as plain data."""
        return asdict(self)


@dataclass(frozen=True, eq=False)
class Iterate:
    """Where the method ended.

    Parameters
    ----------
    entries : ndarray of shape (targets, sources)
        The map.
    iterations : int
        Iterations made.
    converged : bool
        Whether the changes fell below the tolerance before the limit of iterations.
    """

    entries: Floats
    iterations: int
    converged: bool


def run_multipliers(
    problem: Problem,
    settings: Multipliers,
    accuracy_weight: float,
    correlation_weight: float,
    tell: Progress,
) -> Iterate:
    """Run the method of multipliers from the identity.

    Parameters
    ----------
    problem : Problem
        The problem, of two groups.
    settings : Multipliers
        How to run.
    accuracy_weight, correlation_weight : float
        The weights of the objective.
    tell : callable
        Called with the fraction of the limit of iterations and a few words.
    """
    if len(problem.laws) != 2:
        raise InputError(
            f"The method of multipliers is for two groups, as in the paper, and {len(problem.laws)} have mass; "
            'use method="exact".'
        )
    lagrangian = _Lagrangian(problem, settings.tau, accuracy_weight, correlation_weight)
    # A row for each source, so that projections run along memory.
    columns = np.eye(len(problem.variables))
    group = problem.variables.group
    blocks = [np.full(len(columns), True)] if group is None else [group == g for g in np.unique(group)]
    multipliers = np.zeros(lagrangian.rows)
    change = math.inf
    iteration = 0
    while change >= settings.tolerance and iteration < settings.max_iterations:
        before = columns.copy()
        for block in blocks:
            _minimise(lagrangian, columns, block, multipliers, settings)
        step = settings.tau * lagrangian.missed(columns)
        multipliers += step
        change = float(((columns - before) ** 2).sum() + (step**2).sum())
        iteration += 1
        tell(iteration / settings.max_iterations, f"iteration {iteration}, squared change {change:.1e}")
    return Iterate(columns.T, iteration, change < settings.tolerance)


class _Lagrangian:
    """Subgradients of the augmented Lagrangian with respect to a map of shape (sources, targets)."""

    def __init__(self, problem: Problem, tau: float, accuracy_weight: float, correlation_weight: float) -> None:
        self._tau = tau
        self._scores = problem.own_scores
        self._gain = -accuracy_weight * problem.variables.cost
        laws = problem.laws
        self._apart, self._correlation_weight = laws[0] - laws[1], correlation_weight
        rows = sp.csr_array(problem.rate_rows.matrix)
        lower, upper = problem.bounds
        comparison = problem.comparison
        if comparison is not None:
            pairs = np.arange(len(comparison.first))
            allowed = times(comparison.looseness, np.array(problem.tolerances[INDIVIDUAL]))
            rows = sp.csr_array(sp.vstack([rows, difference_rows(comparison, pairs, rows.shape[1])]))
            lower, upper = np.concatenate([lower, -allowed]), np.concatenate([upper, allowed])
        # Both sides as rows that may not exceed a bound.
        self._rows = sp.csr_array(sp.vstack([rows, -rows]))
        self._transposed = sp.csr_array(self._rows.T)
        self._bound = np.concatenate([upper, -lower])

    @property
    def rows(self) -> int:
        """Number of inequalities."""
        return len(self._bound)

    def missed(self, columns: Floats) -> Floats:
        """How far each inequality is missed."""
        return np.asarray(np.maximum(self._rows @ (columns @ self._scores) - self._bound, 0))

    def subgradient(self, columns: Floats, block: Flags, multipliers: Floats) -> Floats:
        """Return a subgradient in some of the columns."""
        missed = self.missed(columns)
        prices = np.where(missed > 0, multipliers + self._tau * missed, 0.0)
        of_score = (self._gain + self._transposed @ prices)[block]
        signs = self._correlation_weight * np.sign(self._apart @ columns)
        return np.outer(of_score, self._scores) + np.outer(self._apart[block], signs)


def _minimise(
    lagrangian: _Lagrangian, columns: Floats, block: Flags, multipliers: Floats, settings: Multipliers
) -> None:
    """Move some columns of the map to where the Lagrangian is least, in place."""
    velocity = np.zeros((int(block.sum()), columns.shape[1]))
    for rate in settings.rates().tolist():
        velocity *= settings.momentum
        velocity -= rate * lagrangian.subgradient(columns, block, multipliers)
        columns[block] = project_to_simplex(columns[block] + velocity)


def project_to_simplex(points: Floats) -> Floats:
    """Project each row onto the simplex of probabilities (Duchi et al., 2008)."""
    falling = -np.sort(-points, axis=1)
    excess = np.cumsum(falling, axis=1) - 1
    size = np.arange(1, points.shape[1] + 1)
    last = (falling * size > excess).sum(axis=1) - 1
    threshold = excess[np.arange(len(points)), last] / (last + 1)
    return np.asarray(np.maximum(points - threshold[:, None], 0))
