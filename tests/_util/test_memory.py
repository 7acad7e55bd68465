"""Memory is asked for before it is taken, and what would fit is said."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest

from fairlimits._util import memory
from fairlimits.data import Dataset, Encoding, read_table
from fairlimits.errors import DataError, FileError


@pytest.fixture
def little(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "_SMALL", 0)
    monkeypatch.setattr(memory, "free_memory", lambda: 5000)


def people(n: int = 1000) -> pa.Table:
    rng = np.random.default_rng(0)
    job = rng.choice(["a", "b", "c"], n)
    return pa.table({"x": rng.normal(size=n), "job": job, "sex": ["f", "m"] * (n // 2), "y": rng.integers(0, 2, n)})


def test_what_is_free_is_known_here() -> None:
    free = memory.free_memory()
    assert free is None or free > 0


def test_sources_of_the_figure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "meminfo").write_text("MemTotal: 9 kB\nMemAvailable:      4 kB\n")
    monkeypatch.setattr(memory, "_MEMINFO", tmp_path / "meminfo")
    monkeypatch.setattr(memory, "_GROUP", tmp_path)
    assert memory.free_memory() == 4096
    (tmp_path / "memory.max").write_text("3000\n")
    (tmp_path / "memory.current").write_text("1000\n")
    assert memory.free_memory() == 2000
    (tmp_path / "memory.max").write_text("max\n")
    assert memory.free_memory() == 4096
    monkeypatch.setattr(memory, "_MEMINFO", tmp_path / "nothing")
    assert memory.free_memory() != 4096


def test_rows_that_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "free_memory", lambda: 10**9)
    assert memory.rows_that_fit(10**9, 8) == 120_000_000
    assert memory.rows_that_fit(10**8, 8) is None
    monkeypatch.setattr(memory, "free_memory", lambda: None)
    assert memory.rows_that_fit(10**9, 8) is None


@pytest.mark.usefixtures("little")
def test_encoded_rows_that_do_not_fit_are_refused() -> None:
    data = Dataset.from_frame(people(), label="y", sensitive="sex")
    encoding = Encoding.fit(data)
    with pytest.raises(
        DataError, match=r"1,000 rows take 0 MB .* 4 encoded columns, 3 of them for 'job', and 310 rows"
    ) as found:
        encoding.transform_dataset(data)
    assert "--stream --partition features" in found.value.shell
    assert encoding.transform_dataset(data.take(range(310))).shape == (310, 4)


@pytest.mark.usefixtures("little")
def test_files_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    pq.write_table(people(), tmp_path / "big.parquet")
    pa_csv.write_csv(people(), tmp_path / "big.csv")
    with pytest.raises(FileError, match=r"big.parquet takes .* about \d+ of its 1,000 rows would fit.*stream=True"):
        read_table(tmp_path / "big.parquet")
    with pytest.raises(FileError, match=r"big.csv takes .* about \d+% of its rows would fit") as found:
        read_table(tmp_path / "big.csv")
    assert "--stream --partition features" in found.value.shell
