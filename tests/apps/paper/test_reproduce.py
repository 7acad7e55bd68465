"""Every target on small data, and what a run does when it is interrupted, lacks something or is told otherwise."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.csv as pa_csv
import pytest

import fairlimits as fl
from fairlimits.apps.paper import TARGETS, Settings, bench, figure3, multipliers, reproduce, run
from fairlimits.apps.paper.cache import Kept, plain
from fairlimits.law.generators import Generator, make_generator

QUICK = Settings(quick=True)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One folder for all targets, as a person would have it: cells are made once."""
    return tmp_path_factory.mktemp("reproduction")


@pytest.mark.usefixtures("_small_data")
@pytest.mark.parametrize("target", TARGETS)
def test_every_target_writes_its_files_and_a_page(folder: Path, target: str) -> None:
    if target == "figure3":
        pytest.importorskip("prince")
    found = reproduce(target, folder, QUICK, names=("adult",))
    section = next(section for section in found.sections if section.target == target)
    page = (folder / "index.html").read_text(encoding="utf-8")
    assert f'id="{target}"' in page
    if section.figure is not None:
        assert (folder / f"{target}.png").read_bytes().startswith(b"\x89PNG")
        assert (folder / f"{target}.pdf").read_bytes().startswith(b"%PDF")
    if section.records:
        table = pa_csv.read_csv(folder / f"{target}.csv")
        assert table.num_rows == len(section.records)
        assert set(table["data"].to_pylist()) == {"adult"}
    for claim in section.claims:
        assert claim.ours
        assert isinstance(claim.holds, bool)
        assert f"<b class={'true' if claim.holds else 'false'}>" in page
    for shown in section.tables:
        width = len(shown.heads)
        assert {len(row) for row in shown.rows} == {width}
        assert not shown.groups or sum(size for _, size in shown.groups) == width


def test_the_diagram_needs_no_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fl, "load_dataset", None)
    assert [section.target for section in reproduce("figure1", tmp_path, QUICK).sections] == ["figure1"]


@pytest.mark.usefixtures("_small_data")
def test_the_page_needs_nothing_else(folder: Path) -> None:
    reproduce("figure1", folder, QUICK, names=("adult",))
    page = (folder / "index.html").read_text(encoding="utf-8")
    assert "<script" not in page
    assert "http" not in page.replace("http-equiv", "")
    assert "quick trial" in page


def stamps(folder: Path) -> dict[str, int]:
    return {path.name: path.stat().st_mtime_ns for path in folder.glob("kept/*/*")}


@pytest.mark.usefixtures("_small_data")
def test_an_interrupted_run_goes_on_where_it_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(bench: Any) -> None:
        raise KeyboardInterrupt

    both = replace(run.TARGETS["table1"], units=("table1", "sensitivity"))
    monkeypatch.setattr(run, "TARGETS", {"table1": both})
    with monkeypatch.context() as patch:
        patch.setattr(run, "UNITS", {**run.UNITS, "sensitivity": interrupted})
        with pytest.raises(KeyboardInterrupt):
            reproduce("table1", tmp_path, QUICK, names=("adult",))
    before = stamps(tmp_path)
    assert set(before) == {"table1-adult.json"}
    reproduce("table1", tmp_path, QUICK, names=("adult",))
    after = stamps(tmp_path)
    assert {name: after[name] for name in before} == before
    assert {"sensitivity-adult.json", "cells-features-24-adult.npz"} <= set(after)


@pytest.mark.usefixtures("_small_data")
def test_results_of_other_settings_are_not_taken(tmp_path: Path) -> None:
    reproduce("table1", tmp_path, QUICK, names=("adult",))
    first = (tmp_path / "table1.csv").read_text()
    reproduce("table1", tmp_path, Settings(quick=True, seed=1, generator="bootstrap"), names=("adult",))
    assert (tmp_path / "table1.csv").read_text() != first
    again = reproduce("table1", tmp_path, QUICK, names=("adult",))
    assert (tmp_path / "table1.csv").read_text() == first
    assert [section.target for section in again.sections] == ["table1"]


