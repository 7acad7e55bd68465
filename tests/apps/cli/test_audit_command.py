"""``fairlimits audit`` as a person meets it: a table, words, files by suffix, and one sentence for every bad input."""

from __future__ import annotations

import json
import re
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pytest
from sklearn.linear_model import LogisticRegression

import fairlimits as fl
from fairlimits.apps.cli import run
from known_people import people

ROWS = 500


def table() -> pa.Table:
    made, q = people(0, ROWS)
    score = q[:, :, 1].sum(axis=1)
    made = made.append_column("good", pa.array((score > 0.5).astype(int)))
    made = made.append_column("score", pa.array(score.round(3)))
    words = np.where(score > 0.5, "yes", "no")
    return made.append_column("said", pa.array(words)).append_column("gone", pa.array([None, *score[1:]]))


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """A quick learner; the guide's commands are run with the default ones."""
    quick = partial(fl.audit, estimator=LogisticRegression(), resamples=200)
    monkeypatch.setattr("fairlimits.evaluation.audit", quick)


@pytest.fixture
def csv(tmp_path: Path) -> Path:
    """Predictions alone: label, group and what two models say."""
    path = tmp_path / "people.csv"
    pa_csv.write_csv(table().select(["hired", "sex", "good", "score"]), path)
    return path


def words(path: Path, *more: str) -> list[str]:
    return ["audit", str(path), "--label", "hired", "--sensitive", "sex", *more]


