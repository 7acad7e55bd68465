"""What `rows_to_certify` says, tried on people who are drawn: as many rows as it names certify a gap as often."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray

from fairlimits._util.types import Floats, Ints
from fairlimits.notions import Differences, differences, rows_to_certify
from fairlimits.notions.gap_limits import beyond_chance

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


@pytest.mark.parametrize("groups", [2, 3, 5, 12])
@pytest.mark.parametrize("seed", range(3))
def test_the_chance_of_a_wide_gap_is_that_of_draws(groups: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    rates, errors = rng.uniform(0.3, 0.4, groups), rng.choice([0.0, 0.003, 0.02, 0.05], groups)
    errors[0] = 0.02
    limit = float(rng.uniform(0.08, 0.2))
    drawn = rates + errors * rng.standard_normal((200_000, groups))
    share = float((np.ptp(drawn, axis=1) > limit).mean())
    assert beyond_chance(rates, errors, limit) == pytest.approx(share, abs=0.004)


def test_pairs_that_share_a_group_are_not_counted_twice() -> None:
    """The chance lies between that of the worst pair and the sum over all."""
    rates, errors = np.array([0.3, 0.32, 0.31, 0.34]), np.array([0.01, 0.01, 0.012, 0.04])
    pairs = [beyond_chance(rates[[g, h]], errors[[g, h]], 0.1) for g in range(4) for h in range(g)]
    whole = beyond_chance(rates, errors, 0.1)
    assert max(pairs) < whole < 0.8 * sum(pairs)
    # Tails are exact far out, too.
    assert beyond_chance(rates, errors / 3, 0.2) == pytest.approx(
        sum(beyond_chance(rates[[g, 3]], errors[[g, 3]] / 3, 0.2) for g in range(3)), rel=0.5
    )


def test_differences_are_those_of_every_two_groups() -> None:
    found = Differences(("DP",), (np.array([0.5, 0.3, 0.1]),), (np.array([0.03, 0.04, 0.0]),))
    assert len(found) == 3
    assert found.value == pytest.approx([0.2, 0.4, 0.2])
    assert found.error == pytest.approx([0.05, 0.03, 0.04])
    assert len(found.of("EA")) == 0
