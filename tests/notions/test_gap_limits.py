"""What `rows_to_certify` says, tried on people who are drawn: as many rows as it names certify a gap as often."""

from __future__ import annotations

import numpy as np
import pytest

from fairlimits.notions import CountedPeople, differences, rows_to_certify

DRAWS = 400


def how_often(rows: int, notion: str, tolerance: float, true_gap: float) -> float:
    """How often a rule whose selection rates differ by `true_gap`, whatever the label, is certified."""
    rng, certified = np.random.default_rng(0), 0
    for _ in range(DRAWS):
        group = (rng.random(rows) < 0.7).astype(np.int64)
        label, ones = (rng.random(rows) < 0.4).astype(np.int8), np.ones(rows)
        people = CountedPeople(group, label, ones.astype(np.int64), ones, ones, ("a", "b"), rows)
        decided = (rng.random(rows) < 0.4 + true_gap * (group - 0.5)).astype(float)
        certified += differences(people, decided, [notion]).chance({notion: tolerance}) <= 0.05
    return certified / DRAWS


@pytest.mark.parametrize(("notion", "given"), [("DP", 1.0), ("EOp", 0.4), ("PE", 0.6)])
@pytest.mark.parametrize("true_gap", [0.0, 0.04])
def test_rows_certify_a_rule_as_often_as_promised(notion: str, given: float, true_gap: float) -> None:
    shares = (0.3 * given, 0.7 * given)
    rows = rows_to_certify(0.1, shares=shares, rate=0.4, true_gap=true_gap, power=0.8)
    # Two standard errors, and what the normal approximation is off by.
    assert how_often(rows, notion, 0.1, true_gap) == pytest.approx(0.8, abs=0.06)


def test_a_gap_as_wide_as_its_tolerance_is_rarely_certified() -> None:
    rows = rows_to_certify(0.1, shares=(0.3, 0.7), rate=0.4)
    assert how_often(rows, "DP", 0.1, 0.1) <= 0.05 + 2.5 * np.sqrt(0.05 * 0.95 / DRAWS)
