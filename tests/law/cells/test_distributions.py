"""`CellDistribution`: the paper's marginals, checks on the way in, and the way to disk and back."""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse as sp
from hypothesis import given

from fairlimits._util.archives import read_archive, write_archive
from fairlimits.data import Dataset, Encoding
from fairlimits.errors import FileError, InputError
from fairlimits.law.cells.distributions import CellDistribution
from fairlimits.law.cells.neighbours import Neighbourhood, neighbour_pairs
from fairlimits.law.cells.origins import Origin
from strategies import Case, cases

MASS = np.array([[[1, 2], [3, 4]], [[5, 0], [2, 3]], [[0, 0], [1, 4]]]) / 25


def test_every_p_of_the_paper() -> None:
    """Superscripts are joint, subscripts are given: a, b are groups 0, 1."""
    dist = CellDistribution.from_mass(MASS)
    for i in range(3):
        for a in (0, 1):
            of_a = MASS[:, a].sum()
            assert dist.p()[i] == pytest.approx(MASS[i].sum())  # p
            assert dist.p(group=a)[i] == pytest.approx(MASS[i, a].sum())  # p^a
            assert dist.p(given_group=a)[i] == pytest.approx(MASS[i, a].sum() / of_a)  # p_a
            for y in (0, 1):
                of_y = MASS[:, :, y].sum()
                of_both = MASS[:, a, y].sum()
                assert dist.p(label=y)[i] == pytest.approx(MASS[i, :, y].sum())  # p^y
                assert dist.p(given_label=y)[i] == pytest.approx(MASS[i, :, y].sum() / of_y)  # p_y
                assert dist.p(group=a, label=y)[i] == pytest.approx(MASS[i, a, y])  # p^{a,y}
                assert dist.p(given_group=a, given_label=y)[i] == pytest.approx(MASS[i, a, y] / of_both)  # p_{a,y}
                assert dist.p(label=y, given_group=a)[i] == pytest.approx(MASS[i, a, y] / of_a)  # p_a^y
                assert dist.p(group=a, given_label=y)[i] == pytest.approx(MASS[i, a, y] / of_y)  # p_y^a


@given(cases(distances=False))
def test_conditional_marginals_sum_to_one_or_are_missing(case: Case) -> None:
    dist = case.dist()
    assert dist.p().sum() == pytest.approx(1)
    for g in range(dist.n_groups):
        for y in (0, 1):
            found = dist.p(given_group=g, given_label=y)
            if case.mass[:, g, y].sum() == 0:
                assert np.isnan(found).all()
            else:
                assert found.sum() == pytest.approx(1)


def test_a_variable_is_joint_or_given() -> None:
    dist = CellDistribution.from_mass(MASS)
    with pytest.raises(InputError):
        dist.p(group=0, given_group=1)
    with pytest.raises(InputError):
        dist.p(label=0, given_label=0)


@pytest.mark.parametrize("number", [-1, 5, 0.5, "f"])
def test_groups_and_labels_are_those_that_there_are(number: Any) -> None:
    dist = CellDistribution.from_mass(MASS)
    for name in ("group", "given_group", "label", "given_label"):
        with pytest.raises(InputError, match=f"{name.removeprefix('given_')} is .*from 0 to 1"):
            dist.p(**{name: number})


@given(cases(distances=False))
def test_masses_are_divided_by_their_sum(case: Case) -> None:
    dist = case.dist()
    np.testing.assert_allclose(dist.mass, case.mass / case.mass.sum(), rtol=1e-14)
    np.testing.assert_allclose(CellDistribution.from_mass(case.mass * 1e-7).mass, dist.mass, rtol=1e-12)
    assert (dist.n_cells, dist.n_groups) == case.shape


def test_masses_whose_sum_is_too_large_for_a_number() -> None:
    dist = CellDistribution.from_mass(1e308 * np.array([[[1.0, 1.0], [0.5, 1.5]]]))
    np.testing.assert_allclose(dist.mass, [[[0.25, 0.25], [0.125, 0.375]]])


def test_a_distribution_does_not_change() -> None:
    mass = MASS.copy()
    distances = np.zeros((3, 3))
    dist = CellDistribution.from_mass(mass, distances)
    mass[0, 0, 0] = distances[0, 1] = distances[1, 0] = 9
    assert dist.mass[0, 0, 0] == pytest.approx(1 / 25)
    assert dist.distances[0, 1] == 0  # type: ignore[index]
    with pytest.raises(ValueError, match="read-only"):
        dist.mass[0, 0, 0] = 1
    with pytest.raises(ValueError, match="read-only"):
        dist.distances[0, 0] = 1  # type: ignore[index]
    with pytest.raises(FrozenInstanceError):
        dist.mass = mass  # type: ignore[misc]


