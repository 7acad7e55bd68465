"""Faults around a command: where its words go, what it may write, how much memory there is, who interrupts it."""

from __future__ import annotations

import functools
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pytest

import fairlimits as fl
from fairlimits._util.names import printable
from fairlimits.apps.cli import run

ENTER = [sys.executable, "-m", "fairlimits"]


def enter(*words: str, **options: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*ENTER, *words], stderr=subprocess.PIPE, text=True, timeout=120, check=False, **options)


def one_sentence(done: subprocess.CompletedProcess[str]) -> bool:
    lines = done.stderr.strip().splitlines()
    return done.returncode == 2 and len(lines) == 1 and lines[0].startswith("Error: ")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
def test_a_full_standard_output() -> None:
    with open("/dev/full", "w", encoding="utf-8") as full:
        assert one_sentence(enter("datasets", stdout=full))
        assert one_sentence(enter("--version", stdout=full))


def test_a_closed_standard_output() -> None:
    def close() -> None:
        os.close(1)

    assert one_sentence(enter("datasets", preexec_fn=close))
    read, write = os.pipe()
    os.close(read)
    for words in (["datasets"], ["--help"]):
        assert one_sentence(enter(*words, stdout=write))
    os.close(write)


def test_names_that_a_terminal_cannot_show(tmp_path: Path) -> None:
    done = enter("frontier", "ä\x1b[31m\u202e.csv", env=os.environ | {"PYTHONIOENCODING": "ascii"}, cwd=tmp_path)
    assert one_sentence(done)
    assert r"\xe4\x1b[31m\u202e.csv" in done.stderr
    assert printable("é 中 \u200d\n", "\n") == "é 中 \u200d\n"
    assert printable("a\nb\x07\x9b") == r"a\nb\x07\x9b"


def limited(**limits: int) -> Callable[[], None]:
    def set_them() -> None:
        for name, size in limits.items():
            resource.setrlimit(getattr(resource, name), (size, size))

    return set_them


def test_the_version_in_little_memory() -> None:
    """It spun for minutes, in libraries that are not needed for it."""
    done = enter("--version", stdout=subprocess.PIPE, preexec_fn=limited(RLIMIT_AS=1_500_000_000))
    assert (done.returncode, done.stdout.strip()) == (0, "0.1.0")


