"""Saved results: zip files that say what they hold, with a checksum over every byte, read without pickle.

An archive of numbers is an ``.npz`` file: named arrays, and a JSON header that names each with its type and shape.
Every saved file, of numbers or of estimators, ends in a comment of the zip format, the seal: the kind of the file and
the SHA-256 of all bytes before the checksum. One changed bit anywhere is refused. A seal says that a file is as it was
written, not who wrote it: readers check every value as well.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import os
import re
import stat
import struct
import tokenize
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from fairlimits._util.memory import free_memory, size_text
from fairlimits._util.storage import write_whole
from fairlimits.errors import FairlimitsError, FileError

_HEADER = "header"
_VERSION = 1

# The seal: "fairlimits", the format's version, the kind, and the checksum, of which only the last is not counted.
_DIGITS = 64
_SEAL = re.compile(rb"fairlimits (\d{1,9}) ([a-z ]{1,64}) ([0-9a-f]{64})\Z")
_LONGEST_SEAL = 160

# Unpacked, a file may have this many bytes, or this many times its own: more is not written, and not read either. A
# file that would unpack to gigabytes from next to nothing is refused before it does.
_ALWAYS_UNPACKED = 256 * 2**20
_MOST_EXPANSION = 100

_LONGEST_HEADER = 64 * 2**20
_NUMBERS = "biufU"

# What numpy, zipfile and json raise on a file that is cut short, altered or of another kind.
DAMAGE = (
    OSError,
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
    EOFError,
    MemoryError,
    ArithmeticError,
    NotImplementedError,
    RuntimeError,
    SyntaxError,
    AssertionError,
    struct.error,
    tokenize.TokenError,
    zipfile.BadZipFile,
    zlib.error,
)


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
    plain = {name: np.asarray(array) for name, array in arrays.items()}
    for name, array in plain.items():
        if array.dtype.kind not in _NUMBERS:
            raise TypeError(f"The array {name} holds objects; only numbers and flags can be kept without pickle.")
    members = {name: [array.dtype.str, list(array.shape)] for name, array in plain.items()}
    outer = {"fairlimits": _VERSION, "kind": kind, "arrays": members, "content": header}
    content = {_HEADER: np.array(json.dumps(outer, allow_nan=True)), **plain}
    with write_whole(path) as temporary:
        _write_members(temporary, content, zipfile.ZIP_DEFLATED)
        if sum(array.nbytes for array in content.values()) > _allowed(temporary.stat().st_size):
            _write_members(temporary, content, zipfile.ZIP_STORED)
        seal(temporary, kind)


def _write_members(path: Path, content: Mapping[str, NDArray[Any]], compression: int) -> None:
    with zipfile.ZipFile(path, "w", compression) as file:
        for name, array in content.items():
            with file.open(f"{name}.npy", "w", force_zip64=True) as stream:
                np.lib.format.write_array(stream, array, allow_pickle=False)


def read_archive(path: str | os.PathLike[str], kind: str) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Read what `write_archive` wrote, refusing anything else.

    Returns
    -------
    header : dict
    arrays : dict of str to array
    """
    with _opened(path) as stream:
        found = check_seal(path, stream)
        if found != kind:
            raise FileError(f"{path} holds a {found}, not a {kind}; load it with the class it was saved from.")
        try:
            with zipfile.ZipFile(stream) as file:
                outer = json.loads(_read_header(file))
                arrays = _read_arrays(path, file, outer["arrays"], os.fstat(stream.fileno()).st_size)
            header, said = outer["content"], (outer["fairlimits"], outer["kind"])
        except FairlimitsError:
            raise
        except DAMAGE as error:
            raise _not_ours(path) from error
    if said != (_VERSION, kind) or not isinstance(header, dict):
        raise FileError(f"{path} has a damaged header; save it again.")
    return header, arrays


