"""People with the decisions of models: in memory, or counted in passes over rows that are not."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, NamedTuple, Protocol

import numpy as np

from fairlimits._util.progress import Progress, silent
from fairlimits._util.types import Floats, Ints
from fairlimits.data import Dataset, Feature, Part, Reader, Schema, Stream
from fairlimits.errors import DataError, InputError
from fairlimits.evaluation.audits.predictions import (
    Decided,
    Deciding,
    Predictions,
    Reach,
    Threshold,
    check_columns,
    check_threshold,
    from_rows,
    read_columns,
)
from fairlimits.evaluation.judged_people import Beside, judged_people
from fairlimits.limits import Rule, decide_all
from fairlimits.notions import Kinds, People


class AuditedPeople(Protocol):
    """People, some of them held out, and what models decided on them."""

    @property
    def models(self) -> Sequence[Decided | Deciding]:
        """The models: what they are called, and how they decide."""

    @property
    def groups(self) -> tuple[str, ...]:
        """Names of the groups."""

    @property
    def counts(self) -> Ints:
        """Held-out rows by group and label, of shape (G, 2)."""

    def everybody(self) -> tuple[People, Floats]:
        """All people, and the models' decisions on them, of shape (models, n)."""

    def held_out(self, rules: Sequence[Rule], tell: Progress = silent) -> tuple[People, Floats]:
        """People held out, and the decisions of models and rules on them, of shape (models + rules, n)."""


@dataclass(frozen=True, eq=False)
class PeopleInMemory:
    """People one by one (see `AuditedPeople`).

    Parameters
    ----------
    people : Dataset
        All of them.
    models : tuple of Decided
        Decisions on all of them.
    held : ndarray of int
        Which of them are held out.
    """

    people: Dataset
    models: tuple[Decided, ...]
    held: Ints

    @property
    def groups(self) -> tuple[str, ...]:
        """Names of the groups."""
        return self.people.groups

    @cached_property
    def _test(self) -> Dataset:
        return self.people.take(self.held)

    @property
    def counts(self) -> Ints:
        """Held-out rows by group and label."""
        return self._test.counts

    def everybody(self) -> tuple[People, Floats]:
        """All people, and the models' decisions on them."""
        return self.people, np.stack([model.scores for model in self.models])

    def held_out(self, rules: Sequence[Rule], tell: Progress = silent) -> tuple[People, Floats]:
        """People held out, and the decisions of models and rules on them."""
        models = [model.scores[self.held] for model in self.models]
        return self._test, np.vstack([*models, decide_all(rules, self._test)])


@dataclass(frozen=True, eq=False)
class PeopleInParts:
    """People who are counted in passes over their rows (see `AuditedPeople`).

    Parameters
    ----------
    test : Stream
        Those held out, with what rules see.
    predictions : Stream
        All of them, with the predictions for features.
    models : tuple of Deciding
        How these become decisions.
    """

    test: Stream
    predictions: Stream
    models: tuple[Deciding, ...]

    @classmethod
    def of(cls, test: Stream, predictions: Stream, threshold: Threshold) -> PeopleInParts:
        """Find out how predictions become decisions, in a pass over them."""
        names = predictions.features
        reader = predictions.learn().reader
        reaches: tuple[Reach, ...] | None = predictions.parts.fold(
            partial(_reaches, reader, names), _together, _same, columns=reader.columns
        )
        if reaches is None:
            raise DataError("There are no rows to judge on: give some.")
        models = (Deciding.of(name, own, threshold) for name, own in zip(names, reaches, strict=True))
        return cls(test, predictions, tuple(models))

    @property
    def groups(self) -> tuple[str, ...]:
        """Names of the groups."""
        return self._schema.groups

    @cached_property
    def counts(self) -> Ints:
        """Held-out rows by group and label."""
        return self.test.learn().counts

    def everybody(self) -> tuple[People, Floats]:
        """All people, counted, and the models' decisions on them."""
        reader = self.predictions.learn().reader
        kinds: Kinds | None = self.predictions.parts.fold(
            partial(_decided, reader, self._read), operator.add, _same, columns=reader.columns
        )
        assert kinds is not None
        return kinds.people(self.groups, self._schema.frame_kind)

    def held_out(self, rules: Sequence[Rule], tell: Progress = silent) -> tuple[People, Floats]:
        """People held out, counted, and the decisions of models and rules on them."""
        beside = Beside(replace(self.predictions.learn().reader, side=self.test.side), self._read)
        return judged_people([rule.policy for rule in rules], self.test, tell, beside)

    @property
    def _schema(self) -> Schema:
        return self.predictions.learn().schema

    @property
    def _read(self) -> partial[Floats]:
        return partial(_decisions, self.models)


