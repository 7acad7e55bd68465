"""Rows that are not in memory give the codebook and the counts that they give in memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import fairlimits as fl
from fairlimits.data import parts
from fairlimits.errors import DataError, InputError
from fairlimits.law.cells import streaming
from fairlimits.law.cells.quantizer import seeding
from streams import ROLES, centroids, people, write


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts, pieces and samples so small that a few thousand rows are many."""
    monkeypatch.setattr(parts, "_PART_ROWS", 300)
    monkeypatch.setattr(streaming, "_PIECE", 1000)
    monkeypatch.setattr(seeding, "_SAMPLE_LEAST", 1000)
    monkeypatch.setattr(seeding, "_SAMPLE_MOST", 1000)


CASES = [
    {"drop": "weight"},
    {"weight": "weight"},
    {"sensitive": "job", "missing_sensitive": "drop", "weight": "weight"},
]


@pytest.mark.parametrize("roles", CASES)
def test_the_same_cells_and_counts_as_in_memory(tmp_path: Path, roles: dict[str, Any]) -> None:
    table = people()
    folder = write(table, tmp_path / "big")
    data = fl.Dataset.from_frame(table, **{**ROLES, **roles})
    streamed = fl.discretize(folder, 20, partition="features", **{**ROLES, **roles})
    # The same sample and the same passes, so the same cells up to the rounding of sums.
    memory = fl.discretize(data, 20, generator=None, partition="features")
    np.testing.assert_allclose(centroids(streamed), centroids(memory), atol=1e-5)
    assert streamed.origin.iterations == memory.origin.iterations
    assert streamed.origin.distortion == pytest.approx(memory.origin.distortion, rel=1e-6)
    # On the very same cells, the same counts to the last one.
    again = fl.discretize(data, like=streamed)
    np.testing.assert_array_equal(again.counts, streamed.counts)
    if "weight" in roles:
        np.testing.assert_allclose(again.mass, streamed.mass, rtol=1e-12)
        assert streamed.origin.total_weight == pytest.approx(data.weight.sum(), rel=1e-12)  # type: ignore[union-attr]
    else:
        np.testing.assert_array_equal(again.mass, streamed.mass)
    assert streamed.origin.rows == data.n_rows
    assert streamed.origin.generator is None


def test_nothing_depends_on_the_size_of_the_parts_or_on_the_threads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write(people(), tmp_path / "big", row_group_size=4000)
    first = fl.discretize(folder, 12, partition="features", **ROLES)
    monkeypatch.setattr(parts, "usable_cores", lambda: 5)
    np.testing.assert_array_equal(fl.discretize(folder, 12, partition="features", **ROLES).mass, first.mass)
    monkeypatch.setattr(parts, "_PART_ROWS", 777)
    np.testing.assert_allclose(
        centroids(fl.discretize(folder, 12, partition="features", **ROLES)), centroids(first), atol=1e-5
    )


def test_few_rows_are_cut_as_in_memory(tmp_path: Path) -> None:
    table = people(800).drop_columns(["weight"])
    data = fl.Dataset.from_frame(table, **ROLES)
    streamed = fl.discretize(write(table, tmp_path / "big"), 10, partition="features", **ROLES)
    np.testing.assert_allclose(
        centroids(streamed), centroids(fl.discretize(data, 10, generator=None, partition="features")), atol=1e-5
    )


def test_few_distinct_points_among_many_rows(tmp_path: Path) -> None:
    # Nearly all rows are equal: a sample has too few points, the table has enough.
    values = np.zeros(4000)
    values[::333] = np.arange(13)
    rng = np.random.default_rng(0)
    table = pa.table({"x": values, "sex": rng.choice(["f", "m"], 4000), "paid": rng.choice(["yes", "no"], 4000)})
    folder = write(table, tmp_path / "big")
    data = fl.Dataset.from_frame(table, **ROLES)
    streamed = fl.discretize(folder, 12, partition="features", **ROLES)
    np.testing.assert_allclose(
        centroids(streamed), centroids(fl.discretize(data, 12, generator=None, partition="features")), atol=1e-5
    )
    np.testing.assert_array_equal(streamed.counts, fl.discretize(data, like=streamed).counts)
    with pytest.raises(DataError, match="13 distinct points"):
        fl.discretize(folder, 14, partition="features", **ROLES)