@pytest.fixture
def people(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    group = rng.integers(0, 2, 400)
    columns = {"x": rng.normal(size=400) + group, "sex": group, "paid": rng.integers(0, 2, 400)}
    pa_csv.write_csv(pa.table(columns), tmp_path / "people.csv")
    return tmp_path / "people.csv"


def words(people: Path) -> list[str]:
    cells = ["--partition", "features", "--generator", "none", "--cells", "4"]
    return [str(people), "--label", "paid", "--sensitive", "sex", *cells]


def test_a_disk_that_is_full_at_some_byte(people: Path) -> None:
    for size in (0, 100):
        done = enter("cells", *words(people), "-o", "out.npz", cwd=people.parent, preexec_fn=limited(RLIMIT_FSIZE=size))
        assert one_sentence(done)
        assert "cannot be written (File too large)" in done.stderr
    assert os.listdir(people.parent) == ["people.csv"]


@pytest.mark.parametrize("suffix", ["pdf", "png", "svg"])
def test_a_picture_on_a_disk_that_is_full(suffix: str, people: Path) -> None:
    """Where there is no room, matplotlib's PDF fails with an AttributeError of its own."""
    command = ["frontier", *words(people), "--points", "2", "-o", f"out.{suffix}"]
    done = enter(*command, stdout=subprocess.PIPE, cwd=people.parent, preexec_fn=limited(RLIMIT_FSIZE=100))
    assert one_sentence(done)
    assert os.listdir(people.parent) == ["people.csv"]


def test_places_that_cannot_be_written(people: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for output, why in (("a" * 300 + ".npz", "too long"), (".npz", "must end in .npz"), ("a\0b.npz", "null byte")):
        assert run(["cells", *words(people), "-o", str(people.parent / output)]) == 2
        assert why in capsys.readouterr().err
    (people.parent / "folder.npz").mkdir()
    assert run(["cells", *words(people), "-o", str(people.parent / "folder.npz")]) == 2
    assert "is a directory" in capsys.readouterr().err


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_no_permission(people: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (people.parent / "locked").mkdir(mode=0o500)
    assert run(["cells", *words(people), "-o", str(people.parent / "locked" / "out.npz")]) == 2
    assert "Permission denied" in capsys.readouterr().err


def test_billions_are_refused(people: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = [str(people), "--label", "paid", "--sensitive", "sex"]
    assert run(["frontier", *asked, "--points", "1000000000"]) == 2
    assert "--points" in capsys.readouterr().err
    for number in ("1000000000", "1" + "0" * 400):
        assert run(["cells", *asked, "--cells", number, "-o", str(people.parent / "out.npz")]) == 2
    drawn = ["--partition", "features", "--generator", "cart", "--samples", "1000000000000", "--cells", "4"]
    assert run(["cells", *asked, *drawn, "-o", str(people.parent / "out.npz")]) == 2
    assert "more memory than there is" in capsys.readouterr().err


@pytest.mark.parametrize("import_first", ["typer", "fairlimits.apps.cli.audit"])
def test_ctrl_c_while_packages_are_imported(import_first: str, tmp_path: Path) -> None:
    """A package that interrupts the process when it is imported stands for a person who does."""
    hook = "import os, signal, sys\n\nclass Hook:\n    def find_spec(self, name, *rest):\n"
    hook += f"        if name == {import_first!r}:\n            os.kill(os.getpid(), signal.SIGINT)\n\n"
    (tmp_path / "sitecustomize.py").write_text(hook + "sys.meta_path.insert(0, Hook())\n", encoding="utf-8")
    path = os.pathsep.join([str(tmp_path), *sys.path])
    done = enter("--version", stdout=subprocess.PIPE, env=os.environ | {"PYTHONPATH": path})
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


def test_ctrl_c_within_code_that_is_evaluated(tmp_path: Path) -> None:
    """Libraries make classes by exec, and Python takes an interrupt in there for one that nobody handled."""
    hook = "import os, signal, sys\n\nclass Hook:\n    def find_spec(self, name, *rest):\n        if name == 'typer':\n"
    hook += "            exec('os.kill(os.getpid(), signal.SIGINT)')\n\nsys.meta_path.insert(0, Hook())\n"
    (tmp_path / "sitecustomize.py").write_text(hook, encoding="utf-8")
    path = os.pathsep.join([str(tmp_path), *sys.path])
    done = enter("--version", stdout=subprocess.PIPE, env=os.environ | {"PYTHONPATH": path})
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


@pytest.mark.parametrize(("moment", "code"), [("atexit", 130), ("last", 0)])
def test_ctrl_c_when_all_is_done(moment: str, code: int, tmp_path: Path) -> None:
    """An exit code it is, not a death by the signal, even where Python has begun to take itself apart."""
    kill = "os.kill(os.getpid(), signal.SIGINT)"
    late = "class Late:\n    def __del__(self, os=os, kill=os.kill, pid=os.getpid(), number=signal.SIGINT):\n"
    late += "        kill(pid, number)\n\nsys.late = Late()\n"
    # Registered while a command runs, and so called before what was registered when it began.
    soon = "class Hook:\n    def find_spec(self, name, *rest):\n        if name == 'typer':\n"
    soon += f"            atexit.register(lambda: {kill})\n\nsys.meta_path.insert(0, Hook())\n"
    hook = "import atexit, os, signal, sys\n\n" + (soon if moment == "atexit" else late)
    (tmp_path / "sitecustomize.py").write_text(hook, encoding="utf-8")
    path = os.pathsep.join([str(tmp_path), *sys.path])
    done = enter("--version", stdout=subprocess.PIPE, env=os.environ | {"PYTHONPATH": path})
    assert (done.returncode, done.stdout.strip(), done.stderr) == (code, fl.__version__, "")


WRITER = """
import sys, time
from fairlimits._util.storage import write_whole
with write_whole("out.txt") as temporary:
    temporary.write_text("half")
    print("writing", flush=True)
    time.sleep(60)
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_signals_to_end_while_writing_leave_nothing(number: signal.Signals, tmp_path: Path) -> None:
    # Whoever started the tests may have signals ignored, as nohup does, and programs inherit that.
    heard = functools.partial(signal.signal, number, signal.SIG_DFL)
    with subprocess.Popen(
        [sys.executable, "-c", WRITER], cwd=tmp_path, stdout=subprocess.PIPE, text=True, preexec_fn=heard
    ) as writing:
        assert writing.stdout is not None
        assert writing.stdout.readline() == "writing\n"
        assert len(os.listdir(tmp_path)) == 1
        time.sleep(0.05)
        writing.send_signal(number)
        assert writing.wait(60) == 128 + number
    assert os.listdir(tmp_path) == []
