"""How the process of a command begins and ends: its streams, its signals, its exit code."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable
from typing import TextIO

from fairlimits.apps.cli.terminal import complain, note

STDOUT_CLOSED = "Standard output was closed before everything was printed; give it somewhere to go, or use --output."

_NO_MEMORY = "There is not enough memory for this; give fewer rows, cells, points or samples."


def enter(run: Callable[[], int]) -> int:
    """Run a command and return the exit code, so that nothing is left behind and no traceback is printed.

    Names that a terminal cannot show are printed with escapes.
    """
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    if sys.stdout is None:
        complain("Standard output is closed; give it somewhere to go, such as a file.")
        return 2
    warnings.showwarning = _show_warning
    try:
        code = run()
    except MemoryError:
        # End without the libraries' own clean-up: without memory, it can take forever.
        os.write(2, f"Error: {_NO_MEMORY}\n".encode())
        os._exit(2)
    return _flushed(code)


def _flushed(code: int) -> int:
    try:
        sys.stdout.flush()
    except (OSError, ValueError) as error:
        # Python would flush again at exit, and complain in its own words.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if code == 0:
            complain(told(error))
            return 2
    return code


def told(error: BaseException) -> str:
    """Say what the system refused."""
    if isinstance(error, BrokenPipeError):
        return STDOUT_CLOSED
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    place = getattr(error, "filename", None)
    where = f"{place}: " if isinstance(place, str) else ""
    return f"The system refused something ({where}{reason}); check files, disk space and where the output goes."


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Print a warning as a sentence: where in the code it came from helps nobody at a terminal."""
    note(str(message))
