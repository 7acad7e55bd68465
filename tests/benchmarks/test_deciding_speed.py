"""Pages of how fast rules decide and of how often watching them is wrong."""

from __future__ import annotations

import pytest

from benchmarks import deciding, monitoring


def test_every_export_has_a_line_with_what_it_cannot_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deciding, "version", lambda name: "1.0")
    jobs = ("pandas", "polars", "Arrow", "LightGBM", "Python file", "SQL in DuckDB")
    seconds = dict.fromkeys(jobs, 0.5) | {"LightGBM": 0.25}
    results = {
        "rows": 1_000,
        "learned": 500,
        "seconds": seconds,
        "one": dict.fromkeys(jobs, 0.001) | {"SQL in DuckDB": 4.0},
        "exports": {"Python file": (200_000, 0.0, 0, "nothing"), "SQL in DuckDB": (2_000_000, 0.5, 3, "much")},
    }
    page = deciding.markdown(results)
    assert "| `rule.decide`, polars | 2,000 | 1 | 0.50 |" in page
    assert "| Python file | 2,000 | 1 | 200 | 0 | 0 | nothing |" in page
    assert "| SQL in DuckDB | 2,000 | 4,000 | 2,000 | 0.5 | 3 | much |" in page


def test_jobs_take_turns() -> None:
    order: list[str] = []
    found = deciding.fastest({"a": lambda: order.append("a"), "b": lambda: order.append("b")}, 2)
    assert order == ["a", "b", "a", "b"]
    assert set(found) == {"a", "b"}


def test_false_alarms_and_right_ones_are_told_apart() -> None:
    quiet = monitoring.measure("DP", 300, 0.0, runs=1, months=2)
    wrong = {
        "notion": "DP",
        "rows": 2_000,
        "shift": 0.5,
        "runs": 4,
        "shares": {"gap": 0.25, "accuracy": 0.0, "drift": 1.0, "any": 1.0, "looks": 1.0},
        "first": [4, 5, 5, 6],
    }
    false, right = monitoring.markdown([quiet, wrong]).split("## Something is wrong")
    assert "| DP | 300 | 1 |" in false
    assert "| DP | 2,000 | 0.5 | 4 | 25.0% | 0.0% | 100.0% | 100.0% | 5 |" in right