def _read_header(file: zipfile.ZipFile) -> str:
    info = file.getinfo(f"{_HEADER}.npy")
    if info.file_size > _LONGEST_HEADER:
        raise ValueError(f"the header would take {info.file_size} bytes")
    with file.open(info) as stream:
        text = np.lib.format.read_array(io.BytesIO(stream.read(info.file_size)), allow_pickle=False)
    if text.shape != () or text.dtype.kind != "U":
        raise ValueError("the header is not a text")
    return str(text)


def _read_arrays(
    path: str | os.PathLike[str], file: zipfile.ZipFile, declared: Mapping[str, Any], size: int
) -> dict[str, NDArray[Any]]:
    """Unpack the members that the header declares, after comparing their sizes with what it says of them."""
    expected = {name: (np.dtype(kind), _checked_shape(shape)) for name, (kind, shape) in declared.items()}
    if any(dtype.kind not in _NUMBERS or dtype.itemsize == 0 for dtype, _ in expected.values()):
        raise ValueError("an array is not of numbers")
    found = [info.filename for info in file.infolist()]
    if sorted(found) != sorted(f"{name}.npy" for name in (_HEADER, *expected)):
        raise ValueError("the members are not those of the header")
    total = sum(dtype.itemsize * math.prod(shape) for dtype, shape in expected.values())
    free = free_memory()
    if total > _allowed(size) or (free is not None and total > free):
        raise FileError(f"{path} would unpack to {size_text(total)}, which is too much; save less at a time.")
    return {name: _read_array(file, name, *member) for name, member in expected.items()}


def _checked_shape(shape: Any) -> tuple[int, ...]:
    if len(shape) > 8 or not all(type(size) is int and 0 <= size < 2**48 for size in shape):
        raise ValueError("an array has a shape that cannot be")
    return tuple(shape)


