"""`features=` and `bins=`: only some columns, and numbers cut into ranges, in tables, parts, and new rows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import fairlimits as fl
from fairlimits.data import Dataset, Feature, Part, Schema, parse_bins, parts, read_features, read_groups
from fairlimits.data.bins import bin_names, read_bins
from fairlimits.errors import DataError, FileError, InputError

N = 900


def people(**changes: Any) -> pa.Table:
    rng = np.random.default_rng(0)
    columns = {
        "age": rng.integers(18, 80, N),
        "hours": rng.normal(40, 9, N),
        "job": rng.choice(["nurse", "clerk"], N),
        "sex": rng.choice(["f", "m"], N),
        "paid": rng.integers(0, 2, N),
    }
    return pa.table({**columns, **changes})


def read(table: pa.Table | None = None, **roles: Any) -> Dataset:
    return Dataset.from_frame(people() if table is None else table, **{"label": "paid", "sensitive": "sex", **roles})


def test_a_sensitive_number_becomes_groups() -> None:
    data = read(sensitive="age", bins={"age": [25, 60]})
    assert data.groups == ("under 25", "25 to under 60", "60 and over")
    ages = people()["age"].to_numpy()
    np.testing.assert_array_equal(data.group, np.digitize(ages, [25, 60]))
    assert "age" not in data.columns
    assert data.schema.bins == (("age", (25.0, 60.0)),)
    assert read(sensitive="age", bins={"age": 25}).groups == ("under 25", "25 and over")
    both = read(sensitive=["sex", "age"], bins={"age": 40.5})
    assert both.groups == ("f / under 40.5", "f / 40.5 and over", "m / under 40.5", "m / 40.5 and over")


def test_a_feature_becomes_ranges() -> None:
    data = read(bins={"age": [25, 60, 200]}, features=["age", "job"])
    names = ("under 25", "25 to under 60", "60 to under 200", "200 and over")
    assert data.schema.features[0] == Feature("age", "categorical", names)
    np.testing.assert_array_equal(data.columns["age"], np.digitize(people()["age"].to_numpy(), [25, 60, 200]))
    # New rows may be where nobody was.
    new = people(age=np.full(N, 300))
    assert set(read_features(data.schema, new)["age"]) == {3}
    # As text that spells numbers, too.
    texts = people(age=[str(age) for age in people()["age"].to_pylist()])
    np.testing.assert_array_equal(read_features(data.schema, texts)["age"], data.columns["age"])


def test_missing_values_stay_missing() -> None:
    ages = [None, *people()["age"].to_pylist()[1:]]
    data = read(people(age=ages), bins={"age": 25})
    assert data.schema.features[0].categories == ("under 25", "25 and over", None)
    assert data.columns["age"][0] == 2
    with pytest.raises(DataError, match="missing in 1 of 900 rows"):
        read(people(age=ages), sensitive="age", bins={"age": 25})
    grouped = read(people(age=ages), sensitive="age", bins={"age": 25}, missing_sensitive="group")
    assert grouped.groups == ("under 25", "25 and over", "(missing)")
    assert read(people(age=ages), sensitive="age", bins={"age": 25}, missing_sensitive="drop").n_rows == N - 1


@pytest.mark.parametrize("roles", [{"sensitive": "age"}, {"features": "age"}, {"sensitive": ["age", "sex"]}])
def test_new_rows_files_and_rows_written_again(roles: dict[str, Any]) -> None:
    data = read(bins={"age": [25, 60]}, **roles)
    schema = Schema.from_dict(json.loads(json.dumps(data.schema.to_dict())))
    assert schema == data.schema
    for frame in (people(), data.to_frame()):
        again = Dataset.read_like(schema, frame)
        np.testing.assert_array_equal(again.group, data.group)
        for name, values in data.columns.items():
            np.testing.assert_array_equal(again.columns[name], values)
        np.testing.assert_array_equal(read_groups(schema, frame), data.group)
    record = read().schema.to_dict()
    with pytest.raises(FileError, match="as 'bins'"):
        Schema.from_dict({**record, "bins": [1]})


@pytest.mark.parametrize(
    "roles",
    [
        {"sensitive": "age", "bins": {"age": [25, 60]}},
        {"sensitive": ["sex", "age"], "bins": {"age": [25, 60]}},
        {"bins": {"age": [25, 60], "hours": 40}},
        {"features": ["hours", "job"]},
        {"features": "age", "bins": {"age": 25}},
    ],
)
def test_parts_are_read_as_the_whole(roles: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "_PART_ROWS", 200)
    hours = [None, *people()["hours"].to_pylist()[1:]]
    pq.write_table(people(hours=hours), tmp_path / "big.parquet")
    whole = read(people(hours=hours), **roles)
    stream = fl.open_data(tmp_path / "big.parquet", stream=True, **{"label": "paid", "sensitive": "sex", **roles})
    learned = stream.learn()
    assert learned.schema == whole.schema
    part = learned.reader(Part(0), people(hours=hours).slice(0, 100))
    assert part is not None
    np.testing.assert_array_equal(part.group, whole.group[:100])
    for name, values in part.columns.items():
        np.testing.assert_array_equal(values, whole.columns[name][:100])
    # The same cells, whatever the rows came as.
    cells = fl.discretize(stream, 2, partition="features", random_state=0)
    assert cells.groups == whole.groups


def test_only_some_features() -> None:
    assert list(read(features=["job", "age"]).columns) == ["age", "job"]
    assert list(read(features="hours").columns) == ["hours"]
    # What is wrong with the others does not matter.
    odd = people(odd=[[1]] * N)
    assert list(read(odd, features="hours").columns) == ["hours"]
    assert read(features=["age"], categorical="age").schema.features[0].kind == "categorical"


@pytest.mark.parametrize(
    ("roles", "message"),
    [
        ({"features": "agee"}, "no feature column 'agee'.*Did you mean 'age'"),
        ({"features": "sex"}, "'sex' is both sensitive and among the features"),
        ({"features": ["age"], "drop": "age"}, "'age' is both drop and among the features"),
        ({"features": ["age"], "numeric": "hours"}, "'hours' is named in numeric, but is not among the features"),
        ({"features": ["job"], "bins": {"age": 3}}, "'age' is named in bins, but is not among the features"),
        ({"bins": {"agee": 3}}, "no column 'agee' to cut in bins in the table.*Did you mean 'age'"),
        ({"bins": {"paid": 3}}, "'paid' is label, and was given bins"),
        ({"bins": {"age": 3}, "categorical": "age"}, "'age' is categorical, and was given bins"),
        ({"bins": {"job": 3}}, r"'job' cannot be read as numbers, because it holds '(nurse|clerk)'.*drop=\[\"job\"\]"),
        ({"sensitive": "job", "bins": {"job": 3}}, "'job' cannot be read as numbers"),
        ({"sensitive": "age", "bins": {"age": 300}}, "one group only"),
    ],
)
def test_bad_features_and_bins(roles: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=message):
        read(**roles)
    pq.write_table(people(), tmp_path / "big.parquet")
    with pytest.raises(DataError, match=message):
        fl.data.open_stream(tmp_path / "big.parquet", **{"label": "paid", "sensitive": "sex", **roles}).learn()


@pytest.mark.parametrize("cuts", [[], "25", [60, 25], [25, 25], [1, np.nan], [np.inf], ["a"], None, {}])
def test_bad_cut_points(cuts: Any) -> None:
    with pytest.raises(InputError, match="one number or several that rise"):
        read(bins={"age": cuts})


def test_bins_must_be_a_mapping() -> None:
    with pytest.raises(InputError, match="cut points of each column"):
        read(bins=["age"])


def test_cut_points_as_text() -> None:
    assert parse_bins(["age:25,60", "a:b:1.5"]) == {"age": (25.0, 60.0), "a:b": (1.5,)}
    for text in ("age", "age:", ":25", "age:x", "age:25,"):
        with pytest.raises(InputError, match="--bin age:25,60"):
            parse_bins([text])
    with pytest.raises(InputError, match="twice"):
        parse_bins(["age:25", "age:60"])
    with pytest.raises(InputError, match="rise"):
        parse_bins(["age:60,25"])


def test_names_of_ranges_are_exact() -> None:
    assert bin_names((0.1, 123456789.0)) == ("under 0.1", "0.1 to under 123456789", "123456789 and over")
    assert read_bins({"x": np.array([1, 2])}) == {"x": (1.0, 2.0)}


def test_benchmarks_take_both() -> None:
    data = fl.load_dataset("adult", sensitive="age", features=["education", "fnlwgt"], bins={"age": [25, 60]})
    assert list(data.columns) == ["fnlwgt", "education"]
    assert data.groups == ("under 25", "25 to under 60", "60 and over")


@pytest.mark.usefixtures("published")
def test_ranges_of_codes_are_categories() -> None:
    coded = fl.load_dataset("dutch", features=["age", "household_size"], bins={"household_size": 115})
    assert [feature.kind for feature in coded.schema.features] == ["categorical"] * 2
    assert coded.schema.features[1].categories == ("under 115", "115 and over")


def test_all_columns_that_are_not_there_are_told_at_once() -> None:
    table = pa.table({"Sex": ["f", "m"] * 30, "paid": [0, 1, 1] * 20, "{age}": range(60)})
    with pytest.raises(DataError) as caught:
        Dataset.from_frame(table, label="Paid", sensitive="sex", drop=["nam", "nam"])
    assert str(caught.value).splitlines() == [
        "3 columns that were named are not there:",
        "- There is no label column 'Paid' in the table. Did you mean 'paid'?",
        "- There is no sensitive column 'sex' in the table. Did you mean 'Sex'?",
        "- There is no column 'nam' to drop in the table.",
        "Columns present: Sex, paid, {age}.",
    ]
