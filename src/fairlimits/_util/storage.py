"""Files on disk: written whole or not at all, and read without pickle.

An archive is one ``.npz`` file: named numeric arrays and a JSON header that says what it is.
"""

from __future__ import annotations

import json
import os
import struct
import tempfile
import tokenize
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairlimits.errors import FileError

_HEADER = "header"
_VERSION = 1

# What numpy, zipfile and json raise on a file that is cut short, altered or of another kind.
_DAMAGE = (
    OSError,
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
    EOFError,
    MemoryError,
    OverflowError,
    NotImplementedError,
    RuntimeError,
    SyntaxError,
    struct.error,
    tokenize.TokenError,
    zipfile.BadZipFile,
    zlib.error,
)


@contextmanager
def write_whole(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a temporary path beside `path`, and rename it to `path` if the block succeeds.

    Nothing half-written is left behind: if the block fails, the temporary file is removed and an older
    file at `path` stays as it was.
    """
    target = Path(path)
    if target.is_dir():
        raise FileError(f"{target} is a directory; give the name of a file to write.")
    if not target.parent.is_dir():
        raise FileError(f"The directory {target.parent} does not exist; create it, or write somewhere else.")
    try:
        # The suffix is kept because writers such as matplotlib choose their format by it.
        handle, name = tempfile.mkstemp(prefix=f".{target.stem}.", suffix=target.suffix, dir=target.parent)
    except OSError as error:
        raise FileError(f"{target} cannot be written ({error.strerror}); choose another place.") from error
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        # mkstemp makes files for the owner alone; a result is an ordinary file and follows the umask.
        umask = os.umask(0)
        os.umask(umask)
        temporary.chmod(0o666 & ~umask)
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write `text` as UTF-8, whole or not at all."""
    with write_whole(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def write_archive(
    path: str | os.PathLike[str], kind: str, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]
) -> None:
    """Write named arrays and a JSON-able header to one file.

    Parameters
    ----------
    path : path
        The file; its name is used as it is.
    kind : str
        What the archive holds, checked when it is read again.
    header : mapping
        Plain data that JSON can hold.
    arrays : mapping of str to array
        Numeric or boolean arrays.
    """
    text = json.dumps({"fairlimits": _VERSION, "kind": kind, "content": header}, allow_nan=True)
    for name, array in arrays.items():
        if array.dtype.hasobject:
            raise TypeError(f"The array {name} holds objects; only numbers and flags can be kept without pickle.")
    with write_whole(path) as temporary, temporary.open("wb") as stream:
        content: dict[str, Any] = {_HEADER: np.array(text), **arrays}
        np.savez_compressed(stream, **content)


def read_archive(path: str | os.PathLike[str], kind: str) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Read what `write_archive` wrote, refusing anything else.

    Returns
    -------
    header : dict
    arrays : dict of str to array
    """
    try:
        with open(path, "rb") as stream, np.load(stream, allow_pickle=False) as content:
            arrays = {name: content[name] for name in content.files}
        outer = json.loads(str(arrays.pop(_HEADER)))
        version, found, header = outer["fairlimits"], outer["kind"], outer["content"]
    except FileNotFoundError:
        raise FileError(f"There is no file {path}; check the name.") from None
    except _DAMAGE as error:
        raise FileError(f"{path} is not a file that fairlimits saved; give one that .save() wrote.") from error
    if version != _VERSION:
        raise FileError(
            f"{path} has file format {version}, this fairlimits reads format {_VERSION}; "
            "save it again with this version."
        )
    if found != kind:
        raise FileError(f"{path} holds a {found}, not a {kind}; load it with the class it was saved from.")
    if not isinstance(header, dict):
        raise FileError(f"{path} has a damaged header; save it again.")
    return header, arrays


def archive_kind(path: str | os.PathLike[str]) -> str | None:
    """Say what kind of archive a file is; None if it is not one."""
    try:
        with open(path, "rb") as stream, np.load(stream, allow_pickle=False) as content:
            return str(json.loads(str(content[_HEADER]))["kind"])
    except _DAMAGE:
        return None


def nest(name: str, arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Put the arrays of a part under the part's name."""
    return {f"{name}/{key}": value for key, value in arrays.items()}


def unnest(name: str, arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Take the arrays of a part out again."""
    start = f"{name}/"
    return {key[len(start) :]: value for key, value in arrays.items() if key.startswith(start)}
