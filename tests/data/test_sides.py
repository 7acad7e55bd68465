"""Rows of a stream are held out by where they stand, by an id or by their features; never by label or group."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import fairlimits as fl
from fairlimits.data import Part, parts
from fairlimits.errors import DataError, InputError
from streams import ROLES, people, write


def rows_on(side: fl.data.Stream) -> pa.Table:
    """All rows on one side, as a table."""
    reader = side.learn().reader

    def read(part: Part, frame: Any) -> list[pa.Table] | None:
        found = reader(part, frame)
        return None if found is None else [pa.table(found.to_frame())]

    found = side.parts.fold(read, lambda a, b: a + b, pa.concat_tables)
    assert found is not None
    return found


def numbered(n: int = 3000) -> pa.Table:
    table = people(n).drop_columns(["weight"])
    return table.append_column("row", pa.array(np.arange(n, dtype=np.float64)))


def numbers_on(side: fl.data.Stream) -> list[float]:
    return sorted(rows_on(side)["row"].to_pylist())


def test_sides_do_not_depend_on_how_the_rows_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = numbered()
    found = []
    for name, size in (("a", 1000), ("b", 150), ("c", 333)):
        learn, test = fl.open_data(write(table, tmp_path / name, row_group_size=size), stream=True, **ROLES).split(
            0.3, random_state=4
        )
        found.append((numbers_on(learn), numbers_on(test)))
        monkeypatch.setattr(parts, "_PART_ROWS", 100)
    assert found[0] == found[1] == found[2]
    learned, held = found[0]
    assert sorted(learned + held) == table["row"].to_pylist()
    assert abs(len(held) / 3000 - 0.3) < 0.03
    other = fl.open_data(tmp_path / "a", stream=True, **ROLES).split(0.3, random_state=5)[1]
    assert numbers_on(other) != held


def test_csv_and_parquet_files_and_a_list_in_another_order_have_the_same_sides(tmp_path: Path) -> None:
    table = numbered(900)
    write(table, tmp_path / "big")
    for number in range(3):
        pa.csv.write_csv(pq.read_table(tmp_path / "big" / f"part{number}.parquet"), tmp_path / f"part{number}.csv")
    sources: list[Any] = [tmp_path / "big", str(tmp_path / "*.csv")]
    sources.append([tmp_path / "big" / f"part{number}.parquet" for number in (2, 0, 1)])
    held = [numbers_on(fl.open_data(own, stream=True, **ROLES).split(0.3)[1]) for own in sources]
    assert held[0] == held[1] == held[2]


def test_twins_of_either_label_fall_on_both_sides_alike(tmp_path: Path) -> None:
    # Ten kinds of people, 400 of each, half of them with label 1: a hash of the whole row would part them by label.
    kind = np.repeat(np.arange(10.0), 400)
    paid = np.tile(["yes", "no"], 2000)
    table = pa.table({"kind": kind, "sex": np.tile(["f", "f", "m", "m"], 1000), "paid": paid})
    learn, test = fl.open_data(write(table, tmp_path / "big"), stream=True, **ROLES).split(0.3)
    for side in (learn, test):
        rows = rows_on(side).to_pandas()
        share = (rows["paid"] == "yes").groupby(rows["kind"]).mean()
        assert ((share > 0.35) & (share < 0.65)).all()


def test_rows_of_one_person_are_held_out_together(tmp_path: Path) -> None:
    table = numbered().append_column("person", pa.array([f"p{n}" for n in np.arange(3000) // 3]))
    stream = fl.open_data(write(table, tmp_path / "big"), stream=True, id="person", **ROLES)
    learn, test = stream.split(0.4)
    assert "person" not in [own.name for own in learn.learn().schema.features]
    sides = [{int(row) // 3 for row in numbers_on(side)} for side in (learn, test)]
    assert not sides[0] & sides[1]
    assert len(sides[0] | sides[1]) == 1000
    assert "hash of person" in stream.told_apart_by
    # The same people, whatever order the rows stand in.
    shuffled = table.take(np.random.default_rng(0).permutation(3000))
    again = fl.open_data(write(shuffled, tmp_path / "other"), stream=True, id="person", **ROLES).split(0.4)[1]
    assert numbers_on(again) == numbers_on(test)


def test_frames_without_an_order_are_told_apart_by_features() -> None:
    dd = pytest.importorskip("dask.dataframe")
    table = numbered().to_pandas()
    for at in (1, 5):
        stream = fl.open_data(dd.from_pandas(table, npartitions=at), stream=True, **ROLES)
        assert "features" in stream.told_apart_by
        held = numbers_on(stream.split(0.3)[1])
        shuffled = dd.from_pandas(table.sample(frac=1, random_state=1), npartitions=3)
        assert numbers_on(fl.open_data(shuffled, stream=True, **ROLES).split(0.3)[1]) == held


def test_both_sides_have_the_schema_of_the_whole_table_and_counts_of_their_own(tmp_path: Path) -> None:
    table = people()
    stream = fl.open_data(write(table, tmp_path / "big"), stream=True, weight="weight", **ROLES)
    whole = stream.learn()
    learn, test = (side.learn() for side in stream.split(0.3))
    assert learn.schema == test.schema == whole.schema
    assert learn.facts.rows + test.facts.rows == 4000
    np.testing.assert_array_equal(learn.counts + test.counts, whole.counts)
    np.testing.assert_array_equal(whole.counts, fl.Dataset.from_frame(table, weight="weight", **ROLES).counts)
    assert learn.total_weight + test.total_weight == pytest.approx(whole.total_weight, rel=1e-12)


def test_bad_input_is_refused(tmp_path: Path) -> None:
    folder = write(numbered(300), tmp_path / "big")
    stream = fl.open_data(folder, stream=True, **ROLES)
    with pytest.raises(InputError, match="between 0 and 1"):
        stream.split(1.0)
    with pytest.raises(InputError, match="one side of a split already"):
        stream.split(0.3)[0].split(0.3)
    with pytest.raises(DataError, match="no id column 'nobody'"):
        fl.open_data(folder, stream=True, id="nobody", **ROLES)
    with pytest.raises(DataError, match="no row"):
        fl.open_data(folder, stream=True, **ROLES).split(1e-9)[1].learn()
