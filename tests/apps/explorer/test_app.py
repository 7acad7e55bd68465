"""The page's server without a browser: its callbacks, its limits, and what it says when Dash is missing."""

from __future__ import annotations

import base64
import json
import signal
import socket
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pytest
from benchmarks.explorer import Tab

import fairlimits as fl
from explorer.hostile_names import BOLD, HOSTILE, data_url
from fairlimits.apps.cli import run
from fairlimits.apps.explorer import Subject, make_app, serve
from fairlimits.apps.explorer.answer import Choices
from fairlimits.apps.explorer.picture import plotly_figure, svg_figure
from fairlimits.apps.explorer.sentences import Point, asked


@pytest.fixture
def tab(app: Any, subject: Subject) -> Tab:
    opened = Tab(app, subject)
    opened.props |= {"use-DP.value": ["DP"]}
    opened.ask()
    return opened


def text_of(component: Any) -> str:
    """All text of a component, as a reader sees it."""
    if isinstance(component, list):
        return " ".join(map(text_of, component))
    if isinstance(component, dict):
        return text_of(component.get("props", {}).get("children"))
    return "" if component is None else str(component)


def test_a_move_gives_what_solve_gives(tab: Tab, dist: fl.CellDistribution) -> None:
    for value in (0.0, 0.031, 0.1):
        tab.props["tolerance-DP.value"] = value
        tab.ask()
        rule = fl.solve(dist, {"DP": value})
        assert tab.props["answer.data"]["accuracy"] == rule.accuracy
        assert text_of(tab.props["headline.children"]).startswith(f"{rule.accuracy:.4f} ")
        assert f"{rule.shadow_prices['DP']:.3f}" in text_of(tab.props["gaps.children"])


def test_rates_of_each_group_are_shown_with_names_as_text(tab: Tab, dist: fl.CellDistribution) -> None:
    shown = text_of(tab.props["rates.children"])
    groups = tab.props["answer.data"]["rates"]["groups"]
    assert list(groups) == [BOLD, "f"]
    for name, own in groups.items():
        assert name in shown
        assert f"{own['rows']:,}" in shown
        for rate in ("base rate", "selection rate", "true positive rate", "precision"):
            assert f"{own[rate]['value']:.3f}" in shown
    assert "Four-fifths rule: " in shown
    before = shown
    tab.props["tolerance-DP.value"] = 0.0
    tab.ask()
    assert text_of(tab.props["rates.children"]) != before
    gap = tab.props["answer.data"]["rates"]["gaps"]["EOp"]
    assert f"{gap['lowest']} {gap['highest']}" in text_of(tab.props["gaps.children"])


def test_the_curve_runs_along_the_slider_moved_last(tab: Tab) -> None:
    tab.props |= {"use-EA.value": ["EA"], "use-IF.value": ["IF"]}
    tab.ask()
    for name in ("EA", "IF", "DP"):
        tab.props[f"tolerance-{name}.value"] = 0.07
        tab.ask()
        assert tab.props["answer.data"]["moving"] == name
    tab.props["aware.value"] = "seen"
    tab.ask()
    assert tab.props["answer.data"]["moving"] == "DP"
    tab.props["use-DP.value"] = []
    tab.ask()
    assert tab.props["answer.data"]["moving"] == "EA"
    drawn = tab.props["plot.figure"]
    assert "equal accuracy" in drawn["layout"]["xaxis"]["title"]["text"]
    assert [trace["name"] for trace in drawn["data"]] == ["group seen", "group hidden", "here"]


def test_an_empty_number_is_answered_and_the_figures_stay(tab: Tab) -> None:
    before = tab.props["answer.data"]
    tab.props["tolerance-DP.value"] = None
    given = tab.ask()
    assert given is not None
    assert "empty" in given["problem"]["children"]
    assert tab.props["answer.data"] == before


def test_sliders_of_notions_that_are_off_do_not_move(tab: Tab) -> None:
    tab.call("tolerance-DP.disabled", "use-DP.value")
    assert not tab.props["tolerance-DP.disabled"]
    assert tab.props["tolerance-EA.disabled"]
    tab.props["decorrelated.value"] = ["yes"]
    tab.call("tolerance-DP.disabled", "decorrelated.value")
    assert tab.props["tolerance-DP.disabled"]


