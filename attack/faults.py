"""Faults of the system: disks that are full at any byte, and signals at any moment."""

from __future__ import annotations

import multiprocessing
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

import fairlimits as fl
from attack.area import Area, Case
from attack.people import data, table
from fairlimits._util.storage import write_text
from fairlimits.errors import FileError
from fairlimits.law.generators import CartGenerator

_SECONDS = 120

# How often the time that a process has taken is looked at.
_TICK = 0.005


@contextmanager
def _full_disks(folder: Path) -> Iterator[Case]:
    """Writers in processes whose files may not grow beyond a random byte: as on a full disk, but without being root."""
    people = data(np.random.default_rng(0))
    dist = fl.discretize(people, 8, partition="features", generator=None)
    rule = fl.solve(dist, {"DP": 0.1})
    writers: list[Callable[[Path], Any]] = [
        dist.save,
        rule.save,
        fl.estimate_outcome(people, folds=2).save,
        fl.decorrelate(dist, rule).save,
        CartGenerator().fit(people).save,
        lambda path: write_text(path, "ä" * 5000),
    ]
    sizes = []
    for at, write in enumerate(writers):
        write(folder / f"whole {at}")
        sizes.append((folder / f"whole {at}").stat().st_size)
    context = multiprocessing.get_context("fork")

    def case(rng: np.random.Generator) -> str | None:
        at = int(rng.integers(len(writers)))
        limit = int(rng.integers(0, sizes[at]))
        target = folder / "disk" / "out.npz"
        target.parent.mkdir(exist_ok=True)
        older = bool(rng.random() < 0.5)
        target.unlink(missing_ok=True)
        if older:
            target.write_bytes(b"older")
        child = context.Process(target=_write_within, args=(limit, writers[at], target))
        child.start()
        child.join(_SECONDS)
        left = {path.name: path.read_bytes() for path in target.parent.iterdir()}
        if child.exitcode != 0:
            return f"writer {at}, {limit} bytes: the process ended with {child.exitcode}"
        if left != ({"out.npz": b"older"} if older else {}):
            return f"writer {at}, {limit} bytes: left behind {sorted(left)}"
        return None

    yield case


def _write_within(limit: int, write: Callable[[Path], Any], target: Path) -> None:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    try:
        write(target)
    except FileError:
        os._exit(0)
    except BaseException:
        os._exit(3)
    os._exit(4)


@contextmanager
def _signals(folder: Path) -> Iterator[Case]:
    table(np.random.default_rng(0), 200).to_csv(folder / "people.csv", index=False)
    words = ["cells", "people.csv", "--label", "hired", "--sensitive", "sex", "--cells", "4"]
    words += ["--partition", "features", "--generator", "none"]
    # In seconds of the processor: a machine that others use as well takes any time for them.
    start = _spent_by([sys.executable, "-c", "pass"], folder)
    whole = _spent_by([sys.executable, "-m", "fairlimits", *words, "-o", "out.npz"], folder)
    (folder / "out.npz").unlink()
    before = {path.name for path in folder.iterdir()}

    def case(rng: np.random.Generator) -> str | None:
        number = signal.SIGINT if rng.random() < 0.5 else signal.SIGTERM
        # Not before Python itself has started and found the package: nobody can answer then.
        after = float(rng.uniform(1.5 * start + 0.1, 1.1 * whole))
        with subprocess.Popen(
            [sys.executable, "-m", "fairlimits", *words, "-o", "out.npz"],
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as running:
            while running.poll() is None and _spent(running.pid) < after:
                time.sleep(_TICK)
            running.send_signal(number)
            _, err = running.communicate(timeout=_SECONDS)
        strange = {path.name for path in folder.iterdir()} - before - {"out.npz"}
        (folder / "out.npz").unlink(missing_ok=True)
        allowed = (0, 130) if number == signal.SIGINT else (0, 143, -signal.SIGTERM)
        if running.returncode not in allowed or "Traceback" in err or strange:
            words_ = err.strip().splitlines()[-1:] or [""]
            return f"{number.name} after {after:.2f} s: exit code {running.returncode}, left {strange}, {words_[0]}"
        return None

    yield case


def _spent_by(words: list[str], folder: Path) -> float:
    """Seconds of the processor that a program takes."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(words, cwd=folder, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _spent(pid: int) -> float:
    """Seconds of the processor that a process has taken so far."""
    text = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
    user, system = text.rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


AREAS = (
    Area("full disks", "a FileError, an older file as it was, nothing left behind", 1_500, _full_disks),
    Area("signals", "SIGINT: 130; SIGTERM: ended; no traceback, nothing half-written", 200, _signals),
)
