"""Distances between cells, which pairs are neighbours, and what individual fairness compares in each mode."""

from __future__ import annotations

import math
from itertools import combinations
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from fairlimits.data import Dataset, Encoding
from fairlimits.errors import InputError
from fairlimits.law.cells import neighbours
from fairlimits.law.cells.distributions import CellDistribution
from fairlimits.law.cells.neighbours import Neighbourhood, can_compare, cell_distances, nearest_cell, neighbour_pairs
from fairlimits.limits import solve
from fairlimits.limits.variables import Variables
from literal import Hood
from strategies import MODES, Case, cases, hoods, neighbourhood


def people(seed: int, rows: int = 40) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    return {
        "age": rng.normal(40, 9, rows),
        "hours": rng.integers(1, 60, rows).astype(float),
        "work": rng.choice(["x", "y", "z"], rows, p=[0.6, 0.3, 0.1]),
        "town": rng.choice(["p", "q"], rows),
        "sex": rng.choice(["f", "m"], rows),
        "paid": np.arange(rows) % 2,
    }


def with_centroids(columns: dict[str, Any], cell: np.ndarray) -> CellDistribution:
    data = Dataset.from_frame(pa.table(columns), label="paid", sensitive="sex")
    encoding = Encoding.fit(data)
    rows = encoding.transform_dataset(data)
    n = cell.max() + 1
    mass = np.zeros((n, 2, 2))
    np.add.at(mass, (cell, data.group, data.label.astype(int)), 1 / len(cell))
    return CellDistribution(
        mass,
        data.groups,
        centroids=np.stack([rows[cell == k].mean(axis=0) for k in range(n)]),
        encoding=encoding,
        schema=data.schema,
    )


def literal_distance(columns: dict[str, Any], one: np.ndarray, other: np.ndarray) -> float:
    """Mean over features, straight from the rows of two cells."""
    parts = []
    for name in ("age", "hours"):
        values = columns[name]
        # Scaled to variance 1/2: divided by sqrt(2) standard deviations.
        parts.append(abs(values[one].mean() - values[other].mean()) / (math.sqrt(2) * values.std()))
    for name in ("work", "town"):
        values = columns[name]
        shares = [[np.mean(values[cell] == value) for cell in (one, other)] for value in sorted(set(values))]
        parts.append(sum(abs(a - b) for a, b in shares) / 2)
    return float(np.mean(parts))


@pytest.mark.parametrize("seed", range(3))
def test_the_mixed_distance_is_the_mean_over_features(seed: int) -> None:
    columns = people(seed)
    cell = np.random.default_rng(seed).permutation(np.arange(40) % 6)
    found = cell_distances(with_centroids(columns, cell))
    assert found.shape == (6, 6)
    np.testing.assert_array_equal(found, found.T)
    for i in range(6):
        for j in range(6):
            wanted = literal_distance(columns, np.flatnonzero(cell == i), np.flatnonzero(cell == j))
            assert found[i, j] == pytest.approx(wanted, abs=1e-6)


def test_a_number_with_missing_values_is_one_feature() -> None:
    columns = people(3)
    cell = np.arange(40) % 2
    plain = cell_distances(with_centroids(columns, cell))[0, 1]
    age = columns["age"].copy()
    age[[0, 1, 2, 4]] = np.nan
    missing = cell_distances(with_centroids({**columns, "age": age}, cell))[0, 1]
    filled = np.where(np.isnan(age), np.nanmedian(age), age)
    without = cell_distances(with_centroids({**columns, "age": filled}, cell))[0, 1]
    # Four features either way: the shares of missing values, 3 and 1 of 20, come on top of the one difference.
    assert missing == pytest.approx(without + (3 / 20 - 1 / 20) / 4, abs=1e-6)
    assert missing == pytest.approx(plain, abs=0.1)


def test_between_pure_cells_categories_count_like_hamming() -> None:
    columns: dict[str, list[Any]] = {
        "u": ["a", "a", "b", "b"],
        "v": ["p", "q", "p", "q"],
        "sex": list("fmfm"),
        "paid": [0, 1, 0, 1],
    }
    found = cell_distances(with_centroids(columns, np.arange(4)))
    hamming = np.array(
        [[np.mean([columns[name][i] != columns[name][j] for name in "uv"]) for i in range(4)] for j in range(4)]
    )
    np.testing.assert_allclose(found, hamming, atol=1e-6)


def pairs_of(dist: CellDistribution, hood: Neighbourhood) -> list[tuple[int, int, float]]:
    pairs = neighbour_pairs(dist, hood)
    return sorted(zip(pairs.first.tolist(), pairs.second.tolist(), pairs.distance.tolist(), strict=True))


