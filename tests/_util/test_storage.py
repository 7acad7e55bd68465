"""Files: written whole or not at all, wherever the writing fails."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

import pytest

from fairlimits._util.storage import write_text, write_whole
from fairlimits.errors import FileError


def test_a_failure_leaves_nothing_behind(tmp_path: Path) -> None:
    def fail() -> None:
        with write_whole(tmp_path / "new.txt") as temporary:
            temporary.write_text("half")
            raise RuntimeError("power cut")

    with pytest.raises(RuntimeError, match="power cut"):
        fail()
    assert os.listdir(tmp_path) == []


def test_the_target_does_not_change_before_the_end(tmp_path: Path) -> None:
    target = tmp_path / "plot.svg"
    write_text(target, "old")
    with write_whole(target) as temporary:
        assert temporary.suffix == ".svg"
        assert temporary.parent == target.parent
        temporary.write_text("new")
        assert target.read_text() == "old"
    assert target.read_text() == "new"


def test_files_follow_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write_text(tmp_path / "a.txt", "grüße")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "a.txt").stat().st_mode) == 0o640
    assert (tmp_path / "a.txt").read_bytes() == "grüße".encode()


def test_impossible_places_are_named(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="is a directory"):
        write_text(tmp_path, "x")
    with pytest.raises(FileError, match="does not exist"):
        write_text(tmp_path / "nowhere" / "x.txt", "x")


def test_names_as_long_as_names_can_be(tmp_path: Path) -> None:
    longest = "n" * 250 + ".json"
    write_text(tmp_path / longest, "x")
    write_text(tmp_path / ("a." + "s" * 253), "x")
    assert len(os.listdir(tmp_path)) == 2
    with pytest.raises(FileError, match="File name too long"):
        write_text(tmp_path / f"{longest}x", "x")
    with pytest.raises(FileError, match="null byte"):
        write_text(tmp_path / "a\0b", "x")


def test_a_system_that_refuses_is_told(tmp_path: Path) -> None:
    target = tmp_path / "x.txt"
    write_text(target, "older")
    with pytest.raises(FileError, match=r"x\.txt cannot be written \(No space left on device\)"), write_whole(target):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    assert os.listdir(tmp_path) == ["x.txt"]
    assert target.read_text() == "older"


def test_the_umask_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It belongs to the whole process: other threads would make files that everybody may write."""
    monkeypatch.setattr(os, "umask", lambda mask: pytest.fail("the umask was changed"))
    write_text(tmp_path / "a.txt", "x")
