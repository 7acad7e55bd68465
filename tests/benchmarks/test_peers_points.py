"""The comparison with tuned peers on points made by hand, and what is measured in which order."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from benchmarks.peers import rounds
from benchmarks.peers.bases import Estimates
from benchmarks.peers.judging import compared_groups, judge, on_compared_groups
from benchmarks.peers.pages import FOLDER, markdown
from benchmarks.peers.points import at_tolerances, difference_at, over_tolerances, overlap
from benchmarks.peers.splits import Setting, Split
from benchmarks.peers.tables import Case

import fairlimits as fl


def record(method: str, eps: float, gap: float, accuracy: float, seed: int = 0) -> dict[str, Any]:
    return {
        "data": "adult",
        "rows": 1_000,
        "seed": seed,
        "method": method,
        "criterion": "DP",
        "eps": eps,
        "aware": True,
        "accuracy": accuracy,
        "gaps": {"DP": gap},
        "constant": 0.7,
        "base_seconds": 1.0,
        "fit_seconds": 0.1,
        "n_learn": 80,
        "n_test": 20,
        "shared": 0.2,
    }


OURS = [record("fairlimits", 0.0, 0.1, 0.8), record("fairlimits", 0.1, 0.2, 0.9)]


def test_rows_in_common_add_their_odds() -> None:
    assert overlap(0.0) == 0.0
    assert overlap(0.8) == pytest.approx(4.0)
    with pytest.raises(ValueError, match="below 1"):
        overlap(1.0)


def test_a_single_point_is_read_where_it_is() -> None:
    inside, below = [record("error-parity", 0.0, 0.15, 0.84)], [record("error-parity", 0.0, 0.05, 0.74)]
    assert difference_at(OURS, inside, 0.0) == pytest.approx(0.01)
    # Half-way down to the constant rule, ours has 0.75; at our smallest gap, 0.8 against the peer's 0.74.
    assert difference_at(OURS, below, 0.0) == pytest.approx(0.01)
    assert difference_at(OURS, below, 0.0, raised=True) == pytest.approx(0.06)


def test_a_curve_is_read_at_a_gap_that_both_have() -> None:
    peer = [record("error-parity", 0.0, 0.05, 0.78), record("error-parity", 0.1, 0.15, 0.84)]
    # Ours has no gap below 0.1, where the peer's hull has 0.81.
    assert difference_at(OURS, peer, 0.0) == pytest.approx(0.8 - 0.81)
    assert difference_at(OURS, peer, 0.1) == pytest.approx(0.85 - 0.84)


def test_no_gap_is_no_difference() -> None:
    assert math.isnan(difference_at(OURS, [record("error-parity", 0.0, math.nan, 0.8)], 0.0))


def test_intervals_know_what_cuts_share() -> None:
    rows = [
        *OURS,
        *(own | {"seed": 1} for own in OURS),
        record("error-parity", 0.0, 0.1, 0.79),
        record("error-parity", 0.0, 0.1, 0.77, seed=1),
    ]
    # s is 0.01 sqrt(2), t with one degree of freedom 12.7062; n_test / n_learn and 0.2 / 0.8 are both 0.25.
    reach = 12.706204736 * math.sqrt(0.0002 * 0.75)
    (one,), (mean,) = at_tolerances(rows).values(), over_tolerances(rows).values()
    for own in (one, mean):
        assert own.mean == pytest.approx(0.02)
        assert own.high - own.mean == pytest.approx(reach)


def test_groups_that_are_compared() -> None:
    counts = np.array([[40, 40], [28, 5], [29, 0], [35, 2], [35, 0]])
    assert compared_groups(counts, "DP").tolist() == [0, 1, 3]
    assert compared_groups(counts, "EOd").tolist() == [0, 3]


def three_groups() -> fl.Dataset:
    groups = np.repeat(["a", "b", "c"], [40, 8, 60])
    return fl.Dataset.from_frame(
        pa.table({"x": np.arange(108.0), "group": groups, "label": np.arange(108) % 2}),
        label="label",
        sensitive="group",
    )


@pytest.mark.filterwarnings("ignore::fairlimits.errors.SmallGroupsWarning")
def test_small_groups_are_neither_judged_nor_held() -> None:
    data = three_groups()
    split = Split("people", 0, data, data)
    scores = Estimates(np.arange(108), np.full(108, 0.9), np.full(108, 0.9), 0.0)

    def never(part: Split, setting: Setting, estimates: Estimates) -> Any:
        assert part.learn.groups == ("a", "c")
        assert set(part.learn.group) == {0, 1}
        return lambda: np.zeros(part.test.n_rows)

    decided = on_compared_groups(never, split, Setting("DP", 0.0, True), scores)()
    np.testing.assert_array_equal(decided, data.group == 1)
    found = judge(decided, split)
    assert found["gaps"]["DP"] == 0.0  # type: ignore[index]
    assert found["accuracy"] == pytest.approx(0.5)


def test_first_cuts_come_first_and_what_is_there_is_left_alone(tmp_path: Path) -> None:
    part = rounds.Part("small", (Case("a"), Case("b")), ("DP",), (True,), (0.0,), {"ours": 2, "thresholds": 1})
    order = [(own.seed, own.case.name, own.family) for own in part.jobs()]
    first = [(0, name, family) for name in ("a", "b") for family in ("ours", "thresholds")]
    assert order == [*first, (1, "a", "ours"), (1, "b", "ours")]
    assert [own.seed for own in part.jobs(range(1, 2))] == [1, 1]
    lines = [job.head(method, setting) for job in part.jobs() for method, setting in job.settings()]
    (tmp_path / "small.jsonl").write_text("".join(f"{json.dumps(own)}\n" for own in lines), encoding="utf-8")
    assert list(rounds.run(part, tmp_path, 1, None)) == []


@pytest.mark.parametrize("name", rounds.PARTS)
def test_the_page_says_what_was_measured(name: str) -> None:
    part = rounds.PARTS[name]
    page = (FOLDER / f"peers_{name}.md").read_text(encoding="utf-8")
    assert page == markdown(part, rounds.read(part, None))


@pytest.mark.parametrize("name", rounds.PARTS)
def test_the_page_has_every_setting(name: str) -> None:
    part = rounds.PARTS[name]
    case = part.cases[0]
    rows = [own | {"data": case.name, "rows": case.rows} for own in [*OURS, record("error-parity", 0.0, 0.1, 0.79)]]
    rows += [own | {"seed": 1} for own in rows]
    text = markdown(part, rows)
    assert "+1.00 | +1.00 to +1.00 | 2 | ahead" in text
    assert "1.0 + 0.10" in text
