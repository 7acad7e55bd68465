r"""An upper estimate of the mean of \|m(X)\|, with m(x) = E[Z \| x], from pairs of people who are alike.

For any :math:`\tau > 0`, :math:`|m| \le m^2 / (2\tau) + \tau / 2`, with equality at :math:`\tau = |m|`. Where i and j
are two people of one kind, :math:`Z_i Z_j` has the mean :math:`m^2`; so the mean over pairs of

.. math:: \frac{Z_i Z_j}{2 \tau_{ij}} + \frac{\tau_{ij}}{2}

is at least :math:`|m|` on average, whatever the law, if :math:`\tau_{ij}` depends on neither group nor label of i and
j. A person who is the only one of their kind counts with :math:`|Z| \ge |m|` on average.

The best :math:`\tau` is the root of the mean square of m given all else that is known of the kind: what a model
says that was fitted to other kinds, and people of the kind who are set apart, worth :math:`c` people together, and the
other people of the kind, the pair left out. Z takes a value for each group and label, its *sort*, so that pairs need
not be enumerated: the pairs of two sorts are alike. With weights W, in units of their mean among people set apart, Z
becomes W Z, which has no sorts: then each kind is halved, and tau comes from the other half.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from fairlimits._util.types import Flags, Floats, Ints

# Entries of (kinds, sorts, sorts) that are worked on at a time.
_BLOCK = 2_000_000

# People of a kind from which on the spread of its part is read off the kind itself.
_MANY = 8


@dataclass(frozen=True, eq=False)
class Weighted:
    """People one by one, where they have weights.

    Parameters
    ----------
    kind, sort : ndarray of int of shape (n,)
        Kind and sort of each.
    half : ndarray of int of shape (n,)
        0 or 1: to which half of the kind a person belongs; kinds of fewer than four people have one half.
    weight : ndarray of shape (n,)
        1 on average among the people set apart.
    """

    kind: Ints
    sort: Ints
    half: Ints
    weight: Floats

    def take(self, which: Ints, kinds: int) -> Weighted:
        """Return the people of some of the kinds."""
        place = np.full(kinds, -1)
        place[which] = np.arange(len(which))
        kept = place[self.kind] >= 0
        return Weighted(place[self.kind[kept]], self.sort[kept], self.half[kept], self.weight[kept])


@dataclass(frozen=True, eq=False)
class Crowd:
    """People by kind and sort.

    Parameters
    ----------
    counts : ndarray of int of shape (K, T)
        How many of each kind there are of each sort: of each group and label, or of each label where kinds tell groups.
    chances : ndarray of shape (K, T)
        P(sort | kind), by a model that was fitted to other kinds and by people of the kind who are set apart, together.
    strength : ndarray of shape (K,)
        How many people of the kind these chances are worth, c.
    group : ndarray of int of shape (K,), optional
        The group of each kind, where kinds tell groups.
    weighted : Weighted, optional
        The people one by one, if they have weights.
    """

    counts: Ints
    chances: Floats
    strength: Floats
    group: Ints | None = None
    weighted: Weighted | None = None

    @cached_property
    def size(self) -> Ints:
        """Number of people of each kind."""
        return np.asarray(self.counts.sum(axis=1))

    @cached_property
    def many(self) -> Flags:
        """Which kinds have enough people for the spread of their part to be read off them."""
        return np.asarray(self.size >= _MANY)

    @property
    def n(self) -> int:
        """Number of people."""
        return int(self.counts.sum())

    @cached_property
    def mass(self) -> Floats:
        """What the people of each kind and sort count, of shape (K, T); 1 each, if they have no weights."""
        if self.weighted is None:
            return self.counts.astype(np.float64)
        own = self.weighted
        place = own.kind * self.counts.shape[1] + own.sort
        total = np.bincount(place, own.weight, minlength=self.counts.size)
        return np.asarray(total, dtype=np.float64).reshape(self.counts.shape)

    def shares(self, groups: int) -> Floats:
        """Shares of groups and labels, of shape (G, 2)."""
        total = self.collect(self.mass, groups)
        return np.asarray(total / total.sum())

    def rows(self, groups: int) -> Ints:
        """Rows of each group and label, of shape (G, 2)."""
        return self.collect(self.counts, groups).astype(np.int64)

    def local(self, by_sort: Floats) -> Floats:
        """Values by group and label (G, 2) as values of the kinds' sorts (K, T)."""
        if self.group is None:
            return np.broadcast_to(by_sort.reshape(1, -1), self.counts.shape)
        return by_sort[self.group]

    def collect(self, values: Floats | Ints, groups: int) -> Floats:
        """Sums over kinds of values of their sorts (K, T), by group and label (G, 2)."""
        if self.group is None:
            return np.asarray(values.sum(axis=0), dtype=np.float64).reshape(groups, 2)
        out = np.zeros((groups, 2))
        np.add.at(out, self.group, values)
        return out

    def take(self, which: Ints) -> Crowd:
        """Return some of the kinds."""
        group = None if self.group is None else self.group[which]
        weighted = None if self.weighted is None else self.weighted.take(which, len(self.counts))
        return Crowd(self.counts[which], self.chances[which], self.strength[which], group, weighted)


