"""Buckets: entries of a table in parts, grouped by a key, for work that needs all entries of a key together.

An entry is a record of numbers, the first of which is its key, a 64-bit hash. Each bucket holds one range of keys, so
that buckets are of about the same size, and can be worked on one by one, wherever they are.
"""

from __future__ import annotations

import shutil
import weakref
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, Protocol, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from fairlimits._util.threads import ONE_BLAS_THREAD, side_by_side, usable_cores
from fairlimits.errors import FileError

Entries: TypeAlias = NDArray[np.void]
"""Records of numbers; their field ``key`` says which bucket they go to."""

Answer = TypeVar("Answer")


class Buckets(Protocol):
    """Entries in buckets."""

    def each(self, work: Callable[[int, Entries], Answer]) -> list[Answer]:
        """Do some work on every bucket that has entries, given its number; return the answers in order."""
        ...


def split(entries: Entries, buckets: int) -> list[Entries]:
    """Split entries, which are sorted by key, into those of each bucket."""
    place = ((entries["key"] >> np.uint64(32)) * np.uint64(buckets)) >> np.uint64(32)
    ends = np.searchsorted(place, np.arange(1, buckets, dtype=np.uint64))
    return np.split(entries, ends)


class FileBuckets:
    """Buckets of this process: a file for each, in a directory that is removed with them (see `Buckets`).

    Parameters
    ----------
    settle : callable
        Returns what is kept of all entries of a bucket.
    buckets : int
        Number of buckets.
    """

    def __init__(self, settle: Callable[[Entries], Entries], buckets: int) -> None:
        self._settle, self._buckets = settle, buckets
        self._folder = Path(mkdtemp(prefix="fairlimits-"))
        weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
        self._settled: set[int] = set()
        # What entries consist of, before and after they are settled.
        self._raw: Any = None
        self._kept: Any = None

    def add(self, entries: Entries) -> None:
        """Sort some more entries into the buckets; before work on any of them."""
        self._raw = entries.dtype
        try:
            for number, own in enumerate(split(entries, self._buckets)):
                if len(own):
                    with self._path(number).open("ab") as file:
                        own.tofile(file)
        except OSError as error:
            raise self._no_room(error) from error

    def each(self, work: Callable[[int, Entries], Answer]) -> list[Answer]:
        """Do some work on every bucket that has entries, in threads."""
        filled = [number for number in range(self._buckets) if self._path(number).exists()]
        with ONE_BLAS_THREAD:
            return list(side_by_side((partial(self._one, work, number) for number in filled), usable_cores()))

    def _one(self, work: Callable[[int, Entries], Answer], number: int) -> Answer:
        path, settled = self._path(number), number in self._settled
        entries: Entries = np.fromfile(path, self._kept if settled else self._raw)
        if not settled:
            entries = self._settle(entries)
            self._kept = entries.dtype
            try:
                entries.tofile(path)
            except OSError as error:
                raise self._no_room(error) from error
            self._settled.add(number)
        return work(number, entries)

    def _path(self, number: int) -> Path:
        return self._folder / str(number)

    def _no_room(self, error: OSError) -> FileError:
        return FileError(
            f"Counts of people cannot be kept in {self._folder} ({error.strerror}): make room there, or name "
            "another directory in the environment variable TMPDIR."
        )
