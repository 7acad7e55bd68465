"""What `rows_to_certify` says, tried on people who are drawn: as many rows as it names certify a gap as often."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray

from fairlimits._util.types import Floats, Ints
from fairlimits.notions import differences, rows_to_certify

DRAWS = 400


@dataclass(frozen=True)
class Drawn:
    """People of two groups, as plain arrays."""

    group: NDArray[np.int64]
    label: NDArray[np.int8]
    groups: tuple[str, ...] = ("a", "b")
    frame_kind: str = "arrow"

    @property
    def shares(self) -> Floats:
        return np.full(len(self.group), 1 / len(self.group))

    @property
    def squares(self) -> Floats:
        return self.shares**2

    @property
    def times(self) -> Ints:
        return np.ones(len(self.group), dtype=np.int64)

    @property
    def n_rows(self) -> int:
        return len(self.group)


def how_often(rows: int, notion: str, tolerance: float, true_gap: float) -> float:
    """How often a rule whose selection rates differ by `true_gap`, whatever the label, is certified."""
    rng, certified = np.random.default_rng(0), 0
    for _ in range(DRAWS):
        group = (rng.random(rows) < 0.7).astype(np.int64)
        people = Drawn(group, (rng.random(rows) < 0.4).astype(np.int8))
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
