"""Work in other processes: the same results, whatever happens to the processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest
from joblib.externals.loky import ProcessPoolExecutor

from fairlimits._util import workers
from fairlimits._util.workers import Team


def who(seconds: float = 0.0) -> int:
    time.sleep(seconds)
    return os.getpid()


def ready() -> None:
    """Stand for loading packages."""


def fail() -> None:
    raise ValueError("of this work")


def die(here: int) -> int:
    if os.getpid() != here:
        os.kill(os.getpid(), signal.SIGTERM)
    return os.getpid()


def nested() -> set[int]:
    with Team(2, processes=True) as team:
        return set(team.threads.map(lambda _: team.call(who, 0.05), range(4)))


def test_the_caller_works_too() -> None:
    with Team(2, processes=True, prepare=ready) as team:
        found = set(team.threads.map(lambda _: team.call(who, 0.3), range(40)))
    assert len(found) == 2
    assert os.getpid() in found


def loaded(module: str) -> tuple[int, bool]:
    time.sleep(0.3)
    return os.getpid(), module in sys.modules


def test_processes_that_were_expected_have_loaded_what_they_need(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "usable_cores", lambda: 2)
    monkeypatch.setattr(workers, "_pools", {})
    module = "xml.dom.pulldom"
    workers.expect_work((module,))
    early = next(iter(workers._pools.values()))
    with Team(2, processes=True) as team:
        found = dict(team.threads.map(lambda _: team.call(loaded, module), range(8)))
    assert list(workers._pools.values()) == [early]
    early.shutdown()
    assert [there for process, there in found.items() if process != os.getpid()] == [True]


def test_one_core_expects_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "usable_cores", lambda: 1)
    monkeypatch.setattr(workers, "_pools", {})
    workers.expect_work(("json",))
    assert workers._pools == {}


def test_threads_alone_start_no_process() -> None:
    with Team(3) as team:
        assert set(team.threads.map(lambda _: team.call(who, 0.01), range(9))) == {os.getpid()}


def test_an_error_comes_back_and_the_processes_go_on() -> None:
    with Team(2, processes=True) as team:
        waiting = [team.threads.submit(team.call, fail) for _ in range(4)]
        for future in waiting:
            with pytest.raises(ValueError, match="of this work"):
                future.result()
        assert team.threads.submit(team.call, who).result() > 0


def test_work_of_a_process_that_dies_is_done_here() -> None:
    with Team(2, processes=True) as team:
        assert set(team.threads.map(lambda _: team.call(die, os.getpid()), range(4))) == {os.getpid()}
    with Team(2, processes=True) as team:
        assert len(set(team.threads.map(lambda _: team.call(who, 0.3), range(40)))) == 2


def test_systems_without_processes_have_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(size: int) -> None:
        raise PermissionError("no semaphores")

    monkeypatch.setattr(workers, "_pool", refuse)
    assert nested() == {os.getpid()}


def test_a_process_of_a_pool_starts_no_others() -> None:
    with ProcessPoolExecutor(1) as pool:
        inside = pool.submit(who).result()
        assert pool.submit(nested).result() == {inside}


SCRIPT = """
import os, sys, time
from fairlimits._util import workers
from fairlimits._util.workers import Team

def slow(team):
    return team.call(time.sleep, 0.5)

# Not guarded by __name__: a process that ran this file again would print again.
print("started", flush=True)
with Team(2, processes=True) as team:
    pids = [team.threads.submit(lambda: (slow(team), team.call(os.getpid))[1]) for _ in range(20)]
    print("pids", *{own.result() for own in pids}, flush=True)
    for own in [team.threads.submit(slow, team) for _ in range(200)]:
        own.result()
"""


@pytest.mark.skipif(os.name == "nt", reason="signals are sent otherwise")
def test_an_interrupt_ends_all(tmp_path: object) -> None:
    file = os.path.join(str(tmp_path), "script.py")
    with open(file, "w", encoding="utf-8") as script:
        script.write(SCRIPT)
    running = subprocess.Popen(
        [sys.executable, file], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    assert running.stdout is not None
    assert running.stdout.readline() == "started\n"
    pids = [int(word) for word in running.stdout.readline().split()[1:]]
    # As a terminal does: to all processes at once.
    os.killpg(running.pid, signal.SIGINT)
    _, errors = running.communicate(timeout=60)
    assert running.returncode != 0
    assert errors.count("Traceback") == 1
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)
