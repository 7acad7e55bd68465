"""Rules where decisions are made: any kind of table, several threads, and a file that runs without the package."""

from __future__ import annotations

import csv
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from fairlimits.data import Dataset
from fairlimits.errors import InputError
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
with np.load(sys.argv[2]) as file:
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


def test_what_cannot_be_exported_is_said(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="classifier of your own"):
        solve(known_outcome(), {"DP": 0.05}).export(tmp_path / "rule.py")
    with pytest.raises(InputError, match="bare numbers"):
        solve(CellDistribution.from_mass([[[2, 1], [1, 0]], [[0, 1], [2, 3]]]), {}).export(tmp_path / "rule.py")
    assert not list(tmp_path.iterdir())
