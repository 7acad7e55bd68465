"""What each pass over streamed rows takes, and the memory of a process together with those it started."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from typing import Any, NamedTuple
from unittest.mock import patch

from fairlimits.data.buckets import FileBuckets
from fairlimits.data.parts import ArrowParts

NAMES = {
    "facts_of": "columns",
    "_digits": "medians",
    "facts_of_side": "sides",
    "draw_rows": "sample",
    "_drawn": "placing",
    "_summed": "summing q",
    "_judged": "judging",
    "CountKinds": "counting kinds",
    "features_of": "sample of kinds",
    "to_learn_from": "drawing from kinds",
    "_summed of kinds": "summing kinds",
    "_evidence": "bounds",
}


class Pass(NamedTuple):
    """One pass: what it is for, seconds of processor that its rows took, and what finishing from their sum took.

    The latter in seconds of processor, and in seconds that passed: much of it is done by other processes.
    """

    name: str
    rows: float
    finish: float = 0.0
    waited: float = 0.0


@contextmanager
def watched() -> Iterator[list[Pass]]:
    """Keep what every pass of this process takes.

    Processor time is that of all threads of this process, and of no other: learners work in processes of their own.
    """
    passes: list[Pass] = []
    fold, deal, each = ArrowParts.fold, ArrowParts.deal, FileBuckets.each

    def timed(self: ArrowParts, work: Any, add: Any, finish: Callable[[Any], Any], **options: Any) -> Any:
        begin = time.process_time()
        read = [begin, time.perf_counter()]

        def finished(total: Any) -> Any:
            read[:] = time.process_time(), time.perf_counter()
            return finish(total)

        answer = fold(self, work, add, finished, **options)
        ended = time.process_time() - read[0], time.perf_counter() - read[1]
        passes.append(Pass(_name(work), read[0] - begin, *ended))
        return answer

    def counted(call: Any, suffix: str = "") -> Any:
        def counting(self: Any, work: Any, *others: Any, **options: Any) -> Any:
            begin = time.process_time()
            answer = call(self, work, *others, **options)
            passes.append(Pass(_name(work, suffix), time.process_time() - begin))
            return answer

        return counting

    with (
        patch.object(ArrowParts, "fold", timed),
        patch.object(ArrowParts, "deal", counted(deal)),
        patch.object(FileBuckets, "each", counted(each, " of kinds")),
    ):
        yield passes


def _name(work: Any, suffix: str = "") -> str:
    own = work.func if isinstance(work, partial) else type(work)
    return NAMES.get(own.__name__ + suffix) or NAMES.get(own.__name__, own.__name__)


@contextmanager
def memory(every: float = 0.1) -> Iterator[Callable[[], float]]:
    """Look now and then at the memory of this process and those it started, together; the most so far in MB."""
    # A dependency of Dask, which benchmarks have.
    process = import_module("psutil").Process()
    most, done = [0.0], threading.Event()

    def look() -> None:
        while not done.wait(every):
            total = 0
            for own in (process, *process.children(recursive=True)):
                try:
                    total += own.memory_info().rss
                except Exception:  # it ended meanwhile
                    continue
            most[0] = max(most[0], total / 2**20)

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    try:
        yield lambda: most[0]
    finally:
        done.set()
        thread.join()
