"""The commands that the examples show; `make docs` executes their programs."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from fairlimits.apps.cli import run

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("plot_*.py"))
COMMAND = re.compile(r"^#    \$ fairlimits (.+)$", re.MULTILINE)
PYTHON_ONLY = ("plot_07_grid_search", "plot_09_beside_other_tools")


def loans(rows: int) -> pa.Table:
    """A lender's table, with a model's score."""
    rng = np.random.default_rng(0)
    woman, income = rng.random(rows) < 0.5, rng.integers(10, 60, rows)
    paid = rng.random(rows) < 1 / (1 + np.exp(1.5 - income / 25 + 0.4 * woman))
    columns = {"income": income, "term": rng.integers(1, 6, rows), "sex": np.where(woman, "woman", "man")}
    columns |= {"race": rng.choice(["A", "B", "C"], rows, p=[0.6, 0.38, 0.02]), "paid": np.where(paid, "yes", "no")}
    return pa.table(columns | {"score": np.round(np.clip(income / 60 + rng.normal(0, 0.1, rows), 0, 1), 2)})


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.stem)
def test_the_commands_of_an_example_run(
    example: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    table = loans(1_200)
    pyarrow.csv.write_csv(table, "loans.csv")
    pyarrow.csv.write_csv(table.drop_columns(["paid", "sex"]), "new.csv")
    Path("loans").mkdir()
    for day in range(2):
        pq.write_table(table.slice(day * 600, 600), f"loans/day{day}.parquet")
    commands = COMMAND.findall(example.read_text(encoding="utf-8"))
    assert bool(commands) == (example.stem not in PYTHON_ONLY)
    for command in commands:
        words = shlex.split(command)
        assert run([*words, *(["--quick"] if words[0] == "reproduce" else [])]) == 0, capsys.readouterr().err
