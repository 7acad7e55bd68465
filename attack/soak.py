"""Long use: memory stays flat, and nothing fails, however long the page is used or a process loads and solves."""

from __future__ import annotations

import gc
import os
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from json import dumps, loads
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.explorer import Tab

import fairlimits as fl
from attack.area import Area, Case
from attack.people import data
from attack.requests import send, served, upload

_CLIENTS = 10
_ROWS = 300

# Caches fill at first; after these cases, memory may grow by so many bytes more, and open files and threads by so many.
_WARM = 30
_GROWTH = 40 * 2**20
_MORE = 20


def resident() -> int:
    """Bytes of memory that this process holds."""
    gc.collect()
    fields = Path("/proc/self/statm").read_text(encoding="ascii").split()
    return int(fields[1]) * 4096


def _held() -> int:
    """How many files and threads this process has open."""
    return len(os.listdir("/proc/self/fd")) + threading.active_count()


class _Flat:
    """Cases between which memory, open files and threads stay flat once caches are full."""

    def __init__(self, case: Case) -> None:
        self._case, self._cases = case, 0
        self._first, self._most, self._files = 0, 0, 0

    def __call__(self, rng: np.random.Generator) -> str | None:
        """Try a case, and look at what is held after it."""
        return self._case(rng) or self._look()

    def measured(self) -> str:
        """Return by how much memory grew."""
        return (
            f"{self._cases:,} cases in one process; memory after the first {_WARM} {self._first / 2**20:.0f} MB, "
            f"at most {self._most / 2**20:.0f} MB since."
        )

    def _look(self) -> str | None:
        self._cases += 1
        if self._cases == _WARM:
            self._first, self._files = resident(), _held()
        if self._cases < _WARM or self._cases % 10:
            return None
        now = resident()
        self._most = max(self._most, now)
        if now - self._first > _GROWTH:
            return f"memory grew by {(now - self._first) / 2**20:.0f} MB"
        return f"{_held() - self._files} more files and threads" if _held() - self._files > _MORE else None


@contextmanager
def _loads(folder: Path) -> Iterator[Case]:
    people = data(np.random.default_rng(0), _ROWS)
    fl.discretize(people, 8, partition="features", generator=None).save(folder / "cells.npz")

    def case(rng: np.random.Generator) -> str | None:
        dist = fl.CellDistribution.load(folder / "cells.npz")
        rule = fl.solve(dist, {"DP": float(rng.random() / 10)}, aware=bool(rng.random() < 0.5))
        rule.save(folder / "rule.npz")
        if abs(fl.Rule.load(folder / "rule.npz").accuracy - rule.accuracy) > 0:
            return "another accuracy came back"
        return None

    yield _Flat(case)


class _Wire:
    """What a `Tab` talks to the server by: real requests instead of those of Flask's tests."""

    def __init__(self, port: int) -> None:
        self._port, self.status_code, self.text = port, 0, ""

    def post(self, path: str, json: object) -> _Wire:
        """Send one request; the answer is on a copy of this."""
        sent = dumps(json).encode()
        answer = _Wire(self._port)
        answer.status_code, content = send(self._port, "POST", path, sent, {"Content-Type": "application/json"})
        answer.text = content.decode()
        return answer

    def get_json(self) -> Any:
        """Return the answer as plain data."""
        return loads(self.text)


@contextmanager
def _clients(_: Path) -> Iterator[Case]:
    """Each case is ten clients at once, each moving a slider and dropping a file of predictions."""
    with served(_ROWS) as (port, app, subject), ThreadPoolExecutor(_CLIENTS) as pool:
        together = threading.Barrier(_CLIENTS)

        def client(seed: int) -> str | None:
            rng = np.random.default_rng(seed)
            tab = Tab(app, subject)
            tab._client = _Wire(port)
            together.wait(60)
            name = str(rng.choice(subject.notions))
            tab.props |= {f"use-{name}.value": [name], f"tolerance-{name}.value": float(rng.random() / 5)}
            try:
                tab.ask()
                tab.props["accepted.data"] = {"contents": upload(rng, _ROWS), "name": "model", "at": 1}
                tab.call("points.data", "accepted.data")
            except RuntimeError as error:
                return str(error)
            return None if len(tab.props["points.data"]) == 1 else f"no point: {tab.props['upload-message.children']}"

        def case(rng: np.random.Generator) -> str | None:
            found = list(pool.map(client, rng.integers(2**31, size=_CLIENTS).tolist()))
            return next((own for own in found if own is not None), None)

        yield _Flat(case)


AREAS = (
    Area("loads and solves", "1,000 loads, solves and saves in one process: memory flat", 1_000, _loads),
    Area("ten clients", "ten clients at once, each a move and an upload: all answered, memory flat", 400, _clients),
)
