"""The command line as a person meets it: answers, files by suffix, and one sentence for every bad input."""

from __future__ import annotations

import json
import math
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest
from sklearn.linear_model import LogisticRegression

import fairlimits as fl
from fairlimits.apps.cli import run
from fairlimits.apps.cli.data_options import expect_learning
from fairlimits.apps.cli.scenarios import _rows_needed
from fairlimits.notions import rows_to_certify


@pytest.fixture(scope="module")
def people() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    n = 600
    sex = rng.integers(0, 2, n)
    age = rng.normal(40 + 5 * sex, 10, n).round(1)
    job = rng.choice(["nurse", "smith", "clerk"], n)
    paid = (age + 4 * (job == "smith") + rng.normal(0, 8, n) > 43).astype(int)
    return {"sex": np.where(sex == 1, "m", "f"), "age": age, "job": job, "paid": np.where(paid == 1, "yes", "no")}


@pytest.fixture
def csv(people: dict[str, np.ndarray], tmp_path: Path) -> Path:
    path = tmp_path / "people.csv"
    pa_csv.write_csv(pa.table(people), path)
    return path


def options(path: Path, **changes: str | None) -> list[str]:
    chosen = {"label": "paid", "positive": "yes", "sensitive": "sex", "cells": "12", "generator": "none", **changes}
    return [str(path), *(word for key, value in chosen.items() if value is not None for word in (f"--{key}", value))]


def report_options(path: Path, **changes: str | None) -> list[str]:
    return options(path, **{"cells": None, "generator": None, **changes})


def test_frontier_prints_a_table(csv: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["frontier", *options(csv), "--points", "3"]) == 0
    out = capsys.readouterr().out
    assert "plug-in (600 rows, 12 cells)" in out
    assert out.count("\n0.") == 3
    assert "group seen" in out


def test_frontier_names_a_column_that_gives_the_label_away(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rng = np.random.default_rng(0)
    label = rng.integers(0, 2, 400)
    columns = {"paid": label, "sex": rng.choice(["f", "m"], 400), "age": rng.integers(20, 60, 400)}
    told = columns | {"closed": label + rng.normal(0, 0.05, 400)}
    for table, said in ((told, True), (columns, False)):
        pa_csv.write_csv(pa.table(table), tmp_path / "people.csv")
        own = options(tmp_path / "people.csv", positive="1", cells=None, generator=None)
        assert run(["frontier", *own, "--points", "2", "--json"]) == 0
        notes = json.loads(capsys.readouterr().out)["notes"]
        assert any("closed nearly decides the label by itself" in note for note in notes) == said


@pytest.mark.parametrize("suffix", ["csv", "json", "png", "pdf", "svg"])
def test_frontier_writes_by_suffix(csv: Path, tmp_path: Path, suffix: str) -> None:
    target = tmp_path / f"curve.{suffix}"
    assert run(["frontier", *options(csv), "-n", "DP", "-n", "EA", "-o", str(target)]) == 0
    assert target.stat().st_size > 500
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted([csv.name, target.name])


def test_a_certified_frontier_marks_what_rows_cannot_show(
    csv: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "curve.json"
    words = ["frontier", *report_options(csv), "--confidence", "0.9", "--points", "3", "--to", "0.5"]
    assert run([*words, "-o", str(target)]) == 0
    said = capsys.readouterr()
    assert "plug-in, gaps certified with confidence 0.9" in said.out
    assert "?: the rows cannot certify this tolerance" in said.err + said.out
    assert "The 600 rows cannot certify with confidence 0.9: DP within 0" in said.err + said.out
    hidden = json.loads(target.read_text())["group hidden"]
    assert hidden["certified"] == [False, True, True]
    assert max(hidden["at most DP"][1:]) <= 0.5
    assert run([*words, "--uncertified", "constant"]) == 0
    assert "?:" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--exact"], "leave --confidence out, or"),
        (["--cells", "12"], "leave --cells and --partition out"),
        (["--uncertified", "never"], "--uncertified is 'never'"),
    ],
)
def test_what_cannot_be_certified_is_said(
    csv: Path, words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["frontier", *report_options(csv), "--confidence", "0.9", *words]) == 2
    assert said in capsys.readouterr().err


