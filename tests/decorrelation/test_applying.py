"""Maps applied to rows: what comes out, what it depends on, and what it must not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from map_samples import discretized, some_data, some_distribution, some_table

from fairlimits.data import Dataset
from fairlimits.decorrelation import Decorrelation, decorrelate
from fairlimits.decorrelation.applying import FEWEST_PEOPLE, Rows, cell_values, draw_bins, read_rows
from fairlimits.errors import ColumnsWarning, DataError, InputError
from fairlimits.law.cells.building import discretize
from fairlimits.limits import solve


@pytest.fixture(scope="module", params=[False, True], ids=["unaware", "aware"])
def plan(request: pytest.FixtureRequest) -> Decorrelation:
    dist = discretized()
    return decorrelate(dist, solve(dist, {"DP": 0.0}, aware=request.param))


def test_features_only(plan: Decorrelation) -> None:
    mapped = plan.apply(some_data(1, 200))
    assert mapped.column_names == ["size", "skill", "colour", *(["scored_as"] if plan.aware else [])]
    assert mapped.num_rows == 200
    assert mapped["size"].type == pa.float64()
    assert set(mapped["colour"].to_pylist()) <= {"red", "green", "blue", "grey"}
    if plan.aware:
        assert set(mapped["scored_as"].to_pylist()) <= {"f", "m"}


def test_every_row_is_that_of_a_target_cell(plan: Decorrelation) -> None:
    values = cell_values(plan.distribution)
    colours = plan.distribution.schema.features[2].categories  # type: ignore[union-attr]
    possible = {
        (float(values["size"][i]), float(values["skill"][i]), colours[values["colour"][i]])
        for i in range(plan.distribution.n_cells)
        if any(columns[i :: plan.distribution.n_cells].sum() > 0 for columns in plan.maps)
    }
    mapped = plan.apply(some_data(2, 500)).to_pylist()
    assert {(row["size"], row["skill"], row["colour"]) for row in mapped} <= possible


def test_no_row_is_that_of_a_person(plan: Decorrelation) -> None:
    people = some_data(0, 3_000)
    skills = set(people.columns["skill"].tolist())
    assert not skills & set(plan.apply(people)["skill"].to_pylist())


def test_only_the_cell_and_group_of_a_row_count(plan: Decorrelation) -> None:
    """Rows of one cell (and group) are alike: with the same draws, they are sent to the same values."""
    people = some_data(3, 2_000)
    rows = read_rows(plan.distribution, plan.aware, people, "refuse")
    stand_ins: dict[tuple[int, int], int] = {}
    for row, (cell, group) in enumerate(zip(rows.cell.tolist(), people.group.tolist(), strict=True)):
        stand_ins.setdefault((cell, group if plan.aware else 0), row)
    replaced = people.take(
        [
            stand_ins[cell, group if plan.aware else 0]
            for cell, group in zip(rows.cell.tolist(), people.group.tolist(), strict=True)
        ]
    )
    assert replaced.columns["skill"].tolist() != people.columns["skill"].tolist()
    assert plan.apply(replaced, 5).equals(plan.apply(people, 5))


def test_seeds(plan: Decorrelation) -> None:
    people = some_data(4, 300)
    assert plan.apply(people, 7).equals(plan.apply(people, 7))
    assert not plan.apply(people, 7).equals(plan.apply(people, 8))


@pytest.mark.parametrize("seed", [-1, 0.5, "a", None])
def test_seeds_that_cannot_be_used(plan: Decorrelation, seed: Any) -> None:
    with pytest.raises(InputError, match=r"random_state is .*whole number from 0 to"):
        plan.apply(some_data(4, 20), seed)


def test_draws_follow_the_map(plan: Decorrelation) -> None:
    n = plan.distribution.n_cells
    rng = np.random.default_rng(0)
    rows = Rows(rng.integers(n, size=200_000), rng.integers(2, size=200_000) if plan.aware else None)
    bins = draw_bins(plan.maps, rows, 0)
    for g, columns in enumerate(plan.maps):
        for cell in range(n):
            own = rows.cell == cell if rows.group is None else (rows.cell == cell) & (rows.group == g)
            drawn = np.bincount(bins[own], minlength=len(columns)) / own.sum()
            assert drawn == pytest.approx(columns[:, cell], abs=0.03)
            assert not drawn[columns[:, cell] == 0].any()


def test_the_group_cannot_be_told_from_mapped_people_it_was_made_from(plan: Decorrelation) -> None:
    people = some_data(0, 3_000)
    mapped = plan.apply(people, 1).to_pandas()
    told = mapped.assign(group=people.group).groupby([*mapped.columns], dropna=False)["group"].agg(["mean", "size"])
    often = told[told["size"] > 100]
    assert often["mean"].to_numpy() == pytest.approx(people.group.mean(), abs=0.12)


def test_tables_of_any_kind_seen_or_not(plan: Decorrelation) -> None:
    table = some_table(6, 100)
    expected = plan.apply(Dataset.read_like(plan.distribution.schema, table), 2)  # type: ignore[arg-type]
    for frame in (table, table.to_pandas(), pl.from_arrow(table)):
        assert plan.apply(frame, 2).equals(expected)
    features = table.select(["colour", "skill", "size"])
    if plan.aware:
        with pytest.raises(DataError, match="no sensitive column"):
            plan.apply(features)
    else:
        # Neither group nor label is needed, and the order of columns does not matter.
        assert plan.apply(features, 2).equals(expected)


def test_unseen_categories(plan: Decorrelation) -> None:
    frame = some_table(7, 40).to_pandas()
    frame.loc[3, "colour"] = "mauve"
    with pytest.raises(DataError, match=r"'mauve'.*unseen=\"missing\""):
        plan.apply(frame)
    assert plan.apply(frame, unseen="missing").num_rows == 40
    with pytest.raises(InputError, match="unseen is 'guess'; use 'refuse' or 'missing'"):
        plan.apply(some_data(7, 40), unseen="guess")  # type: ignore[arg-type]
    known = frame.drop(index=3)
    assert len(plan.apply(known)) == 39


def test_rows_of_another_kind_are_refused(plan: Decorrelation) -> None:
    table = some_table(8, 60)
    more = Dataset.from_frame(table, label="hired", sensitive="sex")
    with pytest.raises(InputError, match=r"differ in person; read the table with Dataset\.read_like"):
        plan.apply(more)
    fewer = table.filter(pa.compute.not_equal(table["colour"], "blue"))
    with pytest.raises(InputError, match="code their values in another way"):
        plan.apply(Dataset.from_frame(fewer, label="hired", sensitive="sex", drop="person"))
    with pytest.raises(DataError, match="'skill'"):
        plan.apply(table.drop_columns("skill"))
    renamed = pd.DataFrame(table.to_pandas()).assign(sex=lambda d: d["sex"].map({"f": "F", "m": "M"}))
    other = Dataset.from_frame(renamed, label="hired", sensitive="sex", drop="person")
    if plan.aware:
        with pytest.raises(InputError, match="groups F, M, the plan has maps for f, m"):
            plan.apply(other)
    else:
        assert plan.apply(other).num_rows == 60


def test_a_plan_of_bare_numbers_knows_no_rows() -> None:
    dist = some_distribution(0, cells=5)
    plan = decorrelate(dist, solve(dist, {"DP": 0.0}))
    with pytest.raises(InputError, match=r"bare numbers.*discretize"):
        plan.apply(some_table(0, 5))


def test_values_of_small_cells_are_shared() -> None:
    people = some_data(9, 60)
    dist = discretize(people, cells=30, generator=None, random_state=0, partition="features")
    rows = dist.counts.sum(axis=(1, 2))  # type: ignore[union-attr]
    assert (rows < FEWEST_PEOPLE).sum() > 5
    skills = cell_values(dist)["skill"]
    assert not set(skills.tolist()) & set(people.columns["skill"].tolist())
    lone = int(np.flatnonzero(rows == 1)[0])
    assert skills[lone] != pytest.approx(float(dist.centres()["skill"][lone]))


@pytest.mark.parametrize(("known", "shown"), [(1, False), (4, False), (5, True), (12, True)])
def test_a_number_that_few_people_have_is_not_shown(known: int, shown: bool) -> None:
    rng = np.random.default_rng(0)
    cell = np.repeat([0, 1], [12, 20])
    income = rng.normal(30.0, 5.0, 32)
    income[known:12] = np.nan
    town = np.array(["p", "q"])[cell]
    columns = {"income": income, "town": town, "work": town, "school": town, "shop": town}
    columns |= {"sex": np.array(["f", "m"] * 16), "paid": np.array([0, 1, 1, 0] * 8)}
    people = Dataset.from_frame(pa.table(columns), label="paid", sensitive="sex")
    dist = discretize(people, cells=2, generator=None, random_state=0, partition="features")
    values = cell_values(dist)
    own = int(np.flatnonzero(dist.counts.sum(axis=(1, 2)) == 12)[0])  # type: ignore[union-attr]
    if shown:
        assert values["income"][own] == pytest.approx(income[:known].mean(), abs=1e-3)
    else:
        assert np.isnan(values["income"][own])
    assert values["income"][1 - own] == pytest.approx(income[12:].mean(), abs=1e-3)


def test_a_feature_with_the_name_of_a_result_is_refused() -> None:
    table = some_table(10, 400).rename_columns(["person", "size", "scored_as", "colour", "sex", "hired"])
    people = Dataset.from_frame(table, label="hired", sensitive="sex", drop="person")
    dist = discretize(people, cells=5, generator=None, random_state=0, partition="features")
    rule = solve(dist, {"DP": 0.0}, aware=True)
    with pytest.raises(InputError, match=r"'scored_as'.*rename it"):
        decorrelate(dist, rule).apply(people)


def test_missing_values_and_weights(plan: Decorrelation) -> None:
    dist = discretized(weight=True)
    weighted: Any = decorrelate(dist, solve(dist, {"DP": 0.0}, aware=plan.aware))
    mapped = weighted.apply(some_data(11, 300, weight=True))
    assert "w" not in mapped.column_names
    assert weighted.correlation < 1e-10


def test_rows_of_one_group_alone_can_be_mapped(plan: Decorrelation) -> None:
    people = some_data(4, 300)
    mapped = plan.apply(people.take(np.flatnonzero(people.group == 1)))
    assert mapped.num_rows == int((people.group == 1).sum())


def test_integers_stay_integers_and_dates_dates() -> None:
    rng = np.random.default_rng(0)
    people = 400
    table = pa.table(
        {
            "age": pa.array(rng.integers(18, 80, people), mask=rng.random(people) < 0.1),
            "income": rng.normal(size=people),
            "since": pa.array(rng.integers(10_000, 20_000, people).astype(np.int32)).cast(pa.date32()),
            "sex": rng.choice(["f", "m"], people),
            "paid": rng.integers(0, 2, people),
        }
    )
    with pytest.warns(ColumnsWarning, match="Dates read as numbers"):
        data = Dataset.from_frame(table, label="paid", positive=1, sensitive="sex")
    dist = discretize(data, 8, partition="features", generator=None)
    mapped = decorrelate(dist, solve(dist, {"DP": 0.0})).apply(data)
    assert [mapped[name].type for name in ("age", "income", "since")] == [pa.int64(), pa.float64(), pa.date32()]


def test_the_label_comes_along_if_asked_for(plan: Decorrelation) -> None:
    data = some_data(1, 200)
    schema = data.schema
    mapped = plan.apply(data, with_label=True)
    assert mapped.column_names == [*plan.apply(data).column_names, schema.label]
    got = np.array([value == schema.positive for value in mapped[schema.label].to_pylist()])
    np.testing.assert_array_equal(got, data.label == 1)
    # Of a table it is what the table has.
    table = some_table(1, 200)
    assert plan.apply(table, with_label=True)[schema.label].to_pylist() == pa.table(table)[schema.label].to_pylist()
    with pytest.raises(InputError, match=f"no column {schema.label!r}, the label"):
        plan.apply(pa.table(table).drop_columns([schema.label]), with_label=True)
