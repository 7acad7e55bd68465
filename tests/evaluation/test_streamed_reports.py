"""Scenarios and reports of rows that are not in memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import fairlimits as fl
from fairlimits.evaluation.reports.surveys import Survey
from streams import ROLES, people, write

PLAIN: dict[str, Any] = {**ROLES, "drop": "weight"}


@pytest.mark.parametrize("roles", [PLAIN, {**ROLES, "weight": "weight"}])
def test_a_survey_says_of_files_what_it_says_of_rows_in_memory(tmp_path: Path, roles: dict[str, Any]) -> None:
    folder = write(people(), tmp_path / "big")
    stream = Survey.of(fl.open_data(folder, stream=True, **roles), 0)
    memory = Survey.of(fl.Dataset.from_frame(people(), **roles), 0)
    assert (stream.schema, stream.n_rows, stream.missing) == (memory.schema, memory.n_rows, memory.missing)
    np.testing.assert_array_equal(stream.counts, memory.counts)
    np.testing.assert_allclose(stream.weight, memory.weight, rtol=1e-12)
    assert [own.kind for own in stream.concerns] == [own.kind for own in memory.concerns]


@pytest.mark.filterwarnings("ignore")
def test_a_report_of_files(tmp_path: Path) -> None:
    table = people(2400)
    table = table.filter(np.asarray(table["sex"]) != "x")
    folder = write(table, tmp_path / "big")
    page = fl.report(str(folder / "*.parquet"), name="big", estimator=LogisticRegression(), **PLAIN)
    found = page.to_dict()
    held = found["held_out"]
    assert held["learned"] + held["tested"] == found["rows"] == table.num_rows
    (said,) = (own["text"] for own in found["warnings"] if own["kind"] == "held out")
    assert "row's place" in said
    assert held["best_hidden"]["low"] < 0.87 < held["best_hidden"]["high"] + 0.05
    above = found["from_above"]
    assert 0 < above["twins"] <= 1
    assert above["brackets"][0]["upper"][0] >= held["best_hidden"]["low"]
    assert "big" in page.to_html()
