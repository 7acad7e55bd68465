"""What HiGHS offers for a linear program, each method to the same proof as ours, in processor seconds of one thread."""

from __future__ import annotations

import math
import multiprocessing
import resource
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from threadpoolctl import threadpool_limits

from fairlimits._util.types import Floats
from fairlimits.solvers.lp import Program
from fairlimits.solvers.proofs import Ending, Failure, Optimum

METHODS: dict[str, dict[str, Any]] = {
    "simplex": {},
    "simplex, presolved": {"presolve": "on"},
    "interior point, crossover": {"solver": "ipx", "presolve": "on"},
    "interior point": {"solver": "ipx", "presolve": "on", "run_crossover": "off", "ipm_optimality_tolerance": 1e-10},
    "PDLP": {"solver": "pdlp", "presolve": "on", "pdlp_optimality_tolerance": 1e-9},
}
"""Options on top of those of `fairlimits.solvers.lp`. HiPO, another interior point method, is not in HiGHS's wheel."""

LEAST_PATIENCE, PATIENCE = 2.0, 4.0
"""A method is stopped after four times the processor seconds that ours took, or two: past the bar of three."""


@dataclass(frozen=True)
class Attempt:
    """Processor seconds, and the value that was proven, or why none was."""

    seconds: float
    value: float | None
    failure: str = ""

    def __str__(self) -> str:
        shown = f"{self.seconds:.1f} s" if self.seconds >= 1 else f"{1000 * self.seconds:.1f} ms"
        return f"{shown}{f' ({self.failure})' if self.failure else ''}"


def on_one_thread(call: Callable[[], Any]) -> tuple[float, Any]:
    """Processor seconds of a call, and its result."""
    with threadpool_limits(limits=1):
        start = time.process_time()
        result = call()
        return time.process_time() - start, result


def patience(ours: Attempt) -> float:
    """Processor seconds that another method may take."""
    return max(LEAST_PATIENCE, PATIENCE * ours.seconds)


@contextmanager
def replaced(place: Any, name: str, value: Any) -> Iterator[None]:
    """Give a setting of a module, or a method of a class, another value for a while."""
    usual = getattr(place, name)
    setattr(place, name, value)
    try:
        yield
    finally:
        setattr(place, name, usual)


def limited(call: Callable[[], Attempt], seconds: float) -> Attempt:
    """Try something in a process of its own, which is ended after `seconds` of processor time."""
    context = multiprocessing.get_context("fork")
    receiving, sending = context.Pipe(duplex=False)
    limit = math.ceil(seconds)

    def work() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
        sending.send(call())

    child = context.Process(target=work)
    child.start()
    sending.close()
    try:
        return receiving.recv()  # type: ignore[no-any-return]
    except EOFError:
        return Attempt(float(limit), None, "stopped")
    finally:
        child.join()


@dataclass(frozen=True, eq=False)
class Task:
    """A linear program over variables in [0, 1]; `pairs` are its sparse rows, with their bounds."""

    cost: Floats
    rows: Floats
    lower: Floats
    upper: Floats
    pairs: sp.csr_array | None = None
    allowed: Floats | None = None

    def program(self, method: str) -> Program:
        """Give it to HiGHS."""
        made = Program(self.cost, np.zeros(len(self.cost)), np.ones(len(self.cost)))
        if len(self.rows):
            made.add_dense_rows(self.rows, self.lower, self.upper)
        if self.pairs is not None and self.allowed is not None:
            made.add_sparse_rows(self.pairs, -self.allowed, self.allowed)
        for name, value in METHODS[method].items():
            made._highs.setOptionValue(name, value)
        return made

    def solve(self, method: str) -> Attempt:
        """Solve it once, from scratch; building it counts."""
        return attempt(*on_one_thread(lambda: _proven(self.program(method))))


def _proven(program: Program) -> Optimum | Failure:
    draft = program.draft()
    return draft if isinstance(draft, Failure) else program._checked(draft)


def attempt(seconds: float, answer: Optimum | Failure) -> Attempt:
    """Return the answer as an attempt."""
    if isinstance(answer, Optimum):
        return Attempt(seconds, answer.value)
    stopped = answer.ending is Ending.STOPPED
    return Attempt(seconds, None, "stopped" if stopped else f"not proven: {answer.reason}")