@dataclass(frozen=True, eq=False)
class Drops:
    """What kinds of many people lose without one of them: an entry for each sort or, with weights, for each person.

    Parameters
    ----------
    kind, sort : ndarray of int of shape (E,)
        Kind and sort of the person.
    times : ndarray of int of shape (E,)
        How many people the entry stands for.
    weight : ndarray of shape (E,)
        What each of them counts.
    by : ndarray of shape (E,)
        How much lower the kind's part is without one of them.
    """

    kind: Ints
    sort: Ints
    times: Ints
    weight: Floats
    by: Floats


@dataclass(frozen=True, eq=False)
class Magnitude:
    """The upper estimate of the sum of the size of m over people, kind by kind.

    Parameters
    ----------
    total : ndarray of shape (K,)
        Its part from each kind.
    expected : ndarray of shape (K,)
        What the model expects of that part, from other kinds alone.
    alone : ndarray of shape (K,)
        What the model expects of a single person's size of Z.
    tau : ndarray of shape (K,)
        Root mean square of m by the model alone.
    gradient : ndarray of shape (G, 2)
        Derivative of the sum of all parts by Z, tau held fixed.
    drops : Drops
        How the parts of kinds of many people depend on each of them.
    """

    total: Floats
    expected: Floats
    alone: Floats
    tau: Floats
    gradient: Floats
    drops: Drops


@dataclass(frozen=True, eq=False)
class _Model:
    """Mean and mean square of Z in each kind by the model, and the smallest tau, all of shape (K,)."""

    mean: Floats
    square: Floats
    floor: Floats
    strength: Floats

    @classmethod
    def of(cls, crowd: Crowd, z: Floats, least: float) -> _Model:
        square = (crowd.chances * z**2).sum(axis=1)
        floor = np.maximum(least * np.sqrt(square), np.finfo(np.float64).tiny ** 0.25)
        return cls((crowd.chances * z).sum(axis=1), square, floor, crowd.strength)

    def take(self, which: Ints) -> _Model:
        return _Model(self.mean[which], self.square[which], self.floor[which], self.strength[which])

    def tau(self) -> Floats:
        return root(self.mean, self.square, self.strength, self.floor)


def magnitude(crowd: Crowd, credit: Floats, least: float, heavy: float = 1.0) -> Magnitude:
    """Bound the sum of the size of m over people from above.

    Parameters
    ----------
    crowd : Crowd
        The people.
    credit : ndarray of shape (G, 2)
        Z by group and label.
    least : float
        Smallest tau, as a share of the root mean square of Z in a kind by the model.
    heavy : float, default=1.0
        Mean of the squared weights of people set apart.
    """
    z = crowd.local(credit)
    model = _Model.of(crowd, z, least)
    tau, alone = model.tau(), (crowd.chances * np.abs(z)).sum(axis=1)
    if crowd.weighted is None:
        total, slope = _of_sorts(crowd.counts, z, model)
        drops = _drops(crowd, z, model, total)
    else:
        total, slope, drops = _of_halves(crowd, crowd.weighted, z, model, heavy)
    expected = np.where(crowd.size == 1, alone, crowd.size * tau)
    return Magnitude(total, expected, alone, tau, crowd.collect(slope, len(credit)), drops)


