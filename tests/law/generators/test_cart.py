"""Sequential CART synthesis: the law of the rows, no more copies than leaves allow, files that are checked."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray
from table_of_people import people, same

import fairlimits as fl
from fairlimits._util.archives import read_archive, write_archive
from fairlimits._util.types import Floats
from fairlimits.errors import DataError, FileError, InputError
from fairlimits.law.generators import CartGenerator
from fairlimits.law.generators.trees import LeafTree, grow


def joint(dataset: fl.Dataset) -> NDArray[Any]:
    return np.bincount(dataset.group * 2 + dataset.label, dataset.weight, 2 * len(dataset.groups))


def shares(codes: Any, size: int, weight: Floats | None = None) -> Floats:
    counts = np.bincount(codes, weight, size)
    return np.asarray(counts / counts.sum())


@pytest.fixture(scope="module")
def data() -> fl.Dataset:
    return people()


@pytest.fixture(scope="module")
def fitted(data: fl.Dataset) -> CartGenerator:
    return CartGenerator().fit(data)


@pytest.fixture(scope="module")
def rows(fitted: CartGenerator) -> fl.Dataset:
    return fitted.sample(60_000, 3)


def test_rows_are_in_the_schema_of_the_data(data: fl.Dataset, rows: fl.Dataset) -> None:
    assert rows.schema == data.schema
    assert rows.n_rows == 60_000
    assert rows.weight is None
    for feature in data.schema.features:
        assert np.isin(rows.columns[feature.name], data.columns[feature.name]).all() or feature.name == "age"
    assert same(fl.Dataset.read_like(data.schema, rows.to_frame()), rows)


def test_marginals_and_their_dependence_on_group_and_label_are_kept(data: fl.Dataset, rows: fl.Dataset) -> None:
    np.testing.assert_allclose(joint(rows) / rows.n_rows, joint(data) / data.n_rows, atol=0.01)
    for name, size in (("job", 5), ("town", 90)):
        distance = np.abs(shares(rows.columns[name], size) - shares(data.columns[name], size)).sum() / 2
        assert distance < 0.03, name
    for g in range(3):
        for y in (0, 1):
            real = data.columns["age"][(data.group == g) & (data.label == y)]
            if len(real) < 100:  # too few to be learned apart from the others
                continue
            drawn = rows.columns["age"][(rows.group == g) & (rows.label == y)]
            assert np.nanmean(drawn) == pytest.approx(np.nanmean(real), abs=1.5)
    gaps = np.isnan(data.columns["age"]).mean(), np.isnan(rows.columns["age"]).mean()
    assert gaps[1] == pytest.approx(gaps[0], abs=0.01)


def test_dependence_between_features_is_kept(data: fl.Dataset, rows: fl.Dataset) -> None:
    def correlation(dataset: fl.Dataset) -> Any:
        age, pay = dataset.columns["age"], np.log(dataset.columns["pay"])
        there = ~np.isnan(age)
        return np.corrcoef(age[there], pay[there])[0, 1]

    assert correlation(rows) == pytest.approx(correlation(data), abs=0.08)
    retired = data.schema.features[[f.name for f in data.schema.features].index("job")].categories.index("retired")
    assert np.nanmin(rows.columns["age"][rows.columns["job"] == retired]) > 55


def test_seed_decides_and_chunks_do_not_show(data: fl.Dataset, fitted: CartGenerator) -> None:
    assert same(fitted.sample(40_000, 5), CartGenerator().fit(data).sample(40_000, 5))
    assert not same(fitted.sample(100, 5), fitted.sample(100, 6))
    first, second = fitted.sample(70_000, 5), fitted.sample(66_000, 5)
    # The first chunk is the same whatever follows it.
    assert same(first.take(np.arange(30_000)), second.take(np.arange(30_000)))


def test_leaves_hold_at_least_the_wanted_rows(data: fl.Dataset) -> None:
    for least in (5, 40):
        model = CartGenerator(min_leaf=least).fit(data)._model
        assert model is not None
        for column in model.columns:
            sizes = np.diff(column.tree.start)
            assert sizes[sizes > 0].min() >= least
            assert sizes.sum() == data.n_rows


def test_weights_are_learned_and_rows_of_weight_zero_are_not(tmp_path: Path) -> None:
    data = people(weighted=True)
    fitted = CartGenerator().fit(data)
    rows = fitted.sample(40_000)
    np.testing.assert_allclose(joint(rows) / rows.n_rows, joint(data) / joint(data).sum(), atol=0.01)
    age, real = rows.columns["age"], data.columns["age"]
    there = ~np.isnan(real)
    assert data.weight is not None
    assert np.nanmean(age) == pytest.approx(np.average(real[there], weights=data.weight[there]), abs=0.5)
    kept = data.columns["pay"][data.weight > 0]
    assert np.isin(rows.columns["pay"], kept).all()
    fitted.save(tmp_path / "w.npz")
    assert same(CartGenerator.load(tmp_path / "w.npz").sample(1000, 2), fitted.sample(1000, 2))


def test_equal_weights_are_no_weights(data: fl.Dataset) -> None:
    doubled = fl.Dataset(data.schema, data.columns, data.group, data.label, np.full(data.n_rows, 2.0))
    rows, same_law = CartGenerator().fit(doubled).sample(20_000), CartGenerator().fit(data).sample(20_000)
    np.testing.assert_allclose(joint(rows), joint(same_law), atol=0)
    assert np.nanmean(rows.columns["age"]) == pytest.approx(np.nanmean(same_law.columns["age"]), abs=0.3)


def test_smoothed_numbers_lie_between_and_stay_whole(data: fl.Dataset) -> None:
    rows = CartGenerator(smooth=True).fit(data).sample(20_000)
    pay, age = rows.columns["pay"], rows.columns["age"]
    assert np.isin(pay, data.columns["pay"]).mean() < 0.1
    assert data.columns["pay"].min() <= pay.min() <= pay.max() <= data.columns["pay"].max()
    present = age[~np.isnan(age)]
    assert (present == np.rint(present)).all()
    assert np.isnan(age).mean() == pytest.approx(np.isnan(data.columns["age"]).mean(), abs=0.02)
    assert (rows.columns["town"] >= 0).all()


@pytest.mark.parametrize("rows", [2, 25])
def test_tables_smaller_than_a_leaf_are_drawn_column_by_column(rows: int) -> None:
    table = pa.table({"a": ["x", "y"] * rows, "n": [1.5, None] * rows, "k": ["same"] * 2 * rows, "y": [0, 1] * rows})
    data = fl.Dataset.from_frame(table, label="y", sensitive="a")
    drawn = CartGenerator().fit(data).sample(500)
    assert set(drawn.group) == {0, 1}
    assert 0.3 < np.isnan(drawn.columns["n"]).mean() < 0.7


@pytest.mark.parametrize("rows", [30, 45])
def test_small_tables_of_distinct_numbers_are_learned_without_a_warning(rows: int) -> None:
    table = pa.table({"a": ["x", "y", "x"] * rows, "n": np.arange(3.0 * rows), "y": [0, 1, 1] * rows})
    data = fl.Dataset.from_frame(table, label="y", sensitive="a").take(np.arange(rows))
    drawn = CartGenerator(5).fit(data).sample(200)
    assert np.isin(drawn.columns["n"], data.columns["n"]).all()


def test_unseen_categories_stay_unseen() -> None:
    data = people(500)
    columns = dict(data.columns)
    columns["town"] = np.where(np.arange(500) < 100, -1, columns["town"])
    drawn = CartGenerator().fit(fl.Dataset(data.schema, columns, data.group, data.label)).sample(5000)
    assert (drawn.columns["town"] == -1).mean() == pytest.approx(0.2, abs=0.04)


def test_saved_and_loaded_generators_draw_the_same(fitted: CartGenerator, tmp_path: Path) -> None:
    fitted.save(tmp_path / "g.npz")
    again = CartGenerator.load(tmp_path / "g.npz")
    assert again == fitted
    assert same(again.sample(5000, 9), fitted.sample(5000, 9))


def test_saved_file_does_not_keep_the_order_of_rows(data: fl.Dataset, fitted: CartGenerator, tmp_path: Path) -> None:
    fitted.save(tmp_path / "g.npz")
    assert fitted._model is not None
    for column in fitted._model.columns:
        start = column.tree.start
        for first, last in pairwise(start):
            assert (np.diff(column.tree.donors[first:last]) >= 0).all()


def changed(arrays: dict[str, Any], key: str, change: Any) -> dict[str, Any]:
    return arrays | {key: change(arrays[key].copy())}


def put(index: int, value: int) -> Callable[[Any], Any]:
    def change(array: Any) -> Any:
        array[index] = value
        return array

    return change


@pytest.mark.parametrize(
    ("key", "change"),
    [
        ("3/child", put(0, 0)),
        ("3/child", put(1, 10**6)),
        ("3/feature", put(0, 99)),
        ("3/donors", put(0, 10**6)),
        ("3/donors", put(0, -1)),
        ("3/start", put(-1, 5)),
        ("3/rank 0", lambda ranks: ranks[:-1]),
        ("joint", lambda joint: joint[:-1]),
        ("3/threshold", put(-1, 0)),
    ],
)
def test_damaged_files_are_refused(fitted: CartGenerator, tmp_path: Path, key: str, change: Any) -> None:
    fitted.save(tmp_path / "g.npz")
    header, arrays = read_archive(tmp_path / "g.npz", "cart generator")
    write_archive(tmp_path / "bad.npz", "cart generator", header, changed(arrays, key, change))
    with pytest.raises(FileError, match="again"):
        CartGenerator.load(tmp_path / "bad.npz")


def test_files_of_other_columns_are_refused(fitted: CartGenerator, tmp_path: Path) -> None:
    fitted.save(tmp_path / "g.npz")
    header, arrays = read_archive(tmp_path / "g.npz", "cart generator")
    header = json.loads(json.dumps(header))
    header["columns"][0] = "other"
    write_archive(tmp_path / "bad.npz", "cart generator", header, arrays)
    with pytest.raises(FileError, match="schema"):
        CartGenerator.load(tmp_path / "bad.npz")


def test_bad_settings_and_orders_of_calls_are_refused(data: fl.Dataset) -> None:
    with pytest.raises(InputError, match="min_leaf"):
        CartGenerator(min_leaf=0)
    with pytest.raises(InputError, match=r"\.fit"):
        CartGenerator().sample(10)
    with pytest.raises(InputError, match=r"\.fit"):
        CartGenerator().save("nowhere.npz")
    for size in (0, -1, 1.5, True):
        with pytest.raises(InputError, match="rows to draw"):
            CartGenerator().fit(data).sample(size)  # type: ignore[arg-type]
    nobody = fl.Dataset(data.schema, data.columns, data.group, data.label, np.zeros(data.n_rows))
    with pytest.raises(DataError, match="weight above 0"):
        CartGenerator().fit(nobody)


def test_fitting_leaves_the_recipe_alone_and_tells_progress(data: fl.Dataset) -> None:
    recipe, told = CartGenerator(), []
    recipe.fit(data, progress=lambda done, words: told.append((done, words)))
    assert recipe._model is None
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    assert len(told) == len(data.schema.features)


def test_walk_through_the_tree_ends_where_scikit_learn_ends() -> None:
    rng = np.random.default_rng(0)
    predictors = rng.integers(0, 9, (800, 4)).astype(np.int32)
    target = (predictors[:, 0] * predictors[:, 1] % 5).astype(np.int32)
    tree = grow(predictors, target.astype(np.int64), target, None, np.ones(800), 5, 0)
    leaves = tree.leaves(predictors)
    np.testing.assert_array_equal(np.bincount(leaves, minlength=len(tree.feature)), np.diff(tree.start))
    for leaf in np.unique(leaves):
        first, last = tree.start[leaf], tree.start[leaf + 1]
        np.testing.assert_array_equal(np.sort(target[leaves == leaf]), tree.donors[first:last])
    again = LeafTree.from_arrays(tree.to_arrays(), 4, 5)
    np.testing.assert_array_equal(again.leaves(predictors), leaves)


def test_seeds_that_no_library_takes_are_refused() -> None:
    data = people(200)
    with pytest.raises(InputError, match="give a whole number from 0 to"):
        CartGenerator().fit(data, random_state=10**12)
    with pytest.raises(InputError, match="random_state is -1"):
        CartGenerator().fit(data).sample(10, random_state=-1)
