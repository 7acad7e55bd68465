r"""A bound on what any rule attains, from weak duality and pairs of people who are alike, with its standard error.

For multipliers :math:`\nu` that were found on other people, the bound is

.. math:: B = c(\nu) + \tfrac12 \mathrm{E}[Z] + \tfrac12 \mathrm{E}\,|m(X)|

with the constant of `fairlimits.evaluation.ceilings.questions` and the magnitude of
`fairlimits.evaluation.ceilings.pairs`, because
:math:`\max(0, m) = (m + |m|) / 2`. The shares of groups and labels in c and Z are those of the same people.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from fairlimits._util.types import Floats
from fairlimits.evaluation.ceilings.evidence import Evidence
from fairlimits.evaluation.ceilings.questions import Lagrangian, Question

# Step of the numerical derivative by shares, which are of the order of 1 / G.
_STEP = 1e-6


@dataclass(frozen=True, eq=False)
class Bounds:
    """A bound for each of some sets of multipliers, at any tolerances.

    Parameters
    ----------
    duals : ndarray of shape (J, R)
        The multipliers.
    lagrangian : Lagrangian
        The question at the people's shares.
    free : ndarray of shape (J,)
        The part of each bound that does not depend on the tolerances.
    alone : ndarray of shape (J,)
        The part of it that people without a twin have, beyond what they would have if nothing were known of them.
    covariance : ndarray of shape (J, J)
        Of the errors of the bounds, for people drawn from the law.
    given_kinds : ndarray of shape (J, J)
        The same for people of the kinds that there are: only groups and labels are drawn.
    """

    duals: Floats
    lagrangian: Lagrangian
    free: Floats
    alone: Floats
    covariance: Floats
    given_kinds: Floats

    def values(self, tolerances: Mapping[str, float]) -> Floats:
        """The bounds at some tolerances."""
        return self.free + [self.lagrangian.constant(own, tolerances) for own in self.duals]


@dataclass(frozen=True, eq=False)
class Near:
    """A question at shares of groups and labels, and at shares a little off, for derivatives.

    Parameters
    ----------
    shares : ndarray of shape (G, 2)
        The shares.
    lagrangian : Lagrangian
        The question there.
    moved : tuple of (place, shares, Lagrangian, shares, Lagrangian)
        For each group and label that occur: the shares, and the question, with a little more and a little less of
        it.
    tolerances : mapping of str to float
        Bounds of rows are sums of a tolerance and of a part that depends on shares: any tolerances will do.
    """

    shares: Floats
    lagrangian: Lagrangian
    moved: tuple[tuple[tuple[int, ...], Floats, Lagrangian, Floats, Lagrangian], ...]
    tolerances: Mapping[str, float]

    @classmethod
    def of(cls, question: Question, shares: Floats) -> Near:
        """Read a question at the shares of some people."""
        moved = []
        for place in zip(*np.nonzero(shares), strict=True):
            sides: list[Any] = []
            for sign in (1, -1):
                own = shares.copy()
                own[place] *= 1 + sign * _STEP
                own /= own.sum()
                sides += [own, question.at(own)]
            moved.append((place, *sides))
        return cls(shares, question.at(shares), tuple(moved), dict.fromkeys(question.notions, 0.0))

    def slope(self, duals: Floats, gradient: Floats) -> Floats:
        """Derivative of the bound by the shares (G, 2), through the constant, E[Z], and Z in the magnitude.

        Parameters
        ----------
        duals : ndarray of shape (R,)
        gradient : ndarray of shape (G, 2)
            Derivative of the magnitude by Z.
        """
        out = np.zeros(self.shares.shape)
        for place, more, above, less, below in self.moved:
            difference = 0.0
            for sign, shares, lagrangian in ((1, more, above), (-1, less, below)):
                credit = lagrangian.credit(duals)
                constant = lagrangian.constant(duals, self.tolerances)
                difference += sign * (constant + float(((shares + gradient) * credit).sum()) / 2)
            out[place] = difference / (2 * _STEP * self.shares[place])
        return out


def find_bounds(near: Near, duals: Floats, found: Evidence) -> Bounds:
    """Bound the objective of all rules that keep what is asked.

    Parameters
    ----------
    near : Near
        The question at the shares of the people, and near them.
    duals : ndarray of shape (J, R)
        The multipliers, which these people had no part in.
    found : Evidence
        The people's evidence on them.
    """
    every = float(found.mass.sum())
    credits = [near.lagrangian.credit(own) for own in duals]
    slopes = [near.slope(own, gradient / every) for own, gradient in zip(duals, found.gradient, strict=True)]
    free = [
        float((near.shares * own).sum() + total / every) / 2 for own, total in zip(credits, found.total, strict=True)
    ]
    # With weights a bound is a ratio, so each person's term counts as a deviation from the mean per unit of weight.
    unit = [
        float(total / 2 + (found.mass * own).sum()) / every if found.weighted else 0.0
        for own, total in zip(slopes, found.total, strict=True)
    ]
    moved = np.array([own.reshape(-1) - less for own, less in zip(slopes, unit, strict=True)])
    errors = np.vstack([np.eye(len(duals)), moved.T]) / every
    return Bounds(
        duals,
        near.lagrangian,
        np.array(free),
        found.alone / every / 2,
        errors.T @ found.errors @ errors,
        errors.T @ found.given @ errors,
    )