@given(cases(distances=True), hoods())
def test_neighbours_are_those_of_the_definition(case: Case, hood: Hood) -> None:
    found = pairs_of(case.dist(), neighbourhood(hood))
    assert found == sorted(case.literal(hood=hood).edges())
    assert all(i < j for i, j, _ in found)


def test_the_percentile_is_numpys_over_all_pairs() -> None:
    points = np.random.default_rng(0).normal(size=(12, 2))
    distances = np.abs(points[:, None] - points[None]).mean(axis=2)
    mass = np.random.default_rng(1).random((12, 2, 2))
    # Cells without mass have no neighbours, yet their distances count in the percentile.
    mass[[2, 5]] = 0
    dist = CellDistribution.from_mass(mass, distances)
    everything = [distances[i, j] for i, j in combinations(range(12), 2)]
    for percentile in (0, 3.5, 10, 50, 100):
        eta = np.percentile(everything, percentile)
        wanted = {(i, j) for i, j in combinations(range(12), 2) if distances[i, j] <= eta and not {i, j} & {2, 5}}
        assert {(i, j) for i, j, _ in pairs_of(dist, Neighbourhood(percentile=percentile))} == wanted
    assert len(pairs_of(dist, Neighbourhood(percentile=100))) == 45


def test_distances_from_cells_give_the_same_neighbours() -> None:
    columns = people(4)
    dist = with_centroids(columns, np.arange(40) % 8)
    given_ = CellDistribution.from_mass(dist.mass, cell_distances(dist))
    hood = Neighbourhood(percentile=30)
    one, other = pairs_of(dist, hood), pairs_of(given_, hood)
    assert [pair[:2] for pair in one] == [pair[:2] for pair in other]
    assert len(one) == 9  # 30% of 28 pairs, the limit itself interpolated between two


def test_a_radius_overrides_the_percentile() -> None:
    distances = np.array([[0, 0, 0.5], [0, 0, 0.5], [0.5, 0.5, 0]])
    dist = CellDistribution.from_mass(np.ones((3, 2, 2)), distances)
    assert pairs_of(dist, Neighbourhood(percentile=100, eta=0)) == [(0, 1, 0.0)]
    assert len(pairs_of(dist, Neighbourhood(percentile=0, eta=0.5))) == 3
    assert pairs_of(dist, Neighbourhood(percentile=0)) == [(0, 1, 0.0)]


def test_a_sparse_graph_names_the_neighbours_itself() -> None:
    graph = sp.coo_array(([0.0, 0.3, 0.9], ([0, 1, 2], [1, 2, 0])), shape=(4, 4))
    dist = CellDistribution.from_mass(np.ones((4, 2, 2)), graph)
    everything = [(0, 1, 0.0), (0, 2, 0.9), (1, 2, 0.3)]
    assert pairs_of(dist, Neighbourhood(percentile=0)) == everything
    assert pairs_of(dist, Neighbourhood(eta=0.5)) == [(0, 1, 0.0), (1, 2, 0.3)]
    with pytest.raises(InputError):
        cell_distances(dist)
    empty = CellDistribution.from_mass(np.ones((4, 2, 2)), sp.coo_array((4, 4)))
    assert pairs_of(empty, Neighbourhood()) == []
    assert solve(empty, {"IF": 0}).price == pytest.approx(0)


@pytest.mark.parametrize("percentile", [0, 3.5, 100])
@pytest.mark.parametrize("mode", MODES)
def test_a_single_cell_has_no_neighbours(percentile: float, mode: str) -> None:
    dist = CellDistribution.from_mass([[[1, 2], [3, 1]]], distances=[[0.0]])
    hood = Neighbourhood(percentile=percentile, mode=mode)  # type: ignore[arg-type]
    assert pairs_of(dist, hood) == []
    assert solve(dist, {"IF": 0}, neighbours=hood).price == pytest.approx(0)
    aware = solve(dist, {"IF": 0}, aware=True, neighbours=hood)
    # Only "all" compares the two groups within the cell.
    assert aware.price == pytest.approx(1 / 7 if mode == "all" else 0)


def test_two_distributions_or_neighbourhoods_are_not_mixed_up() -> None:
    distances = np.array([[0, 1.0], [1.0, 0]])
    first = CellDistribution.from_mass(np.ones((2, 2, 2)), distances)
    second = CellDistribution.from_mass(np.ones((2, 2, 2)), distances * 2)
    assert pairs_of(first, Neighbourhood(eta=1.5)) == [(0, 1, 1.0)]
    assert pairs_of(second, Neighbourhood(eta=1.5)) == []
    assert pairs_of(first, Neighbourhood(eta=0.5)) == []
    assert pairs_of(first, Neighbourhood(eta=1.5)) == [(0, 1, 1.0)]


