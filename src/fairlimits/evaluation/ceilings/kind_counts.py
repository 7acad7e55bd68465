"""People of a table in parts, counted by kind: what a ceiling needs to know of rows that are not in memory.

A kind is known by a hash of its features. Who is set apart, or learned from, is drawn once all people who are alike in
everything have been counted: a coin for each of them amounts to one binomial draw. So it depends on nothing but
the seed and on who there is: neither on the order of the rows nor on the parts in which they are read. (A hash of the
features would set whole kinds apart, and one of group and label too all of those who differ from their twins in these.)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from fairlimits._util.types import Floats, Ints
from fairlimits.data import Dataset, Entries, Part, Reader, array_keys, key_draws
from fairlimits.evaluation.ceilings.kinds import Resolution, coarsen
from fairlimits.evaluation.ceilings.pairs import Crowd
from fairlimits.evaluation.ceilings.twins import in_halves, mixed
from fairlimits.law import SplitLaw

Keys = NDArray[np.uint64]

# Decimals kept of chances: further ones depend on how many rows are multiplied at a time.
_DECIMALS = 12


def feature_keys(data: Dataset) -> Keys:
    """Key of each person's kind, by the features alone."""
    return array_keys(data.columns.values(), "kind")


@dataclass(frozen=True, eq=False)
class KindModels:
    """What was learned for the kinds of each fold from other kinds.

    Parameters
    ----------
    laws : tuple of SplitLaw
        One for each fold.
    random_state : int
        Seed of the folds.
    """

    laws: tuple[SplitLaw, ...]
    random_state: int

    def chances(self, columns: Mapping[str, NDArray[Any]], keys: Keys) -> Floats:
        """P(A, Y | x) of some kinds, of shape (n, 2 G)."""
        fold = folds_of(keys, len(self.laws), self.random_state)
        found = np.empty((len(keys), 2 * len(self.laws[0].codes.schema.groups)))
        for k in np.unique(fold).tolist():
            own = np.flatnonzero(fold == k)
            q = self.laws[k].predict({name: values[own] for name, values in columns.items()}, len(own))
            found[own] = q.reshape(len(own), -1)
        return np.round(found, _DECIMALS)


def folds_of(keys: Keys, folds: int, random_state: int) -> Ints:
    """Fold of each kind."""
    return np.asarray((key_draws(array_keys([keys], f"{random_state} fold")) * folds).astype(np.int64))


@dataclass(frozen=True, eq=False)
class CountKinds:
    """Counts the people of a part by kind: small, so that it can be sent to where the parts are.

    Parameters
    ----------
    reader : Reader
        Reads the parts.
    steps : mapping of str to float
        Steps in which rules see features.
    models : KindModels, optional
        What is said of each kind.
    """

    reader: Reader
    steps: Resolution
    models: KindModels | None

    def __call__(self, part: Part, frame: Any) -> Entries | None:
        """Count the people of one part; None if no row of it counts."""
        rows = read_counted(self.reader, part, frame)
        if rows is None:
            return None
        seen = coarsen(rows, self.steps)
        key = feature_keys(seen)
        fields: list[Any] = [("key", "u8"), ("full", "u8"), ("sort", "i4"), ("times", "i8"), ("weight", "f8")]
        if self.models is not None:
            fields.append(("chances", "f8", (2 * len(rows.groups),)))
        found = np.empty(rows.n_rows, np.dtype(fields))
        found["key"], found["full"] = key, feature_keys(rows) if self.steps else key
        found["sort"], found["times"] = rows.group * 2 + rows.label, 1
        found["weight"] = 1.0 if rows.weight is None else rows.weight
        found = merged(found)
        if self.models is not None:
            keys, first = np.unique(key, return_index=True)
            columns = {name: values[first] for name, values in seen.columns.items()}
            found["chances"] = self.models.chances(columns, keys)[np.searchsorted(keys, found["key"])]
        return found


def read_counted(reader: Reader, part: Part, frame: Any) -> Dataset | None:
    """Read the rows of a part that count; None if there are none."""
    rows = reader(part, frame)
    if rows is not None and rows.weight is not None:
        rows = rows.take(rows.weight > 0)
    return rows if rows is not None and rows.n_rows else None


def merged(entries: Entries) -> Entries:
    """Entries in order, those of people who are alike in everything added up."""
    names = ("key", "full", "sort", "weight")
    entries = entries[np.lexsort([entries[name] for name in reversed(names)])]
    new = np.ones(len(entries), dtype=np.bool_)
    new[1:] = np.any([entries[name][1:] != entries[name][:-1] for name in names], axis=0)
    first = np.flatnonzero(new)
    found = entries[first]
    found["times"] = np.add.reduceat(entries["times"], first)
    return found


