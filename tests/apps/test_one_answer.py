"""The same question has the same answer in Python, on the command line, in the explorer and from the classifier."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import fairlimits as fl
from fairlimits.apps.cli.app import run
from fairlimits.apps.explorer.answer import Choices
from fairlimits.apps.explorer.subject import Subject
from known_people import people, read

QUESTIONS = [("DP", 0.05, False), ("EOd", 0.1, True), ("EA", 0.0, False)]


@pytest.mark.parametrize(("notion", "tolerance", "aware"), QUESTIONS)
def test_every_face_gives_the_same_answer(notion: str, tolerance: float, aware: bool, tmp_path: Path) -> None:
    table, _ = people(3, 500)
    frame = table.to_pandas()
    frame.to_csv(tmp_path / "people.csv", index=False)
    data = fl.open_data(tmp_path / "people.csv", label="hired", positive="1", sensitive="sex")
    assert data.counts.tolist() == read(table).counts.tolist()
    expected = fl.solve(data, {notion: tolerance}, aware=aware).accuracy

    words = ["frontier", str(tmp_path / "people.csv"), "--label", "hired", "--positive", "1", "--sensitive", "sex"]
    words += [
        "-n",
        notion,
        "--from",
        str(tolerance),
        "--to",
        "0.5",
        "--points",
        "2",
        "-o",
        str(tmp_path / "curve.json"),
    ]
    assert run(words) == 0
    curve = json.loads((tmp_path / "curve.json").read_text())[f"group {'seen' if aware else 'hidden'}"]
    assert curve["accuracy"][0] == pytest.approx(expected, abs=1e-9)

    dist = fl.discretize(data)
    answer = Subject("people", dist, data).answer(Choices({notion: tolerance}, aware, False, notion))
    assert answer["accuracy"] == pytest.approx(expected, abs=1e-9)
    exact = fl.frontier(data, notion, {notion: (tolerance, 0.5)}, aware=aware, exact=True)
    assert exact.plug_in[0] == pytest.approx(expected, abs=1e-9)

    model = fl.ConstrainedBayesClassifier({notion: tolerance}, aware=aware)
    model.fit(frame[["skill", "area"]], frame["hired"], sensitive_features=frame["sex"])
    assert model.rule_.accuracy == pytest.approx(expected, abs=1e-9)
