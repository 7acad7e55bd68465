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

from fairlimits.data.parts import ArrowParts

NAMES = {
    "facts_of": "columns",
    "_digits": "medians",
    "facts_of_side": "sides",
    "draw_rows": "sample",
    "_drawn": "placing",
    "_summed": "summing q",
    "_judged": "judging",
}


class Pass(NamedTuple):
    """One pass: what it is for, seconds of processor that its rows took, and those of what was made of their sum."""

    name: str
    rows: float
    finish: float


@contextmanager
def watched() -> Iterator[list[Pass]]:
    """Keep what every pass of this process takes.

    Processor time is that of all threads of this process, and of no other: learners work in processes of their own.
    """
    passes: list[Pass] = []
    fold = ArrowParts.fold

    def timed(self: ArrowParts, work: Any, add: Any, finish: Callable[[Any], Any], **options: Any) -> Any:
        begin = time.process_time()
        read = [begin]

        def finished(total: Any) -> Any:
            read[0] = time.process_time()
            return finish(total)

        answer = fold(self, work, add, finished, **options)
        name = (work.func if isinstance(work, partial) else work).__name__
        passes.append(Pass(NAMES.get(name, name), read[0] - begin, time.process_time() - read[0]))
        return answer

    with patch.object(ArrowParts, "fold", timed):
        yield passes


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