def _of_sorts(counts: Ints, z: Floats, model: _Model) -> tuple[Floats, Floats]:
    """Parts of all kinds (K,), and their derivatives by the Z of each sort (K, T); all people count alike."""
    size = counts.sum(axis=1)
    single = size == 1
    total, slope = np.zeros(len(z)), np.zeros(z.shape)
    total[single] = (counts[single] * np.abs(z[single])).sum(axis=1)
    slope[single] = counts[single] * np.sign(z[single])
    several = np.flatnonzero(size > 1)
    step = max(_BLOCK // z.shape[1] ** 2, 1)
    for start in range(0, len(several), step):
        which = several[start : start + step]
        total[which], slope[which] = _of_pairs(counts[which], z[which], model.take(which))
    return total, slope


def _drops(crowd: Crowd, z: Floats, model: _Model, total: Floats) -> Drops:
    """What kinds of many people lose without a person of each sort that there is."""
    kind, sort = np.nonzero(crowd.counts * crowd.many[:, None])
    left = crowd.counts[kind]
    left[np.arange(len(kind)), sort] -= 1
    by = total[kind] - _of_sorts(left, z[kind], model.take(kind))[0]
    return Drops(kind, sort, crowd.counts[kind, sort], np.ones(len(kind)), by)


def _of_pairs(counts: Ints, z: Floats, model: _Model) -> tuple[Floats, Floats]:
    """Parts of kinds of several people, and their derivatives by the Z of each sort."""
    size = counts.sum(axis=1)
    rest = (model.strength + size - 2)[:, None, None]
    # First and second moment of Z in the kind, without the pair.
    first = model.strength * model.mean + (counts * z).sum(axis=1)
    second = model.strength * model.square + (counts * z**2).sum(axis=1)
    left = (first[:, None, None] - z[:, :, None] - z[:, None, :]) / rest
    left_square = (second[:, None, None] - (z**2)[:, :, None] - (z**2)[:, None, :]) / rest
    tau = root(left, left_square, rest, model.floor[:, None, None])
    pairs = counts[:, :, None] * (counts[:, None, :] - np.eye(z.shape[1])) / (size - 1)[:, None, None]
    product = z[:, :, None] * z[:, None, :]
    total = (pairs * (product / tau + tau)).sum(axis=(1, 2)) / 2
    return total, (pairs * z[:, None, :] / tau).sum(axis=2)


def _of_halves(crowd: Crowd, people: Weighted, z: Floats, model: _Model, heavy: float) -> tuple[Floats, Floats, Drops]:
    """Parts of all kinds of people with weights, their derivatives by the Z of sorts, and what each person adds."""
    half = people.kind * 2 + people.half
    count = 2 * len(z)
    value = people.weight * z[people.kind, people.sort]
    size = np.bincount(half, minlength=count)
    first, second = (np.bincount(half, own, minlength=count).astype(np.float64) for own in (value, value**2))

    def tau_of(which: Ints, first: Floats, second: Floats, size: Ints) -> Floats:
        """Tau of halves, from the sums of their other halves."""
        own, strength = which // 2, model.strength[which // 2]
        rest = strength + size
        mean = (strength * model.mean[own] + first) / rest
        return root(mean, (strength * heavy * model.square[own] + second) / rest, rest, model.floor[own])

    every = np.arange(count)
    tau = tau_of(every, first[every ^ 1], second[every ^ 1], size[every ^ 1])
    part = _of_sums(first, second, size, tau)
    slope = np.sign(value)
    several = size[half] > 1
    slope[several] = ((first[half] - value) / np.maximum(size[half] - 1, 1) / tau[half])[several]
    place = people.kind * z.shape[1] + people.sort
    by_sort = np.asarray(np.bincount(place, slope * people.weight, minlength=z.size), dtype=np.float64)
    # Without a person the half has other sums, and the other half another tau.
    who = np.flatnonzero(crowd.many[people.kind])
    own, other = half[who], half[who] ^ 1
    left = (first[own] - value[who], second[own] - value[who] ** 2, size[own] - 1)
    without = _of_sums(*left, tau[own]) + _of_sums(first[other], second[other], size[other], tau_of(other, *left))
    by = part[own] + part[other] - without
    drops = Drops(people.kind[who], people.sort[who], np.ones(len(who), dtype=np.int64), people.weight[who], by)
    return part.reshape(-1, 2).sum(axis=1), by_sort.reshape(z.shape), drops


def _of_sums(first: Floats, second: Floats, size: Ints, tau: Floats) -> Floats:
    """Parts of people, from the sums of their values and squares: means over pairs times the number of people."""
    pairs = (first**2 - second) / np.maximum(size - 1, 1) / tau
    return np.where(size > 1, (pairs + size * tau) / 2, np.sqrt(np.maximum(second, 0)) * (size > 0))


def root(mean: Floats, square: Floats, people: Floats | float, floor: Floats | float) -> Floats:
    """Root of the mean square of m, from the mean and mean square of Z and how many people they rest on."""
    return np.sqrt(np.maximum(mean**2 + np.maximum(square - mean**2, 0) / (people + 1), floor**2))