def drawn(entries: Entries, times: Ints, share: float, purpose: str) -> Ints:
    """How many of `times` people who are alike in everything are drawn, each with the probability `share`."""
    if share >= 1:
        return times
    draws = key_draws(array_keys([entries["full"], entries["sort"], entries["weight"]], purpose))
    found = np.where(times > 0, draws < share, 0).astype(np.int64)
    several = times > 1
    found[several] = np.maximum(binom.ppf(draws[several], times[several], share), 0)
    return found


@dataclass(frozen=True)
class SetApart:
    """Says who of the people of a bucket is set apart.

    Parameters
    ----------
    share : float
        Probability of each person to be set apart.
    random_state : int
        Seed.
    """

    share: float
    random_state: int

    def __call__(self, entries: Entries) -> Entries:
        """Add up what the parts counted, and draw."""
        entries = merged(entries)
        apart = drawn(entries, entries["times"], self.share, f"{self.random_state} apart")
        found = np.empty(len(entries), np.dtype([*entries.dtype.descr, ("apart", "i8")]))
        for name in entries.dtype.names or ():
            found[name] = entries[name]
        found["apart"] = apart
        return found


def to_learn_from(share: float, random_state: int, number: int, entries: Entries) -> Entries:
    """Who of a bucket is set apart, and who of the others is learned from, as counts."""
    learned = drawn(entries, entries["times"] - entries["apart"], share, f"{random_state} learned")
    kept = (entries["apart"] > 0) | (learned > 0)
    fields = [("full", "u8"), ("sort", "i4"), ("weight", "f8"), ("apart", "i8"), ("learned", "i8")]
    found = np.empty(int(kept.sum()), np.dtype(fields))
    for name in ("full", "sort", "weight", "apart"):
        found[name] = entries[name][kept]
    found["learned"] = learned[kept]
    return found


@dataclass(frozen=True)
class Sight:
    """How the people of a bucket are seen.

    Parameters
    ----------
    groups : int
        Number of groups.
    aware : bool
        Whether rules see the group.
    weighted : bool
        Whether people have weights.
    unit, heavy : float
        Mean weight of the people set apart, and the mean of their squared weights in this unit.
    strength : float
        How many people a model of other kinds is worth.
    random_state : int
        Seed of who is in which half of a kind.
    on_twins : bool
        Whether only people with a twin are looked at.
    """

    groups: int
    aware: bool
    weighted: bool
    unit: float
    heavy: float
    strength: float
    random_state: int
    on_twins: bool = False

    def kinds(self, entries: Entries) -> tuple[Ints, Ints, Keys, Ints]:
        """Kind and sort of each entry; and key of each kind, and which group it is of if that is seen."""
        new = np.ones(len(entries), dtype=np.bool_)
        new[1:] = entries["key"][1:] != entries["key"][:-1]
        kind, keys, sort = np.cumsum(new) - 1, entries["key"][new], entries["sort"].astype(np.int64)
        if not self.aware:
            return kind, sort, keys, np.zeros(len(keys), dtype=np.int64)
        group = np.tile(np.arange(self.groups), len(keys))
        return kind * self.groups + sort // 2, sort % 2, np.repeat(keys, self.groups), group

    def crowd(self, entries: Entries) -> tuple[Crowd, Keys]:
        """People that bounds are made of, and the keys of their kinds."""
        kind, sort, keys, group = self.kinds(entries)
        shape = (len(keys), 2 if self.aware else 2 * self.groups)
        times = entries["times"] - entries["apart"]
        counts = _sums(kind, sort, times, shape).astype(np.int64)
        # Beside the model of other kinds, people set apart tell of their own kind, less if their weights differ.
        tells = entries["apart"] * (entries["weight"] / self.unit / self.heavy)
        _, first = np.unique(entries["key"], return_index=True)
        own = entries["chances"][first].reshape(-1, self.groups, 2)
        own = (own / own.sum(axis=2, keepdims=True) if self.aware else own).reshape(shape)
        chances, worth = mixed(own, self.strength, _sums(kind, sort, tells, shape))
        weighted = None
        if self.weighted:
            who = np.repeat(np.arange(len(entries)), times)
            copy = np.arange(len(who)) - np.repeat(np.cumsum(times) - times, times)
            person = [entries[name][who] for name in ("full", "sort", "weight")]
            order = np.argsort(array_keys([*person, copy], f"{self.random_state} half"), kind="stable")
            weighted = in_halves(kind[who], sort[who], person[2] / self.unit, order)
        size = counts.sum(axis=1)
        there = np.flatnonzero(size > (1 if self.on_twins else 0))
        return Crowd(counts, chances, worth, group if self.aware else None, weighted).take(there), keys[there]


def _sums(kind: Ints, sort: Ints, values: Floats | Ints, shape: tuple[int, int]) -> Floats:
    found = np.bincount(kind * shape[1] + sort, weights=values, minlength=shape[0] * shape[1])
    return np.asarray(found, dtype=np.float64).reshape(shape)
