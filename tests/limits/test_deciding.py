"""Rules where decisions are made: any kind of table, several threads, and a file that runs without the package."""

from __future__ import annotations

import csv
import runpy
import subprocess
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pytest

from fairlimits.data import Dataset
from fairlimits.errors import ColumnsWarning, InputError
from fairlimits.law import CellDistribution, Outcome, discretize, estimate_outcome
from fairlimits.limits import Rule, solve
from known_people import known, known_outcome, people

TABLE = people(2, 3_000)[0]


@pytest.fixture(scope="module")
def outcome() -> Outcome:
    """An estimate by the package's own learners."""
    return estimate_outcome(known(0, 1_500)[0], folds=2)


@pytest.fixture(scope="module")
def rule(outcome: Outcome) -> Rule:
    return solve(outcome, {"DP": 0.05})


def test_every_kind_of_table_is_decided_alike(rule: Rule) -> None:
    polars, dask = pytest.importorskip("polars"), pytest.importorskip("dask.dataframe")
    expected = rule.decide(TABLE)
    frame = TABLE.to_pandas().set_index(np.arange(3_000) + 7)
    batches = TABLE.to_batches(max_chunksize=700)
    np.testing.assert_array_equal(rule.decide(frame), expected)
    np.testing.assert_array_equal(rule.decide(polars.from_arrow(TABLE)), expected)
    np.testing.assert_array_equal(np.concatenate([rule.decide(batch) for batch in batches]), expected)
    reader = pa.RecordBatchReader.from_batches(TABLE.schema, batches)
    np.testing.assert_array_equal(rule.decide(reader), expected)
    lazy = rule.decide(dask.from_pandas(frame, npartitions=3))
    found = lazy.compute()
    np.testing.assert_array_equal(found.to_numpy(), expected)
    assert (found.index == frame.index).all()


def test_threads_do_not_disturb_each_other(outcome: Outcome, tmp_path: Path) -> None:
    solve(outcome, {"DP": 0.05}, aware=True).save(tmp_path / "rule.npz")
    # Fresh from the file, so that nothing is worked out yet when the threads begin.
    fresh = Rule.load(tmp_path / "rule.npz")
    parts = [TABLE.slice(start, 250) for start in range(0, 3_000, 250)]
    with ThreadPoolExecutor(6) as pool:
        found = list(pool.map(fresh.decide, parts))
    np.testing.assert_array_equal(np.concatenate(found), Rule.load(tmp_path / "rule.npz").decide(TABLE))