def test_cells_that_lose_their_rows_are_placed_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = people().drop_columns(["weight"])
    monkeypatch.setattr(streaming, "first_centroids", lambda points, cells, *_: np.repeat(points.values[:1], cells, 0))
    streamed = fl.discretize(write(table, tmp_path / "big"), 9, partition="features", **ROLES)
    assert (streamed.counts.sum(axis=(1, 2)) > 0).all()  # type: ignore[union-attr]


def test_progress_rises_from_start_to_end(tmp_path: Path) -> None:
    told = []
    fl.discretize(
        write(people(), tmp_path / "big"),
        9,
        partition="features",
        **ROLES,
        progress=lambda done, words: told.append((done, words)),
    )
    fractions = [done for done, _ in told]
    assert fractions == sorted(fractions)
    assert 0 <= fractions[0] < 0.1
    assert fractions[-1] == 1
    assert any("pass 1" in words for _, words in told)


def test_rows_that_change_between_passes_are_noticed(tmp_path: Path) -> None:
    folder = write(people(), tmp_path / "big")
    stream = fl.data.open_stream(folder, **ROLES)
    learned = stream.learn()
    pq.write_table(people(1500), folder / "part0.parquet")
    changed = fl.data.open_stream(folder, **ROLES)
    with pytest.raises(DataError, match="changed while they were read"):
        streaming.train_codebook(changed, learned, 9, relative_error=1e-3, random_state=0)


def test_other_rows_are_counted_on_given_cells(tmp_path: Path) -> None:
    base = fl.discretize(write(people(), tmp_path / "first"), 9, partition="features", **ROLES, drop="weight")
    table = people(700, seed=1)
    folder = write(table, tmp_path / "second")
    counted = fl.discretize(folder, like=base)
    expected = fl.discretize(fl.Dataset.read_like(base.schema, table), like=base)  # type: ignore[arg-type]
    np.testing.assert_array_equal(counted.counts, expected.counts)
    assert counted.counts.sum() == counted.origin.rows == 700  # type: ignore[union-attr]
    strange = write(table.set_column(4, "job", pa.array(["new"] * 700)), tmp_path / "strange")
    with pytest.raises(DataError, match="not in the schema"):
        fl.discretize(strange, like=base)
    assert fl.discretize(strange, like=base, unseen="missing").counts.sum() == 700  # type: ignore[union-attr]


def test_bad_input_is_refused(tmp_path: Path) -> None:
    table = people(900)
    folder = write(table, tmp_path / "big")
    base = fl.discretize(folder, 5, partition="features", **ROLES)
    data = fl.Dataset.from_frame(table, **ROLES)
    for generator in ("cart", "bootstrap"):
        with pytest.raises(InputError, match=f"generator is '{generator}', but .* as they are; leave .* a sample"):
            fl.discretize(folder, 5, partition="features", generator=generator, **ROLES)
        with pytest.raises(InputError, match=f"generator is '{generator}', but on given cells .* as they are"):
            fl.discretize(data, like=base, generator=generator)
    as_they_are = fl.discretize(folder, 5, partition="features", generator=None, **ROLES)
    np.testing.assert_array_equal(as_they_are.counts, base.counts)
    np.testing.assert_array_equal(fl.discretize(data, like=base, generator=None).counts, base.counts)
    with pytest.raises(InputError, match="explained already"):
        fl.discretize(data, 5, label="paid", partition="features")
    with pytest.raises(DataError, match="cannot be larger than the rows"):
        fl.discretize(folder, 901, partition="features", **ROLES)
    with pytest.raises(InputError, match="bare numbers"):
        fl.discretize(data, like=fl.CellDistribution.from_mass(np.ones((2, 2, 2))))
    with pytest.raises(InputError, match="another schema"):
        fl.discretize(data.take_out("age")[0], like=base)
    with pytest.raises(DataError, match="no feature column 'age'"):
        fl.discretize(write(table.drop_columns(["age"]), tmp_path / "less"), like=base)
    with pytest.raises(DataError, match="No row counts"):
        fl.discretize(data.take(np.zeros(900, dtype=bool)), like=base)