def test_predictions_alone_give_a_table_words_a_file_and_a_picture(
    csv: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target, picture = tmp_path / "audit.json", tmp_path / "audit.svg"
    more = ["-p", "good", "-p", "score", "-n", "DP", "-n", "EA", "-o", str(target), "--plot", str(picture)]
    assert run(words(csv, *more)) == 0
    out = capsys.readouterr().out
    assert "95% intervals, in percent and in points: 350 rows learned from, 150 held out; rules with the group" in out
    assert re.search(r"good: accuracy \d\d\.\d% \(", out)
    assert out.count("all at once") == 2
    assert "score: scores decided 1 at 0.5 or above" in out
    assert "no feature besides the predictions" in out
    assert "a rule that we could not find may do better" in out
    tables = [line for line in out.splitlines() if line.startswith(("notion", "DP", "EA", "all at once"))]
    assert max(map(len, tables)) <= 100
    content = json.loads(target.read_text(encoding="utf-8"))
    assert content["rows"] == {"learned": 350, "held out": 150}
    assert content["unit"] == "shares from 0 to 1"
    assert [line["notion"] for line in content["lines"]] == ["DP", "EA", "DP + EA"] * 2
    assert content["lines"][2]["gap"] is None
    first = content["lines"][0]
    total = first["accuracy of the best rule"] - first["accuracy"]
    assert first["avoidable loss"] + first["unavoidable loss"] == pytest.approx(total)
    assert "Demographic parity" in picture.read_text(encoding="utf-8")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["audit.json", "audit.svg", "people.csv"]
    # How each group fares comes before where the model stands.
    assert out.index("good: how each group fares") < out.index("good: accuracy")
    rates = content["rates by group"]["score"]
    assert list(rates) == ["model", "rule as fair", "as fair in"]
    assert rates["model"]["gaps"]["DP"]["lowest"] in {"f", "m"}
    assert f"{rates['model']['groups']['f']['selection rate']['value'] * 100:.1f} (" in out
    assert rates["model"]["four-fifths rule"] in out


def test_few_people_are_suppressed_on_the_screen_and_in_every_file(
    csv: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target, lines, rates = tmp_path / "audit.json", tmp_path / "audit.csv", tmp_path / "rates.csv"
    options = ["-p", "good", "--suppress", "100", "--by-group", str(rates)]
    assert run(words(csv, *options, "-o", str(target))) == 0
    out = capsys.readouterr().out
    assert "f (rows suppressed)" in out
    assert "fewer than 100 people" in out
    content = json.loads(target.read_text(encoding="utf-8"))
    groups = content["rates by group"]["good"]["model"]["groups"]
    assert {group["rows"] for group in groups.values()} == {"suppressed"}
    assert content["lines"][0]["gap"] == "suppressed"
    assert {line["gap"] for line in content["lines"]} <= {"suppressed", None}
    assert run(words(csv, *options, "-o", str(lines))) == 0
    for path in (lines, rates):
        assert pa_csv.read_csv(path).column("suppressed").to_pylist()[0]
    assert set(pa_csv.read_csv(rates).column("rows").to_pylist()) == {None}
    assert run(words(csv, "-p", "good", "--suppress", "1")) == 2
    assert "--suppress is 1" in " ".join(capsys.readouterr().err.split())


def test_scores_of_another_scale_need_a_threshold(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, rates, picture = tmp_path / "people.csv", tmp_path / "rates.csv", tmp_path / "rates.png"
    made = table().select(["hired", "sex", "score"])
    points = pa.array((300 + 550 * made["score"].to_numpy()).round())
    pa_csv.write_csv(made.append_column("points", points).drop_columns(["score"]), path)
    assert run(words(path, "-p", "points", "-n", "DP")) == 2
    assert "such as --threshold 570" in capsys.readouterr().err
    more = ["--threshold", "575", "--by-group", str(rates), "--plot-rates", str(picture)]
    assert run(words(path, "-p", "points", "-n", "DP", *more)) == 0
    assert "points: scores decided 1 at 575 or above" in capsys.readouterr().out
    written = pa_csv.read_csv(rates)
    assert written["decided by"].to_pylist() == ["model", "model", "rule as fair", "rule as fair"]
    assert written["group"].to_pylist() == ["f", "m"] * 2
    assert picture.stat().st_size > 1_000
    assert run(words(path, "-p", "points", "--lot", "--threshold", "575")) == 2
    assert "leave out --lot or --threshold" in capsys.readouterr().err


def test_features_intersections_and_small_groups(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, target, picture = tmp_path / "people.csv", tmp_path / "audit.csv", tmp_path / "audit.png"
    pa_csv.write_csv(table(), path)
    more = ["--sensitive", "area", "--drop", "said", "--drop", "gone", "--drop", "score", "-p", "good", "--aware"]
    assert run(words(path, *more, "-n", "EOd", "-o", str(target), "--plot", str(picture))) == 0
    out = capsys.readouterr().out
    assert "group seen" in out
    assert out.startswith("Set aside, with fewer than 30 rows behind a rate: f / north (")
    assert "Note: Set aside on the held-out rows, with fewer than 30 rows behind a rate: " in out
    assert "Not estimable on the held-out rows: EOd, for no two groups are left to compare." in out
    assert "is not written" in out
    written = pa_csv.read_csv(target)
    assert written.num_rows == 1
    assert written["avoidable loss"].to_pylist() == [None]
    assert not picture.exists()


def test_a_model_that_knows_the_label_is_told_loudly(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "people.csv"
    pa_csv.write_csv(table().select(["hired", "sex", "skill"]).append_column("copy", table()["hired"]), path)
    assert run(words(path, "-p", "copy", "-n", "DP")) == 0
    captured = capsys.readouterr()
    assert "Note: THE ESTIMATED LIMIT IS TOO LOW: copy" in captured.out
    line = next(own for own in captured.out.splitlines() if own.startswith("DP "))
    assert "none: ahead by " in line
    assert line.endswith(" none")
    assert captured.err == ""


def test_the_same_seed_gives_the_same_files(csv: Path, tmp_path: Path) -> None:
    for name in ("one", "two"):
        more = ["-o", str(tmp_path / f"{name}.csv"), "--plot", str(tmp_path / f"{name}.svg")]
        assert run(words(csv, "-p", "score", "--lot", "-n", "DP", "--seed", "3", *more)) == 0
    for suffix in ("csv", "svg"):
        assert (tmp_path / f"one.{suffix}").read_bytes() == (tmp_path / f"two.{suffix}").read_bytes()


def test_help_has_examples(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["audit", "--help"]) == 0
    out = capsys.readouterr().out
    assert "--prediction" in out
    assert "fairlimits audit loans.csv" in out


BAD = {
    "no prediction": ([], "--prediction COLUMN"),
    "missing column": (["-p", "salary"], "'salary' is not in the table"),
    "the label": (["-p", "hired"], "is the label"),
    "text": (["-p", "said"], "'no', 'yes'"),
    "outside": (["-p", "skill"], "such as --threshold 0"),
    "missing values": (["-p", "gone"], "missing 1 times"),
    "unknown notion": (["-p", "good", "-n", "XX"], "XX"),
    "individual": (["-p", "good", "-n", "IF"], "one by one"),
    "threshold": (["-p", "score", "--threshold", "3"], "threshold is 3"),
    "test size": (["-p", "good", "--test-size", "2"], "--test-size is 2.0: it must lie between 0 and 1"),
    "too few held out": (["-p", "good", "--test-size", "0.01"], "5 rows are held out"),
    "confidence": (["-p", "good", "--confidence", "95"], "confidence is 95"),
    "seed": (["-p", "good", "--seed", "-1"], "seed is -1"),
    "output": (["-p", "good", "-o", "audit.xlsx"], "must end in one of"),
    "plot": (["-p", "good", "--plot", "audit.gif"], "must end in one of"),
    "no directory": (["-p", "good", "--plot", "nowhere/audit.png"], "directory"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_gets_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], case: str
) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "people.csv"
    pa_csv.write_csv(table(), path)
    more, named = BAD[case]
    assert run(words(path, *more)) == 2
    error = capsys.readouterr().err
    assert error.startswith("Error: ")
    assert named in error
    assert len(error.strip().splitlines()) == 1
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


def test_one_group_gets_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "people.csv"
    made = table()
    pa_csv.write_csv(made.set_column(made.column_names.index("sex"), "sex", pa.array(["f"] * ROWS)), path)
    assert run(words(path, "-p", "good")) == 2
    assert "one group only" in capsys.readouterr().err


def test_files_in_parts_are_audited(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder, rows = tmp_path / "people", table().drop_columns(["said", "gone", "score"])
    folder.mkdir()
    for part in range(2):
        pa_csv.write_csv(rows.slice(part * 250, 250), folder / f"part{part}.csv")
    assert run(words(folder, "-p", "good", "-n", "DP", "-o", str(tmp_path / "audit.json"))) == 0
    assert "good: how each group fares" in capsys.readouterr().out
    content = json.loads((tmp_path / "audit.json").read_text(encoding="utf-8"))
    assert sum(content["rows"].values()) == ROWS
    assert run(words(folder, "-p", "nobody")) == 2
    assert "is not in the table" in capsys.readouterr().err
