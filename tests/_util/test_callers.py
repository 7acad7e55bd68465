"""Tests of where warnings point: at the user's line, whatever lies between."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import fairlimits as fl

ROWS = 60
TABLE = pa.table(
    {
        "age": np.arange(ROWS) % 7,
        "paid": np.arange(ROWS) % 2,
        "sex": ["f", *["m"] * (ROWS - 1)],
    }
)


def test_a_warning_points_at_the_line_that_made_a_dataset() -> None:
    with pytest.warns(fl.errors.SmallGroupsWarning) as told:
        fl.Dataset.from_frame(TABLE, label="paid", sensitive="sex")
    assert [warning.filename for warning in told] == [__file__]


def test_a_warning_points_at_the_line_that_opened_a_file(tmp_path: Path) -> None:
    pa.csv.write_csv(TABLE, tmp_path / "people.csv")
    with pytest.warns(fl.errors.SmallGroupsWarning) as told:
        fl.open_data(tmp_path / "people.csv", label="paid", sensitive="sex")
    assert [warning.filename for warning in told] == [__file__]


def test_a_warning_points_at_the_line_that_asked_for_a_rule() -> None:
    dist = fl.CellDistribution.from_mass([[[2, 1], [2, 1]], [[3, 1], [3, 1]]])
    with pytest.warns(UserWarning, match="same score") as told:
        fl.solve(dist, {"DP": 0.0})
    assert {warning.filename for warning in told} == {__file__}