@given(cases(distances=True), hoods(), st.booleans(), st.integers(0, 10_000))
def test_what_is_compared_is_what_the_mode_says(case: Case, hood: Hood, aware: bool, seed: int) -> None:
    variables = Variables(case.dist(), aware)
    scores = np.random.default_rng(seed).random(case.shape if aware else case.shape[0])
    comparison = variables.compare(neighbourhood(hood))
    found = sorted(zip(comparison.differences(scores[variables.filled]), np.log(comparison.looseness), strict=True))
    literal = case.literal(aware, hood)
    wanted = [
        (abs(row @ scores.ravel()), hood.theta * d**2) for d, row in literal.comparisons() if hood.theta * d**2 < 700
    ]
    assert len(found) == len(wanted)
    np.testing.assert_allclose(
        np.array(found).reshape(-1, 2), np.array(sorted(wanted)).reshape(-1, 2), rtol=1e-9, atol=1e-9
    )
    assert comparison.gap(scores[variables.filled]) == pytest.approx(literal.gap("IF", scores), abs=1e-12)


def test_far_pairs_under_a_huge_theta_are_free() -> None:
    distances = np.array([[0, 0, 9.0], [0, 0, 9.0], [9.0, 9.0, 0]])
    dist = CellDistribution.from_mass([[[9, 1], [1, 1]], [[1, 9], [1, 1]], [[1, 9], [1, 1]]], distances)
    hood = Neighbourhood(percentile=100, theta=1e300)
    rule = solve(dist, {"IF": 0}, neighbours=hood)
    assert rule.scores[0] == pytest.approx(rule.scores[1])
    assert rule.scores[2] == 1
    assert rule.gaps["IF"] == pytest.approx(0, abs=1e-9)


def test_a_theta_of_0_compares_even_the_farthest() -> None:
    distances = 1e200 * (1 - np.eye(2))
    dist = CellDistribution.from_mass([[[9, 1], [1, 1]], [[1, 9], [1, 1]]], distances)
    rule = solve(dist, {"IF": 0}, neighbours=Neighbourhood(percentile=100, theta=0))
    assert rule.scores[0] == pytest.approx(rule.scores[1])


def test_the_nearest_cell() -> None:
    distances = np.array([[0, 3, 1, 2], [3, 0, 5, 1], [1, 5, 0, 4], [2, 1, 4, 0]], dtype=float)
    mass = np.ones((4, 2, 2))
    dist = CellDistribution.from_mass(mass, distances)
    assert nearest_cell(dist, np.array([0, 2]), np.array([1, 3])).tolist() == [3, 3]  # type: ignore[union-attr]
    assert nearest_cell(CellDistribution.from_mass(mass), np.array([0]), np.array([1])) is None
    graph = CellDistribution.from_mass(mass, sp.coo_array(distances))
    assert nearest_cell(graph, np.array([0]), np.array([1])) is None
    built = with_centroids(people(1), np.arange(40) % 5)
    nearest = cell_distances(built)[1][[0, 3, 4]].argmin()
    assert nearest_cell(built, np.array([1]), np.array([0, 3, 4])).tolist() == [[0, 3, 4][nearest]]  # type: ignore[union-attr]


def test_cells_that_cannot_be_compared_say_why(monkeypatch: pytest.MonkeyPatch) -> None:
    bare = CellDistribution.from_mass(np.ones((3, 2, 2)))
    assert not can_compare(bare)
    with pytest.raises(InputError, match="distances"):
        solve(bare, {"IF": 0.1})
    built = with_centroids(people(0), np.arange(40) % 5)
    assert can_compare(built)
    monkeypatch.setattr(neighbours, "MOST_CELLS", 4)
    assert not can_compare(built)
    with pytest.raises(InputError, match="more than 4 cells"):
        neighbour_pairs(built, Neighbourhood())
    assert math.isnan(solve(built, {}).gaps["IF"])


@pytest.mark.parametrize(
    "wrong",
    [
        {"percentile": -1},
        {"percentile": 101},
        {"percentile": math.nan},
        {"eta": -0.1},
        {"eta": math.inf},
        {"eta": math.nan},
        {"theta": -1},
        {"theta": math.inf},
        {"theta": math.nan},
        {"mode": "both"},
        {"mode": None},
        {"percentile": "a"},
        {"percentile": None},
        {"eta": "a"},
        {"theta": None},
    ],
)
def test_impossible_neighbourhoods_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        Neighbourhood(**wrong)


def test_a_neighbourhood_is_plain_data() -> None:
    hood = Neighbourhood(percentile=5, eta=0.2, theta=3, mode="all")
    assert Neighbourhood(**hood.to_dict()) == hood
    assert Neighbourhood() == Neighbourhood(percentile=3.5, eta=None, theta=1.0, mode="mean")