def _read_array(file: zipfile.ZipFile, name: str, dtype: np.dtype[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    info = file.getinfo(f"{name}.npy")
    bytes_of_numbers = dtype.itemsize * math.prod(shape)
    with file.open(info) as stream:
        version = np.lib.format.read_magic(stream)
        reader = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        own_shape, in_columns, own_dtype = reader(stream)
        rest = info.file_size - stream.tell()
        if (own_shape, own_dtype, rest) != (shape, dtype, bytes_of_numbers):
            raise ValueError(f"the array {name} is not what the header says")
        content = stream.read(rest)
    # A copy of what was read may be written to, as arrays usually can.
    return np.frombuffer(bytearray(content), dtype).reshape(shape, order="F" if in_columns else "C")


def _allowed(size: int) -> int:
    """Bytes that a file of some size may unpack to."""
    return max(_ALWAYS_UNPACKED, _MOST_EXPANSION * size)


def unpacks_within_limits(path: Path | IO[bytes]) -> bool:
    """Whether a zip file unpacks to no more than one of its size may."""
    size = path.stat().st_size if isinstance(path, Path) else path.seek(0, os.SEEK_END)
    with zipfile.ZipFile(path) as file:
        return sum(info.file_size for info in file.infolist()) <= _allowed(size)


def read_sealed(path: str | os.PathLike[str]) -> bytes:
    """Return all of a sealed file, after comparing it with its checksum, and its size with what it unpacks to.

    The members are packed again: of one that says that it is small, and is not, other readers would unpack all.
    """
    with _opened(path) as stream:
        check_seal(path, stream)
        try:
            fits = unpacks_within_limits(stream)
        except DAMAGE as error:
            raise _not_ours(path) from error
        if not fits:
            raise FileError(f"{path} would unpack to far more than its own size; give a file that save wrote.")
        try:
            return _packed_again(stream)
        except DAMAGE as error:
            raise _not_ours(path) from error


def _packed_again(stream: IO[bytes]) -> bytes:
    """Read every member of a zip file to the size that it says, and put them into another."""
    whole = io.BytesIO()
    with zipfile.ZipFile(stream) as file, zipfile.ZipFile(whole, "w") as again:
        if len(set(file.namelist())) < len(file.namelist()):
            raise ValueError("two members have one name")
        for info in file.infolist():
            with file.open(info) as member:
                again.writestr(info.filename, member.read(info.file_size))
    return whole.getvalue()


def seal(path: Path, kind: str) -> None:
    """Write into a zip file what it holds, and the checksum of all of it."""
    with zipfile.ZipFile(path, "a") as file:
        file.comment = f"fairlimits {_VERSION} {kind} {'0' * _DIGITS}".encode("ascii")
    with path.open("r+b") as stream:
        checksum = _checksum(stream)
        stream.seek(-_DIGITS, os.SEEK_END)
        stream.write(checksum.encode("ascii"))


def check_seal(path: str | os.PathLike[str], stream: IO[bytes]) -> str:
    """Return the kind of a sealed file, after comparing the checksum with all of it."""
    kind = _sealed_kind(path, stream)
    stream.seek(-_DIGITS, os.SEEK_END)
    if stream.read() != _checksum(stream).encode("ascii"):
        raise FileError(f"{path} is damaged: its checksum is not that of its content; save it again.")
    stream.seek(0)
    return kind


def _sealed_kind(path: str | os.PathLike[str], stream: IO[bytes]) -> str:
    """Kind of a file by its seal."""
    size = stream.seek(0, os.SEEK_END)
    stream.seek(max(size - _LONGEST_SEAL, 0))
    found = _SEAL.search(stream.read())
    if found is None:
        raise _not_ours(path)
    version = int(found[1])
    if version != _VERSION:
        raise FileError(
            f"{path} has file format {version}, this fairlimits reads format {_VERSION}; "
            "save it again with this version."
        )
    return found[2].decode("ascii")


def archive_kind(path: str | os.PathLike[str]) -> str:
    """Say what kind of thing a file holds.

    Raises
    ------
    FileError
        If fairlimits did not write it.
    """
    with _opened(path) as stream:
        return _sealed_kind(path, stream)


@contextmanager
def _opened(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a file for reading, and say in a sentence what stands against it."""
    try:
        # A pipe would be waited for, and a device may have no end.
        is_file = stat.S_ISREG(os.stat(path).st_mode)
        stream = open(path if is_file else os.devnull, "rb")  # noqa: SIM115
    except FileNotFoundError:
        raise FileError(f"There is no file {path}; check the name.") from None
    except OSError as error:
        raise FileError(f"{path} cannot be read ({error.strerror}); check its name and its permissions.") from error
    except ValueError as error:
        raise FileError(f"{str(path)!r} cannot be the name of a file; check it.") from error
    with stream:
        if not is_file:
            raise FileError(f"{path} is not a file; give the name of one that .save() wrote.")
        yield stream


def _checksum(stream: IO[bytes]) -> str:
    """SHA-256 of all bytes of a file but those that hold the checksum itself."""
    left = stream.seek(0, os.SEEK_END) - _DIGITS
    stream.seek(0)
    found = hashlib.sha256()
    while left > 0:
        part = stream.read(min(left, 2**20))
        if not part:
            break
        found.update(part)
        left -= len(part)
    return found.hexdigest()


def _not_ours(path: str | os.PathLike[str]) -> FileError:
    return FileError(f"{path} is not a file that fairlimits saved, or it is damaged; give one that .save() wrote.")


@contextmanager
def reading(what: str) -> Iterator[None]:
    """Turn whatever damaged content raises while it is read into a sentence on the file's `what`."""
    try:
        yield
    except FileError:
        raise
    except (*DAMAGE, FairlimitsError) as error:
        raise FileError(f"The file's {what} is damaged ({error}); save it again.") from error


def check_members(found: Iterable[str], expected: Iterable[str], what: str) -> None:
    """Refuse a file that has other arrays than its content would be written with."""
    odd = sorted(set(found) ^ set(expected))
    if odd:
        raise FileError(f"The file's {what} has arrays too many or too few ({', '.join(odd)[:100]}); save it again.")


def nest(name: str, arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Put the arrays of a part under the part's name."""
    return {f"{name}/{key}": value for key, value in arrays.items()}


def unnest(name: str, arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Take the arrays of a part out again."""
    start = f"{name}/"
    return {key[len(start) :]: value for key, value in arrays.items() if key.startswith(start)}