def test_independence_is_shown(tab: Tab, dist: fl.CellDistribution) -> None:
    tab.props["decorrelated.value"] = ["yes"]
    tab.ask()
    limit = fl.solve(dist, {"DP": 0.0}).accuracy
    assert tab.props["answer.data"]["accuracy"] == limit
    assert f"the rule adapts {limit:.4f}" in text_of(tab.props["decorrelation.children"])


def press_pin(tab: Tab) -> None:
    tab.props["pin.n_clicks"] = tab.props.get("pin.n_clicks", 0) + 1
    tab.call("points.data", "pin.n_clicks")


def drop(tab: Tab, content: str, name: str) -> None:
    tab.props["accepted.data"] = {"contents": data_url(content), "name": name, "at": 1}
    tab.call("points.data", "accepted.data")


def test_points_are_pinned_and_removed_in_their_own_tab(app: Any, subject: Subject, tab: Tab) -> None:
    press_pin(tab)
    tab.props["aware.value"] = "seen"
    tab.ask()
    press_pin(tab)
    other = Tab(app, subject)
    assert other.props["points.data"] == []
    assert [point["name"] for point in tab.props["points.data"]] == [
        "DP ≤ 0.05, group hidden",
        "DP ≤ 0.05, group seen",
    ]
    tab.props["remove-1"] = 1
    tab.call("points.data", '{"number":1,"type":"remove"}.n_clicks')
    assert [point["number"] for point in tab.props["points.data"]] == [2]
    assert "DP ≤ 0.05, group seen" in text_of(tab.call("table.children", "points.data")["table"]["children"])  # type: ignore[index]


def test_buttons_that_appear_remove_nothing(tab: Tab) -> None:
    press_pin(tab)
    assert tab.call("points.data", '{"number":1,"type":"remove"}.n_clicks') is None
    assert len(tab.props["points.data"]) == 1


def test_a_model_is_placed(tab: Tab, people: fl.Dataset) -> None:
    drop(tab, "\n".join(map(str, people.label)), HOSTILE)
    (point,) = tab.props["points.data"]
    assert point["accuracy"] == pytest.approx(1)
    assert point["name"] == HOSTILE[:60]
    tab.ask()
    drawn = json.dumps(tab.props["plot.figure"])
    assert "&lt;script&gt;" in drawn
    assert "<script>" not in drawn


def test_a_wrong_file_is_answered_and_the_points_stay(tab: Tab) -> None:
    press_pin(tab)
    drop(tab, "1\n0\n", "short.csv")
    assert "2 predictions and the data has 800 rows" in tab.props["upload-message.children"]
    assert len(tab.props["points.data"]) == 1


def test_points_end_somewhere(tab: Tab) -> None:
    for _ in range(31):
        press_pin(tab)
    assert len(tab.props["points.data"]) == 30
    assert "remove one first" in tab.props["upload-message.children"]


def test_downloads(tab: Tab, dist: fl.CellDistribution, people: fl.Dataset, tmp_path: Path) -> None:
    press_pin(tab)
    drop(tab, "p\n" + "\n".join(map(str, people.label)), "my $model$.csv")
    rule_file = tab.call("rule-file.data", "get-rule.n_clicks")["rule-file"]["data"]  # type: ignore[index]
    path = tmp_path / rule_file["filename"]
    path.write_bytes(base64.b64decode(rule_file["content"]))
    assert fl.Rule.load(path).accuracy == fl.solve(dist, {"DP": 0.05}).accuracy
    plot = tab.call("plot-file.data", "get-plot.n_clicks")["plot-file"]["data"]  # type: ignore[index]
    assert plot["filename"] == "frontier.svg"
    assert "<script" not in plot["content"]
    assert "2: my $model$.csv" in plot["content"]
    figures = json.loads(tab.call("json-file.data", "get-json.n_clicks")["json-file"]["data"]["content"])  # type: ignore[index]
    assert figures["answer"] == tab.props["answer.data"]
    assert figures["points"] == tab.props["points.data"]
    assert figures["data"]["groups"] == [BOLD, "f"]


def test_the_plot_has_no_unescaped_names(subject: Subject) -> None:
    found = subject.answer(Choices({"DP": 0.1}, True, False, "DP"))
    curves = {aware: subject.curve("DP", {}, aware) for aware in (True, False)}
    point: Point = {"number": 1, "kind": "model", "name": f"{BOLD}\x07", "accuracy": 0.7, "gaps": {"DP": 0.1}}
    assert BOLD not in json.dumps(plotly_figure(found, curves, [point]))
    drawn = svg_figure(found, curves, [point], HOSTILE)
    assert drawn == svg_figure(found, curves, [point], HOSTILE)
    assert "\x07" not in drawn
    assert "<b>" not in drawn


