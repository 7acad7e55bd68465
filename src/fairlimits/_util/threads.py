"""How many cores this process may use, work in threads on them, and how BLAS is kept from using them all."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

from threadpoolctl import threadpool_limits

Answer = TypeVar("Answer")


def usable_cores() -> int:
    """Return the number of cores that this process may run on, which may be fewer than the machine has."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def side_by_side(tasks: Iterable[Callable[[], Answer]], threads: int) -> Iterator[Answer]:
    """Run tasks in threads and yield their results in order; at most one task more than threads is pending."""
    waiting: deque[Future[Answer]] = deque()
    pool = ThreadPoolExecutor(threads)
    try:
        for task in tasks:
            waiting.append(pool.submit(task))
            if len(waiting) > threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)


class _OneBlasThread:
    """Hold BLAS to one thread while anybody needs it; a context manager.

    The limit belongs to the process. If each of two overlapping holders restored what it had found, the limit of the
    first would stay for good. So the first to enter sets it, and the last to leave lifts it.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._holders = 0
        self._limit: Any = None

    def __enter__(self) -> None:
        with self._lock:
            if self._holders == 0:
                self._limit = threadpool_limits(limits=1, user_api="blas")
            self._holders += 1

    def __exit__(self, *exception: object) -> None:
        with self._lock:
            self._holders -= 1
            if self._holders == 0:
                self._limit.restore_original_limits()


ONE_BLAS_THREAD = _OneBlasThread()
