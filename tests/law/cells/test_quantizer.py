"""Cells: exact assignment, Lloyd's certificates, no empty cell, exact repetition."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_info

from fairlimits._util.types import Floats
from fairlimits.errors import DataError, InputError
from fairlimits.law.cells.quantizer import codebook, nearest, seeding
from fairlimits.law.cells.quantizer.codebook import Codebook, assign, distortion, fit_codebook
from fairlimits.law.cells.quantizer.nearest import Points, Workers
from fairlimits.law.cells.quantizer.rows import Rows


def brute(rows: Any, centroids: Any) -> Floats:
    """Squared distances in double precision, all pairs."""
    gaps = np.asarray(rows, np.float64)[:, None] - np.asarray(centroids, np.float64)
    return np.asarray(np.square(gaps).sum(axis=2))


def mixture(rows: int = 3000, columns: int = 6, parts: int = 12, seed: int = 0) -> NDArray[np.float32]:
    rng = np.random.default_rng(seed)
    centres = 3 * rng.standard_normal((parts, columns))
    noise = rng.standard_normal((rows, columns))
    return (centres[rng.integers(parts, size=rows)] + noise).astype(np.float32)


@st.composite
def tables(draw: st.DrawFn, most_rows: int = 60) -> tuple[Any, Any]:
    """Rows and centroids, often on a coarse grid so that ties and duplicates abound."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    rows, cells, columns = draw(st.integers(1, most_rows)), draw(st.integers(1, 12)), draw(st.integers(1, 9))
    if draw(st.booleans()):
        return rng.integers(-2, 3, (rows, columns)).astype(np.float32), rng.integers(-2, 3, (cells, columns))
    scale, offset = draw(st.sampled_from([1e-6, 1.0, 1e6])), draw(st.sampled_from([0.0, 1.0, 300.0]))
    values = scale * (rng.standard_normal((rows + cells, columns)) + offset)
    return values[:rows].astype(np.float32), values[rows:].astype(np.float32)


