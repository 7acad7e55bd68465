r"""Evidence on several sets of multipliers, as sums over kinds of people, which can be added up in parts.

The error of a bound is a sum over kinds and people of terms that are linear in the derivative :math:`d` of the bound by
the shares of groups and labels, which is known only once all kinds have been counted: term :math:`i` of the bound
:math:`j` is :math:`e_{ij} + r_i \cdot d_j`. So sums of products of the :math:`e` and :math:`r` are all that variances
and covariances need, and kinds can be worked on a block at a time, wherever they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fairlimits._util.types import Floats, Ints
from fairlimits.evaluation.ceilings.pairs import Crowd, Magnitude, magnitude

# Kinds that are worked on at a time.
_BLOCK = 1 << 16


@dataclass(frozen=True, eq=False)
class Evidence:
    """Evidence of people of some kinds on J sets of multipliers.

    Parameters
    ----------
    total : ndarray of shape (J,)
        Upper estimate of the sum of the size of m over people.
    alone : ndarray of shape (J,)
        The part of it that people without a twin have, beyond what they would have if nothing were known of them.
    gradient : ndarray of shape (J, G, 2)
        Derivative of the first by Z, tau held fixed.
    mass : ndarray of shape (G, 2)
        Weight of the people, by group and label.
    weighted : bool
        Whether they have weights.
    people : int
        How many there are.
    squares, given : ndarray of shape (F, F)
        Sums of products of terms, J of the multipliers and 2 G of the derivative: of all terms but those between kinds,
        and of those that are there where kinds are given.
    added, products : ndarray of shape (F,) and (F, F)
        Sums over people, and of products, of what one more person of a kind adds.
    """

    total: Floats
    alone: Floats
    gradient: Floats
    mass: Floats
    weighted: bool
    people: int
    squares: Floats
    given: Floats
    added: Floats
    products: Floats

    @classmethod
    def of(
        cls, crowd: Crowd, credits: Sequence[Floats], leasts: Sequence[float], heavy: float = 1.0, block: int = _BLOCK
    ) -> Evidence:
        """Gather the evidence of people.

        Parameters
        ----------
        crowd : Crowd
            The people.
        credits : sequence of ndarray of shape (G, 2)
            Z by group and label, for each set of multipliers.
        leasts : sequence of float
            Smallest tau of each, in which these people had no part either.
        heavy : float, default=1.0
            Mean of the squared weights of people set apart.
        block : int
            Kinds at a time.
        """
        kinds = len(crowd.counts)
        if kinds <= block:
            return _evidence(crowd, credits, leasts, heavy)
        first, *rest = (
            _evidence(crowd.take(np.arange(start, min(start + block, kinds))), credits, leasts, heavy)
            for start in range(0, kinds, block)
        )
        return sum(rest, first)

    def __add__(self, other: Evidence) -> Evidence:
        sums = {name: getattr(self, name) + getattr(other, name) for name in self.__dataclass_fields__}
        return Evidence(**(sums | {"weighted": self.weighted or other.weighted}))

    @property
    def errors(self) -> Floats:
        """Sums of products of all terms, those between kinds against their mean."""
        return self.squares + self.products - np.outer(self.added, self.added) / self.people


def _evidence(crowd: Crowd, credits: Sequence[Floats], leasts: Sequence[float], heavy: float) -> Evidence:
    """Gather the evidence of people of all kinds at once.

    In kinds of few people, errors are deviations from the model of other kinds: on average their squares are never too
    small, whatever the model. In kinds of many, they come from leaving out one person at a time: theirs are never too
    small either (Efron and Stein). Where kinds are not given, what one more person of each kind adds, against the mean,
    comes on top: of people without a twin that is all of the error, and no model is needed.
    """
    found = [magnitude(crowd, own, least, heavy) for own, least in zip(credits, leasts, strict=True)]
    size, mass, single, many = crowd.size, crowd.mass, crowd.size == 1, crowd.many
    groups = len(credits[0])
    by_kind = _stacked([own.total - own.expected for own in found]) / 2
    off = np.hstack([by_kind, _spread(crowd, mass - size[:, None] * crowd.chances, groups)])
    within, mean = _within(crowd, found, groups)
    two = [np.where(size == 2, 2 * own.tau - own.alone, own.tau) for own in found]
    one = _stacked([np.where(single, own.total, more) for own, more in zip(found, two, strict=True)]) / 2
    added = np.hstack([one, _spread(crowd, np.where(single[:, None], mass, crowd.chances), groups)])
    added[many] = mean[many]
    given = off[~many].T @ off[~many] + within.T @ within
    some = off[~single & ~many]
    return Evidence(
        np.array([own.total.sum() for own in found]),
        np.array([(own.total[single] - own.tau[single]).sum() for own in found]),
        np.array([own.gradient for own in found]),
        crowd.collect(mass, groups),
        crowd.weighted is not None,
        crowd.n,
        some.T @ some + within.T @ within,
        given,
        size @ added,
        (added * size[:, None]).T @ added,
    )


def _within(crowd: Crowd, found: Sequence[Magnitude], groups: int) -> tuple[Floats, Floats]:
    """Terms of the people of kinds of many, by what their kind loses without them; and their means by kind."""
    drops, kinds = found[0].drops, len(crowd.counts)
    sort = drops.sort if crowd.group is None else crowd.group[drops.kind] * 2 + drops.sort
    linear = np.zeros((len(sort), 2 * groups))
    linear[np.arange(len(sort)), sort] = drops.weight
    each = np.hstack([_stacked([own.drops.by for own in found]) / 2, linear])
    n = crowd.size[drops.kind]
    sums = [np.bincount(drops.kind, drops.times * own, minlength=kinds) for own in each.T]
    mean = np.stack(sums, axis=1) / crowd.size[:, None]
    return np.sqrt(drops.times * n / (n - 1))[:, None] * (each - mean[drops.kind]), mean


def _spread(crowd: Crowd, values: Floats, groups: int) -> Floats:
    """Values of the kinds' sorts (K, T) as values by group and label (K, 2 G)."""
    if crowd.group is None:
        return values
    out = np.zeros((len(values), groups, 2))
    out[np.arange(len(values)), crowd.group] = values
    return out.reshape(len(values), -1)


def _stacked(columns: Sequence[Floats] | Sequence[Ints]) -> Floats:
    return np.stack([np.asarray(own, dtype=np.float64) for own in columns], axis=1)
