"""The benchmark of scale measures what it says, here on few rows."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchmarks import scale


def test_rows_are_written_streamed_and_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scale, "FILE_ROWS", 2000)
    monkeypatch.setattr(scale, "DRAWN", 2)
    monkeypatch.setattr(scale, "CELLS", 8)
    scale.write_rows(tmp_path, 3)
    small, large = (scale.measure(tmp_path, files) for files in (1, 3))
    assert (small["rows"], large["rows"]) == (2000, 6000)
    assert small["passes"] >= 5
    assert 0 < small["seeding"] < small["seconds"]
    counts = np.ones((8, 2, 2), dtype=np.int64)
    names = [f"group {name}, {clock}" for name in ("hidden", "seen") for clock in ("seconds", "processor")]
    text = scale.markdown(
        {
            "stream": [{**small, "microseconds": 2.0}, {**large, "microseconds": 2.2}],
            "load": 0.5,
            "load before the workers": 0.5,
            "workers": [
                {"seconds": 10.0, "busiest": 9.0, "counts": counts},
                {"seconds": 5.0, "busiest": 5.0, "counts": counts},
            ],
            "bands": dict.fromkeys(names, 3.0),
        }
    )
    assert "| 6,000 |" in text
    assert "row and pass varies by 10%" in text
    assert "2.00 times faster; counts equal" in text


def test_processor_time_grows() -> None:
    before = scale.processor_seconds()
    np.linalg.svd(np.random.default_rng(0).random((300, 300)))
    assert scale.processor_seconds() > before
