r"""Best scores of points under limits on rates, with a touch of randomness, by the dual of the program.

Points v have a mass :math:`m_v`, a gain :math:`c_v` in accuracy for deciding 1, and for each rate k and group g a
coefficient :math:`\rho_{vkg}`; rate k of group g is :math:`b_{kg} + \sum_v m_v \rho_{vkg} s_v`. The scores maximise

.. math:: \sum_v m_v \left(c_v s_v + T\, h(s_v)\right) \quad \text{subject to} \quad
          \max_g r_{kg}(s) - \min_g r_{kg}(s) \le \epsilon_k ,

with the entropy h and a small temperature T. The entropy makes the score of a point a smooth function of the point,
so that it can be evaluated at points that took no part, and randomises ties. The dual has a multiplier
:math:`\mu_{kg}` for each rate and group, which sum to 0 over the groups:

.. math:: F(\mu) = \sum_v m_v T \log\left(1 + e^{(c_v - \mu \cdot \rho_v)/T}\right)
          - \mu \cdot b + \tfrac12 \sum_k \epsilon_k \|\mu_k\|_1 ,

and the optimal score of a point is :math:`1/(1 + e^{-(c_v - \mu \cdot \rho_v)/T})`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize
from scipy.special import entr, expit

from fairlimits._util.types import Flags, Floats
from fairlimits.errors import SolverError

# What an optimum may leave between primal and dual value, and by how much rates may miss their limits.
_PRECISION = 1e-6

# Multipliers below this are those of rates within their limits.
_ZERO = 1e-8

_NEWTON_STEPS = 20

# Starts of the minimiser, each from where the one before ended.
_ATTEMPTS = 2


@dataclass(frozen=True, eq=False)
class Points:
    """Points to be decided.

    Parameters
    ----------
    mass : ndarray of shape (V,)
        What each counts; the sum is 1.
    gain : ndarray of shape (V,)
        What deciding 1 instead of 0 adds to accuracy, per unit of mass.
    rates : ndarray of shape (V, K, G)
        What a score of 1 adds to each rate of each group, per unit of mass.
    constant : ndarray of shape (K, G)
        The rates of the rule that always decides 0.
    defined : ndarray of bool of shape (K, G)
        Which rates exist.
    """

    mass: Floats
    gain: Floats
    rates: Floats
    constant: Floats
    defined: Flags


@dataclass(frozen=True, eq=False)
class Smoothed:
    """An optimum.

    Parameters
    ----------
    multipliers : ndarray of shape (K, G)
        They sum to 0 over the groups of each rate.
    scores : ndarray of shape (V,)
    gap : float
        What is left between the primal and the dual value.
    """

    multipliers: Floats
    scores: Floats
    gap: float


def margin(gain: Floats, rates: Floats, multipliers: Floats) -> Floats:
    """What deciding 1 is worth at each point once rates have their price."""
    return np.asarray(gain - np.einsum("vkg,kg->v", rates, multipliers))


def solve_smoothed(points: Points, limits: Floats, temperature: float, start: Floats | None = None) -> Smoothed:
    """Find the best scores.

    Parameters
    ----------
    points : Points
    limits : ndarray of shape (K,)
        Largest difference between the groups' values of each rate.
    temperature : float
        Above 0; points whose margin is within a few of it are decided at random.
    start : ndarray of shape (K, G), optional
        Multipliers to start from, such as those at a limit nearby.
    """
    free = points.defined & (points.defined.sum(axis=1, keepdims=True) >= 2)
    at = np.zeros(free.shape) if start is None else np.where(free, start, 0.0)
    # From a start nearby Newton's method alone is there in a few steps; the proof tells whether it is.
    found, excess = _checked(points, limits, temperature, _polish(points, limits, temperature, at), free)
    for _ in range(_ATTEMPTS):
        if _holds(found, excess):
            return found
        # Started anew, the minimiser forgets what it believed of the curvature, which can have been wrong.
        at = _polish(points, limits, temperature, _minimise(points, limits, temperature, at, free))
        found, excess = _checked(points, limits, temperature, at, free)
    if not _holds(found, excess):
        raise SolverError(
            f"The optimum could not be proven: limits are missed by {excess:.1e}, and the primal and dual value differ "
            f"by {found.gap:.1e}; a higher temperature may help."
        )
    return found


def _holds(found: Smoothed, excess: float) -> bool:
    return excess <= _PRECISION and abs(found.gap) <= _PRECISION


def _minimise(points: Points, limits: Floats, temperature: float, start: Floats, free: Flags) -> Floats:
    """Multipliers at the minimum of the dual, split in what is above and what is below 0."""
    where = np.flatnonzero(free)
    rate_of = where // free.shape[1]
    coefficients = points.rates.reshape(len(points.mass), -1)[:, where]
    constant = points.constant.ravel()[where]
    cost = limits[rate_of]
    equal = np.zeros((free.shape[0], 2 * len(where)))
    for column, rate in enumerate(rate_of):
        equal[rate, column], equal[rate, len(where) + column] = 1.0, -1.0
    equal = equal[equal.any(axis=1)]

    # Every feasible value lies below every dual one, and none below this: a dual value that does proves that there is
    # no feasible one.
    lowest = float(points.mass @ np.minimum(points.gain, 0)) - _PRECISION

    def value(split: Floats) -> tuple[float, Floats]:
        above, below = split[: len(where)], split[len(where) :]
        worth = (points.gain - coefficients @ (above - below)) / temperature
        scores = expit(worth)
        smooth = temperature * float(points.mass @ np.logaddexp(0.0, worth))
        slope = -(points.mass * scores) @ coefficients - constant
        total = smooth - constant @ (above - below) + cost @ above
        if total < lowest:
            raise SolverError("No scores bring the rates within their limits; give more rows, or wider tolerances.")
        return total, np.concatenate([slope + cost, -slope])

    first = start.ravel()[where]
    found = minimize(
        value,
        np.concatenate([np.maximum(first, 0), np.maximum(-first, 0)]),
        jac=True,
        method="SLSQP",
        bounds=[(0, None)] * (2 * len(where)),
        constraints={"type": "eq", "fun": lambda x: equal @ x, "jac": lambda x: equal},
        options={"ftol": 1e-13, "maxiter": 300},
    )
    multipliers = np.zeros(free.size)
    multipliers[where] = found.x[: len(where)] - found.x[len(where) :]
    return multipliers.reshape(free.shape)


def _polish(points: Points, limits: Floats, temperature: float, multipliers: Floats) -> Floats:
    """Newton's method on the optimality conditions, for the multipliers that are not 0.

    The minimiser leaves rates off their limits in the fifth or sixth digit; the conditions are smooth once it is
    known which rates lie at the upper end (multiplier above 0) and which at the lower end of their limits.
    """
    active = np.abs(multipliers) > _ZERO
    where = np.flatnonzero(active)
    if not where.size:
        return multipliers
    rate_of = where // active.shape[1]
    present = np.unique(rate_of)
    member = (rate_of[:, None] == present).astype(np.float64)
    upper = limits[rate_of] * (multipliers.ravel()[where] > 0)
    coefficients = points.rates.reshape(len(points.mass), -1)[:, where]
    constant = points.constant.ravel()[where]

    def conditions(mu: Floats, low: Floats) -> tuple[Floats, Floats]:
        scores = expit((points.gain - coefficients @ mu) / temperature)
        weight = points.mass * scores
        miss = constant + weight @ coefficients - upper - member @ low
        weight *= (1 - scores) / temperature
        return np.concatenate([miss, member.T @ mu]), coefficients.T @ (weight[:, None] * coefficients)

    mu = multipliers.ravel()[where]
    scores = expit((points.gain - coefficients @ mu) / temperature)
    rates = constant + (points.mass * scores) @ coefficients - upper
    low = member.T @ rates / member.sum(axis=0)
    miss, curvature = conditions(mu, low)
    for _ in range(_NEWTON_STEPS):
        system = np.block([[-curvature, -member], [member.T, np.zeros((len(present), len(present)))]])
        step = np.linalg.lstsq(system, -miss, rcond=None)[0]
        length = 1.0
        while length > 1e-3:
            next_mu, next_low = mu + length * step[: len(mu)], low + length * step[len(mu) :]
            next_miss, next_curvature = conditions(next_mu, next_low)
            if np.abs(next_miss).max() < np.abs(miss).max():
                break
            length /= 2
        else:
            break
        mu, low, miss, curvature = next_mu, next_low, next_miss, next_curvature
        if np.abs(miss).max() < _PRECISION * 1e-3:
            break
    polished = np.zeros(active.size)
    polished[where] = mu
    # A multiplier that crosses 0 belongs to a rate that is not at its limit: then the conditions were others.
    if (np.sign(mu) != np.sign(multipliers.ravel()[where])).any():
        return multipliers
    return polished.reshape(active.shape)


def _checked(
    points: Points, limits: Floats, temperature: float, multipliers: Floats, free: Flags
) -> tuple[Smoothed, float]:
    """Return the scores of some multipliers, the difference to their dual value, and how far limits are missed."""
    worth = margin(points.gain, points.rates, multipliers) / temperature
    scores = expit(worth)
    rates = points.constant + np.einsum("v,vkg->kg", points.mass * scores, points.rates)
    excess = 0.0
    for k in range(len(limits)):
        own = rates[k, free[k]]
        if own.size:
            excess = max(excess, float(own.max() - own.min() - limits[k]))
    entropy = entr(scores) + entr(1 - scores)
    primal = float(points.mass @ (points.gain * scores + temperature * entropy))
    dual = temperature * float(points.mass @ np.logaddexp(0.0, worth))
    dual += float(-multipliers[free] @ points.constant[free] + limits @ np.abs(multipliers).sum(axis=1) / 2)
    return Smoothed(multipliers, scores, dual - primal), excess
