"""Archives: without pickle, and every damaged or foreign one is refused by name."""

from __future__ import annotations

import json
import os
import struct
import tracemalloc
import zipfile
import zlib
from pathlib import Path

import numpy as np
import pytest

import fairlimits as fl
from fairlimits._util.archives import nest, read_archive, seal, unnest, write_archive
from fairlimits._util.storage import write_whole
from fairlimits.errors import FileError

HEADER = {"name": "ähnlich", "numbers": [1, 2.5], "none": None, "far": float("inf")}
ARRAYS = {
    "a": np.arange(6.0).reshape(2, 3),
    "b": np.array([True, False]),
    "part/c": np.zeros((0, 2)),
    "text": np.array(["x", "yy"]),
}


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    path = tmp_path / "one.npz"
    write_archive(path, "thing", HEADER, ARRAYS)
    return path


def test_what_is_written_is_read(archive: Path) -> None:
    header, arrays = read_archive(archive, "thing")
    assert header == HEADER
    assert set(arrays) == set(ARRAYS)
    for name, array in ARRAYS.items():
        assert arrays[name].dtype == array.dtype
        np.testing.assert_array_equal(arrays[name], array)
    assert os.listdir(archive.parent) == [archive.name]


def test_the_name_is_used_as_it_is(tmp_path: Path) -> None:
    write_archive(str(tmp_path / "no suffix"), "thing", {}, {})
    assert read_archive(tmp_path / "no suffix", "thing") == ({}, {})


def test_a_failure_leaves_the_old_file_as_it_was(archive: Path) -> None:
    before = archive.read_bytes()
    with pytest.raises(TypeError):
        write_archive(archive, "thing", {"not json": object()}, {})
    with pytest.raises(KeyboardInterrupt), write_whole(archive) as temporary:
        temporary.write_bytes(b"half")
        raise KeyboardInterrupt
    assert archive.read_bytes() == before
    assert os.listdir(archive.parent) == [archive.name]


def test_other_kinds_and_versions_are_refused(archive: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(FileError, match="holds a thing, not a rule"):
        read_archive(archive, "rule")
    monkeypatch.setattr("fairlimits._util.archives._VERSION", 2)
    with pytest.raises(FileError, match="format 1"):
        read_archive(archive, "thing")


def foreign(path: Path, what: str) -> None:
    if what == "text":
        path.write_text("a,b\n1,2\n")
    elif what == "empty":
        path.write_bytes(b"")
    elif what == "npy":
        with path.open("wb") as stream:
            np.save(stream, np.arange(3))
    elif what == "no header":
        with path.open("wb") as stream:
            np.savez(stream, a=np.arange(3))
    elif what == "header no json":
        with path.open("wb") as stream:
            np.savez(stream, header=np.array("{"))
    elif what == "header no record":
        with path.open("wb") as stream:
            np.savez(stream, header=np.array("[1]"))
    elif what == "content no record":
        with path.open("wb") as stream:
            np.savez(stream, header=np.array('{"fairlimits": 1, "kind": "thing", "content": [1]}'))
    elif what == "directory":
        path.mkdir()


@pytest.mark.parametrize(
    "what",
    ["text", "empty", "npy", "no header", "header no json", "header no record", "content no record", "directory"],
)
def test_foreign_files_are_refused(tmp_path: Path, what: str) -> None:
    foreign(tmp_path / "x.npz", what)
    with pytest.raises(FileError, match=r"x\.npz"):
        read_archive(tmp_path / "x.npz", "thing")


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="There is no file"):
        read_archive(tmp_path / "x.npz", "thing")