def test_frontier_file_holds_what_the_library_gives(csv: Path, tmp_path: Path) -> None:
    target = tmp_path / "curve.json"
    assert (
        run(["frontier", *options(csv), "-n", "EOd", "--fix", "IF=0.3", "--exact", "--to", "0.1", "-o", str(target)])
        == 0
    )
    content = json.loads(target.read_text())
    data = fl.open_data(str(csv), label="paid", positive="yes", sensitive="sex")
    dist = fl.discretize(data, 12, partition="blend")
    curve = fl.frontier(dist, ["EOd", "IF"], {"EOd": (0, 0.1), "IF": 0.3}, exact=True)
    assert content["group hidden"]["accuracy"] == pytest.approx(curve.accuracy.tolist(), abs=1e-12)
    assert content["figures"] == "plug-in"


def test_the_same_seed_gives_the_same_file(csv: Path, tmp_path: Path) -> None:
    for name in ("one.csv", "two.csv"):
        assert run(["frontier", *options(csv), "--seed", "3", "-o", str(tmp_path / name)]) == 0
    assert (tmp_path / "one.csv").read_bytes() == (tmp_path / "two.csv").read_bytes()


def test_parquet_and_weights_and_intersections(
    people: dict[str, np.ndarray], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "people.parquet"
    pq.write_table(pa.table({**people, "w": np.ones(600), "town": np.array(["a", "b"] * 300)}), path)
    arguments = [*options(path, weight="w"), "--sensitive", "town", "-n", "EOd", "--points", "2"]
    assert run(["frontier", *arguments]) == 0
    assert "12 cells" in capsys.readouterr().out


def test_datasets_lists_all_three(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["datasets"]) == 0
    out = capsys.readouterr().out
    assert all(name in out for name in ("adult", "law", "dutch"))


def test_version_and_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--version"]) == 0
    assert fl.__version__ in capsys.readouterr().out
    for command in ("report", "frontier", "datasets"):
        assert run([command, "--help"]) == 0
        assert command in capsys.readouterr().out


def write(tmp_path: Path, text: str, name: str = "bad.csv") -> Path:
    path = tmp_path / name
    path.write_text(text)
    return path


BAD_OPTIONS: dict[str, tuple[dict[str, str | None], str]] = {
    "no label": ({"label": None}, "label"),
    "unknown label": ({"label": "salary"}, "salary"),
    "unknown positive": ({"positive": "maybe"}, "maybe"),
    "unknown sensitive": ({"sensitive": "gender"}, "gender"),
    "more cells than rows": ({"cells": "100000"}, "100000"),
    "no cells": ({"cells": "0"}, "cells"),
    "unknown weight": ({"weight": "w"}, "'w'"),
    "unknown notion": ({"notion": "XX"}, "XX"),
    "bad fix": ({"fix": "IF"}, "IF"),
    "fixed twice": ({"fix": "DP=0.1"}, "twice"),
    "bad range": ({"from": "0.3"}, "range"),
    "negative fix": ({"fix": "EA=-1"}, "EA"),
    "unknown suffix": ({"output": "curve.xyz"}, "xyz"),
    "no directory": ({"output": "nowhere/curve.csv"}, "directory"),
    "bad missing": ({"missing-sensitive": "guess"}, "guess"),
}


@pytest.mark.parametrize("case", BAD_OPTIONS)
def test_bad_options_get_one_sentence(
    csv: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: str
) -> None:
    monkeypatch.chdir(tmp_path)
    changes, named = BAD_OPTIONS[case]
    assert run(["frontier", *options(csv, **changes)]) == 2
    captured = capsys.readouterr()
    assert named in captured.err
    assert captured.err.startswith("Error: ")
    assert len(captured.err.strip().splitlines()) == 1
    assert "Traceback" not in captured.err
    assert [p.name for p in tmp_path.iterdir()] == [csv.name]


def rows_of(n: int = 40, **columns: list[str]) -> str:
    base = {
        "sex": ["m", "f"] * (n // 2),
        "age": [str(i) for i in range(n)],
        "paid": ["yes", "yes", "no", "no"] * (n // 4),
    }
    table = {**base, **columns}
    return "\n".join([",".join(table), *(",".join(row) for row in zip(*table.values(), strict=True))]) + "\n"


BAD_FILES = {
    "empty file": ("", "empty"),
    "header only": ("sex,age,paid\n", "row"),
    "one group": (rows_of(sex=["m"] * 40), "group"),
    "one class": (rows_of(paid=["yes"] * 40), "paid"),
    "missing sensitive": (rows_of(sex=["m", "f", "", "m"] * 10), "missing"),
    "missing label": (rows_of(paid=["yes", "no", "", "no"] * 10), "paid"),
    "not a table": ("\x00\x01\x02", "bad.csv"),
    "ragged": ("sex,age,paid\nm,1\nf,2,yes,3\n", "bad.csv"),
}


@pytest.mark.parametrize("case", BAD_FILES)
def test_bad_files_get_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str], case: str) -> None:
    text, named = BAD_FILES[case]
    path = write(tmp_path, text)
    target = tmp_path / "report.html"
    assert run(["report", *report_options(path), "-o", str(target)]) == 2
    captured = capsys.readouterr()
    assert named in captured.err
    assert len(captured.err.strip().splitlines()) == 1
    assert not target.exists()


def test_negative_weights_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path, rows_of(w=["-1"] * 40))
    assert run(["report", *report_options(path, weight="w"), "-o", str(tmp_path / "r.html")]) == 2
    assert "negative" in capsys.readouterr().err