@pytest.mark.parametrize(
    "mass",
    [
        [[1, 2]],
        [[[1, 2, 3]]],
        np.zeros((0, 2, 2)),
        np.zeros((2, 0, 2)),
        np.zeros((2, 2, 2)),
        [[[1, -1], [3, 2]]],
        [[[1, np.nan], [3, 2]]],
        [[[1, np.inf], [3, 2]]],
        -np.ones((2, 2, 2)),
        7,
    ],
)
def test_impossible_masses_are_refused(mass: Any) -> None:
    with pytest.raises(InputError):
        CellDistribution.from_mass(mass)


@pytest.mark.parametrize("mass", ["abc", [[["a", "b"], ["c", "d"]]], [[[1, 2], [3]]], None])
def test_masses_that_are_no_numbers_are_refused_by_our_own_error(mass: Any) -> None:
    with pytest.raises(InputError):
        CellDistribution.from_mass(mass)


@pytest.mark.parametrize("groups", [["a"], ["a", "b", "c"], ["a", "a"], [1, "1"]])
def test_each_group_has_a_name_of_its_own(groups: list[Any]) -> None:
    with pytest.raises(InputError, match="name"):
        CellDistribution.from_mass(MASS, groups=groups)


def test_names_of_groups() -> None:
    assert CellDistribution.from_mass(MASS).groups == ("0", "1")
    dist = CellDistribution.from_mass(MASS, groups=["women", "men"])
    assert dist.groups == ("women", "men")
    assert repr(dist) == "CellDistribution(3 cells, groups women, men)"
    assert CellDistribution.from_mass([[[1, 2]]]).groups == ("0",)


@pytest.mark.parametrize(
    "distances",
    [
        np.zeros((2, 2)),
        np.zeros((3, 2)),
        np.zeros(3),
        np.array([[0, 1, 2], [1, 0, 3], [2, 2, 0]]),
        np.full((3, 3), -1.0),
        np.full((3, 3), np.nan),
        np.full((3, 3), np.inf),
        sp.coo_array(([-1.0], ([0], [1])), shape=(3, 3)),
        sp.coo_array(([np.inf], ([0], [1])), shape=(3, 3)),
        sp.coo_array(([1.0], ([0], [1])), shape=(4, 4)),
        "far",
        [["a"] * 3] * 3,
    ],
)
def test_impossible_distances_are_refused(distances: Any) -> None:
    with pytest.raises(InputError):
        CellDistribution.from_mass(MASS, distances)


@pytest.mark.parametrize("made_by", [sp.coo_array, sp.csr_array, sp.csc_matrix, sp.coo_matrix])
def test_a_sparse_graph_has_one_entry_a_pair(made_by: Any) -> None:
    # Both halves of (0, 1), one half of (2, 1) below the diagonal, a zero distance, and a loop.
    entries = ([0.5, 0.5, 0.25, 0.0, 3.0], ([0, 1, 2, 0, 1], [1, 0, 1, 2, 1]))
    dist = CellDistribution.from_mass(MASS, made_by(sp.coo_array(entries, shape=(3, 3))))
    distances: Any = dist.distances
    found = sorted(zip(*(axis.tolist() for axis in distances.coords), distances.data.tolist(), strict=True))
    assert found == [(0, 1, 0.5), (0, 2, 0.0), (1, 2, 0.25)]


def test_of_two_distances_of_a_pair_the_smaller_counts() -> None:
    entries = ([0.7, 0.5], ([0, 1], [1, 0]))
    dist = CellDistribution.from_mass(MASS, sp.coo_array(entries, shape=(3, 3)))
    assert dist.distances.data.tolist() == [0.5]  # type: ignore[union-attr]


def test_counts_belong_to_the_masses() -> None:
    with pytest.raises(InputError, match="counts"):
        CellDistribution(MASS, ("a", "b"), counts=np.ones((2, 2, 2), dtype=int))
    with pytest.raises(InputError, match="counts"):
        CellDistribution(MASS, ("a", "b"), counts=-np.ones((3, 2, 2), dtype=int))
    with pytest.raises(InputError, match="sum"):
        CellDistribution(MASS * 2, ("a", "b"))
    with pytest.raises(InputError, match="centroids"):
        CellDistribution(MASS, ("a", "b"), centroids=np.zeros((3, 2), dtype=np.float32))


def table() -> Dataset:
    rng = np.random.default_rng(3)
    columns = {
        "age": rng.normal(40, 9, 60),
        "work": rng.choice(["x", "y", "z"], 60),
        "sex": rng.choice(["f", "m"], 60),
        "paid": rng.integers(0, 2, 60),
    }
    return Dataset.from_frame(pa.table(columns), label="paid", sensitive="sex")


def from_table() -> CellDistribution:
    data = table()
    encoding = Encoding.fit(data)
    rows = encoding.transform_dataset(data)
    counts = np.zeros((3, 2, 2), dtype=int)
    np.add.at(counts, (np.arange(60) % 3, data.group, data.label.astype(int)), 1)
    return CellDistribution(
        mass=counts / 60,
        groups=data.groups,
        counts=counts,
        centroids=np.stack([rows[k::3].mean(axis=0) for k in range(3)]),
        encoding=encoding,
        schema=data.schema,
        origin=Origin(rows=60),
    )