def run(code: str, *arguments: Any) -> str:
    """Run Python without this package: isolated, and told to refuse it."""
    banned = "import sys; sys.modules['fairlimits'] = None\n"
    done = subprocess.run(
        [sys.executable, "-I", "-c", banned + code, *map(str, arguments)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


LARGE = """
import numpy as np, runpy
decide = runpy.run_path(sys.argv[1])["decide"]
with np.load(sys.argv[2], allow_pickle=True) as file:
    np.save(sys.argv[3], decide({name: file[name] for name in file.files}))
"""


@pytest.mark.parametrize("aware", [False, True])
def test_the_exported_file_gives_the_same_scores_without_the_package(
    outcome: Outcome, aware: bool, tmp_path: Path
) -> None:
    own = solve(outcome, {"EOd": 0.05}, aware=aware)
    table = people(9, 100_000)[0]
    own.export(tmp_path / "rule.py")
    columns = {"skill": np.asarray(table["skill"])}
    columns |= {name: np.asarray(table[name]).astype(str) for name in ("area", "sex")}
    np.savez(tmp_path / "people.npz", **columns)  # type: ignore[arg-type]
    run(LARGE, tmp_path / "rule.py", tmp_path / "people.npz", tmp_path / "scores.npy")
    np.testing.assert_allclose(np.load(tmp_path / "scores.npy"), own.decide(table), atol=1e-6, rtol=0)


def test_the_exported_file_reads_csv_with_gaps_and_strangers(tmp_path: Path) -> None:
    table = people(0, 1_500)[0].to_pandas()
    table.loc[::7, "skill"] = np.nan
    table.loc[::5, "area"] = None
    data = Dataset.from_frame(table, label="hired", sensitive="sex")
    new = table[:200].assign(area=["west", None, "north", "east"] * 50)
    new.to_csv(tmp_path / "new.csv", index=False)
    for dist in (estimate_outcome(data, folds=2), discretize(data, 12, partition="features"),
                 discretize(data, 12, partition="blend")):  # fmt: skip
        own = solve(dist, {"DP": 0.05}, aware=isinstance(dist, Outcome))
        own.export(tmp_path / "rule.py")
        done = subprocess.run(
            [sys.executable, "-I", str(tmp_path / "rule.py"), str(tmp_path / "new.csv")],
            capture_output=True,
            text=True,
            check=True,
        )
        found = [float(line["score"]) for line in csv.DictReader(done.stdout.splitlines())]
        np.testing.assert_allclose(found, own.decide(new), atol=1e-6)


def rich_people(seed: int, rows: int) -> pa.Table:
    """People with columns of every kind, and values missing."""
    rng = np.random.default_rng(seed)
    skill, days = rng.normal(size=rows), rng.integers(16_000, 20_000, rows)
    job = [f"job {own}" for own in np.minimum(rng.zipf(1.3, rows), 400)]
    begun = np.datetime64("2015-01-01", "s") + rng.integers(0, 10**8, rows).astype("timedelta64[s]")

    def holed(values: Any, share: float = 0.05) -> pa.Array:
        return pa.array(values, mask=rng.random(rows) < share)

    return pa.table(
        {
            "skill": holed(skill),
            "code": pa.array(rng.integers(1, 6, rows)),
            "half": holed(rng.choice([0.5, 1.0, 2.5], rows)),
            "flag": pa.array(rng.random(rows) < 0.4),
            "job": holed(job),
            "begun": holed(begun),
            "day": holed(days.astype("datetime64[D]").astype(str)),
            "age": pa.array(rng.integers(18, 80, rows)),
            "sex": pa.array(np.array(["f", "m"])[rng.integers(0, 2, rows)]),
            "hired": pa.array((rng.random(rows) < 1 / (1 + np.exp(-skill))).astype(int)),
        }
    )


RICH: dict[str, dict[str, Any]] = {
    "hidden": {"sensitive": "sex"},
    "ranges": {"sensitive": ["sex", "age"], "bins": {"age": [30, 50], "skill": [-1, 0, 1]}},
    "numbers": {"sensitive": "code"},
    "truth": {"sensitive": "flag"},
}


def rich_rule(kind: str) -> Rule:
    categorical = ["half"] if kind == "numbers" else ["half", "code"]
    with warnings.catch_warnings():
        # Dates are read as numbers, and rare jobs are one category.
        warnings.simplefilter("ignore", ColumnsWarning)
        data = Dataset.from_frame(rich_people(0, 3_000), label="hired", categorical=categorical, **RICH[kind])
    outcome = estimate_outcome(data, folds=2)
    if kind == "hidden":
        return solve(discretize(data, 32, partition="blend", outcome=outcome), {"DP": 0.05, "IF": 0.3})
    return solve(outcome, {"DP": 0.1}, aware=kind != "truth", randomize=kind != "truth")


@pytest.mark.parametrize("kind", RICH)
def test_every_kind_of_column_is_exported(kind: str, tmp_path: Path) -> None:
    own, table = rich_rule(kind), rich_people(1, 100_000)
    own.export(tmp_path / "rule.py")
    # Text is text and numbers are numbers; a value that is not there is None.
    columns = {name: np.array(own, dtype=object) for name, own in table.to_pydict().items()}
    np.savez(tmp_path / "people.npz", **columns)  # type: ignore[arg-type]
    run(LARGE, tmp_path / "rule.py", tmp_path / "people.npz", tmp_path / "scores.npy")
    expected = own.decide(table)
    np.testing.assert_allclose(np.load(tmp_path / "scores.npy"), expected, atol=1e-6, rtol=0)
    # Arrow writes truth values in lower case, and pandas numbers with gaps as floats.
    pa_csv.write_csv(table.slice(0, 2_000), tmp_path / "arrow.csv")
    table.slice(0, 2_000).to_pandas().to_csv(tmp_path / "pandas.csv", index=False)
    for name in ("arrow.csv", "pandas.csv"):
        done = subprocess.run(
            [sys.executable, "-I", str(tmp_path / "rule.py"), str(tmp_path / name)],
            capture_output=True,
            text=True,
            check=True,
        )
        np.testing.assert_allclose([float(line) for line in done.stdout.split()[1:]], expected[:2_000], atol=1e-6)


def test_the_exported_file_says_what_it_cannot_read(tmp_path: Path) -> None:
    rich_rule("truth").export(tmp_path / "rule.py")
    decide = runpy.run_path(str(tmp_path / "rule.py"))["decide"]
    columns = rich_people(2, 20).to_pydict()
    with pytest.raises(KeyError, match="no column 'skill'"):
        decide({name: own for name, own in columns.items() if name != "skill"})
    with pytest.raises(ValueError, match="infinite"):
        decide({**columns, "skill": [np.inf] * 20})
    rich_rule("numbers").export(tmp_path / "rule.py")
    with pytest.raises(ValueError, match="groups 9 are not known"):
        runpy.run_path(str(tmp_path / "rule.py"))["decide"]({**columns, "code": [9] * 20})


def test_what_cannot_be_exported_is_said(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="classifier of your own"):
        solve(known_outcome(), {"DP": 0.05}).export(tmp_path / "rule.py")
    with pytest.raises(InputError, match="bare numbers"):
        solve(CellDistribution.from_mass([[[2, 1], [1, 0]], [[0, 1], [2, 3]]]), {}).export(tmp_path / "rule.py")
    assert not list(tmp_path.iterdir())