def test_constant_features_are_legal_but_cannot_make_many_cells(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(tmp_path, rows_of(age=["7"] * 40))
    features = ["--partition", "features"]
    assert run(["frontier", *options(path, cells="1"), *features]) == 0
    assert run(["frontier", *options(path, cells="2"), *features]) == 2
    assert "1" in capsys.readouterr().err


def test_unreadable_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["report", *report_options(tmp_path / "none.csv")]) == 2
    assert "none.csv" in capsys.readouterr().err
    assert run(["report", *report_options(tmp_path)]) == 2
    broken = write(tmp_path, "PAR1 no", "broken.parquet")
    assert run(["report", *report_options(broken)]) == 2
    assert "broken.parquet" in capsys.readouterr().err


def test_unknown_benchmark_names_the_known_ones(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["report", "adlut"]) == 2
    assert "adult" in capsys.readouterr().err


def test_decorrelate_writes_features_alone_and_applies_a_kept_plan(
    csv: Path, people: dict[str, np.ndarray], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mapped, plan, again = tmp_path / "mapped.parquet", tmp_path / "plan.npz", tmp_path / "again.csv"
    words = ["decorrelate", *options(csv, cells="8"), "-t", "DP=0"]
    assert run([*words, "-o", str(mapped), "--save-plan", str(plan)]) == 0
    out = capsys.readouterr().out
    assert "mass kept in place" in out
    assert "categories kept, per row" in out
    assert "Held out, on 120 new people:" in out
    assert "no map of the features can prevent that" in out
    table = pq.read_table(mapped)
    assert table.column_names == ["age", "job"]
    assert table.num_rows == 600
    features = tmp_path / "features.csv"
    pa_csv.write_csv(pa.table({"age": people["age"], "job": people["job"]}), features)
    assert run(["decorrelate", str(features), "--plan", str(plan), "-o", str(again)]) == 0
    assert pa_csv.read_csv(again).num_rows == 600
    strange = tmp_path / "strange.csv"
    pa_csv.write_csv(pa.table({"age": [30.0, 40.0], "job": ["nurse", "king"]}), strange)
    capsys.readouterr()
    for words in ([], ["--unseen", "guess"]):
        assert run(["decorrelate", str(strange), "--plan", str(plan), "-o", str(tmp_path / "two.csv"), *words]) == 2
    assert "'king'" in capsys.readouterr().err
    assert not (tmp_path / "two.csv").exists()
    words = ["--plan", str(plan), "-o", str(tmp_path / "two.csv"), "--unseen", "missing"]
    assert run(["decorrelate", str(strange), *words]) == 0
    assert pa_csv.read_csv(tmp_path / "two.csv").num_rows == 2


def test_an_aware_plan_is_kept_and_applied(csv: Path, tmp_path: Path) -> None:
    plan, mapped = tmp_path / "plan.npz", tmp_path / "mapped.csv"
    words = ["decorrelate", *options(csv, cells="6"), "--aware", "--save-plan", str(plan)]
    assert run([*words, "-o", str(mapped)]) == 0
    first = mapped.read_bytes()
    assert run(["decorrelate", str(csv), "--plan", str(plan), "-o", str(mapped)]) == 0
    assert mapped.read_bytes() == first
    table = pa_csv.read_csv(mapped)
    assert table.column_names == ["age", "job", "scored_as"]


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["-t", "DP"], "DP"),
        (["-t", "XX=1"], "XX"),
        (["-t", "DP=0", "-t", "DP=1"], "twice"),
        (["--accuracy-weight", "-1"], "weight"),
        (["-o", "mapped.html"], "html"),
        (["--seed", "-1"], "seed is -1"),
        (["--seed", "9" * 400], "give a whole number from 0 to"),
        (["--unseen", "missing"], "--plan"),
        (["--partition", "people"], "--partition is 'people'"),
        (["-o", "people.csv"], "people.csv itself"),
        (["--plan", "none.npz", "-o", "mapped.csv"], "takes no --label, --positive, --sensitive, --cells"),
    ],
)
def test_bad_decorrelation_gets_one_sentence(
    csv: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: list[str],
    named: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["decorrelate", *options(csv, cells="6"), *words]) == 2
    error = capsys.readouterr().err
    assert named in error
    assert len(error.strip().splitlines()) == 1
    assert [p.name for p in tmp_path.iterdir()] == [csv.name]


