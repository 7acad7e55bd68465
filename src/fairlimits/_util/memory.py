"""How much memory is free, asked before much of it is taken."""

from __future__ import annotations

import os
from pathlib import Path

from fairlimits.errors import InputError

# What takes less is not worth a question.
_SMALL = 64 * 2**20

_MEMINFO = Path("/proc/meminfo")
_GROUP = Path("/sys/fs/cgroup")


def free_memory() -> int | None:
    """Bytes that can be taken without ousting others; None if the system does not say."""
    found = [size for size in (_of_machine(), _of_control_group()) if size is not None]
    return min(found) if found else None


def _of_machine() -> int | None:
    try:
        for line in _MEMINFO.read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return 1024 * int(line.split()[1])
    except (OSError, ValueError):
        pass
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None


def _of_control_group() -> int | None:
    """What a container may still take."""
    try:
        most = int((_GROUP / "memory.max").read_text(encoding="ascii"))
        return max(most - int((_GROUP / "memory.current").read_text(encoding="ascii")), 0)
    except (OSError, ValueError):
        return None


def rows_that_fit(rows: int, bytes_per_row: float) -> int | None:
    """How many of some rows fit into the memory that is free, in round numbers; None if all do, or nobody knows.

    Examples
    --------
    >>> rows_that_fit(1000, 8) is None
    True
    """
    if rows * bytes_per_row < _SMALL:
        return None
    free = free_memory()
    if free is None or rows * bytes_per_row <= free:
        return None
    fit = int(free / bytes_per_row)
    step = int(10 ** max(len(str(fit)) - 2, 0))
    return fit // step * step


def refuse_too_many(values: object, what: str, bytes_each: float) -> None:
    """Refuse a sequence that there is no memory for, such as a long range, before it becomes an array.

    Parameters
    ----------
    values : object
        What was given; nothing is said of what has no length.
    what : str
        What the values are, in the plural.
    bytes_each : float
        What each of them takes, with all that is made of it.
    """
    try:
        count = len(values)  # type: ignore[arg-type]
    except TypeError:
        return
    except OverflowError:
        raise InputError(f"There are more {what} than can be counted; give fewer: a few dozen will do.") from None
    fit = rows_that_fit(count, bytes_each)
    if fit is not None:
        raise InputError(
            f"{count:,} {what} take more memory than there is, and {fit:,} would fit; give fewer: a few dozen will do."
        )


def size_text(size: float) -> str:
    """Return how an amount of memory is shown.

    Examples
    --------
    >>> size_text(3.21e9), size_text(64e6)
    ('3.2 GB', '64 MB')
    """
    return f"{size / 1e9:,.1f} GB" if size >= 1e9 else f"{size / 1e6:,.0f} MB"
