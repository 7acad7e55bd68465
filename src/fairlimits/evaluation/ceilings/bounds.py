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
from fairlimits.evaluation.ceilings.pairs import Crowd, Magnitude, magnitude
from fairlimits.evaluation.ceilings.questions import Lagrangian, Question

# Step of the numerical derivative by shares, which are of the order of 1 / G.
_STEP = 1e-6


@dataclass(frozen=True, eq=False)
class Bound:
    """A bound for one set of multipliers, at any tolerances.

    Parameters
    ----------
    duals : ndarray of shape (R,)
        The multipliers.
    lagrangian : Lagrangian
        The question at the people's shares.
    free : float
        The part of the bound that does not depend on the tolerances.
    alone : float
        The part of it that people without a twin have, beyond what they would have if nothing were known of them.
    errors : ndarray of shape (D,)
        Independent errors of the bound, for people drawn from the law: sums of their squares, and of products with
        those of another bound, are its variance and their covariance.
    given_kinds : ndarray of shape (D,)
        The same for people of the kinds that there are: only groups and labels are drawn.
    """

    duals: Floats
    lagrangian: Lagrangian
    free: float
    alone: float
    errors: Floats
    given_kinds: Floats

    def value(self, tolerances: Mapping[str, float]) -> float:
        """The bound at some tolerances."""
        return self.free + self.lagrangian.constant(self.duals, tolerances)


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
        For each group and label that there are: the shares, and the question, with a little more and a little less of
        it.
    tolerances : mapping of str to float
        Bounds of rows are sums of a tolerance and of a part that depends on shares: any tolerances will do.
    """

    shares: Floats
    lagrangian: Lagrangian
    moved: tuple[tuple[tuple[int, ...], Floats, Lagrangian, Floats, Lagrangian], ...]
    tolerances: Mapping[str, float]

    @classmethod
    def of(cls, question: Question, crowd: Crowd) -> Near:
        """Read a question at the shares of some people."""
        shares = crowd.shares(len(question.groups))
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


def find_bound(near: Near, crowd: Crowd, duals: Floats, least: float, heavy: float = 1.0) -> Bound:
    """Bound the objective of all rules that keep what is asked.

    Parameters
    ----------
    near : Near
        The question at the shares of the people, and near them.
    crowd : Crowd
        The people.
    duals : ndarray of shape (R,)
        The multipliers, which these people had no part in.
    least : float
        Smallest tau, in which they had no part either.
    heavy : float, default=1.0
        Mean of the squared weights of people set apart.
    """
    shares, lagrangian = near.shares, near.lagrangian
    credit, every = lagrangian.credit(duals), float(crowd.mass.sum())
    found = magnitude(crowd, credit, least, heavy)
    slope = near.slope(duals, found.gradient / every)
    free = float((shares * credit).sum() + found.total.sum() / every) / 2
    single = crowd.size == 1
    alone = float((found.total[single] - found.tau[single]).sum()) / every / 2
    errors, given = _errors(crowd, found, slope)
    return Bound(duals, lagrangian, free, alone, errors / every, given / every)


def _errors(crowd: Crowd, found: Magnitude, slope: Floats) -> tuple[Floats, Floats]:
    """Errors of the sum over people, and those where kinds are given.

    Of kinds of some people against the model of other kinds, which is never too small on average, whatever the model.
    Of kinds of many by leaving out one person after the other, which is not either (Efron and Stein). Where kinds are
    not given, what one more person of each kind adds, against the mean, comes on top. Of people without a twin all of
    the error is there, and no model is needed.
    """
    linear, size, mass = crowd.local(slope), crowd.size, crowd.mass
    single, many = size == 1, crowd.many
    # Of people with weights the bound is a ratio: so much belongs to each unit of weight.
    unit = 0.0 if crowd.weighted is None else (found.total.sum() / 2 + (mass * linear).sum()) / mass.sum()
    linear = linear - unit
    off = (found.total - found.expected) / 2 + ((mass - size[:, None] * crowd.chances) * linear).sum(axis=1)
    drops = found.drops
    each, n = drops.by / 2 + drops.weight * linear[drops.kind, drops.sort], size[drops.kind]
    mean = np.bincount(drops.kind, drops.times * each, minlength=len(size)) / size
    within = np.sqrt(drops.times * n / (n - 1)) * (each - mean[drops.kind])
    added = np.where(single, found.total, np.where(size == 2, 2 * found.tau - found.alone, found.tau)) / 2
    added = added + (np.where(single[:, None], mass, crowd.chances) * linear).sum(axis=1)
    added[many] = mean[many]
    between = np.sqrt(size) * (added - size @ added / size.sum())
    return np.concatenate([off[~single & ~many], within, between]), np.concatenate([off[~many], within])