def test_cells_as_a_table() -> None:
    frame = from_table().to_frame()
    assert frame.num_rows == 3
    assert sum(frame["mass"].to_pylist()) == pytest.approx(1)
    assert frame["rows"].to_pylist() == [20, 20, 20]
    assert set(frame["work"].to_pylist()) <= {"x", "y", "z"}
    assert all(20 < age < 60 for age in frame["age"].to_pylist())
    plain = CellDistribution.from_mass(MASS, groups=["f", "m"]).to_frame()
    np.testing.assert_allclose(plain["mass of m, label 1"], MASS[:, 1, 1])
    assert "rows" not in plain.column_names


def same(one: CellDistribution, other: CellDistribution) -> None:
    np.testing.assert_array_equal(one.mass, other.mass)
    assert one.groups == other.groups
    assert one.origin == other.origin
    assert one.encoding == other.encoding
    assert one.schema == other.schema
    for name in ("counts", "centroids"):
        mine, its = getattr(one, name), getattr(other, name)
        assert (mine is None) == (its is None)
        if mine is not None:
            assert mine.dtype == its.dtype
            np.testing.assert_array_equal(mine, its)
    assert type(one.distances) is type(other.distances)
    if isinstance(one.distances, np.ndarray):
        np.testing.assert_array_equal(one.distances, other.distances)
    elif one.distances is not None:
        hood = Neighbourhood()
        mine, its = neighbour_pairs(one, hood), neighbour_pairs(other, hood)
        for name in ("first", "second", "distance"):
            np.testing.assert_array_equal(getattr(mine, name), getattr(its, name))


@given(case=cases())
def test_what_is_saved_is_loaded(tmp_path_factory: pytest.TempPathFactory, case: Case) -> None:
    path = tmp_path_factory.mktemp("saved") / "dist.npz"
    dist = case.dist()
    dist.save(path)
    same(dist, CellDistribution.load(path))


def test_what_came_from_a_table_is_saved_with_it(tmp_path: Path) -> None:
    dist = from_table()
    dist.save(tmp_path / "dist.npz")
    loaded = CellDistribution.load(tmp_path / "dist.npz")
    same(dist, loaded)
    assert loaded.to_frame() == dist.to_frame()
    assert repr(loaded).endswith("from 60 rows)")


def rewrite(path: Path, header: Any = None, **arrays: Any) -> None:
    """Change parts of a saved distribution; an array of None is left out."""
    content, parts = read_archive(path, "distribution")
    parts |= arrays
    left = {name: array for name, array in parts.items() if array is not None}
    write_archive(path, "distribution", content | (header or {}), left)


@pytest.mark.parametrize(
    "change",
    [
        {"mass": None},
        {"mass": MASS * 2},
        {"mass": -MASS},
        {"mass": MASS[:2]},
        {"mass": np.array(["a"])},
        {"header": {"groups": ["a"]}},
        {"header": {"groups": 5}},
        {"header": {"origin": 5}},
        {"header": {"origin": {"rows": "60"}}},
        {"header": {"encoding": {"features": 1}}},
        {"header": {"schema": {}}},
        {"counts": np.zeros(3)},
        {"counts": np.ones((3, 2, 2), dtype=np.int64)},
        {"counts": np.full((3, 2, 2), 2**62)},
        {"counts": np.full((3, 2, 2), np.nan)},
        {"strange": np.zeros(1)},
        {"header": {"groups": ["b", "a"]}},
        {"header": {"groups": "ab"}},
        {"header": {"origin": {"rows": 10**400}}},
        {"header": {"origin": {"total_weight": 10**400}}},
        {"centroids": np.zeros((3, 9))},
        {"centroids": np.full((3, 2), 1e18)},
        {"distances": np.zeros((2, 2))},
        {"first": np.array([0]), "second": np.array([9]), "pair_distances": np.array([1.0])},
        {"first": np.array([0]), "second": np.array([1, 2]), "pair_distances": np.array([1.0])},
        {"first": np.array([0]), "second": np.array([1])},
    ],
)
def test_a_damaged_file_is_named_so(tmp_path: Path, change: dict[str, Any]) -> None:
    path = tmp_path / "dist.npz"
    from_table().save(path)
    rewrite(path)
    CellDistribution.load(path)
    rewrite(path, **change)
    with pytest.raises(FileError):
        CellDistribution.load(path)


def test_other_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="no file"):
        CellDistribution.load(tmp_path / "none.npz")
    with (tmp_path / "x.npz").open("wb") as stream:
        np.savez(stream, mass=MASS)
    with pytest.raises(FileError, match="not a file that fairlimits saved"):
        CellDistribution.load(tmp_path / "x.npz")
