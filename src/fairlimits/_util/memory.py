"""How much memory is free: looked up before much of it is allocated."""

from __future__ import annotations

import os
from pathlib import Path

from fairlimits.errors import InputError

# Free memory is not looked up for anything smaller.
_SMALL = 64 * 2**20

_MEMINFO = Path("/proc/meminfo")
_GROUP = Path("/sys/fs/cgroup")


def free_memory() -> int | None:
    """Return the bytes that can be allocated without swapping; None if the system does not say."""
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
    """Return the bytes that the container of this process may still allocate; None if it has no limit."""
    try:
        most = int((_GROUP / "memory.max").read_text(encoding="ascii"))
        return max(most - int((_GROUP / "memory.current").read_text(encoding="ascii")), 0)
    except (OSError, ValueError):
        return None


def rows_that_fit(rows: int, bytes_per_row: float) -> int | None:
    """Return how many rows fit into free memory, as a round number; None if all do, or if free memory is not known.

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
        What was given; anything without a length passes.
    what : str
        What the values are, in the plural.
    bytes_each : float
        Memory that each value takes, with all that is computed from it.
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
    """Return an amount of memory as text.

    Examples
    --------
    >>> size_text(3.21e9), size_text(64e6)
    ('3.2 GB', '64 MB')
    """
    return f"{size / 1e9:,.1f} GB" if size >= 1e9 else f"{size / 1e6:,.0f} MB"