def test_choices_in_words() -> None:
    assert asked({}, False, False) == "no constraint, group hidden"
    assert asked({"DP": 0.1, "EA": 0.02}, True, True) == "EA ≤ 0.02, features independent, group seen"


def test_without_distances_there_is_no_individual_fairness(app: Any) -> None:
    dist = fl.CellDistribution.from_mass(np.random.default_rng(0).random((5, 2, 2)))
    subject = Subject("numbers", dist)
    page = json.dumps(make_app(subject).layout.to_plotly_json(), default=lambda part: part.to_plotly_json())
    assert subject.notions == ("DP", "EA", "EOp", "PE", "EOd")
    assert "tolerance-DP" in page
    assert "tolerance-IF" not in page
    assert "needs distances between the cells" in page


def test_only_this_machine_is_answered(app: Any) -> None:
    client = app.server.test_client()
    assert client.get("/", headers={"Host": "127.0.0.1:8050"}).status_code == 200
    assert client.get("/", headers={"Host": "elsewhere.example"}).status_code == 400
    page = client.get("/").text
    assert "https://" not in page.replace("https://www.w3.org", "")
    assert HOSTILE not in page


def test_large_requests_are_refused(app: Any) -> None:
    body = b'{"inputs": "' + b"0" * 28_000_000 + b'"}'
    response = app.server.test_client().post("/_dash-update-component", data=body, content_type="application/json")
    assert response.status_code == 413


def test_a_port_that_is_taken_is_answered_in_a_sentence(app: Any) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(fl.InputError, match=f"Port {port} cannot be used"):
            serve(app, port, lambda address: None)
    with pytest.raises(fl.InputError, match="65535"):
        serve(app, 70_000, lambda address: None)


@pytest.fixture
def csv(people: fl.Dataset, tmp_path: Path) -> Path:
    path = tmp_path / "people.csv"
    columns = {"age": people.columns["age"], "sex": people.group, "paid": people.label}
    pa_csv.write_csv(pa.table(columns), path)
    return path


def test_the_command_serves_until_it_is_interrupted(csv: Path, app: Any) -> None:
    words = [str(csv), "--label", "paid", "--sensitive", "sex", "--cells", "8", "--generator", "none", "--no-browser"]
    with subprocess.Popen(
        [sys.executable, "-m", "fairlimits", "explore", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as started:
        assert started.stdout is not None
        line = started.stdout.readline()
        while line and "http://127.0.0.1:" not in line:
            line = started.stdout.readline()
        port = int(line.split("http://127.0.0.1:")[1].partition("/")[0])
        with socket.create_connection(("127.0.0.1", port), timeout=10):
            pass
        started.send_signal(signal.SIGINT)
        out, err = started.communicate(timeout=20)
    assert started.returncode == 0
    assert "Stopped." in out
    assert err == ""


def test_a_missing_extra_names_its_install_line(
    csv: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def without(name: str, *rest: Any) -> Any:
        if name == "dash":
            raise ImportError(name)
        return import_module(name, *rest)

    monkeypatch.setattr("fairlimits.apps.explorer.server.import_module", without)
    words = ["--label", "paid", "--sensitive", "sex", "--cells", "8", "--generator", "none", "--no-browser"]
    assert run(["explore", str(csv), *words]) == 2
    assert "pip install 'fairlimits[app]'" in capsys.readouterr().err


def test_bad_input_is_answered_before_any_work(csv: Path, capsys: pytest.CaptureFixture[str], app: Any) -> None:
    assert run(["explore", str(csv), "--port", "70000"]) == 2
    assert "65535" in capsys.readouterr().err
    assert run(["explore", "nowhere.csv", "--label", "paid", "--sensitive", "sex"]) == 2
    assert "nowhere.csv" in capsys.readouterr().err


def test_saved_cells_are_explored_without_models(
    app: Any, dist: fl.CellDistribution, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "cells.npz"
    dist.save(path)
    served = []
    monkeypatch.setattr("fairlimits.apps.explorer.serve", lambda app, port, started: served.append(app))
    assert run(["explore", str(path), "--no-browser"]) == 0
    page = json.dumps(served[0].layout.to_plotly_json(), default=lambda part: part.to_plotly_json())
    assert "started with one table" in page
