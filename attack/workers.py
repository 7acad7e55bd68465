"""Killed Dask workers: a process that dies in any pass over the rows changes nothing of what is found."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

import fairlimits as fl
from attack.area import Area, Case, number_of
from attack.people import table
from fairlimits.data.dask_parts import DaskParts

# How long a worker may take to start again.
_SECONDS = 300


class Killer:
    """Work that kills the process that does it, once."""

    def __init__(self, work: Any, flag: Path) -> None:
        self.work, self.flag = work, flag

    def __call__(self, *part: Any) -> Any:
        """Do the work, or die."""
        try:
            self.flag.touch(exist_ok=False)
        except FileExistsError:
            return self.work(*part)
        os.kill(os.getpid(), signal.SIGKILL)


@contextmanager
def _killed(folder: Path) -> Iterator[Case]:
    # An extra: only this area needs it.
    dd, distributed = import_module("dask.dataframe"), import_module("distributed")

    roles: dict[str, Any] = {"label": "hired", "sensitive": "sex"}
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
    frame = dd.from_pandas(table(np.random.default_rng(0), 1000), npartitions=4)
    fold = DaskParts.fold
    with distributed.LocalCluster(**options) as nodes, distributed.Client(nodes) as client:

        def found(deadly: int, flag: Path) -> tuple[int, fl.CellDistribution]:
            passes = [0]

            def killing(self: DaskParts, work: Any, *others: Any, **more: Any) -> Any:
                passes[0] += 1
                chosen = Killer(work, flag) if passes[0] - 1 == deadly else work
                return fold(self, chosen, *others, **more)

            with patch.object(DaskParts, "fold", killing):
                dist = fl.discretize(frame, 6, partition="features", **roles, relative_error=0.05, client=client)
            return passes[0], dist

        passes, expected = found(-1, folder / "none")

        def case(rng: np.random.Generator) -> str | None:
            number = number_of(rng)
            # Every pass in turn, then at random.
            deadly = number if number < passes else int(rng.integers(passes))
            flag = folder / f"lost {number}"
            _, again = found(deadly, flag)
            if not flag.exists():
                return f"pass {deadly}: no worker was killed"
            same = np.array_equal(again.mass, expected.mass)
            # A cluster that is closed, or loses another worker, while one starts again may wait forever.
            client.wait_for_workers(options["n_workers"], timeout=_SECONDS)
            return None if same else f"pass {deadly}: other masses"

        yield case


AREAS = (Area("killed workers", "a worker killed in any pass over the rows: the same counts", 20, _killed),)