class Bomb:
    """Unpickling this creates a directory."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, ...]:
        return os.mkdir, (self.path,)


def test_pickled_arrays_are_refused_and_not_run(tmp_path: Path) -> None:
    bomb = np.array([Bomb(str(tmp_path / "exploded"))], dtype=object)
    with (tmp_path / "x.npz").open("wb") as stream:
        np.savez(stream, header=np.array('{"fairlimits": 1, "kind": "thing", "content": {}}'), a=bomb)
    with pytest.raises(FileError):
        read_archive(tmp_path / "x.npz", "thing")
    assert not (tmp_path / "exploded").exists()


def test_object_arrays_are_not_written(tmp_path: Path) -> None:
    """What cannot be read again must not be written in the first place."""
    with pytest.raises((ValueError, TypeError)):
        write_archive(tmp_path / "x.npz", "thing", {}, {"a": np.array([{}], dtype=object)})
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 0.999])
def test_a_file_cut_short_is_refused(archive: Path, share: float) -> None:
    whole = archive.read_bytes()
    archive.write_bytes(whole[: int(len(whole) * share)])
    with pytest.raises(FileError):
        read_archive(archive, "thing")


def test_damage_anywhere_is_refused_or_harmless(archive: Path) -> None:
    whole = archive.read_bytes()
    rng = np.random.default_rng(0)
    others = []
    for at in range(0, len(whole), 3):
        damaged = bytearray(whole)
        damaged[at] ^= int(rng.integers(1, 256))
        archive.write_bytes(bytes(damaged))
        try:
            header, arrays = read_archive(archive, "thing")
        except FileError:
            continue
        except Exception as error:  # What the test is about: nothing else may come out.
            others.append(f"byte {at}: {type(error).__name__}: {error}")
            continue
        # The zip format has bytes that nothing depends on, such as dates.
        assert header == HEADER
        for name in set(arrays) & set(ARRAYS):
            np.testing.assert_array_equal(arrays[name], ARRAYS[name])
    assert not others, others[:3]


def test_parts_go_in_and_come_out() -> None:
    whole = nest("one", {"a": np.zeros(1), "b/c": np.ones(1)}) | {"a": np.ones(2), "one more/a": np.ones(3)}
    assert set(whole) == {"one/a", "one/b/c", "a", "one more/a"}
    assert set(unnest("one", whole)) == {"a", "b/c"}
    assert unnest("two", whole) == {}


def test_one_flipped_bit_anywhere_is_refused(archive: Path) -> None:
    whole = archive.read_bytes()
    # Every bit of the seal, and of the rest every eleventh.
    bits = 8 * len(whole)
    for bit in {*range(0, bits, 11), *range(bits - 8 * 100, bits)}:
        damaged = bytearray(whole)
        damaged[bit // 8] ^= 1 << bit % 8
        archive.write_bytes(bytes(damaged))
        with pytest.raises(FileError):
            read_archive(archive, "thing")


def test_members_that_the_header_does_not_name_are_refused(archive: Path) -> None:
    with zipfile.ZipFile(archive, "a") as file:
        file.writestr("more.npy", b"x")
    seal(archive, "thing")
    with pytest.raises(FileError, match="not a file that fairlimits saved"):
        read_archive(archive, "thing")


def test_what_would_unpack_to_far_more_than_its_size_is_refused_before_it_does(tmp_path: Path) -> None:
    """A member of 4 GB in a file of 4 MB was unpacked for 46 seconds."""
    path, zeros = tmp_path / "bomb.npz", bytes(2**22)
    outer = {"fairlimits": 1, "kind": "thing", "arrays": {"a": ["|u1", [2**32]]}, "content": {}}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as file:
        with file.open("header.npy", "w") as stream:
            np.lib.format.write_array(stream, np.array(json.dumps(outer)))
        with file.open("a.npy", "w", force_zip64=True) as stream:
            np.lib.format.write_array_header_1_0(stream, {"descr": "|u1", "fortran_order": False, "shape": (2**32,)})
            for _ in range(2**7):  # An eighth of what is declared: it is refused unread.
                stream.write(zeros)
    seal(path, "thing")
    with pytest.raises(FileError, match=r"would unpack to 4\.3 GB"):
        read_archive(path, "thing")


def test_an_array_larger_than_its_member_takes_no_memory(tmp_path: Path) -> None:
    path = tmp_path / "x.npz"
    outer = {"fairlimits": 1, "kind": "thing", "arrays": {"a": ["<f8", [2**24]]}, "content": {}}
    with zipfile.ZipFile(path, "w") as file:
        with file.open("header.npy", "w") as stream:
            np.lib.format.write_array(stream, np.array(json.dumps(outer)))
        with file.open("a.npy", "w") as stream:
            np.lib.format.write_array_header_1_0(stream, {"descr": "<f8", "fortran_order": False, "shape": (2**24,)})
    seal(path, "thing")
    with pytest.raises(FileError, match="not a file that fairlimits saved"):
        read_archive(path, "thing")


def test_what_compresses_too_well_is_written_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fairlimits._util.archives._ALWAYS_UNPACKED", 1000)
    zeros = np.zeros(2**20)
    write_archive(tmp_path / "x.npz", "thing", {}, {"a": zeros})
    np.testing.assert_array_equal(read_archive(tmp_path / "x.npz", "thing")[1]["a"], zeros)


def test_arrays_in_columns_and_pipes(tmp_path: Path) -> None:
    turned = np.asfortranarray(np.arange(6).reshape(2, 3))
    write_archive(tmp_path / "x.npz", "thing", {}, {"a": turned})
    found = read_archive(tmp_path / "x.npz", "thing")[1]["a"]
    np.testing.assert_array_equal(found, turned)
    found[0, 0] = 7  # As arrays usually can.
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(FileError, match="is not a file"):
        read_archive(tmp_path / "pipe", "thing")


@pytest.mark.parametrize("member", ["header.npy", "schema.json"])
def test_members_that_say_they_are_small_are_not_unpacked(tmp_path: Path, member: str) -> None:
    """Python's zipfile unpacks up to 2 GB of such a member, and then cuts it to the size that it says."""
    path = tmp_path / "lying"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr(member, b" " * 2**27)
    raw = bytearray(path.read_bytes())
    place = raw.find(b"PK\x01\x02")
    raw[place + 16 : place + 20] = struct.pack("<I", zlib.crc32(b" " * 100))
    raw[place + 24 : place + 28] = struct.pack("<I", 100)
    path.write_bytes(raw)
    seal(path, "rule" if member == "header.npy" else "estimator")
    for traced in (False, True):
        # Once before it is measured, for what is imported then.
        if traced:
            tracemalloc.start()
        with pytest.raises(FileError):
            fl.load(path)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 2**25
