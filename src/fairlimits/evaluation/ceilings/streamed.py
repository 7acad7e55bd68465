"""What a ceiling needs of a table that is not in memory (see `fairlimits.evaluation.ceilings.twins`).

The people are counted by kind twice: once to draw who is set apart and who is learned from, in a sample that goes to
one place, and once with what was learned of every kind. Then bounds are sums over the kinds of one bucket after the
other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property, partial

import numpy as np

from fairlimits._util.progress import Progress
from fairlimits._util.types import Floats, Ints
from fairlimits.data import Buckets, Entries, Learned, Reader, Stream
from fairlimits.evaluation.ceilings.evidence import Evidence
from fairlimits.evaluation.ceilings.kind_counts import CountKinds, Keys, SetApart, Sight, to_learn_from
from fairlimits.evaluation.ceilings.kind_learning import Learn, Learnt, changed, features_of, together
from fairlimits.evaluation.ceilings.kinds import Resolution
from fairlimits.evaluation.ceilings.twins import Apart, Seen, share_apart

# Most people who are set apart, and most who are learned from: more would cost time and change little, for what they
# say is of second order. Of many features fewer, so that their values fit into memory.
_MOST_APART, _MOST_LEARNED, _MOST_VALUES = 100_000, 400_000, 1 << 25

# People of a bucket, about, as long as there are not too many buckets for the tasks that fill them.
_BUCKET, _MOST_BUCKETS = 1 << 19, 512


@dataclass(frozen=True, eq=False)
class Counted:
    """People counted by kind, at full resolution, and who of them is set apart.

    Parameters
    ----------
    stream : Stream
        The people.
    learned : Learned
        What the first passes found out of them.
    buckets : Buckets
        The counts.
    random_state : int
        Seed.
    """

    stream: Stream
    learned: Learned
    buckets: Buckets
    random_state: int

    @classmethod
    def of(cls, stream: Stream, random_state: int, tell: Progress) -> Counted:
        """Count the people of a stream by kind."""
        learned = stream.learn(lambda done, words: tell(0.5 * done, words))
        work = CountKinds(learned.reader, {}, None)
        found = _deal(stream, learned, work, random_state, lambda done, words: tell(0.5 + 0.5 * done, words))
        return cls(stream, learned, found, random_state)

    @property
    def share_of_twins(self) -> float:
        """Share of the people, by weight, who have a twin, alike in all features."""
        sight = Sight(len(self.learned.schema.groups), False, False, 1.0, 1.0, 0.0, 0)
        weights = np.sum(self.buckets.each(partial(_twins_weight, sight)), axis=0)
        return float(weights[1] / weights[0])

    def learn(self, steps: Resolution | None, tell: Progress) -> Learnt:
        """Learn from some of the people, at some resolution; None asks for one to be proposed."""
        rows = self.learned.facts.counted
        most = max(min(_MOST_LEARNED, _MOST_VALUES // max(len(self.learned.schema.features), 1)), 1)
        share = min(1.0, most / (rows * (1 - _share_apart(rows))))
        drawn = np.concatenate(self.buckets.each(partial(to_learn_from, share, self.random_state)))
        learn = Learn(self.learned.schema, drawn, steps, self.random_state)
        remote = self.stream.parts.remote
        found: Learnt | None = self.stream.parts.fold(
            partial(features_of, self.learned.reader, np.unique(drawn["full"])),
            together,
            learn if remote else partial(learn, tell=lambda done, words: tell(0.2 + 0.8 * done, words)),
            columns=_columns(self.learned.reader),
            tell=lambda done, words: tell(0.2 * done, f"drawing a sample, {words}"),
        )
        if found is None:
            raise changed()
        return found


@dataclass(frozen=True, eq=False)
class StreamedTwins:
    """People of a stream by kind, those set apart, and what was learned of both (see `Twins`).

    Parameters
    ----------
    learned : Learned
        What the first passes found out of the people.
    buckets : Buckets
        Counts of all people by kind, with what was learned of the kind.
    learnt : Learnt
        What was learned.
    random_state : int
        Seed.
    """

    learned: Learned
    buckets: Buckets
    learnt: Learnt
    random_state: int

    @classmethod
    def of(cls, counted: Counted, learnt: Learnt, tell: Progress) -> StreamedTwins:
        """Count the people once more, with what was learned."""
        work = CountKinds(counted.learned.reader, learnt.steps, learnt.models)
        found = _deal(counted.stream, counted.learned, work, counted.random_state, tell)
        return cls(counted.learned, found, learnt, counted.random_state)

    @property
    def groups(self) -> tuple[str, ...]:
        """Names of the groups."""
        return self.learned.schema.groups

    @property
    def counts(self) -> Ints:
        """Rows that count by group and label."""
        return self.learned.counts

    @property
    def n_rows(self) -> int:
        """Number of rows that count."""
        return self.learned.facts.counted

    @property
    def frame_kind(self) -> str:
        """Library that `to_frame` makes a frame of."""
        return self.learned.schema.frame_kind

    def share(self, aware: bool) -> float:
        """Share of the people, by weight, who have a twin: somebody alike in all that a rule sees."""
        every, twins = self._summary(aware).weight
        return float(twins / every)

    def kinds(self, aware: bool) -> int:
        """Number of kinds."""
        return self._summary(aware).kinds

    def seen(self, aware: bool) -> StreamedSight:
        """The people as rules see them."""
        summary, witnesses = self._summary(aware), self.learnt.witnesses
        size = summary.sizes[witnesses.kind, witnesses.group if aware else 0]
        return StreamedSight(self.buckets, self._sight(aware), summary, witnesses.apart(aware, size))

    def _sight(self, aware: bool) -> Sight:
        own = self.learnt.witnesses
        return Sight(
            len(self.groups),
            aware,
            self.learned.schema.weight is not None,
            self.learnt.unit,
            float((own.weight**2).mean()),
            own.strength(aware),
            self.random_state,
        )

    def _summary(self, aware: bool) -> Summary:
        return self._aware if aware else self._unaware

    @cached_property
    def _aware(self) -> Summary:
        return Summary.of(self.buckets, self._sight(True), self.learnt.keys)

    @cached_property
    def _unaware(self) -> Summary:
        return Summary.of(self.buckets, self._sight(False), self.learnt.keys)


@dataclass(frozen=True, eq=False)
class StreamedSight:
    """People of a stream as rules see them (see `Seen`).

    Parameters
    ----------
    buckets : Buckets
        Counts by kind.
    sight : Sight
        How they are seen.
    summary : Summary
        Their counts, sizes and weights.
    apart : Apart
        The people set apart, who say which multipliers to take.
    """

    buckets: Buckets
    sight: Sight
    summary: Summary
    apart: Apart

    @property
    def n(self) -> int:
        """How many people bounds are made of."""
        return int(self.rows.sum())

    @property
    def rows(self) -> Ints:
        """How many people bounds are made of, by group and label."""
        return np.asarray(self.summary.rows[int(self.sight.on_twins)])

    @property
    def shares(self) -> Floats:
        """Shares of groups and labels among them, by weight."""
        mass = self.summary.mass[int(self.sight.on_twins)]
        return np.asarray(mass / mass.sum())

    @property
    def on_twins(self) -> Seen | None:
        """Only the people who have a twin; None if nobody has, or nobody of those set apart is like them."""
        alike = self.apart.size > 1
        if not self.summary.rows[1].any() or not alike.any():
            return None
        return replace(self, sight=replace(self.sight, on_twins=True), apart=self.apart.take(alike))

    def evidence(self, credits: Sequence[Floats], leasts: Sequence[float]) -> Evidence:
        """Evidence of the people on some sets of multipliers."""
        found = self.buckets.each(partial(_evidence, self.sight, credits, leasts, self.apart.heavy))
        first, *rest = (own for own in found if own is not None)
        return sum(rest, first)


@dataclass(frozen=True, eq=False)
class Summary:
    """Counts, sizes and weights of people as rules see them.

    Parameters
    ----------
    rows, mass : ndarray of shape (2, G, 2)
        People that bounds are made of, and what they count, by group and label: all, and those with a twin among them.
    kinds : int
        Kinds of all people, those set apart too.
    weight : ndarray of shape (2,)
        What all people count, and what those count who have a twin.
    sizes : ndarray of int of shape (A, G) or (A, 1)
        People that bounds are made of, of each kind of those who are set apart.
    """

    rows: Ints
    mass: Floats
    kinds: int
    weight: Floats
    sizes: Ints

    @classmethod
    def of(cls, buckets: Buckets, sight: Sight, keys: Keys) -> Summary:
        """Sum up all buckets."""
        first, *rest = buckets.each(partial(_summed, sight, keys))
        return sum(rest, first)

    def __add__(self, other: Summary) -> Summary:
        return Summary(*(getattr(self, own.name) + getattr(other, own.name) for own in fields(self)))


def _share_apart(rows: int) -> float:
    return min(share_apart(rows), _MOST_APART / rows)


def _columns(reader: Reader) -> tuple[str, ...]:
    return tuple(dict.fromkeys(reader.columns))


def _deal(stream: Stream, learned: Learned, work: CountKinds, random_state: int, tell: Progress) -> Buckets:
    rows = learned.facts.counted
    return stream.parts.deal(
        work,
        SetApart(_share_apart(rows), random_state),
        min(-(-rows // _BUCKET), _MOST_BUCKETS),
        columns=_columns(learned.reader),
        tell=lambda done, words: tell(done, f"counting kinds of people, {words}"),
    )


def _twins_weight(sight: Sight, number: int, entries: Entries) -> Floats:
    kind, *_ = sight.kinds(entries)
    weight = np.bincount(kind, entries["times"] * entries["weight"])
    return np.array([weight.sum(), weight[np.bincount(kind, entries["times"]) > 1].sum()])


def _summed(sight: Sight, keys: Keys, number: int, entries: Entries) -> Summary:
    crowd, own = sight.crowd(entries)
    sides = (crowd, crowd.take(np.flatnonzero(crowd.size > 1)))
    kind, *_ = sight.kinds(entries)
    sizes = np.zeros((len(keys), sight.groups if sight.aware else 1), dtype=np.int64)
    at = np.minimum(np.searchsorted(keys, own), len(keys) - 1)
    there = keys[at] == own
    group = np.zeros(len(own), dtype=np.int64) if crowd.group is None else crowd.group
    sizes[at[there], group[there]] = crowd.size[there]
    return Summary(
        np.stack([side.rows(sight.groups) for side in sides]),
        np.stack([side.collect(side.mass, sight.groups) for side in sides]),
        int((np.bincount(kind, entries["times"]) > 0).sum()),
        _twins_weight(sight, number, entries),
        sizes,
    )


def _evidence(
    sight: Sight, credits: Sequence[Floats], leasts: Sequence[float], heavy: float, number: int, entries: Entries
) -> Evidence | None:
    crowd, _ = sight.crowd(entries)
    return Evidence.of(crowd, credits, leasts, heavy) if len(crowd.counts) else None
