"""Rules in use: figures with limits, alarms that keep their promise, drift, and people of unknown group."""

from __future__ import annotations

import json
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import fairlimits as fl
from fairlimits.errors import DataError, InputError
from fairlimits.evaluation.monitoring.missing_groups import gap_bounds
from fairlimits.evaluation.monitoring.periods import Period, read_periods
from fairlimits.notions import NOTIONS
from known_people import known, people


@cache
def rule(groups: int = 2, aware: bool = False) -> fl.Rule:
    data = known(0, 3_000, groups)[0]
    return fl.solve(fl.discretize(data, 24, partition="features", generator=None), {"DP": 0.05}, aware=aware)


def months(count: int, rows: int = 600, start: int = 100) -> list[pa.Table]:
    return [people(start + at, rows)[0] for at in range(count)]


def dated(tables: list[pa.Table]) -> pa.Table:
    days = [f"2026-{at + 1:02d}-{1 + k % 28:02d}" for at, own in enumerate(tables) for k in range(own.num_rows)]
    return pa.concat_tables(tables).append_column("day", pa.array(days))


def test_tables_and_a_column_of_dates_say_the_same() -> None:
    tables = months(3)
    several = fl.monitor(rule(), {f"2026-0{at + 1}": own for at, own in enumerate(tables)})
    found = fl.monitor(rule(), dated(tables), dates="day")
    assert found.to_dict() == several.to_dict()
    assert [own.name for own in found.periods] == ["2026-01", "2026-02", "2026-03"]
    quarters = fl.monitor(rule(), dated(tables), dates="day", every="quarter")
    assert [own.name for own in quarters.periods] == ["2026-Q1"]
    assert fl.monitor(rule(), dated(tables), dates="day", every="week").periods[0].name == "week of 2025-12-29"


def test_figures_are_those_of_an_evaluation_with_wider_limits() -> None:
    tables = months(2)
    found = fl.monitor(rule(), tables)
    for own, table in zip(found.periods, tables, strict=True):
        schema = rule().distribution.schema
        assert schema is not None
        judged = fl.evaluate(rule(), fl.Dataset.read_like(schema, table))
        assert own.accuracy.value == pytest.approx(judged.accuracy.value)
        for name in NOTIONS:
            assert own.gaps[name].value == pytest.approx(judged.gaps[name].value)
            assert own.gaps[name].high > own.gaps[name].value
        for g, rate in enumerate(own.selection.values()):
            single = judged.by_group.figures["selection rate"][g]
            assert rate.value == pytest.approx(single.value)
            assert rate.high - rate.low > single.high - single.low


def test_nothing_wrong_gives_no_alarm_and_something_wrong_does() -> None:
    calm = fl.monitor(rule(), months(6), tolerances={"DP": 0.1})
    assert not calm.alarm
    assert "No alarm" in calm.summary()
    table = people(300, 3_000)[0]
    sex = np.asarray(table["sex"])
    moved = table.set_column(0, "skill", pa.array(np.asarray(table["skill"]) + 1.5 * (sex == "m")))
    found = fl.monitor(rule(), [*months(3), moved], tolerances={"DP": 0.1})
    assert {own.kind for own in found.alarms} >= {"gap", "drift"}
    assert all(own.p_value <= own.allowed for own in found.alarms)
    assert {own.period for own in found.alarms} == {"4"}
    flipped = table.set_column(3, "hired", pa.array(1 - np.asarray(table["hired"])))
    assert "accuracy" in {own.kind for own in fl.monitor(rule(), [table, flipped], tolerances={}).alarms}
    # What came later changes no alarm of before.
    longer = fl.monitor(rule(), [*months(3), moved, *months(2, start=200)], tolerances={"DP": 0.1})
    assert [own for own in longer.alarms if own.period == "4"] == list(found.alarms)


def test_labels_may_come_later() -> None:
    table = months(1)[0].drop_columns(["hired"])
    found = fl.monitor(rule(), [table])
    assert list(found.periods[0].gaps) == ["DP"]
    assert not found.periods[0].accuracy.known


