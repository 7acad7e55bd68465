"""Parts of a table on a Dask cluster: the partitions of a Dask DataFrame, or row groups of files.

Work goes to where the rows are, and its answers are added up there, in a tree whose shape depends on the number of
parts alone. Answers that are lost with a worker are computed again by Dask.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from fairlimits._util.dask import check_client, dask_module
from fairlimits._util.progress import Progress, silent
from fairlimits._util.threads import ONE_BLAS_THREAD
from fairlimits.data.buckets import Buckets, Entries, split
from fairlimits.data.parts import Part, add_up, arrow_parts, is_arrow_dataset, row_groups
from fairlimits.errors import InputError

if TYPE_CHECKING:
    import pyarrow.dataset as pads

Answer = TypeVar("Answer")
Result = TypeVar("Result")

# Answers added up by one task.
_FAN = 8

# Most tasks that sort answers into buckets: each of them sends something to every bucket.
_MOST_DEALERS = 256


@dataclass(frozen=True, eq=False)
class DaskParts:
    """Parts on a Dask cluster, or wherever Dask's current scheduler works.

    Parameters
    ----------
    source : dask.dataframe.DataFrame or pyarrow.dataset.Dataset
        The rows.
    client : distributed.Client, optional
        The cluster.
    """

    source: Any
    client: Any = None

    def __post_init__(self) -> None:
        check_client(self.client)

    @classmethod
    def read(cls, source: object, client: Any) -> DaskParts:
        """Open paths, or an Arrow dataset, for the workers of a cluster to read."""
        return cls(arrow_parts(source).dataset, client)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        if is_arrow_dataset(self.source):
            return tuple(self.source.schema.names)
        return tuple(self.source.columns)

    @property
    def ordered(self) -> bool:
        """Whether rows have a stable order, as in files."""
        return is_arrow_dataset(self.source)

    @property
    def remote(self) -> bool:
        """Whether parts are worked on by other machines, whose progress cannot be reported."""
        return True

    def fold(
        self,
        work: Callable[[Part, Any], Answer | None],
        add: Callable[[Answer, Answer], Answer],
        finish: Callable[[Answer], Result],
        *,
        columns: Sequence[str] | None = None,
        tell: Progress = silent,
    ) -> Result | None:
        """Do some work on every part, add up the answers in order, and finish the sum (see `Parts`)."""
        dask = dask_module()
        level = self._answers(work, columns)
        while len(level) > 1:
            level = [dask.delayed(_sum)(add, level[at : at + _FAN]) for at in range(0, len(level), _FAN)]
        total = dask.delayed(_finished)(finish, level[0])
        tell(0.0, f"on {'Dask' if self.client is None else 'the cluster'}")
        result: Result | None
        result = dask.compute(total)[0] if self.client is None else self.client.compute(total).result()
        tell(1.0, "done")
        return result

    def deal(
        self,
        work: Callable[[Part, Any], Entries | None],
        settle: Callable[[Entries], Entries],
        buckets: int,
        *,
        columns: Sequence[str] | None = None,
        tell: Progress = silent,
    ) -> Buckets:
        """Sort what some work finds in every part into buckets, which stay on the workers (see `Parts`)."""
        dask = dask_module()
        answers = self._answers(work, columns)
        fan = max(_FAN, -(-len(answers) // _MOST_DEALERS))
        dealers = [dask.delayed(_dealt)(buckets, answers[at : at + fan]) for at in range(0, len(answers), fan)]
        picked = [[dask.delayed(_pick)(own, number) for own in dealers] for number in range(buckets)]
        settled = [dask.delayed(_settled)(settle, own) for own in picked]
        tell(0.0, f"on {'Dask' if self.client is None else 'the cluster'}")
        kept = dask.persist(*settled) if self.client is None else self.client.persist(settled)
        return DaskBuckets(tuple(kept), self.client)

    def _answers(self, work: Callable[[Part, Any], Any], columns: Sequence[str] | None) -> list[Any]:
        """Tasks that do some work on every part."""
        dask = dask_module()
        chosen = list(self.names if columns is None else columns)
        # What the tasks share, such as a codebook, is a task of its own, so that it is sent to each worker once.
        if is_arrow_dataset(self.source):
            # A row group is read by the task that works on it, and so never sent from worker to worker.
            parts, pieces = _row_groups(self.source)
            shared = dask.delayed(partial(_read_answer, work, self.source.schema, chosen))
        else:
            pieces = self.source[chosen].to_delayed()
            parts = [Part(number) for number in range(len(pieces))]
            shared = dask.delayed(partial(_answer, work))
        return [dask.delayed(_call)(shared, part, piece) for part, piece in zip(parts, pieces, strict=True)]


@dataclass(frozen=True, eq=False)
class DaskBuckets:
    """Buckets on the workers of a cluster, which keep them; those of a worker that is lost are computed again.

    Parameters
    ----------
    kept : tuple of dask.delayed.Delayed
        The buckets.
    client : distributed.Client, optional
        The cluster.
    """

    kept: tuple[Any, ...]
    client: Any

    def each(self, work: Callable[[int, Entries], Answer]) -> list[Answer]:
        """Do some work on every bucket that has entries, on the worker that holds it."""
        dask = dask_module()
        shared = dask.delayed(work)
        tasks = [dask.delayed(_on_bucket)(shared, number, own) for number, own in enumerate(self.kept)]
        found = dask.compute(*tasks) if self.client is None else self.client.gather(self.client.compute(tasks))
        return [own for own in found if own is not None]


def _row_groups(source: pads.Dataset) -> tuple[list[Part], list[pads.Fragment]]:
    """Return row groups and where each begins: after those before it in the same file."""
    try:
        found = list(row_groups(source))
    except ValueError:
        raise InputError(
            "This Arrow dataset has a filter, and cannot be dealt out to workers; write what it selects to files, or "
            "leave out client=."
        ) from None
    parts, read = [], dict[int, int]()
    for number, (file, piece) in enumerate(found):
        parts.append(Part(number, file, read.get(file, 0)))
        # Files of other kinds are one piece each, so that nothing follows.
        rows = sum(group.num_rows for group in getattr(piece, "row_groups", None) or ())
        read[file] = read.get(file, 0) + rows
    return parts, [piece for _, piece in found]


def is_dask_frame(source: object) -> bool:
    """Return whether something is a Dask DataFrame, without importing Dask."""
    return type(source).__module__.partition(".")[0].startswith("dask") and hasattr(source, "to_delayed")


def _call(work: Callable[[Part, Any], Answer | None], part: Part, piece: Any) -> Answer | None:
    return work(Part(*part), piece)


def _read_answer(
    work: Callable[[Part, Any], Answer | None], schema: Any, columns: list[str], part: Part, piece: Any
) -> Answer | None:
    return _answer(work, part, piece.to_table(schema=schema, columns=columns, use_threads=False))


def _answer(work: Callable[[Part, Any], Answer | None], part: Part, frame: Any) -> Answer | None:
    return work(part, frame) if len(frame) else None


def _dealt(buckets: int, answers: list[Entries | None]) -> list[Entries] | None:
    given = [split(own, buckets) for own in answers if own is not None]
    return [np.concatenate(own) for own in zip(*given, strict=True)] if given else None


def _pick(dealt: list[Entries] | None, number: int) -> Entries | None:
    # A copy: a view would keep all buckets of this task in memory.
    return None if dealt is None else dealt[number].copy()


def _settled(settle: Callable[[Entries], Entries], picked: list[Entries | None]) -> Entries | None:
    given = [own for own in picked if own is not None and len(own)]
    return settle(np.concatenate(given)) if given else None


def _on_bucket(work: Callable[[int, Entries], Answer], number: int, entries: Entries | None) -> Answer | None:
    if entries is None:
        return None
    # Sums are those of one process, to the last digit.
    with ONE_BLAS_THREAD:
        return work(number, entries)


def _sum(add: Callable[[Answer, Answer], Answer], answers: list[Answer | None]) -> Answer | None:
    return add_up(add, answers)


def _finished(finish: Callable[[Answer], Result], total: Answer | None) -> Result | None:
    return None if total is None else finish(total)