@pytest.mark.parametrize(
    ("words", "named"), [([], "-o"), (["-o", "mapped.csv"], "none.npz"), (["-o", "mapped.csv", "--aware"], "--aware")]
)
def test_a_plan_that_cannot_be_applied_gets_one_sentence(
    csv: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: list[str],
    named: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["decorrelate", str(csv), "--plan", "none.npz", *words]) == 2
    error = capsys.readouterr().err
    assert named in error
    assert len(error.strip().splitlines()) == 1
    assert [p.name for p in tmp_path.iterdir()] == [csv.name]


def test_scenarios_print_and_write(csv: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "table.json"
    chosen = options(csv, generator=None, cells=None)
    rates = tmp_path / "rates.csv"
    more = ["-o", str(target), "--by-group", str(rates)]
    assert run(["scenarios", *chosen, "-t", "DP=0.1", "-t", "EOd=0.2", *more]) == 0
    out = capsys.readouterr().out
    assert "group hidden, decorrelated after the rule was fixed" in out
    assert "held out, paired" in out
    assert "a rule that we could not find may do better" in out
    content = json.loads(target.read_text(encoding="utf-8"))
    assert len(content["situations"]) == 6
    assert content["tolerances"] == {"DP": 0.1, "EOd": 0.2}
    # How each group fares in each situation: in a table, and with intervals in the files.
    assert "Rates of each group in percent, held out" in out
    first = content["situations"][0]["rates by group"]
    for own in first["groups"].values():
        assert f"{100 * own['selection rate']['value']:.1f}" in out
    assert first["gaps"]["DP"]["lowest"] in first["groups"]
    written = pa_csv.read_csv(rates)
    assert written.num_rows == 6 * len(first["groups"])
    assert {"selection rate, low", "precision, high", "selection ratio"} <= set(written.column_names)


def quick_learner(monkeypatch: pytest.MonkeyPatch, room: str) -> None:
    """Let a command learn with logistic regression: what the default learners estimate is tested elsewhere."""

    def estimate(data: fl.Dataset, **given: Any) -> Any:
        return fl.estimate_outcome(data, **{**given, "estimator": LogisticRegression()})

    monkeypatch.setattr(f"fairlimits.evaluation.{room}.estimate_outcome", estimate)


def test_scenarios_place_a_model(
    people: dict[str, np.ndarray], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    quick_learner(monkeypatch, "scenarios")
    decided = (np.random.default_rng(0).random(len(people["paid"])) < 0.5).astype(int)
    source, target = tmp_path / "decided.csv", tmp_path / "table.json"
    pa_csv.write_csv(pa.table({**people, "decided": decided}), source)
    words = ["scenarios", *options(source, generator=None, cells=None), "--prediction", "decided", "-o", str(target)]
    assert run(words) == 0
    out = capsys.readouterr().out
    model = json.loads(target.read_text(encoding="utf-8"))["model"]
    assert model["in words"].startswith("decided decides")
    assert model["in words"] in out
    assert all(note in out for note in model["notes"])
    assert "decided: how each group fares" in out
    assert model["rates by group"]["decided"]["model"]["gaps"]["DP"]["value"] >= 0
    assert [line["verdict"] for line in model["lines"]] == ["a better rule was found"]
    # Scores of another scale are decided at a threshold.
    pa_csv.write_csv(pa.table({**people, "decided": 300 + 550 * decided}), source)
    assert run(words) == 2
    assert "--threshold" in capsys.readouterr().err
    assert run([*words, "--threshold", "500"]) == 0
    assert json.loads(target.read_text(encoding="utf-8"))["model"]["lines"] == model["lines"]


def test_rows_needed_are_told_for_each_tolerance() -> None:
    found: Any = SimpleNamespace(tested=1_000)
    counts = np.array([[100, 100], [300, 500]])
    words = _rows_needed(found, counts, {"DP": 0.05, "EOd": 0.1, "EA": 0.0, "EOp": 1.0, "PE": math.inf, "IF": 0.1})
    assert f"{rows_to_certify(0.05, shares=(0.2, 0.8)):,} held-out rows" in words
    assert f"{rows_to_certify(0.1, shares=(0.1, 0.3)):,} held-out rows" in words
    assert "EA is exactly 0 cannot be shown" in words
    assert "EOp" not in words
    assert "PE" not in words
    assert _rows_needed(found, np.array([[5, 5], [0, 0]]), {"DP": 0.05}) == ""


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["-t", "DP"], "write a notion and a number"),
        (["-t", "XX=0.1"], "not a fairness notion"),
        (["-t", "DP=0.1", "-t", "DP=0.2"], "given twice"),
        (["-t", "DP=-1"], "at least 0"),
        (["--prediction", "height"], "height"),
        (["--correlation", "3"], "between 0 and 2"),
        (["--test-size", "2"], "between 0 and 1"),
        (["--seed", "-1"], "seed is -1"),
        (["-o", "table.xlsx"], "must end in one of"),
    ],
)
def test_bad_scenarios_get_one_sentence(
    csv: Path, capsys: pytest.CaptureFixture[str], words: list[str], named: str
) -> None:
    assert run(["scenarios", *options(csv, generator=None, cells=None), *words]) == 2
    error = capsys.readouterr().err
    assert error.startswith("Error: ")
    assert named in error
    assert "Traceback" not in error


