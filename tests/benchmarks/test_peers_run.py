"""The benchmark against the peers, without the peers: what is measured, the runner, the report, the linear program."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest
from benchmarks.peers import run as runner
from benchmarks.peers.__main__ import PAGE
from benchmarks.peers.bases import OWN, Base, Estimates, held_out_rows, score
from benchmarks.peers.linear import fit
from benchmarks.peers.methods import METHODS, Method
from benchmarks.peers.report import START, STOP, markdown, report
from benchmarks.peers.splits import Setting, Split, gaps

import fairlimits as fl

Floats = npt.NDArray[np.float64]


def people(n: int, seed: int) -> tuple[fl.Dataset, Floats]:
    """Rows of a known law, and that law for each row."""
    random = np.random.default_rng(seed)
    x = random.uniform(size=n)
    group_chance = 0.2 + 0.6 * x
    label_chance = np.stack([0.1 + 0.5 * x, 0.3 + 0.6 * x], axis=1)
    shares = np.stack([1 - group_chance, group_chance], axis=1)
    law = shares[:, :, None] * np.stack([1 - label_chance, label_chance], axis=2)
    drawn = np.array([random.choice(4, p=row.ravel()) for row in law])
    frame = {"x": x, "group": np.array(["a", "b"])[drawn // 2], "label": drawn % 2}
    return fl.Dataset.from_frame(pa.table(frame), label="label", sensitive="group"), law


@pytest.fixture(name="cut")
def a_cut() -> tuple[Split, Estimates]:
    learn, fitted = people(4000, 0)
    test, applied = people(4000, 1)
    return Split("people", 0, learn, test), Estimates(np.arange(4000), fitted, applied, 0.0)


def test_gaps_by_hand() -> None:
    data, _ = people(400, 0)
    decide = np.random.default_rng(0).uniform(size=400)
    found = gaps(decide, data)
    one, other = data.group == 0, data.group == 1
    assert found["DP"] == pytest.approx(abs(decide[one].mean() - decide[other].mean()))
    odds = [abs(decide[one & (data.label == y)].mean() - decide[other & (data.label == y)].mean()) for y in (0, 1)]
    assert found["EOd"] == pytest.approx(max(odds))
    right = np.where(data.label == 1, decide, 1 - decide)
    assert found["EA"] == pytest.approx(abs(right[one].mean() - right[other].mean()))


def test_a_score_is_the_share_of_label_1() -> None:
    joint = np.array([[[0.1, 0.2], [0.3, 0.4]]])
    assert score(joint, None) == pytest.approx([0.6])
    assert score(joint, np.array([1])) == pytest.approx([4 / 7])


def test_the_held_out_part_is_a_quarter_of_each_group_and_label(cut: tuple[Split, Estimates]) -> None:
    marked = held_out_rows(cut[0])
    learn = cut[0].learn
    kinds = 2 * learn.group + learn.label
    np.testing.assert_allclose(np.bincount(kinds[marked]) / np.bincount(kinds), 0.25, atol=0.01)


@pytest.mark.parametrize("aware", [False, True])
@pytest.mark.parametrize("criterion", ["DP", "EOd", "EA"])
def test_the_linear_program_holds_its_tolerance_on_new_rows(
    cut: tuple[Split, Estimates], criterion: str, aware: bool
) -> None:
    split, estimates = cut
    free = gaps(fit(split, Setting(criterion, 1.0, aware), estimates)(), split.test)[criterion]
    held = gaps(fit(split, Setting(criterion, 0.02, aware), estimates)(), split.test)[criterion]
    # 4,000 labels leave a standard error of about 0.02.
    assert held < 0.08
    assert held < free or free < 0.08


def test_the_linear_program_without_a_constraint_is_the_bayes_rule(cut: tuple[Split, Estimates]) -> None:
    split, estimates = cut
    decided = fit(split, Setting("DP", 1.0, False), estimates)()
    chance = score(estimates.test, None)
    clear = np.abs(chance - 0.5) > 0.01
    np.testing.assert_array_equal(decided[clear], chance[clear] > 0.5)


def _coin(calls: list[Setting]) -> Callable[[Split, Setting, None], Callable[[], Floats]]:
    def fit_coin(split: Split, setting: Setting, estimates: None) -> Callable[[], Floats]:
        calls.append(setting)
        return lambda: np.full(len(split.test.label), 0.5)

    return fit_coin


def test_a_run_continues_where_it_stopped(
    cut: tuple[Split, Estimates], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[Setting] = []
    coin = Method("coin", "coin", _coin(calls), lambda base, split, aware: None, {"DP": (0.0, 0.1)}, bases=(OWN,))
    monkeypatch.setitem(METHODS, "coin", coin)
    monkeypatch.setattr(runner, "split", lambda name, seed: cut[0])
    lines = runner.run(tmp_path, ["coin"], ["people"], [0], [False, True])
    next(lines)
    lines.close()  # type: ignore[attr-defined]
    assert len(runner.read(tmp_path)) == 1
    assert len(list(runner.run(tmp_path, ["coin"], ["people"], [0], [False, True]))) == 1
    assert list(runner.run(tmp_path, ["coin"], ["people"], [0], [False, True])) == []
    assert calls == [Setting("DP", 0.0, True), Setting("DP", 0.1, True)]
    first, second = runner.read(tmp_path)
    assert (first["accuracy"], second["gaps"]) == (pytest.approx(0.5), pytest.approx({"DP": 0, "EOd": 0, "EA": 0}))


def test_our_estimates_are_made_where_they_are_missing(
    cut: tuple[Split, Estimates], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[Path] = []

    def keep(split: Split, file: Path) -> None:
        made.append(file)
        file.parent.mkdir(parents=True)
        np.savez(file, oof=cut[1].fit, test=cut[1].test, seconds=1.0)

    monkeypatch.setattr(runner, "split", lambda name, seed: cut[0])
    monkeypatch.setattr(runner, "estimate", keep)
    assert not Base("ours", tmp_path / "cache").ready("people", 0)
    lines = list(runner.run(tmp_path, ["fairlimits"], ["people"], [0], [True]))
    assert "estimating" in lines[0]
    assert made == [tmp_path / "cache" / "people-0.npz"]
    assert len(runner.read(tmp_path)) == len(lines) - 1


def test_the_report_fills_in_its_part_of_the_page(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"before\n{START}\nold\n{STOP}\nafter\n", encoding="utf-8")
    rows = [
        {
            "data": "adult",
            "seed": seed,
            "method": method,
            "base": "ours",
            "criterion": "DP",
            "eps": 0.0,
            "aware": True,
            "accuracy": accuracy + 0.001 * seed,
            "gaps": {"DP": 0.01},
            "constant": 0.7,
            "base_seconds": 3.0,
            "fit_seconds": 1.0,
            "predict_seconds": 0.0,
            "n_learn": 80,
            "n_test": 20,
        }
        for seed in (0, 1)
        for method, accuracy in (("fairlimits", 0.9), ("error-parity", 0.85))
    ]
    report(rows, page)
    text = page.read_text(encoding="utf-8")
    assert text.startswith("before\n")
    assert text.endswith("after\n")
    assert "old" not in text
    assert "| adult | DP | seen | error-parity, given our estimates | +5.00 | +5.00 to +5.00 | 2 | win |" in text
    assert "3.0 + 1.0" in text
    assert (tmp_path / "benchmark.png").exists()


def test_a_page_without_marks_is_left_alone(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("text\n", encoding="utf-8")
    with pytest.raises(SystemExit, match="marks"):
        report([], page)
    assert page.read_text(encoding="utf-8") == "text\n"


def test_results_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    head = {"data": "adult", "seed": 0, "method": "coin", "base": "none", "criterion": "DP", "aware": True}
    records = [head | {"eps": eps, "accuracy": 1 / 3, "gaps": {"DP": 0.1}} for eps in (0.1, 0.0)]
    monkeypatch.setattr(runner, "KEPT", tmp_path / "kept.jsonl.gz")
    runner.keep(records)
    first = (tmp_path / "kept.jsonl.gz").read_bytes()
    runner.keep(reversed(records))
    assert (tmp_path / "kept.jsonl.gz").read_bytes() == first
    assert sorted((each["eps"], each["accuracy"]) for each in runner.read(None)) == [(0.0, 0.3333333), (0.1, 0.3333333)]


def test_the_page_says_what_was_measured() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert page.partition(START)[2].partition(STOP)[0].strip() == markdown(runner.read(None)).strip()
