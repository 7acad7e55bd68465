"""The benchmark of the good law at any size measures what it says, here on few rows."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchmarks import any_size, any_size_page


def test_the_simulated_law_is_a_law_and_its_last_files_differ(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(any_size, "FILE_ROWS", 2000)
    monkeypatch.setattr(any_size, "_TRUTH_ROWS", 20_000)
    monkeypatch.setattr(any_size, "_TRUTH_CELLS", 16)
    monkeypatch.setattr(any_size, "SAMPLE", 1500)
    x, place = any_size.draw_x(1000, True, 0)
    q = any_size.true_q(x, place)
    np.testing.assert_allclose(q.sum(axis=(1, 2)), 1)
    any_size.write_rows(tmp_path, 3)
    found = any_size.measure(tmp_path, 3)
    assert found["rows"] == 6000
    truth = any_size.true_limit(3)
    assert abs(found["plug-in"] - truth) < 0.06
    beside = {"truth": truth, "features": 1.0, "sample": truth + 0.01, "load": 0.5}
    text = any_size_page.markdown({"3 million": found | beside})
    assert "By calculation from these rates; nobody has run it." in text
    assert found["on the sample"] > 0
    assert "| 6,000 |" in text
    assert set(found["passes"]) == {"columns", "medians", "sides", "sample", "placing", "summing q", "judging"}
    assert all(own > 0 for own in found["passes"].values())
    assert found["together MB"] > 100
    assert "+1.00" in text
    assert "Learning curve at 6,000 rows" in text


def test_what_a_further_row_costs_is_the_difference_of_two_sizes() -> None:
    # The smallest is learned from less, and so compared with no other.
    sizes = [
        {"rows": rows, "passes": {"columns": 2.0 + 6 / rows, "sample": 1.0}, "curve": [[sampled, 0.5]]}
        for rows, sampled in ((1, 1), (2, 2), (4, 2))
    ]
    text = any_size._passes(sizes)
    assert "| a further row, 1 to 2 | 2.00 | 1.00 | 3.00 |" in text
    assert "at 2 and 4 rows, whose samples are as large, but for: columns 43%, sample 0%." in text
    assert "between any two sizes, but for: columns 0%, sample 0%." in text


def test_what_was_measured_is_said_and_nothing_else() -> None:
    sample = {"plug-in": 0.8, "accuracy": [0.8, 0.79, 0.81], "gap": [0.05, 0.04, 0.06]}
    memory = {"in memory": sample, "streamed": sample, "apart": 2e-16, "counts equal": True}
    one, two = ({"seconds": 20.0 / n, "busiest": 18.0 / n, "figures": [0.8]} for n in (1, 2))
    workers = {"rows": 1000, "learned": 100, "load": 0.1, "1": one, "2": two}
    text = any_size_page.markdown({"memory": memory, "workers": workers})
    assert "counts are equal" in text
    assert "2.00 times faster" in text
    assert "at 18000.0 µs" in text
    assert "Ceilings" not in text
    assert "A billion rows" not in text
    text = any_size_page.markdown({"curve": {"rows": 1000, "curve": [[500, 0.7, 0.0, 0.0]]}})
    assert "500 0.70000" in text