@pytest.mark.parametrize("command", ["frontier", "decorrelate"])
def test_commands_on_feature_cells_generate_rows_unless_told_not_to(
    csv: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    def written(name: str, **changes: str | None) -> str:
        target = tmp_path / f"{name}.csv"
        chosen = options(csv, cells="4", partition="features", **changes)
        assert run([command, *chosen, "-o", str(target)]) == 0
        return target.read_text(encoding="utf-8")

    chosen = written("cart", generator="cart", samples="20000")
    assert written("default", generator=None, samples="20000") == chosen
    assert written("rows") != chosen
    capsys.readouterr()
    # Far too few rows for the cells are said, not refused.
    written("few", generator="bootstrap", samples="100")
    assert "the sampling bound asks for" in capsys.readouterr().out


@pytest.mark.parametrize("command", ["frontier", "decorrelate", "cells"])
def test_generators_are_for_cells_of_the_features(
    csv: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    target = str(tmp_path / ("out.npz" if command == "cells" else "out.csv"))
    for changes, named in (({"generator": "cart"}, "--generator"), ({"generator": None, "samples": "9"}, "--samples")):
        assert run([command, *options(csv, **changes), "-o", target]) == 2
        error = capsys.readouterr().err
        assert f"leave {named} out, or add --partition features" in error
        assert error.count("\n") == 1


def test_cells_that_the_rows_do_not_support_are_never_called_a_limit(
    csv: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "curve.json"
    words = ["frontier", *options(csv, cells="150"), "--points", "2", "-o", str(target)]
    assert run(words) == 0
    assert "not a limit" not in capsys.readouterr().out
    assert json.loads(target.read_text())["notes"] == []
    assert run([*words, "--partition", "features"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("Note: 600 rows are too few for 150 cells of the features: ")
    assert "Best accuracy, plug-in, not a limit (600 rows, 150 cells)" in out
    (note,) = json.loads(target.read_text())["notes"]
    assert note in out


@pytest.mark.parametrize(
    ("source", "partition", "expected"),
    [("adult", "auto", True), ("adult", "features", False), ("adul", "auto", False), ("few.csv", "auto", False)],
)
def test_processes_start_early_only_where_they_will_be_used(
    source: str, partition: str, expected: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[str, ...]] = []
    monkeypatch.setattr("fairlimits._util.workers.expect_work", asked.append)
    monkeypatch.chdir(tmp_path)
    Path("few.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    expect_learning(source, partition)
    assert bool(asked) is expected
