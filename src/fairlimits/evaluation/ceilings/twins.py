"""What a ceiling needs of a table, whatever is asked: kinds of people, and what was learned from people apart.

A slice of the people is set apart, and takes no part in any bound. It says which multipliers are best, and what a
model is worth. For everybody else there is a model that was fitted to other kinds only: folds are of kinds, not of
people.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import fsum
from typing import Protocol

import numpy as np

from fairlimits._util.progress import Progress, or_silent
from fairlimits._util.types import Flags, Floats, Ints
from fairlimits.data import Dataset
from fairlimits.errors import DataError
from fairlimits.evaluation.ceilings.evidence import Evidence
from fairlimits.evaluation.ceilings.kinds import feature_kinds
from fairlimits.evaluation.ceilings.pairs import Crowd, Weighted
from fairlimits.evaluation.ceilings.strengths import find_strength
from fairlimits.law import estimate_apart

# Share of the people who are set apart: a tenth of a large table, and more of a small one, where a tenth says little.
_LEAST_SLICE, _MOST_SLICE, _ENOUGH = 0.1, 0.25, 2_000

FOLDS = 5
"""Folds of kinds."""

# Fewer people than this cannot be cut into folds and a slice that both labels are in.
_FEWEST = 50


def share_apart(rows: int) -> float:
    """Share of some people who are set apart."""
    if rows < _FEWEST:
        raise DataError(f"The table has {rows} rows that count; a ceiling needs at least {_FEWEST}. Give more people.")
    return float(np.clip(_ENOUGH / rows, _LEAST_SLICE, _MOST_SLICE))


def set_apart(data: Dataset, random_state: int) -> Flags:
    """Choose who takes no part in bounds, whatever is known of them."""
    share = share_apart(data.n_rows)
    apart = np.zeros(data.n_rows, dtype=np.bool_)
    apart[np.random.default_rng([random_state, 0]).permutation(data.n_rows)[: round(share * data.n_rows)]] = True
    return apart


@dataclass(frozen=True, eq=False)
class Apart:
    """People who take no part in bounds.

    Parameters
    ----------
    chances : ndarray of shape (s, G, 2)
        P(A, Y) of each, given all that a rule sees of them, without their own.
    strength : ndarray of shape (s,)
        How many people these chances are worth.
    size : ndarray of int of shape (s,)
        How many people of the kind of each there are in the crowd.
    weight : ndarray of shape (s,)
        Weight of each, 1 on average.
    """

    chances: Floats
    strength: Floats
    size: Ints
    weight: Floats

    @property
    def heavy(self) -> float:
        """Mean of the squared weights: 1, if all count alike."""
        return float((self.weight**2).mean())

    def take(self, which: Flags) -> Apart:
        """Return some of them."""
        weight = self.weight[which]
        return Apart(self.chances[which], self.strength[which], self.size[which], weight / weight.mean())


@dataclass(frozen=True, eq=False)
class Witnesses:
    """People set apart, and what was learned of them, which does not depend on what is asked.

    Parameters
    ----------
    kind, group, label : ndarray of int of shape (s,)
        Kind of each by the features, group and label.
    chances : ndarray of shape (s, G, 2)
        P(A, Y | x) of each, learned from other kinds among them.
    weight : ndarray of shape (s,)
        Weight of each, 1 on average.
    """

    kind: Ints
    group: Ints
    label: Ints
    chances: Floats
    weight: Floats

    @property
    def tells(self) -> Floats:
        """How many people each is worth as evidence on their own kind: fewer than one on average, if weights differ."""
        return np.asarray(self.weight / (self.weight**2).mean())

    def strength(self, aware: bool) -> float:
        """How many people a model of other kinds is worth."""
        return find_strength(*_counted(*self._seen(aware)))

    def apart(self, aware: bool, size: Ints) -> Apart:
        """The people set apart, given how many people of the kind of each there are in the crowd."""
        kind, sort, own = self._seen(aware)
        place = np.unique(kind, return_inverse=True)[1].reshape(-1)
        heard, tells = np.zeros((int(place.max()) + 1, own.shape[1])), self.tells
        np.add.at(heard, (place, sort), tells)
        # Each is told of by the others of the kind, not by themselves.
        others = heard[place]
        others[np.arange(len(sort)), sort] -= tells
        told, worth = mixed(own, self.strength(aware), np.maximum(others, 0))
        if not aware:
            return Apart(told.reshape(self.chances.shape), worth, size, self.weight)
        by_group = np.zeros_like(self.chances)
        by_group[np.arange(len(sort)), self.group] = told
        return Apart(by_group, worth, size, self.weight)

    def _seen(self, aware: bool) -> tuple[Ints, Ints, Floats]:
        kind = self.kind * self.chances.shape[1] + self.group if aware else self.kind
        return (kind, *sorts(self.group, self.label, self.chances, aware))


class Seen(Protocol):
    """People as rules see them that see the group, or do not: those that bounds are made of, and those set apart."""

    @property
    def apart(self) -> Apart:
        """Those who say what bounds to take."""

    @property
    def n(self) -> int:
        """How many people bounds are made of."""

    @property
    def rows(self) -> Ints:
        """How many people bounds are made of, by group and label, of shape (G, 2)."""

    @property
    def shares(self) -> Floats:
        """Shares of groups and labels among them, by weight, of shape (G, 2)."""

    @property
    def on_twins(self) -> Seen | None:
        """Only the people who have a twin; None if nobody has, or nobody of those set apart is like them."""

    def evidence(self, credits: Sequence[Floats], leasts: Sequence[float]) -> Evidence:
        """Evidence of the people on some sets of multipliers (see `Evidence.of`)."""


class PeopleByKind(Protocol):
    """People sorted by kind, those set apart, and what was learned of both."""

    @property
    def groups(self) -> tuple[str, ...]:
        """Names of the groups."""

    @property
    def counts(self) -> Ints:
        """Rows that count by group and label, of shape (G, 2)."""

    @property
    def n_rows(self) -> int:
        """Number of rows that count."""

    @property
    def frame_kind(self) -> str:
        """Library that `to_frame` makes a frame of."""

    def share(self, aware: bool) -> float:
        """Share of the people, by weight, who have a twin: somebody alike in all that a rule sees."""

    def kinds(self, aware: bool) -> int:
        """Number of kinds."""

    def seen(self, aware: bool) -> Seen:
        """The people as rules see them."""


@dataclass(frozen=True, eq=False)
class Sighted:
    """People in memory (see `Seen`).

    Parameters
    ----------
    crowd : Crowd
        The people that bounds are made of.
    apart : Apart
        Those who say what bounds to take.
    """

    crowd: Crowd
    apart: Apart

    @property
    def n(self) -> int:
        """How many people bounds are made of."""
        return self.crowd.n

    @property
    def rows(self) -> Ints:
        """How many people bounds are made of, by group and label."""
        return self.crowd.rows(self.apart.chances.shape[1])

    @property
    def shares(self) -> Floats:
        """Shares of groups and labels among them, by weight."""
        return self.crowd.shares(self.apart.chances.shape[1])

    @cached_property
    def on_twins(self) -> Sighted | None:
        """Only the people who have a twin; None if nobody has, or nobody of those set apart is like them."""
        several = np.flatnonzero(self.crowd.size > 1)
        alike = self.apart.size > 1
        if not len(several) or not alike.any():
            return None
        return Sighted(self.crowd.take(several), self.apart.take(alike))

    def evidence(self, credits: Sequence[Floats], leasts: Sequence[float]) -> Evidence:
        """Evidence of the people on some sets of multipliers."""
        return Evidence.of(self.crowd, credits, leasts, self.apart.heavy)


@dataclass(frozen=True, eq=False)
class Twins:
    """People by kind, those set apart, and what was learned of both.

    Parameters
    ----------
    data : Dataset
        The people, at the resolution that rules see; all count.
    kind : ndarray of int of shape (n,)
        Kind of each by the features.
    apart : ndarray of bool of shape (n,)
        Who is set apart.
    chances : ndarray of shape (n, G, 2)
        P(A, Y | x): of those set apart learned from other kinds among them, of the others from other kinds among the
        others.
    seed : int
        Seed of what is drawn.
    """

    data: Dataset
    kind: Ints
    apart: Flags
    chances: Floats
    seed: int

    @classmethod
    def of(cls, data: Dataset, apart: Flags, random_state: int = 0, progress: Progress | None = None) -> Twins:
        """Sort people into kinds, and learn."""
        tell = or_silent(progress)
        kind = feature_kinds(data)
        fold = np.random.default_rng([random_state, 1]).integers(FOLDS, size=int(kind.max()) + 1)[kind]
        chances = estimate_apart(
            data, fold, apart, random_state=random_state, progress=lambda done, words: tell(0.8 * done, words)
        )
        chances[apart] = estimate_apart(
            data.take(apart),
            fold[apart],
            random_state=random_state,
            progress=lambda done, words: tell(0.8 + 0.2 * done, words),
        )
        return cls(data, kind, apart, chances, random_state)

    @property
    def groups(self) -> tuple[str, ...]:
        """Names of the groups."""
        return self.data.groups

    @property
    def counts(self) -> Ints:
        """Rows by group and label."""
        return self.data.counts

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.data.n_rows

    @property
    def frame_kind(self) -> str:
        """Library that `to_frame` makes a frame of."""
        return self.data.frame_kind

    def seen_kind(self, aware: bool) -> Ints:
        """Kind of each person by all that a rule sees."""
        return self.kind * len(self.data.groups) + self.data.group if aware else self.kind

    def share(self, aware: bool) -> float:
        """Share of the people, by weight, who have a twin: somebody alike in all that a rule sees."""
        kind, weight = self.seen_kind(aware), self.data.shares
        # Exact sums: where all have a twin the share is 1, and not 1 but for rounding.
        return fsum(weight[np.bincount(kind)[kind] > 1]) / fsum(weight)

    def kinds(self, aware: bool) -> int:
        """Number of kinds."""
        return len(np.unique(self.seen_kind(aware)))

    def seen(self, aware: bool) -> Sighted:
        """The people as rules see them."""
        data, apart, rest = self.data, self.apart, ~self.apart
        _, first, kind = np.unique(self.seen_kind(aware), return_index=True, return_inverse=True)
        kind = kind.reshape(-1)
        sort, own = sorts(data.group, data.label.astype(np.int64), self.chances, aware)
        weight = data.shares[apart] / data.shares[apart].mean()
        witnesses = Witnesses(
            self.kind[apart], data.group[apart], data.label[apart].astype(np.int64), self.chances[apart], weight
        )
        by_kind = (len(first), own.shape[1])
        # Beside the model of other kinds, people set apart tell of their own kind, less if their weights differ.
        heard = np.zeros(by_kind)
        np.add.at(heard, (kind[apart], sort[apart]), witnesses.tells)
        counts = np.zeros(by_kind, dtype=np.int64)
        np.add.at(counts, (kind[rest], sort[rest]), 1)
        # A kind's chances by the model are those of its people in the crowd, who all have the same.
        of_kind = np.zeros(by_kind)
        of_kind[kind[rest]] = own[rest]
        of_kind, worth = mixed(of_kind, witnesses.strength(aware), heard)
        there = np.flatnonzero(counts.sum(axis=1))
        weighted = None
        if data.weight is not None:
            order = np.random.default_rng([self.seed, 2]).permutation(int(rest.sum()))
            # In units that do not depend on the people of the bound.
            units = data.weight[rest] / data.weight[apart].mean()
            weighted = in_halves(kind[rest], sort[rest], units, order)
        crowd = Crowd(counts, of_kind, worth, data.group[first] if aware else None, weighted).take(there)
        return Sighted(crowd, witnesses.apart(aware, counts.sum(axis=1)[kind[apart]]))


def sorts(group: Ints, label: Ints, chances: Floats, aware: bool) -> tuple[Ints, Floats]:
    """Sort of each of some people as rules see them, and the chances of all sorts, of shape (n, T)."""
    rows = np.arange(len(group))
    if not aware:
        return group * 2 + label, chances.reshape(len(rows), -1)
    own = chances[rows, group]
    return label, own / own.sum(axis=1, keepdims=True)


def in_halves(kind: Ints, sort: Ints, weight: Floats, order: Ints) -> Weighted:
    """People one by one, each kind of four and more in two halves, by an order that is drawn."""
    order = order[np.argsort(kind[order], kind="stable")]
    size = np.bincount(kind)
    place = np.empty(len(kind), dtype=np.int64)
    place[order] = np.arange(len(kind)) - np.repeat(np.cumsum(size) - size, size)
    half = np.where(size[kind] >= 4, place % 2, 0)
    return Weighted(kind, sort, half, weight)


def mixed(chances: Floats, strength: float, heard: Floats) -> tuple[Floats, Floats]:
    """Chances of a model of some strength together with some people, and how many people they are worth."""
    worth = strength + heard.sum(axis=1)
    return (strength * chances + heard) / worth[:, None], worth


def _counted(kind: Ints, sort: Ints, chances: Floats) -> tuple[Ints, Floats]:
    """People of each kind by sort, and the kind's chances."""
    _, first, own = np.unique(kind, return_index=True, return_inverse=True)
    counts = np.zeros((len(first), chances.shape[1]), dtype=np.int64)
    np.add.at(counts, (own.reshape(-1), sort), 1)
    return counts, chances[first]