def fill_in(period: Period, name: str) -> tuple[float, float]:
    """Smallest and largest gap over all ways to fill groups in, tried one by one."""
    unknown = np.flatnonzero(period.people.group < 0)
    found = []
    for chosen in product(range(period.q.shape[1]), repeat=len(unknown)):
        group = period.people.group.copy()
        group[unknown] = chosen
        whole = period.people._replace(group=group)
        gaps = []
        for rate in NOTIONS[name].rates:
            event = np.asarray(rate.event)[np.asarray(whole.label, dtype=np.int64)]
            value = event[:, 1] * period.scores + event[:, 0] * (1 - period.scores)
            given = np.isin(np.asarray(whole.label), rate.given)
            rates = [value[given & (group == g)].mean() for g in range(period.q.shape[1])]
            gaps.append(max(rates) - min(rates))
        found.append(max(gaps))
    return min(found), max(found)


@pytest.mark.parametrize("groups", [2, 3])
@pytest.mark.parametrize("name", ["DP", "EOp", "EA"])
def test_bounds_hold_over_all_ways_to_fill_groups_in(name: str, groups: int) -> None:
    frame = people(7, 400, groups)[0].to_pandas()
    frame.loc[frame.index[:7], "sex"] = None
    (period,) = read_periods(rule(groups), [frame], None, "month")
    bound = gap_bounds(period, name)
    assert bound is not None
    low, high = fill_in(period, name)
    assert bound.high == pytest.approx(high, abs=1e-12)
    assert bound.low <= low + 1e-12
    assert bound.low - 1e-9 <= bound.if_by_features <= bound.high + 1e-9


def test_missing_groups_are_told() -> None:
    frame = people(8, 900)[0].to_pandas()
    frame.loc[::3, "sex"] = None
    found = fl.monitor(rule(), [frame])
    assert found.periods[0].missing == pytest.approx(1 / 3, abs=0.01)
    assert "these rows cannot show" in found.summary()
    with pytest.raises(DataError, match="sees the group"):
        fl.monitor(rule(aware=True), [frame])


def test_what_cannot_be_tested_is_told() -> None:
    frame = people(8, 900)[0].to_pandas()
    frame["sex"] = None
    said = fl.monitor(rule(), [frame]).summary()
    assert "1 period, 900 people. No alarm" in said
    assert "Not tested in 1: DP" in said
    assert "The group of 100.0% is missing, and too few are known to bound any gap." in said


@pytest.mark.parametrize(("wrong", "named"), [("soon", "soon"), (20260131, "20260131")])
def test_dates_that_are_none_are_refused(wrong: object, named: str) -> None:
    frame = people(8, 90)[0].to_pandas().assign(when="2026-01-31")
    frame["when"] = frame["when"].where(frame.index != 3, str(wrong)) if isinstance(wrong, str) else wrong
    with pytest.raises(DataError, match=f"'when' holds '{named}', and needs dates"):
        fl.monitor(rule(), frame, dates="when")


def test_missing_at_random_is_estimated_as_if_nobody_was(tmp_path: Path) -> None:
    table = people(9, 60_000)[0].to_pandas()
    truth = fl.monitor(rule(), [table]).periods[0].gaps["DP"].value
    # By the features only: of those in the north, most.
    hide = np.random.default_rng(0).random(len(table)) < np.where(table["area"] == "north", 0.7, 0.1)
    table.loc[hide, "sex"] = None
    found = fl.monitor(rule(), [table])
    assert found.periods[0].bounds["DP"].if_by_features == pytest.approx(truth, abs=0.01)
    text = found.to_json(tmp_path / "found.json")
    assert json.loads((tmp_path / "found.json").read_text()) == json.loads(text)
    assert found.to_frame()["gap DP, at most"].iloc[0] > truth


def test_what_cannot_be_watched_is_said() -> None:
    table = dated(months(1))
    with pytest.raises(InputError, match="no periods"):
        fl.monitor(rule(), table)
    with pytest.raises(InputError, match="every is 'hour'"):
        fl.monitor(rule(), table, dates="day", every="hour")  # type: ignore[arg-type]
    with pytest.raises(DataError, match="no date column"):
        fl.monitor(rule(), table, dates="date")
    with pytest.raises(InputError, match="between 0 and 1"):
        fl.monitor(rule(), [table], confidence=2)
    with pytest.raises(DataError, match="no tables"):
        fl.monitor(rule(), [])
