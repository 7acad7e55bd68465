"""What is learned of kinds of people whose rows are not in memory, from a sample of them that is in one place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairlimits._util.progress import Progress, or_silent
from fairlimits._util.types import Flags
from fairlimits.data import Dataset, Entries, Part, Reader, Schema
from fairlimits.errors import DataError
from fairlimits.evaluation.ceilings.kind_counts import Keys, KindModels, feature_keys, folds_of, read_counted
from fairlimits.evaluation.ceilings.kinds import Resolution, coarsen
from fairlimits.evaluation.ceilings.resolutions import Proposal, propose_steps
from fairlimits.evaluation.ceilings.twins import FOLDS, Witnesses
from fairlimits.law import estimate_apart, learn_apart


@dataclass(frozen=True, eq=False)
class Learnt:
    """What was learned on a sample: no feature of it is kept.

    Parameters
    ----------
    steps : mapping of str to float
        Steps in which rules see features.
    proposal : Proposal or None
        What they cost, if they were proposed.
    models : KindModels
        What was learned of all kinds.
    keys : ndarray of uint64
        Keys of the kinds of people who are set apart, in order.
    witnesses : Witnesses
        These people; kinds are places of their keys.
    unit : float
        Mean of their weights.
    """

    steps: Resolution
    proposal: Proposal | None
    models: KindModels
    keys: Keys
    witnesses: Witnesses
    unit: float


@dataclass(frozen=True, eq=False)
class Learn:
    """Learns from a sample: small, so that it can be sent to where the sample is.

    Parameters
    ----------
    schema : Schema
        What the columns mean.
    drawn : Entries
        Who is in the sample.
    steps : mapping of str to float or None
        Steps in which rules see features; None, if they are to be proposed.
    random_state : int
        Seed.
    """

    schema: Schema
    drawn: Entries
    steps: Resolution | None
    random_state: int

    def __call__(self, features: Features, tell: Progress | None = None) -> Learnt:
        """Learn from people of such features."""
        tell, seed = or_silent(tell), self.random_state
        people, apart = self.people(features)
        proposal = None
        if self.steps is None:
            tell(0.0, "looking for steps of features")
            proposal = propose_steps(people.take(apart), seed)
        steps = (self.steps or {}) if proposal is None else proposal.steps
        people = coarsen(people, steps)
        fold = folds_of(feature_keys(people), FOLDS, seed)
        laws = learn_apart(
            people, fold, FOLDS, apart, random_state=seed, progress=lambda done, words: tell(0.8 * done, words)
        )
        own = people.take(apart)
        chances = estimate_apart(
            own, fold[apart], random_state=seed, progress=lambda done, words: tell(0.8 + 0.2 * done, words)
        )
        keys, kind = np.unique(feature_keys(own), return_inverse=True)
        weight = own.shares / own.shares.mean()
        witnesses = Witnesses(kind.reshape(-1).astype(np.int64), own.group, own.label.astype(np.int64), chances, weight)
        unit = 1.0 if own.weight is None else float(own.weight.mean())
        return Learnt(steps, proposal, KindModels(tuple(laws), seed), keys, witnesses, unit)

    def people(self, features: Features) -> tuple[Dataset, Flags]:
        """The people of the sample one by one, and who of them is set apart."""
        times = self.drawn["apart"] + self.drawn["learned"]
        who = self.drawn[np.repeat(np.arange(len(times)), times)]
        copy = np.arange(len(who)) - np.repeat(np.cumsum(times) - times, times)
        at = np.minimum(np.searchsorted(features.keys, who["full"]), len(features.keys) - 1)
        if (features.keys[at] != who["full"]).any():
            raise changed()
        columns = {name: values[at] for name, values in features.columns.items()}
        weight = None if self.schema.weight is None else np.array(who["weight"])
        sort = who["sort"].astype(np.int64)
        return Dataset(self.schema, columns, sort // 2, (sort % 2).astype(np.int8), weight), copy < who["apart"]


@dataclass(frozen=True, eq=False)
class Features:
    """Features of some kinds, each once, in the order of their keys."""

    keys: Keys
    columns: Mapping[str, NDArray[Any]]


def features_of(reader: Reader, keys: Keys, part: Part, frame: Any) -> Features | None:
    """Features of people of some kinds in a part, each kind once."""
    rows = read_counted(reader, part, frame)
    if rows is None:
        return None
    found, first = np.unique(feature_keys(rows), return_index=True)
    first = first[np.isin(found, keys)]
    if not len(first):
        return None
    own = rows.take(first)
    return Features(feature_keys(own), own.columns)


def together(one: Features, other: Features) -> Features:
    """Features of the kinds of two parts, each kind once."""
    keys, first = np.unique(np.concatenate([one.keys, other.keys]), return_index=True)
    columns = {name: np.concatenate([own, other.columns[name]])[first] for name, own in one.columns.items()}
    return Features(keys, columns)


def changed() -> DataError:
    """The error where one pass finds other people than the one before."""
    return DataError("The rows changed while they were read: read them again, when nobody writes to them.")