class Split(NamedTuple):
    """People split in those to make rules from and those held out, and what models decided on them.

    Parameters
    ----------
    everybody, learn, test : Dataset or Stream
        All people, those to learn from and those held out, with what rules see.
    audited : AuditedPeople or None
        The decisions of models, if there are some.
    alone : bool
        Whether predictions are all that there is to see.
    """

    everybody: Dataset | Stream
    learn: Dataset | Stream
    test: Dataset | Stream
    audited: AuditedPeople | None
    alone: bool


def split_people(
    rows: Dataset | Stream, predictions: Predictions | None, threshold: Threshold, test_size: float, random_state: int
) -> Split:
    """Split people in two, and read what models decided on them (see `audit`)."""
    if isinstance(rows, Stream):
        return _split_stream(rows, predictions, threshold, test_size, random_state)
    if predictions is None:
        learned, held = split_rows(rows, test_size, random_state)
        return Split(rows, rows.take(learned), rows.take(held), None, False)
    seen, models, alone = from_rows(rows, predictions, threshold)
    learned, held = split_rows(seen, test_size, random_state)
    return Split(seen, seen.take(learned), seen.take(held), PeopleInMemory(seen, models, held), alone)


def _split_stream(stream: Stream, predictions: Any, threshold: Threshold, test_size: float, random_state: int) -> Split:
    if predictions is None:
        return Split(stream, *stream.split(test_size, random_state), None, False)
    check_threshold(threshold)
    given = [predictions] if isinstance(predictions, str) else predictions
    if not isinstance(given, list | tuple) or not all(isinstance(name, str) for name in given):
        raise InputError(
            f"The predictions are a {type(predictions).__name__}, and the rows are read in parts: write predictions "
            "beside the rows, and name their columns."
        )
    names = check_columns(given, stream.features, stream.named)
    rest = [name for name in stream.features if name not in names]
    seen = stream.only(rest) if rest else stream
    learn, test = seen.split(test_size, random_state)
    return Split(seen, learn, test, PeopleInParts.of(test, stream.only(names), threshold), not rest)


def split_rows(data: Dataset, test_size: float, random_state: int) -> tuple[Ints, Ints]:
    """Numbers of the rows to learn from and of those held out."""
    # The split is the data set's own; a column of numbers tells where its rows went.
    column = Feature("row", "numeric")
    schema = replace(data.schema, features=(column,), label="label", sensitive=("group",), weight=None)
    rows = Dataset(schema, {"row": np.arange(data.n_rows, dtype=np.float64)}, data.group, data.label)
    learned, held = (part.columns["row"].astype(np.int64) for part in rows.split(test_size, random_state))
    return learned, held


def _decisions(models: Sequence[Deciding], rows: Dataset) -> Floats:
    """Decisions on some rows, of shape (n, models)."""
    found = read_columns(rows, [model.name for model in models])
    return np.column_stack([model(scores) for model, scores in zip(models, found, strict=True)])


def _reaches(reader: Reader, names: Sequence[str], part: Part, frame: Any) -> tuple[Reach, ...] | None:
    rows = reader(part, frame)
    return None if rows is None else tuple(Reach.of(own) for own in read_columns(rows, names))


def _together(one: tuple[Reach, ...], other: tuple[Reach, ...]) -> tuple[Reach, ...]:
    return tuple(own + more for own, more in zip(one, other, strict=True))


def _decided(reader: Reader, read: partial[Floats], part: Part, frame: Any) -> Kinds | None:
    rows = reader(part, frame)
    return None if rows is None else Kinds.of(np.column_stack([rows.group, rows.label]), rows.weight, read(rows))


def _same(total: Any) -> Any:
    return total
