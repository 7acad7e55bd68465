"""Files on disk: written whole or not at all."""

from __future__ import annotations

import errno
import os
import secrets
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import current_thread, main_thread
from types import FrameType
from typing import NoReturn

from fairlimits.errors import FileError

# Longer suffixes do not name a format, and could make the temporary name longer than the system allows.
_LONGEST_SUFFIX = 16

# Signals that ask a process to end, and that say that its terminal was closed.
_ENDING = tuple(own for own in (getattr(signal, name, None) for name in ("SIGTERM", "SIGHUP")) if own is not None)


@contextmanager
def write_whole(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a temporary path beside `path`, and rename it to `path` if the block succeeds.

    Nothing half-written is left behind: if the block fails, the temporary file is removed and an older
    file at `path` stays as it was.

    Raises
    ------
    FileError
        If the system does not let the file be written, such as on a full disk.
    """
    target = Path(path)
    check_writable(target)
    # The suffix is kept because writers such as matplotlib choose their format by it; the name is not, for it may be as
    # long as names can be.
    suffix = target.suffix if len(target.suffix) <= _LONGEST_SUFFIX else ""
    # Named before it is created, so that no signal can leave a file behind whose name is not known.
    temporary = target.parent / f".fairlimits-{secrets.token_hex(8)}{suffix}"
    with _terminated_in_order():
        try:
            with _faults_told(target):
                # The mode that open uses, so that the umask says who may read it.
                os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
                yield temporary
                _on_disk(temporary)
                temporary.replace(target)
        finally:
            with suppress(OSError):
                temporary.unlink(missing_ok=True)


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write `text` as UTF-8, whole or not at all."""
    with write_whole(path) as temporary:
        # Half of a pair of surrogates has no UTF-8; it can come from a file's name.
        temporary.write_text(text, encoding="utf-8", errors="backslashreplace")


def check_writable(target: Path) -> None:
    """Refuse a place where no file can be written: a directory, or one in a directory that is not there."""
    with _faults_told(target):
        # Not by pathlib, which answers False to some errors, such as a name that is too long, and raises others.
        if os.path.isdir(target):
            raise FileError(f"{target} is a directory; give the name of a file to write.")
        if not os.path.isdir(target.parent):
            raise FileError(f"The directory {target.parent} does not exist; create it, or write somewhere else.")
        with suppress(FileNotFoundError):
            # The file itself, not what it links to: a link is replaced, wherever it leads.
            os.lstat(target)
        if not os.access(target.parent, os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))


@contextmanager
def _terminated_in_order() -> Iterator[None]:
    """Turn signals to end into SystemExit while a file is written, unless somebody else handles them.

    Only then: a process that computes would raise it only after its computation, and must end at once.
    """
    free = [own for own in _ENDING if signal.getsignal(own) is signal.SIG_DFL]
    if current_thread() is not main_thread() or not free:
        yield
        return

    def end(number: int, _frame: FrameType | None) -> NoReturn:
        # Once is enough: a second one must not keep the file from being removed.
        for own in free:
            signal.signal(own, signal.SIG_IGN)
        raise SystemExit(128 + number)

    for own in free:
        signal.signal(own, end)
    try:
        yield
    finally:
        for own in free:
            signal.signal(own, signal.SIG_DFL)


@contextmanager
def _faults_told(target: Path) -> Iterator[None]:
    """Turn errors of the system while a file is written into a `FileError` of one sentence."""
    try:
        yield
    except FileError:
        raise
    except OSError as error:
        # Libraries raise OSErrors of their own, which have no strerror.
        why = error.strerror or str(error) or type(error).__name__
        raise FileError(f"{_shortened(target)} cannot be written ({why}); choose another place or name.") from error
    except ValueError as error:
        if "\0" not in os.fspath(target):
            raise
        raise FileError(f"{str(target)!r} cannot be the name of a file: it has a null byte; leave it out.") from error


def _on_disk(file: Path) -> None:
    """Wait until a file is on disk: some systems notice only then that there is no room."""
    handle = os.open(file, os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _shortened(path: Path) -> str:
    text = str(path)
    return text if len(text) <= 300 else f"{text[:140]}...{text[-140:]}"
