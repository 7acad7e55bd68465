"""The benchmark of audits counts how often an interval holds the truth, and shows it by model and notion."""

from __future__ import annotations

import pytest

import fairlimits as fl
from benchmarks import audits


def test_what_is_counted() -> None:
    found = tuple(fl.notions.Estimate(value, value - 0.01, value + 0.01) for value in (0.02, 0.03, 0.05))
    line = audits.Line("model", ("DP",), (0.1,), 0.025, found)
    assert line.held == 2
    assert line.excess == pytest.approx(0.1 / 3 - 0.025)
    assert line.width == pytest.approx(0.02)
    assert "| model | DP | 0.100 | 2.5 | 2 of 3 | +0.8 | 2.0 |" in audits.markdown([line])


def test_every_model_is_audited_on_samples_and_on_the_law() -> None:
    lines = audits.run(samples=1, rows=900, crowd=60)
    assert len(lines) == 4 * 3
    assert {line.notions for line in lines} == {("DP",), ("EOd",), ("DP", "EOd")}
    assert all(len(line.found) == 1 and 0 <= min(line.gaps) < 1 for line in lines)