def duplicated(distinct: Any, times: int = 200, seed: int = 0) -> NDArray[np.float32]:
    """Few points, each at least once and most of them many times, in random order."""
    rng = np.random.default_rng(seed)
    index = np.concatenate([np.arange(len(distinct)), rng.integers(len(distinct) // 2 + 1, size=times)])
    return np.asarray(np.asarray(distinct, np.float32)[rng.permutation(index)])


# Assignment


@given(tables())
def test_assignment_is_the_brute_force_one(table: tuple[Any, Any]) -> None:
    rows, centroids = table
    assert np.array_equal(assign(rows, centroids), brute(rows, centroids).argmin(axis=1))


def test_assignment_is_exact_where_single_precision_is_not() -> None:
    rng = np.random.default_rng(3)
    rows = (1000 + rng.standard_normal((20_000, 5))).astype(np.float32)
    centroids = np.vstack([rows[:40], rows[:40] + np.float32(1e-3), [[-1e6] * 5]]).astype(np.float32)
    exact = brute(rows, centroids).argmin(axis=1)
    scores = np.square(centroids).sum(axis=1) - 2 * rows @ centroids.T
    assert (scores.argmin(axis=1) != exact).any()
    assert np.array_equal(assign(rows, centroids), exact)


def test_all_centroids_equal_means_the_first() -> None:
    rows = mixture(500)
    assert not assign(rows, np.repeat(rows[:1], 7, axis=0)).any()


@pytest.mark.parametrize("cores", [1, 3])
def test_batches_and_cores_do_not_matter(monkeypatch: pytest.MonkeyPatch, cores: int) -> None:
    rows = mixture(40_000).round(1)
    centroids = rows[:300]
    whole = assign(rows, centroids)
    monkeypatch.setattr(nearest, "_usable_cores", lambda: cores)
    assert np.array_equal(whole, assign(rows, centroids))
    parts = np.split(rows, [1, 2, 700, 20_011, 39_000])
    assert np.array_equal(whole, np.concatenate([assign(part, centroids) for part in parts]))
    assert np.array_equal(whole[:9000], brute(rows[:9000], centroids).argmin(axis=1))
    assert whole.dtype == np.int64


def test_no_rows_have_no_cells() -> None:
    assert assign(np.empty((0, 3)), np.zeros((2, 3))).shape == (0,)


def test_other_layouts_and_types_of_rows_are_taken() -> None:
    rows = mixture(200)
    expected = assign(rows, rows[:9])
    assert np.array_equal(expected, assign(np.asfortranarray(rows), rows[:9]))
    assert np.array_equal(expected, assign(rows.astype(np.float64), rows[:9].tolist()))


# The objective


@given(tables(), st.integers(0, 2**32 - 1))
def test_distortion_is_its_formula_and_weights_are_repetitions(table: tuple[Any, Any], seed: int) -> None:
    rows, centroids = table
    times = np.random.default_rng(seed).integers(0, 4, size=len(rows))
    times[0] = 1
    nearest = brute(rows, centroids).min(axis=1)
    assert distortion(rows, centroids, times) == pytest.approx(times @ nearest / times.sum(), rel=1e-9)
    assert distortion(rows, centroids, times) == pytest.approx(distortion(np.repeat(rows, times, axis=0), centroids))


def test_codebook_reports_the_distortion_of_its_centroids() -> None:
    rows, weights = mixture(), np.random.default_rng(1).random(3000)
    codebook = fit_codebook(rows, 20, weights=weights)
    assert codebook.distortion == pytest.approx(distortion(rows, codebook.centroids, weights), rel=1e-12)
    assert codebook.centroids.dtype == np.float32
    assert codebook.centroids.shape == (20, 6)


# Lloyd's iteration


@given(tables(), st.integers(0, 2**32 - 1))
def test_no_pass_raises_the_distortion(table: tuple[Any, Any], seed: int) -> None:
    rows, start = table
    points = seeding.merged([Rows(rows, np.random.default_rng(seed).random(len(rows)) + 0.1)])
    start = start[: len(points.values)].astype(np.float32)
    with Workers() as workers:
        sweep = workers.sweep(*points, Points(start))
        for _ in range(6):
            after = workers.sweep(*points, Points(codebook._moved(points, sweep)))
            assert after.distortion <= sweep.distortion * (1 + 1e-6)  # centroids are rounded to float32
            sweep = after
        for limit in (1, 50):
            run = codebook._Lloyd(workers, 0.0, limit).run(points, start)
            assert run.sweep.distortion <= distortion(points.values, start, points.weights)
            assert run.iterations <= limit
            assert not run.sweep.empty.size


def test_a_start_far_away_ends_with_no_empty_cell() -> None:
    rows = mixture(800)
    start = np.full((30, 6), 1e6, dtype=np.float32)
    with Workers() as workers:
        for limit in (1, 2, 100):
            run = codebook._Lloyd(workers, 1e-3, limit).run(Rows(rows, np.ones(800)), start)
            assert np.bincount(run.sweep.labels, minlength=30).all()


def test_without_a_stopping_share_centroids_are_the_means_of_their_cells() -> None:
    rows, weights = mixture(), np.random.default_rng(1).random(3000)
    codebook = fit_codebook(rows, 15, weights=weights, relative_error=0.0)
    labels = assign(rows, codebook.centroids)
    means = [np.average(rows[labels == cell], axis=0, weights=weights[labels == cell]) for cell in range(15)]
    assert codebook.converged
    assert np.allclose(codebook.centroids, means, atol=1e-5)


def test_one_cell_is_the_mean() -> None:
    rows = mixture()
    codebook = fit_codebook(rows, 1)
    assert np.allclose(codebook.centroids, rows.mean(axis=0, dtype=np.float64), atol=1e-6)
    assert codebook.distortion == pytest.approx(rows.var(axis=0, dtype=np.float64).sum())


def test_the_largest_number_of_passes_is_kept() -> None:
    hasty = fit_codebook(mixture(), 40, max_iterations=1, relative_error=0.0)
    assert hasty.iterations == 1
    assert not hasty.converged
    assert np.unique(assign(mixture(), hasty.centroids)).size == 40


@pytest.mark.parametrize("seed", range(3))
def test_distortion_is_no_worse_than_that_of_scikit_learn(seed: int) -> None:
    rows = mixture(6000, columns=8, parts=40, seed=seed)
    peer = KMeans(n_clusters=30, n_init=1, random_state=seed).fit(rows)
    assert fit_codebook(rows, 30, random_state=seed).distortion <= 1.02 * peer.inertia_ / len(rows)


def test_mending_lowers_the_distortion_of_the_start() -> None:
    rows = mixture(4000, parts=60)
    points = Rows(rows, np.ones(len(rows)))
    rng = np.random.default_rng(0)
    start = rows[rng.choice(len(rows), 60, replace=False)]
    with Workers() as workers:
        lloyd = codebook._Lloyd(workers, 1e-3, 300)
        before = lloyd.run(points, start)
        after = codebook._mend(before, points, lloyd, rng, lambda fraction, message: None)
    assert len(after.sweep.points) == 60
    assert after.sweep.distortion < 0.99 * before.sweep.distortion


# Duplicates, weights, samples


@pytest.fixture
def small_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make 500 rows few enough to be sampled from."""
    monkeypatch.setattr(seeding, "_SAMPLE_LEAST", 64)
    monkeypatch.setattr(seeding, "_SAMPLE_MOST", 64)
    monkeypatch.setattr(seeding, "_SEEDING_LEAST", 32)


@given(st.integers(1, 25), st.integers(0, 2**32 - 1))
def test_as_many_cells_as_distinct_points_leave_no_distortion(cells: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    distinct = np.unique(rng.integers(0, 3, (cells, 4)), axis=0) * np.float32(2**-0.5)
    rows = duplicated(distinct, seed=seed)
    codebook = fit_codebook(rows, len(distinct), weights=rng.random(len(rows)) + 0.01)
    assert codebook.distortion == 0
    assert np.array_equal(np.unique(codebook.centroids, axis=0), distinct)
    with pytest.raises(DataError, match=rf"have {len(distinct)} distinct points.*at most {len(distinct)} cells"):
        fit_codebook(rows, len(distinct) + 1)


@pytest.mark.usefixtures("small_samples")
def test_points_that_a_sample_misses_are_found() -> None:
    distinct = np.eye(40, dtype=np.float32)
    rows = np.concatenate([np.repeat(distinct[:1], 5000, axis=0), distinct[1:]])
    codebook = fit_codebook(rows, 40)
    assert codebook.distortion == 0
    assert np.unique(assign(rows, codebook.centroids)).size == 40
    with pytest.raises(DataError, match="40 distinct"):
        fit_codebook(rows, 41)


@pytest.mark.usefixtures("small_samples")
@pytest.mark.parametrize("cells", [2, 12, 40])
def test_sampled_starts_leave_no_cell_empty(cells: int) -> None:
    rows = mixture(5000)
    codebook = fit_codebook(rows, cells, weights=np.random.default_rng(0).random(5000))
    assert np.unique(assign(rows, codebook.centroids)).size == cells
    assert codebook.converged


def test_neighbouring_floats_are_distinct_points() -> None:
    values = [np.float32(1)]
    for _ in range(9):
        values.append(np.nextafter(values[-1], np.float32(2)))
    rows = duplicated(np.array(values)[:, None])
    assert fit_codebook(rows, 10).distortion == 0


def test_minus_zero_is_zero() -> None:
    with pytest.raises(DataError, match="1 distinct"):
        fit_codebook([[0.0], [-0.0]], 2)


def test_all_equal_rows_make_one_cell() -> None:
    codebook = fit_codebook(np.full((50, 3), 0.1), 1)
    assert np.array_equal(codebook.centroids, np.full((1, 3), np.float32(0.1)))
    assert codebook.distortion == 0


def test_whole_weights_are_repeated_rows() -> None:
    rows, times = mixture(400), np.random.default_rng(0).integers(0, 5, size=400)
    weighted = fit_codebook(rows, 20, weights=times)
    repeated = fit_codebook(np.repeat(rows, times, axis=0), 20)
    assert np.array_equal(weighted.centroids, repeated.centroids)
    assert weighted.distortion == repeated.distortion


def test_rows_of_weight_zero_take_no_part() -> None:
    rows = mixture(600)
    used = np.arange(600) % 3 > 0
    rows_with_outliers = np.where(used[:, None], rows, np.float32(1e6))
    codebook = fit_codebook(rows_with_outliers, 20, weights=used)
    assert np.array_equal(codebook.centroids, fit_codebook(rows[used], 20).centroids)


@pytest.mark.usefixtures("small_samples")
def test_samples_follow_the_weights() -> None:
    rows = Rows(np.arange(100, dtype=np.float32)[:, None], np.where(np.arange(100) < 50, 3.0, 1.0))
    drawn = seeding._sampled(rows, 80, np.random.default_rng(0))
    assert drawn.weights.sum() == 80
    assert drawn.weights[drawn.values[:, 0] < 50].sum() == 60


# Repetition


@pytest.mark.parametrize("cores", [1, 2, 5])
def test_the_same_seed_gives_the_same_bits_on_any_cores(monkeypatch: pytest.MonkeyPatch, cores: int) -> None:
    rows = mixture(70_000, columns=5)
    expected = fit_codebook(rows, 16, random_state=7)
    monkeypatch.setattr(nearest, "_usable_cores", lambda: cores)
    again = fit_codebook(rows, 16, random_state=7)
    assert np.array_equal(expected.centroids, again.centroids)
    assert (expected.distortion, expected.iterations) == (again.distortion, again.iterations)


def test_another_seed_starts_elsewhere() -> None:
    rows = mixture()
    first, second = (fit_codebook(rows, 50, random_state=seed) for seed in (0, 1))
    assert not np.array_equal(first.centroids, second.centroids)


def test_blas_has_its_threads_back_whoever_leaves_last() -> None:
    def threads() -> list[int]:
        return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]

    before = threads()
    first, second = Workers(), Workers()
    first.__enter__()
    second.__enter__()
    first.__exit__()
    assert set(threads()) == {1}
    second.__exit__()
    assert threads() == before


def test_progress_rises_from_zero_to_one() -> None:
    told = []
    fit_codebook(mixture(), 40, progress=lambda fraction, message: told.append((fraction, message)))
    fractions = [fraction for fraction, _ in told]
    assert fractions == sorted(fractions)
    assert fractions[0] == 0
    assert fractions[-1] == 1
    assert all(message for _, message in told)


def test_an_error_in_progress_stops_the_work_and_frees_blas() -> None:
    def stop(fraction: float, message: str) -> None:
        if fraction > 0:
            raise KeyboardInterrupt

    before = threadpool_info()
    with pytest.raises(KeyboardInterrupt):
        fit_codebook(mixture(), 40, progress=stop)
    assert threadpool_info() == before


def test_a_codebook_is_frozen() -> None:
    codebook = Codebook(np.zeros((1, 1), np.float32), 0.0, 1, True)
    with pytest.raises(AttributeError):
        codebook.iterations = 2  # type: ignore[misc]


# What is refused


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e20])
def test_values_that_cannot_be_used(bad: float) -> None:
    rows = mixture(50)
    rows[7, 2] = bad
    for call in (lambda: fit_codebook(rows, 3), lambda: assign(rows, rows[:3])):
        with pytest.raises(DataError, match=r"1 of the 50 rows, the first at index 7.*not finite or beyond"):
            call()
    with pytest.raises(DataError, match="1 of the 50 centroids"):
        assign(rows[:5], rows)


def test_double_precision_that_overflows_is_refused_without_a_warning() -> None:
    with pytest.raises(DataError, match="not finite"):
        assign([[1e300]], [[0.0]])


@pytest.mark.parametrize("cells", [0, -1, 2.0, True, "4", None])
def test_number_of_cells_that_is_none(cells: Any) -> None:
    with pytest.raises(InputError, match="cells is"):
        fit_codebook(mixture(50), cells)


def test_more_cells_than_rows() -> None:
    with pytest.raises(DataError, match=r"51 cells.*50 rows.*larger than the rows"):
        fit_codebook(mixture(50), 51)
    with pytest.raises(DataError, match=r"31 cells.*30 rows with a weight above 0"):
        fit_codebook(mixture(50), 31, weights=np.arange(50) < 30)
    with pytest.raises(DataError, match="0 rows"):
        fit_codebook(np.empty((0, 2)), 1)


@pytest.mark.parametrize("weights", [[1, -1, 1], [1, np.nan, 1], [1, np.inf, 1]])
def test_weights_that_cannot_be_used(weights: Any) -> None:
    with pytest.raises(DataError, match="1 weights, the first at index 1"):
        fit_codebook(np.eye(3), 2, weights=weights)


def test_weights_of_another_shape() -> None:
    with pytest.raises(DataError, match=r"shape \(2,\)"):
        fit_codebook(np.eye(3), 2, weights=[1, 1])


def test_no_weight_at_all() -> None:
    with pytest.raises(DataError, match="no row with a weight"):
        distortion(np.eye(3), np.eye(3), weights=[0, 0, 0])


@pytest.mark.parametrize("rows", [np.zeros(4), np.zeros((4, 0)), np.zeros((2, 2, 2)), 3.0])
def test_rows_that_are_no_table(rows: Any) -> None:
    with pytest.raises(DataError, match="shape"):
        fit_codebook(rows, 1)


def test_rows_that_are_not_numbers() -> None:
    with pytest.raises(DataError, match="not numbers"):
        fit_codebook([["a"], ["b"]], 1)


@pytest.mark.parametrize("relative_error", [-0.1, np.nan, np.inf])
def test_stopping_share_that_is_none(relative_error: float) -> None:
    with pytest.raises(InputError, match="relative_error"):
        fit_codebook(mixture(50), 3, relative_error=relative_error)


@pytest.mark.parametrize("max_iterations", [0, -5, 1.5])
def test_number_of_passes_that_is_none(max_iterations: Any) -> None:
    with pytest.raises(InputError, match="max_iterations"):
        fit_codebook(mixture(50), 3, max_iterations=max_iterations)


def test_centroids_that_do_not_fit() -> None:
    with pytest.raises(DataError, match="3 columns and the centroids 2"):
        assign(np.zeros((4, 3)), np.zeros((4, 2)))
    with pytest.raises(DataError, match="no centroids"):
        assign(np.zeros((4, 3)), np.zeros((0, 3)))
