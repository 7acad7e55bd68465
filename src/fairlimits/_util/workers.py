"""Parallel work in threads and, where Python code takes the time, in other processes.

Threads take turns at Python code. Processes do not, but each has to start and to load its packages first, so they are
kept for a while. They are joblib's: no ``if __name__ == "__main__"`` is needed, and they end with this process.
"""

from __future__ import annotations

import signal
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from importlib import import_module
from itertools import count
from multiprocessing import parent_process
from threading import Lock, local
from types import TracebackType
from typing import Any, ParamSpec, TypeVar

from threadpoolctl import threadpool_limits

from fairlimits._util.threads import usable_cores

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")

MOST_PROCESSES = 8
"""Most processes at a time: each takes about 200 MB."""

# Seconds without work after which a process ends.
_IDLE = 60

# A process is one of several, so the libraries in it need no threads of their own.
_ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")

_pools: dict[int, Any] = {}
_pools_lock = Lock()


class Team:
    """Threads that work in parallel, all but one of which can have a process of their own to call functions in.

    The first thread works here, so that work goes on while processes start. Results do not depend on which thread does
    what.

    Parameters
    ----------
    size : int
        Number of threads.
    processes : bool, default=False
        Whether to use processes. A process that a pool or cluster started never starts others: the cores are
        taken.
    prepare : callable, optional
        Module-level function called in each thread and process before its first work, such as to load packages.
    """

    def __init__(self, size: int, processes: bool = False, prepare: Callable[[], None] | None = None) -> None:
        self._away = size - 1 if processes and parent_process() is None else 0
        self._seats, self._seat = count(), local()
        self._prepare = prepare or _nothing
        self.threads = ThreadPoolExecutor(size, initializer=self._sit_down)
        try:
            for _ in range(self._away):
                _pool(self._away).submit(self._prepare)
        except (OSError, NotImplementedError):
            # Some systems do not allow processes to be started, or have no semaphores.
            self._away = 0

    def _sit_down(self) -> None:
        self._seat.away = self._away > 0 and next(self._seats) > 0
        if not self._seat.away:
            self._prepare()
        # OpenMP takes its limit per thread, after the library that uses it is loaded.
        threadpool_limits(limits=1)

    def call(
        self, function: Callable[Parameters, Result], *args: Parameters.args, **kwargs: Parameters.kwargs
    ) -> Result:
        """Call a module-level function, in the process of the calling thread if it has one."""
        if not self._seat.away:
            return function(*args, **kwargs)
        from joblib.externals.loky import BrokenProcessPool

        pool = _pool(self._away)
        try:
            result: Result = pool.submit(function, *args, **kwargs).result()
        except BrokenProcessPool:
            # A process was killed, as by a system that is short of memory; the work is done here instead.
            with _pools_lock:
                if _pools.get(self._away) is pool:
                    del _pools[self._away]
            return function(*args, **kwargs)
        return result

    def __enter__(self) -> Team:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.threads.shutdown(cancel_futures=error is not None)


def _pool(size: int) -> Any:
    from joblib.externals.loky import ProcessPoolExecutor

    with _pools_lock:
        if size not in _pools:
            _pools[size] = ProcessPoolExecutor(
                size, timeout=_IDLE, initializer=_leave_interrupts_to_the_caller, env=_ONE_THREAD
            )
        return _pools[size]


def expect_work(modules: tuple[str, ...]) -> None:
    """Start the processes of a `Team` of all cores and let them load modules, while this process does the same."""
    away = min(usable_cores(), MOST_PROCESSES) - 1 if parent_process() is None else 0
    with suppress(OSError, NotImplementedError):
        for _ in range(away):
            _pool(away).submit(_load, modules)


def _load(modules: tuple[str, ...]) -> None:
    for name in modules:
        import_module(name)


def _nothing() -> None:
    """Prepare nothing; submitting it starts a process early all the same."""


def _leave_interrupts_to_the_caller() -> None:
    """Ignore ctrl-c here: it reaches all processes of a terminal, and the one that waits for results ends the work."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
