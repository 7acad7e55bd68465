"""Ceilings where people meet them: audits, scenarios, reports and the command line."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from sklearn.linear_model import LogisticRegression

import fairlimits as fl
from fairlimits.apps.cli.app import run
from fairlimits.errors import InputError


def table(rows: int = 700) -> pa.Table:
    rng = np.random.default_rng(5)
    age, area = rng.integers(20, 30, rows), rng.integers(0, 2, rows)
    sex = rng.random(rows) < 0.4 + 0.2 * area
    hired = rng.random(rows) < 1 / (1 + np.exp(-(age - 25) / 2 - sex))
    score = 1 / (1 + np.exp(-(age - 25) / 3))
    return pa.table(
        {
            "age": age.astype(float),
            "area": np.array(["n", "s"])[area],
            "sex": np.where(sex, "m", "f"),
            "hired": hired.astype(int),
            "score": score,
        }
    )


@cache
def people() -> fl.Dataset:
    return fl.Dataset.from_frame(table().drop_columns(["score"]), label="hired", sensitive="sex")


def test_an_audit_says_what_is_out_of_reach() -> None:
    score = table()["score"].to_numpy()
    found = fl.audit(
        people(), {"ours": score}, notions=["DP"], estimator=LogisticRegression(), ceiling=True, resamples=100
    )
    model = found["ours"]
    reach = model.reach
    assert reach is not None
    assert 0 < reach.out_of_reach <= 1 - reach.upper
    assert reach.above == (reach.best > reach.upper)
    lacks = 1 - model.accuracy.value
    assert reach.out_of_reach + reach.reachable + reach.unknown == pytest.approx(lacks, abs=1e-9)
    assert reach.gaps == {"DP": model.gaps["DP"].high}
    assert "are out of reach of any rule that is as fair" in found.summary()
    assert found.to_frame()["no rule passes"].to_pylist() == [reach.upper]


def test_an_audit_of_cells_has_no_ceiling() -> None:
    dist = fl.CellDistribution.from_mass(np.full((2, 2, 2), 1 / 8))
    with pytest.raises(InputError, match="give the Dataset"):
        fl.audit(dist, np.array([0.0, 1.0]), ceiling=True)


def test_scenarios_say_what_no_rule_passes() -> None:
    found = fl.compare_scenarios(people(), {"DP": 0.1}, estimator=LogisticRegression(), ceiling=True, resamples=100)
    for own in found.situations:
        assert (own.ceiling is None) == own.fixed
    hidden, apart = found.find(aware=False), found.find(aware=False, decorrelated=True)
    assert hidden.ceiling is not None
    assert apart.ceiling is not None
    assert dict(apart.ceiling.grid)["DP"][0] == 0
    assert "no rule at all" in found.summary()
    assert found.to_frame()["no rule passes"].to_pylist()[0] == hidden.ceiling.upper


def test_a_report_has_a_bracket(tmp_path: Path) -> None:
    found = fl.report(people(), estimator=LogisticRegression())
    above = found.findings.from_above
    assert above is not None
    assert above.at(None).upper[0] <= 1
    assert above.at("DP").tolerances[0] == 0
    assert "no rule at all that sees these features" in found.summary()
    page = tmp_path / "page.html"
    found.save(page)
    assert "What no rule can pass" in page.read_text(encoding="utf-8")
    json.dumps(found.to_dict()["from_above"])
    without = fl.report(people(), estimator=LogisticRegression(), ceiling=False)
    assert without.findings.from_above is None
    assert "no rule at all" not in without.summary()


def test_the_command_prints_and_writes_a_bracket(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    people_file = tmp_path / "people.csv"
    pyarrow.csv.write_csv(table().drop_columns(["score"]), people_file)
    asked = ["ceiling", str(people_file), "--label", "hired", "--sensitive", "sex"]
    assert run([*asked, "--step", "age=2", "-o", str(tmp_path / "top.json")]) == 0
    printed = capsys.readouterr().out
    assert "no rule passes" in printed
    assert "age in steps of 2" in printed
    content = json.loads((tmp_path / "top.json").read_text())
    assert [own["tolerance DP"] for own in content["points"]] == [0.0, 0.01, 0.02, 0.05, 0.1, 0.15, 0.2]
    assert len(content["found"]) == 7
    assert run([*asked, "--step", "age"]) == 2
    assert "--step" in capsys.readouterr().err


def test_the_command_moves_notions_and_holds_others(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    people_file = tmp_path / "people.csv"
    pyarrow.csv.write_csv(table().drop_columns(["score"]), people_file)
    asked = ["ceiling", str(people_file), "--label", "hired", "--sensitive", "sex", "-t", "EA=0.1"]
    assert run([*asked, "-n", "DP"]) == 0
    printed = capsys.readouterr().out
    assert "DP <= " in printed
    assert "EA <= 0.1, group hidden" in printed
    assert run([*asked, "-o", str(tmp_path / "point.json")]) == 0
    assert len(json.loads((tmp_path / "point.json").read_text())["points"]) == 1
    assert run([*asked, "-n", "EA"]) == 2
    assert "to move it or to hold it" in capsys.readouterr().err
    assert run([*asked[:-1], "0.1"]) == 2
    assert "as in DP=0.05" in capsys.readouterr().err