@pytest.mark.usefixtures("_small_data")
def test_fresh_and_damaged_results_are_made_again(tmp_path: Path) -> None:
    reproduce("table1", tmp_path, QUICK, names=("adult",))
    path = next(tmp_path.glob("kept/*/table1-adult.json"))
    good = path.read_text()
    path.write_text(good[: len(good) // 2])
    reproduce("table1", tmp_path, QUICK, names=("adult",))
    assert path.read_text() == good
    content = json.loads(good)
    path.write_text(json.dumps({**content, "made with": {**content["made with"], "version": "0"}}))
    reproduce("table1", tmp_path, QUICK, names=("adult",))
    assert path.read_text() == good
    before = stamps(tmp_path)
    reproduce("table1", tmp_path, QUICK, names=("adult",), fresh=True)
    assert stamps(tmp_path) != before


@pytest.mark.usefixtures("_small_data")
def test_rows_of_a_slow_generator_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    learned = []

    def make(name: str, **settings: Any) -> Generator:
        learned.append((name, settings))
        return make_generator("bootstrap")

    monkeypatch.setattr(bench, "make_generator", make)
    slow = Settings(quick=True, generator="ctgan")
    reproduce("table1", tmp_path, slow, names=("adult",))
    first = (tmp_path / "table1.csv").read_text()
    next(tmp_path.glob("kept/*/table1-adult.json")).unlink()
    reproduce("table1", tmp_path, slow, names=("adult",))
    assert (tmp_path / "table1.csv").read_text() == first
    assert learned == [("ctgan", {"epochs": 1})]
    next(tmp_path.glob("kept/*/rows-adult.parquet")).write_bytes(b"PAR1")
    next(tmp_path.glob("kept/*/table1-adult.json")).unlink()
    reproduce("table1", tmp_path, slow, names=("adult",))
    assert len(learned) == 2


def test_kept_cells_without_their_facts_do_not_count(tmp_path: Path) -> None:
    kept = Kept(tmp_path, QUICK)
    dist = fl.CellDistribution.from_mass([[[2, 1], [1, 0]], [[0, 1], [2, 3]]])
    kept.write_cells("cells", "adult", dist, {"seconds": 1.0})
    found = kept.read_cells("cells", "adult")
    assert found is not None
    assert found.n_cells == 2
    kept.folder.joinpath("cells-adult.json").unlink()
    assert kept.read_cells("cells", "adult") is None


def test_what_json_cannot_hold_becomes_null() -> None:
    assert plain({"a": [float("nan"), float("inf"), 1.5], 2: (1, "x")}) == {"a": [None, None, 1.5], "2": [1, "x"]}


@pytest.mark.usefixtures("_small_data")
def test_without_prince_one_target_is_refused_and_all_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(figure3, "import_module", absent)
    with pytest.raises(fl.errors.MissingExtraError, match=r"pip install 'fairlimits\[paper\]'"):
        reproduce("figure3", tmp_path / "one", QUICK, names=("adult",))
    assert not (tmp_path / "one").exists()
    monkeypatch.setattr(run, "TARGETS", {name: run.TARGETS[name] for name in ("figure1", "table1", "figure3")})
    found = reproduce("all", tmp_path / "all", QUICK, names=("adult",))
    assert [section.target for section in found.sections] == ["figure1", "table1"]
    assert "figure3 was left out" in found.missing[0]
    assert "figure3 was left out" in found.page.read_text(encoding="utf-8")


def test_a_data_set_that_is_missing_is_said_unless_it_was_asked_for(
    tmp_path: Path, small: dict[str, fl.Dataset], monkeypatch: pytest.MonkeyPatch
) -> None:
    def load(name: str) -> fl.Dataset:
        if name != "adult":
            raise fl.errors.DatasetUnavailableError(f"The data set {name!r} is not here; put it there.")
        return small[name]

    monkeypatch.setattr(fl, "load_dataset", load)
    found = reproduce("figure4", tmp_path, QUICK)
    assert [words.split(":")[0] for words in found.missing] == ["Law is missing", "Dutch is missing"]
    assert found.sections[-1].title.endswith("Adult")
    with pytest.raises(fl.errors.DatasetUnavailableError):
        reproduce("figure4", tmp_path, QUICK, names=("law",))


@pytest.mark.usefixtures("_small_data")
def test_the_multipliers_are_shown_beside_the_paper(tmp_path: Path) -> None:
    found = reproduce("table2", tmp_path, QUICK, names=("adult",), by_multipliers=("adult",))
    table = found.sections[-1].tables[-1]
    assert "multipliers" in table.title
    assert len(table.rows) == 12
    assert len(list(tmp_path.glob("kept/*/multipliers-*"))) == len(multipliers.UNITS) == 36


@pytest.mark.usefixtures("_small_data")
def test_multipliers_of_another_data_set_are_done_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    units = {**run.UNITS, **{unit: lambda bench: asked.append(bench.name) or {} for unit in multipliers.UNITS}}  # type: ignore[func-returns-value]
    monkeypatch.setattr(run, "UNITS", units)
    monkeypatch.setattr(run, "_sections", lambda kept, settings, asked: [])
    reproduce("table2", tmp_path, QUICK, names=("adult",), by_multipliers=("law",))
    assert asked == ["law"] * 36


@pytest.mark.usefixtures("_small_data")
def test_outcome_cells_serve_the_figures_too(tmp_path: Path) -> None:
    reproduce("sensitivity", tmp_path, Settings(quick=True, partition="outcome"), names=("adult",))
    assert next(tmp_path.glob("kept/*/cells-outcome-24-adult.npz")).parent.name == "cart-outcome-256-cells-seed-0-quick"


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"generator": "gan"}, "gan"),
        ({"partition": "rows"}, "rows"),
        ({"cells": 1}, "at least 2"),
        ({"seed": -1}, "-1"),
    ],
)
def test_settings_that_cannot_be_used(changes: dict[str, Any], named: str) -> None:
    with pytest.raises(fl.InputError, match=named):
        Settings(**changes)


@pytest.mark.parametrize(
    ("target", "options", "named"),
    [
        ("table9", {}, "table9"),
        ("table1", {"names": ("german",)}, "german"),
        ("table1", {"by_multipliers": ("adult",)}, "Table 2"),
        ("table2", {"by_multipliers": ("german",)}, "german"),
    ],
)
def test_questions_that_make_no_sense(tmp_path: Path, target: str, options: dict[str, Any], named: str) -> None:
    with pytest.raises(fl.InputError, match=named):
        reproduce(target, tmp_path / "out", QUICK, **options)
    assert not (tmp_path / "out").exists()
