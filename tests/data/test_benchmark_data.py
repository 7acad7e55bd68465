"""The benchmark data sets: what they hold, and where their files are looked for."""

from __future__ import annotations

import dataclasses
import importlib.util
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

from fairlimits.data import (
    Encoding,
    benchmark_names,
    benchmark_status,
    load_dataset,
    load_table,
)
from fairlimits.data.benchmarks import content_digest
from fairlimits.data.registry import BENCHMARKS
from fairlimits.errors import DatasetUnavailableError, FileError, InputError

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Make a machine without any file, and return its cache."""
    monkeypatch.delenv("FAIRLIMITS_DATA", raising=False)
    cache = tmp_path / "cache"
    monkeypatch.setattr("pooch.os_cache", lambda project: cache)
    return cache


@pytest.fixture
def small_law(monkeypatch: pytest.MonkeyPatch) -> pa.Table:
    """Return a small table in the shape of law, and make it the right content of law."""
    law = BENCHMARKS["law"]
    columns: dict[str, Any] = {name: [1.25, 2.0, 1.0, 3.1] for name in law.columns}
    columns.update(race=["White", "Non-White"] * 2, pass_bar=[1.0, 0.0, 0.0, 1.0])
    table = pa.table(columns)
    monkeypatch.setitem(BENCHMARKS, "law", dataclasses.replace(law, digest=content_digest(table)))
    return table


def serve(monkeypatch: pytest.MonkeyPatch, table: pa.Table) -> list[str]:
    """Let pooch "download" a table as CSV, and return the list of addresses it is asked for."""
    asked: list[str] = []

    def retrieve(url: str, *, known_hash: None, fname: str, path: str) -> str:
        asked.append(url)
        pa.csv.write_csv(table, Path(path) / fname)
        return str(Path(path) / fname)

    monkeypatch.setattr("pooch.retrieve", retrieve)
    return asked


def test_adult() -> None:
    data = load_dataset("adult")
    assert (data.n_rows, data.groups) == (48_842, ("Female", "Male"))
    assert data.counts.tolist() == [[14_423, 1_769], [22_732, 9_918]]
    assert "fnlwgt" not in data.columns
    assert data.schema.positive == ">50K"
    numeric = [feature.name for feature in data.schema.features if feature.kind == "numeric"]
    assert numeric == ["age", "education-num", "capital-gain", "capital-loss", "hours-per-week"]
    workclass = next(feature for feature in data.schema.features if feature.name == "workclass")
    assert workclass.categories[-1] is None
    assert load_table("adult").column_names == list(BENCHMARKS["adult"].columns)


def test_law(published: Path) -> None:
    data = load_dataset("law")
    assert (data.n_rows, data.groups) == (20_798, ("Non-White", "White"))
    assert data.label.sum() == 18_505
    categorical = [feature.name for feature in data.schema.features if feature.kind == "categorical"]
    assert categorical == ["fulltime", "male", "tier"]
    assert Encoding.fit(data).n_columns == 17
    assert content_digest(load_table("law")) == BENCHMARKS["law"].digest


def test_dutch(published: Path) -> None:
    data = load_dataset("dutch")
    assert (data.n_rows, data.groups) == (60_420, ("female", "male"))
    assert all(feature.kind == "categorical" for feature in data.schema.features)
    sizes = next(feature for feature in data.schema.features if feature.name == "household_size")
    assert sizes.categories == (111, 112, 113, 114, 125, 126)
    assert content_digest(load_table("dutch")) == BENCHMARKS["dutch"].digest


@pytest.mark.parametrize("name", ["law", "dutch"])
def test_the_published_csv_passes_the_check(
    name: str, published: Path, bare: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = pa.parquet.read_table(published / f"{name}.parquet")
    asked = serve(monkeypatch, table)
    assert load_dataset(name).n_rows == BENCHMARKS[name].rows
    assert asked == [BENCHMARKS[name].url]


def test_other_parts_on_request() -> None:
    both = load_dataset("adult", sensitive=["sex", "race"])
    assert len(both.groups) == 10
    assert "Female / Black" in both.groups
    assert "race" not in both.columns
    assert "fnlwgt" not in both.columns
    assert "education" not in load_dataset("adult", drop="education").columns
    weighted = load_dataset("adult", weight="fnlwgt")
    assert weighted.weight is not None
    assert "fnlwgt" in load_dataset("adult", numeric="fnlwgt").columns
    relabelled = load_dataset("adult", label="race", positive="White")
    assert "income" in relabelled.columns
    with pytest.raises(InputError, match="positive="):
        load_dataset("adult", label="race")


def test_other_parts_of_coded_data(published: Path) -> None:
    by_age = load_dataset("dutch", sensitive="age")
    assert len(by_age.groups) == 12
    assert by_age.schema.features[0].categories == ("female", "male")
    by_status = load_dataset("dutch", label="economic_status", positive="120")
    assert {feature.name: feature.kind for feature in by_status.schema.features}["occupation"] == "categorical"
    law = load_dataset("law", sensitive="male", numeric="tier")
    assert law.groups == ("0", "1")
    assert {feature.name: feature.kind for feature in law.schema.features}["tier"] == "numeric"


def test_unknown_name() -> None:
    assert benchmark_names() == ("adult", "law", "dutch")
    with pytest.raises(InputError, match="'adlt': use adult, law, dutch, or the path of a CSV or Parquet"):
        load_dataset("adlt")
    with pytest.raises(InputError, match="no data set"):
        load_table("adlt")


def test_download_is_checked_and_kept(bare: Path, small_law: pa.Table, monkeypatch: pytest.MonkeyPatch) -> None:
    # An index column and another order of columns do not matter: the content is what counts.
    served = small_law.select(small_law.column_names[::-1]).append_column("index", pa.array(range(4)))
    asked = serve(monkeypatch, served)
    assert load_table("law").to_pydict() == small_law.to_pydict()
    assert [file.name for file in bare.iterdir()] == ["law.parquet"]
    assert load_table("law").to_pydict() == small_law.to_pydict()
    assert asked == [
        "https://raw.githubusercontent.com/tailequy/fairness_dataset/main/experiments/data/law_school_clean.csv"
    ]


def test_changed_download_is_refused(bare: Path, small_law: pa.Table, monkeypatch: pytest.MonkeyPatch) -> None:
    serve(monkeypatch, small_law.slice(0, 3))
    with pytest.raises(DatasetUnavailableError, match="does not hold the 20798 rows it is known for"):
        load_dataset("law")
    serve(monkeypatch, small_law.drop_columns(["lsat"]))
    with pytest.raises(DatasetUnavailableError, match="no column lsat"):
        load_dataset("law")
    assert not bare.exists()


def test_failed_download_says_what_to_do(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def retrieve(*args: Any, **options: Any) -> str:
        raise OSError("no route to host")

    monkeypatch.setattr("pooch.retrieve", retrieve)
    with pytest.raises(DatasetUnavailableError) as caught:
        load_dataset("dutch")
    message = str(caught.value)
    assert all(part in message for part in ("no route to host", "dutch.csv", "dutch.parquet", "FAIRLIMITS_DATA"))


def test_the_named_directory_comes_before_the_cache(
    bare: Path, small_law: pa.Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bare.mkdir()
    pa.parquet.write_table(small_law, bare / "law.parquet")
    assert load_table("law").num_rows == 4
    named = tmp_path / "named"
    named.mkdir()
    monkeypatch.setenv("FAIRLIMITS_DATA", str(named))
    assert load_table("law").num_rows == 4
    # As a browser would have saved it.
    pa.csv.write_csv(small_law.slice(0, 2), named / "law_school_clean.csv")
    assert load_table("law").num_rows == 2


def test_a_file_of_another_table_is_refused(bare: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pa.parquet.write_table(pa.table({"sex": ["male"]}), tmp_path / "dutch.parquet")
    monkeypatch.setenv("FAIRLIMITS_DATA", str(tmp_path))
    with pytest.raises(FileError, match=r"not the data set 'dutch', because it has no column age, household_pos"):
        load_dataset("dutch")


def test_status(bare: Path, small_law: pa.Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def retrieve(*args: Any, **options: Any) -> str:
        raise AssertionError("status must not download")

    monkeypatch.setattr("pooch.retrieve", retrieve)
    monkeypatch.setenv("FAIRLIMITS_DATA", str(tmp_path))
    pa.parquet.write_table(small_law, tmp_path / "law.parquet")
    adult, law, dutch = benchmark_status()
    assert (adult.name, adult.rows, adult.label, adult.sensitive) == ("adult", 48_842, "income", "sex")
    assert adult.found is not None
    assert "CC BY 4.0" in adult.licence
    assert law.found == str(tmp_path / "law.parquet")
    assert dutch.found is None
    assert dutch.places == (str(tmp_path), str(bare), BENCHMARKS["dutch"].url)
    assert json.loads(json.dumps([dataclasses.asdict(adult)]))[0]["rows"] == 48_842


def test_digest_tells_content_from_form() -> None:
    table = pa.table({"a": [1, 2, None], "b": ["x", None, "z"]})
    same = pa.table({"b": pa.array(["x", None, "z"], pa.large_string()), "a": [1.0, 2.0 + 1e-12, None]})
    assert content_digest(same) == content_digest(table)
    for other in (
        pa.table({"a": [1, 3, None], "b": ["x", None, "z"]}),
        pa.table({"a": [1, 2, 0], "b": ["x", None, "z"]}),
        pa.table({"a": [1, 2, None], "b": ["x", "", "z"]}),
        pa.table({"a": [1, 2, None], "c": ["x", None, "z"]}),
    ):
        assert content_digest(other) != content_digest(table)


def test_adult_is_built_as_described() -> None:
    script = ROOT / "scripts" / "build_adult.py"
    spec = importlib.util.spec_from_file_location("build_adult", script)
    assert spec is not None
    assert spec.loader is not None
    build_adult = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(build_adult)
    train = (
        "39, State-gov, 77516, Bachelors, 13, Never-married, Adm-clerical, Not-in-family, White, Male, "
        "2174, 0, 40, United-States, <=50K\n\n"
    )
    test = (
        "|1x3 Cross validator\n25, ?, 226802, 11th, 7, Never-married, ?, Own-child, Black, Male, 0, 0, 40, ?, >50K.\n"
    )
    table = build_adult.build([train, test])
    assert table.schema == load_table("adult").schema
    assert table.slice(0, 1).to_pylist() == load_table("adult").slice(0, 1).to_pylist()
    assert table["income"].to_pylist() == ["<=50K", ">50K"]
    assert table["workclass"].to_pylist() == ["State-gov", None]
