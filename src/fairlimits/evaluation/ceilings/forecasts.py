r"""Which multipliers to take, and which smallest tau: those whose limit is the lowest, as people set apart forecast it.

The multipliers of the true optimum are not those of the lowest bound: people without a twin, and what is lost by
:math:`\tau`, move it. What the bound will come to is forecast from people set apart: from their chances by models of
other kinds, worth c people, and from the number of their kind in the crowd. The kind's law is drawn around the model's
(a Dirichlet law of strength c), then the other people of a pair are drawn from that, and

.. math:: \tau^2 = \mathrm{E}[m]^2 + \mathrm{Var}(Z) / (c + n - 1)

given all of that. The sum of all :math:`\tau` is convex in the multipliers, like the rest of the bound.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.optimize import minimize

from fairlimits._util.types import Floats
from fairlimits.evaluation.ceilings.pairs import root
from fairlimits.evaluation.ceilings.questions import Lagrangian, Question
from fairlimits.evaluation.ceilings.twins import Seen
from fairlimits.solvers import Program

LEAST_TAUS = (0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.6, 0.8, 1.0)
"""Smallest tau, as a share of the root mean square of Z in a kind by the model: one of these."""

# Number of kinds that are drawn; where fewer people are set apart, several for each.
_DRAWS = 8_000

# Multipliers are compared, and rounded, in units in which they change Z by about 1.
_DIGITS = 4


@dataclass(frozen=True, eq=False)
class Forecast:
    """What bounds will come to, as people set apart forecast it.

    Parameters
    ----------
    lagrangian : Lagrangian
        The question at the shares of these people.
    shares : ndarray of shape (G, 2)
        Their shares of groups and labels.
    known : ndarray of shape (G, 2)
        The part of these shares that belongs to people of whom a bound takes everything to be known.
    model, told : ndarray of shape (S, G * 2)
        Of people with a twin, or of several draws for each: the chances by the model, and given the other people of a
        pair's kind.
    people : ndarray of shape (S,)
        How many people these chances rest on, those of the model and of the kind.
    size : ndarray of shape (S,)
        How many people of the kind there are.
    mass : ndarray of shape (S,)
        Weight of each, as a share of all people set apart.
    times : int
        Draws for each person.
    n : float
        How many people the bound rests on: fewer than there are, if they have weights.
    quantile : float
        How many standard errors the limit lies above the value.
    """

    lagrangian: Lagrangian
    shares: Floats
    known: Floats
    model: Floats
    told: Floats
    people: Floats
    size: Floats
    mass: Floats
    times: int
    n: float
    quantile: float

    @classmethod
    def of(cls, question: Question, people: Seen, quantile: float) -> Forecast:
        """Draw what is needed of the people set apart."""
        apart, sorts = people.apart, question.counts.size
        # Half a person of each group and label besides, of whom all is known: no rate is then without people.
        few = np.where(question.counts > 0, 0.5, 0.0)
        every = apart.weight.sum() + few.sum()
        alone = apart.size < 2
        known = (np.tensordot(apart.weight[alone], apart.chances[alone], axes=1) + few) / every
        shares = known + np.tensordot(apart.weight[~alone], apart.chances[~alone], axes=1) / every
        twins = np.flatnonzero(~alone)
        times = -(-_DRAWS // max(len(twins), 1))
        drawn = np.tile(twins, times)
        rng = np.random.default_rng(0)
        model, others = apart.chances[drawn].reshape(-1, sorts), apart.size[drawn] - 2
        strength = apart.strength[drawn]
        prior = strength[:, None] * model
        law = rng.gamma(prior) + 1e-12 * model
        law /= law.sum(axis=1, keepdims=True)
        told = (prior + rng.multinomial(others, law)) / (strength + others)[:, None]
        mass = apart.weight[drawn] / (every * times)
        return cls(
            question.at(shares),
            shares,
            known,
            model,
            told,
            np.asarray(strength + others),
            np.asarray(others + 2.0),
            mass,
            times,
            people.n / apart.heavy,
            quantile,
        )

    @cached_property
    def _unit(self) -> Floats:
        """Largest change of Z by a multiplier of 1, for each row."""
        return np.asarray(np.abs(self.lagrangian.form).reshape(len(self.lagrangian.form), -1).max(axis=1))

    def optimum(self, grid: list[dict[str, float]]) -> Floats:
        """Multipliers of the best rules, of shape (len(grid), R), if the chances were all that can be known.

        Raises
        ------
        InfeasibleError
            If not even a rule that knows all that a bound takes to be known can keep the rows.
        """
        lagrangian, known = self.lagrangian, self.known.reshape(1, -1)
        # Each person once.
        first = len(self.model) // self.times
        chances = self.times * self.mass[:first, None] * self.model[:first]
        form = lagrangian.form.reshape(len(lagrangian.form), -1)
        gain = lagrangian.gain.reshape(-1)
        extra = lagrangian.rows.matrix[:, lagrangian.rows.n_scores :]
        forms = np.hstack([form @ chances.T, form * known, extra])
        cost = np.concatenate([chances @ gain, gain * known[0], np.zeros(extra.shape[1])])
        program = Program(cost, np.zeros(len(cost)), np.ones(len(cost)))
        program.add_dense_rows(forms, np.zeros(len(forms)), np.zeros(len(forms)))
        found = []
        for tolerances in grid:
            program.set_row_bounds(lagrangian.rows.lower(tolerances), lagrangian.rows.upper(tolerances))
            found.append(program.solve().duals[: len(forms)])
        return np.array(found)

    def choose(self, grid: list[dict[str, float]]) -> Floats:
        """Multipliers of the lowest limit at each of some tolerances, of shape (len(grid), R)."""
        rows = len(self.lagrangian.form)
        if not rows:
            return np.zeros((len(grid), 0))
        found = []
        for tolerances, optimum in zip(grid, self.optimum(grid), strict=True):
            tried = [np.zeros(rows), optimum, self._descend(tolerances, optimum)]
            # Multipliers that bounds of other tolerances share cost less confidence.
            tried = [np.round(own * self._unit, _DIGITS) / self._unit for own in tried]
            found.append(min(tried, key=lambda own: self.limit(own, tolerances)))
        return np.array(found)

    def least(self, duals: Floats) -> float:
        """Smallest tau: the larger it is, the smaller is the variance, and the larger the mean."""
        return LEAST_TAUS[int(np.argmin(self._heights(duals)))]

    def limit(self, duals: Floats, tolerances: Mapping[str, float]) -> float:
        """The forecast of the limit."""
        credit = self.lagrangian.credit(duals)
        known = float((self.shares * credit + self.known * np.abs(credit)).sum()) / 2
        return self.lagrangian.constant(duals, tolerances) + known + min(self._heights(duals))

    def _heights(self, duals: Floats) -> list[float]:
        """What people with a twin add to the limit, mean and standard error, for each smallest tau."""
        z = self.lagrangian.credit(duals).reshape(-1)
        mean, square, usual = self.told @ z, self.told @ z**2, np.sqrt(self.model @ z**2)
        spread, best = np.maximum(square - mean**2, 0), root(mean, square, self.people, 0.0)
        found = []
        for least in LEAST_TAUS:
            tau = np.maximum(best, np.maximum(least * usual, np.finfo(np.float64).tiny ** 0.25))
            variance = self.mass @ (spread * (1 + mean / tau) ** 2 / 4 + (spread / tau) ** 2 / (8 * (self.size - 1)))
            found.append(
                float(self.mass @ (best**2 / tau + tau)) / 4 + self.quantile * float(np.sqrt(variance / self.n))
            )
        return found

    def _descend(self, tolerances: Mapping[str, float], start: Floats) -> Floats:
        """Minimise the forecast of the bound, which is convex, but for the standard error.

        Variables are both signs of the multipliers, in units, the size of Z of known people, and what variables that
        rows share add.
        """
        lagrangian, unit = self.lagrangian, self._unit
        rows, sorts = len(unit), self.shares.size
        upper, lower = (
            np.asarray(own) / unit for own in (lagrangian.rows.upper(tolerances), lagrangian.rows.lower(tolerances))
        )
        form = lagrangian.form.reshape(rows, -1) / unit[:, None]
        extra = lagrangian.rows.matrix[:, lagrangian.rows.n_scores :] / unit[:, None]
        gain, shares, known = (own.reshape(-1) for own in (lagrangian.gain, self.shares, self.known))
        price = np.concatenate([np.where(np.isfinite(upper), upper, 0), np.where(np.isfinite(lower), -lower, 0)])
        price = np.concatenate([price, known / 2, np.ones(extra.shape[1])])

        def expected(at: Floats) -> tuple[float, Floats]:
            z = gain - (at[:rows] - at[rows : 2 * rows]) @ form
            mean, square = self.told @ z, self.told @ z**2
            tau = np.maximum(root(mean, square, self.people, 0.0), np.finfo(np.float64).tiny ** 0.25)
            value = price @ at + shares @ z / 2 + self.mass @ tau / 2
            # tau^2 is (1 - w) mean^2 + w square, with w = 1 / (people + 1).
            own, w = self.mass / tau, 1 / (self.people + 1)
            by_z = shares / 2 + ((own * (1 - w) * mean) @ self.told + ((own * w) @ self.told) * z) / 2
            slope = -form @ by_z
            return float(value), price + np.concatenate([slope, -slope, np.zeros(len(at) - 2 * rows)])

        # Known people's |Z|, and the shared variables' part, are at least these.
        both = np.hstack([form.T, -form.T])
        matrix = np.vstack(
            [
                np.hstack([both, np.eye(sorts), np.zeros((sorts, extra.shape[1]))]),
                np.hstack([-both, np.eye(sorts), np.zeros((sorts, extra.shape[1]))]),
                np.hstack([extra.T, -extra.T, np.zeros((extra.shape[1], sorts)), np.eye(extra.shape[1])]),
            ]
        )
        least = np.concatenate([gain, -gain, np.zeros(extra.shape[1])])
        x = start * unit
        first = np.concatenate(
            [np.maximum(x, 0), np.maximum(-x, 0), np.abs(gain - x @ form), np.maximum(-x @ extra, 0)]
        )
        ends = [(0, None if np.isfinite(own) else 0) for own in (*upper, *lower)]
        ends += [(0, None)] * (len(first) - 2 * rows)
        found = minimize(
            expected,
            first,
            jac=True,
            method="SLSQP",
            bounds=ends,
            constraints={"type": "ineq", "fun": lambda at: matrix @ at - least, "jac": lambda at: matrix},
            options={"maxiter": 100, "ftol": 1e-7},
        )
        at = found.x if np.isfinite(found.x).all() else first
        return np.asarray((at[:rows] - at[rows : 2 * rows]) / unit)
