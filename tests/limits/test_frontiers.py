"""Frontiers: sampled ones against single solves, exact ones against sweeps, and the two ways to trace them."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.axes import Axes

from fairlimits.errors import FileError, InputError
from fairlimits.law.cells.distributions import CellDistribution
from fairlimits.law.cells.neighbours import Neighbourhood
from fairlimits.limits import programs, solve
from fairlimits.limits.frontiers import Frontier
from fairlimits.limits.rules import Rule
from fairlimits.limits.tracing import DEFAULT_TOLERANCES, frontier
from fairlimits.notions.registry import ALL_NOTIONS
from literal import Hood
from strategies import Case, cases, hoods, neighbourhood, tolerance

FEASIBLE = ("mean", "each", "all")
SAME = 1e-9
"""How near points come that were found in two ways."""


def instance(groups: int = 2, seed: int = 0, cells: int = 15) -> CellDistribution:
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(cells, 2))
    return CellDistribution.from_mass(
        rng.gamma(0.7, size=(cells, groups, 2)), np.abs(points[:, None] - points[None]).mean(axis=2)
    )


def some_notions(case: Case) -> st.SearchStrategy[list[str]]:
    names = ALL_NOTIONS if case.distances is not None else ALL_NOTIONS[:-1]
    return st.lists(st.sampled_from(names), min_size=1, max_size=3, unique=True)


def accuracy_at(curve: Frontier, point: int) -> float:
    tolerances = {name: float(values[point]) for name, values in curve.grid.items()}
    return solve(curve.distribution, tolerances, aware=curve.aware, neighbours=curve.neighbours).accuracy


def check_points(curve: Frontier, case: Case, hood: Hood) -> None:
    """Every point is what `solve` finds there, and its scores attain it."""
    literal = case.literal(curve.aware, hood)
    for point in range(len(curve)):
        assert curve.accuracy[point] == pytest.approx(accuracy_at(curve, point), abs=SAME)
        scores = curve.scores[point]
        assert literal.accuracy(scores) == pytest.approx(curve.accuracy[point], abs=SAME)
        gaps = literal.gaps(scores)
        for name, gap in gaps.items():
            found = curve.gaps[name][point]
            assert found == pytest.approx(gap, abs=1e-12, nan_ok=True)
        for name, values in curve.grid.items():
            assert math.isnan(gaps[name]) or gaps[name] <= values[point] + 2e-8


# Sampled


@settings(max_examples=80)
@given(cases(), hoods(FEASIBLE), st.booleans(), st.data())
def test_a_sampled_frontier_is_a_solve_a_point(case: Case, hood: Hood, aware: bool, data: st.DataObject) -> None:
    names = data.draw(some_notions(case))
    row = data.draw(st.lists(st.one_of(tolerance(), st.floats(0, 1)), min_size=1, max_size=6))
    if data.draw(st.booleans()):
        row.sort()
    share = np.linspace(0, 1, 5)
    shapes: dict[str, Any] = {
        "array": np.array(row),
        "one array and numbers": {name: row if k == 0 else data.draw(tolerance()) for k, name in enumerate(names)},
        "a line": {
            name: data.draw(st.floats(0, 0.3)) * (1 - share) + data.draw(st.floats(0, 0.3)) * share for name in names
        },
        "anywhere": {name: [data.draw(tolerance()) for _ in row] for name in names},
    }
    tolerances = shapes[data.draw(st.sampled_from(sorted(shapes)))]
    curve = frontier(case.dist(), names, tolerances, aware=aware, neighbours=neighbourhood(hood))
    assert curve.notions == tuple(names)
    assert not curve.exact
    check_points(curve, case, hood)


@given(cases(), hoods(FEASIBLE), st.booleans(), st.data())
def test_a_frontier_rises_and_bends_down(case: Case, hood: Hood, aware: bool, data: st.DataObject) -> None:
    names = data.draw(some_notions(case))
    curve = frontier(case.dist(), names, np.linspace(0, 0.5, 21), aware=aware, neighbours=neighbourhood(hood))
    assert (np.diff(curve.accuracy) >= -SAME).all()
    assert (np.diff(curve.accuracy, 2) <= SAME).all()
    assert curve.accuracy.max() <= curve.bayes_accuracy + SAME


@pytest.mark.parametrize("aware", [False, True])
@pytest.mark.parametrize("groups", [2, 3, 4])
@pytest.mark.parametrize("names", [["DP"], ["EA", "EOd"], ["EOp", "EOd", "DP"], ["PE"]])
def test_following_and_solving_agree(
    monkeypatch: pytest.MonkeyPatch, names: list[str], groups: int, aware: bool
) -> None:
    dist = instance(groups, seed=groups, cells=30)
    at = np.linspace(0, 0.3, 31)
    calls = []
    plain = programs.FairProgram.solve
    monkeypatch.setattr(programs.FairProgram, "solve", lambda self, ask: calls.append(ask) or plain(self, ask))  # type: ignore[func-returns-value]
    followed = frontier(dist, names, at, aware=aware)
    exact = frontier(dist, names, exact=True, aware=aware)
    # The pivots did it: the solver was asked for the unconstrained rule only.
    assert [ask for ask in calls if ask] == []
    monkeypatch.setattr(programs, "_FOLLOWED", 0)
    solved = frontier(dist, names, at, aware=aware)
    assert len(calls) >= 31
    np.testing.assert_allclose(followed.accuracy, solved.accuracy, atol=SAME)
    tangents = frontier(dist, names, exact=True, aware=aware)
    np.testing.assert_allclose(exact.accuracy, tangents.accuracy, atol=SAME)
    np.testing.assert_allclose(exact.grid[names[0]], tangents.grid[names[0]], atol=1e-7)


def test_unsorted_and_repeated_tolerances_keep_their_order() -> None:
    dist = instance()
    at = [0.2, 0.0, 0.05, 0.05, 0.1, 0.0]
    curve = frontier(dist, ["DP", "EA"], at)
    np.testing.assert_array_equal(curve.tolerances, at)
    ordered = frontier(dist, ["DP", "EA"], sorted(at))
    np.testing.assert_allclose(curve.accuracy[np.argsort(at, kind="stable")], ordered.accuracy, atol=SAME)
    repeated = frontier(dist, ["DP"], [0.1, 0.1, 0.1])
    assert np.ptp(repeated.accuracy) <= SAME
    falling = frontier(dist, ["DP"], [0.2, 0.1, 0.0])
    rising = frontier(dist, ["DP"], [0.0, 0.1, 0.2])
    np.testing.assert_allclose(falling.accuracy[::-1], rising.accuracy, atol=SAME)


def test_a_single_tolerance() -> None:
    dist = instance()
    wanted = solve(dist, {"DP": 0.03}).accuracy
    for tolerances in (0.03, [0.03], {"DP": 0.03}, {"DP": [0.03]}):
        curve = frontier(dist, ["DP"], tolerances)
        assert len(curve) == 1
        assert curve.accuracy[0] == pytest.approx(wanted, abs=SAME)
    assert frontier(dist, "DP", 0.03).notions == ("DP",)


def test_by_default_41_tolerances() -> None:
    curve = frontier(instance(), ["DP"])
    np.testing.assert_array_equal(curve.tolerances, np.linspace(0, 0.2, 41))
    np.testing.assert_array_equal(DEFAULT_TOLERANCES, np.linspace(0, 0.2, 41))


def test_tolerances_that_cross_take_the_stricter_one() -> None:
    """EOp and EOd share a rate, and who limits it changes on the way."""
    dist = instance(3, seed=2)
    share = np.linspace(0, 1, 11)
    curve = frontier(dist, ["EOp", "EOd"], {"EOp": 0.05 + 0.02 * share, "EOd": 0.15 * share})
    for point in range(11):
        assert curve.accuracy[point] == pytest.approx(accuracy_at(curve, point), abs=SAME)


def test_infinite_tolerances() -> None:
    dist = instance()
    curve = frontier(dist, ["DP", "IF"], [0.0, math.inf])
    assert curve.accuracy[1] == pytest.approx(curve.bayes_accuracy)
    curve = frontier(dist, ["EA", "DP"], {"DP": math.inf, "EA": [0.0, 0.1, 0.2]})
    np.testing.assert_allclose(curve.accuracy, frontier(dist, ["EA"], [0.0, 0.1, 0.2]).accuracy, atol=SAME)
    curve = frontier(dist, ["DP", "EA"], {"DP": math.inf, "EA": [0.0, 0.1, 0.2]})
    np.testing.assert_allclose(curve.accuracy, frontier(dist, ["EA"], [0.0, 0.1, 0.2]).accuracy, atol=SAME)


# Exact


def lead(curve: Frontier) -> np.ndarray:
    """Tolerance of a notion that moves, by which points are told apart."""
    return np.asarray(max(curve.grid.values(), key=np.ptp))


def check_exact(curve: Frontier) -> None:
    """Straight lines between the points are the curve, and every inner point is a corner."""
    at = lead(curve)
    assert curve.exact
    assert (np.diff(at) > 0).all()
    slopes = np.diff(curve.accuracy) / np.diff(at)
    assert (np.diff(slopes) < 0).all()
    # Between two points too, in the middle and near the ends.
    for share in (0.02, 0.5, 0.98):
        for k in range(len(curve) - 1):
            there = {n: float((1 - share) * v[k] + share * v[k + 1]) for n, v in curve.grid.items()}
            found = solve(curve.distribution, there, aware=curve.aware, neighbours=curve.neighbours)
            line = (1 - share) * curve.accuracy[k] + share * curve.accuracy[k + 1]
            assert found.accuracy == pytest.approx(line, abs=SAME)
    for k in range(len(curve)):
        assert curve.accuracy[k] == pytest.approx(accuracy_at(curve, k), abs=SAME)
    for k in range(1, len(curve) - 1):
        without = np.interp(at[k], np.delete(at, k), np.delete(curve.accuracy, k))
        assert without < curve.accuracy[k] - 1e-13


@settings(max_examples=40)
@given(cases(), hoods(FEASIBLE), st.booleans(), st.data())
def test_an_exact_frontier_has_every_corner(case: Case, hood: Hood, aware: bool, data: st.DataObject) -> None:
    names = data.draw(some_notions(case))
    curve = frontier(case.dist(), names, exact=True, aware=aware, neighbours=neighbourhood(hood))
    check_exact(curve)
    assert all(values[0] == 0 for values in curve.grid.values())
    # It covers everything: at its end nothing is lost any more.
    assert curve.accuracy[-1] == pytest.approx(curve.bayes_accuracy, abs=SAME)


@pytest.mark.parametrize("followed", [True, False])
@pytest.mark.parametrize("aware", [False, True])
@pytest.mark.parametrize("names", [["DP"], ["EA", "EOd"], ["DP", "IF"], ["IF"]])
def test_an_exact_frontier_equals_a_dense_sweep(
    monkeypatch: pytest.MonkeyPatch, names: list[str], aware: bool, followed: bool
) -> None:
    if not followed:
        monkeypatch.setattr(programs, "_FOLLOWED", 0)
    dist, hood = instance(3, seed=4), Neighbourhood(percentile=15)
    exact = frontier(dist, names, exact=True, aware=aware, neighbours=hood)
    at = np.linspace(0, lead(exact)[-1] * 1.1, 151)
    dense = frontier(dist, names, at, aware=aware, neighbours=hood)
    np.testing.assert_allclose(np.interp(at, lead(exact), exact.accuracy), dense.accuracy, atol=SAME)
    assert len(exact) >= 3


@settings(max_examples=40)
@given(cases(), hoods(FEASIBLE), st.booleans(), st.data())
def test_an_exact_frontier_from_start_to_stop(case: Case, hood: Hood, aware: bool, data: st.DataObject) -> None:
    names = data.draw(some_notions(case))
    tolerances: dict[str, Any] = {}
    for name in names:
        start = data.draw(st.floats(0, 0.3))
        moves = data.draw(st.booleans())
        tolerances[name] = (start, start + data.draw(st.floats(0.01, 0.4))) if moves else start
    curve = frontier(case.dist(), names, tolerances, exact=True, aware=aware, neighbours=neighbourhood(hood))
    for name, given_ in tolerances.items():
        assert curve.grid[name][0] == np.ravel(given_)[0]
        assert curve.grid[name].max() <= np.ravel(given_)[-1] + 1e-12
    if len(curve) > 1:
        check_exact(curve)
    # Wherever it ends, nothing is gained from there to the stop that was asked for.
    stops = {name: float(np.ravel(given_)[-1]) for name, given_ in tolerances.items()}
    at_stop = solve(case.dist(), stops, aware=aware, neighbours=neighbourhood(hood)).accuracy
    assert curve.accuracy[-1] == pytest.approx(at_stop, abs=SAME)


def test_a_range_that_was_asked_for_is_covered_to_its_end() -> None:
    for ends in ((0.0, 0.9), (0.8, 0.9)):
        at = lead(frontier(instance(seed=3), ["DP"], {"DP": ends}, exact=True))
        assert (at[0], at[-1]) == pytest.approx(ends)


def test_one_notion_moves_and_another_stays() -> None:
    dist = instance(seed=3)
    curve = frontier(dist, ["DP", "EA"], {"DP": (0, 0.5), "EA": 0.01}, exact=True)
    assert set(curve.grid["EA"]) == {0.01}
    assert len(curve) > 2
    assert isinstance(curve.tolerances, dict)
    check_exact(curve)
    # EOp stays where EOd passes it: a corner that no dual alone knows of.
    check_exact(frontier(dist, ["EOp", "EOd"], {"EOp": 0.02, "EOd": (0, 0.2)}, exact=True))


def test_an_exact_frontier_without_anything_to_lose_is_one_point() -> None:
    mass = np.ones((3, 1, 2)) * np.array([1, 2])
    for dist in (CellDistribution.from_mass(mass), CellDistribution.from_mass(np.tile(mass, (1, 2, 1)))):
        curve = frontier(dist, ["DP"], exact=True)
        assert len(curve) == 1
        assert curve.accuracy[0] == pytest.approx(2 / 3)
        curve = frontier(dist, ["DP"], {"DP": 0.1}, exact=True)
        assert len(curve) == 1


# What a frontier offers


def test_a_frontier_as_a_table() -> None:
    curve = frontier(instance(), ["DP", "EA"], {"DP": [0, 0.1], "EA": 0.05})
    frame = curve.to_frame()
    assert frame.num_rows == 2
    assert frame.column_names == [
        "tolerance DP",
        "tolerance EA",
        "accuracy",
        "loss",
        "same score for all",
        *(f"gap {name}" for name in ALL_NOTIONS),
    ]
    np.testing.assert_allclose(frame["accuracy"], curve.accuracy)
    np.testing.assert_allclose(frame["loss"], curve.bayes_accuracy - curve.accuracy)
    np.testing.assert_array_equal(frame["tolerance EA"], [0.05, 0.05])
    assert all(gap <= eps + 2e-8 for gap, eps in zip(frame["gap DP"].to_pylist(), [0, 0.1], strict=True))


def test_a_point_of_a_frontier_is_a_rule() -> None:
    hood = Neighbourhood(percentile=10)
    curve = frontier(instance(), ["DP", "IF"], [0.0, 0.1], aware=True, neighbours=hood)
    rule = curve.rules[1]
    assert isinstance(rule, Rule)
    assert rule.tolerances == {"DP": 0.1, "IF": 0.1}
    assert (rule.aware, rule.neighbours) == (True, hood)
    assert rule.accuracy == pytest.approx(curve.accuracy[1], abs=SAME)
    assert len(curve) == 2
    assert repr(curve)


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("aware", [False, True])
def test_what_is_saved_is_loaded(tmp_path: Path, aware: bool, exact: bool) -> None:
    hood = Neighbourhood(percentile=10, mode="each")
    curve = frontier(instance(3), ["DP", "IF"], aware=aware, exact=exact, neighbours=hood)
    curve.save(tmp_path / "curve.npz")
    loaded = Frontier.load(tmp_path / "curve.npz")
    for name in ("accuracy", "scores"):
        np.testing.assert_array_equal(getattr(loaded, name), getattr(curve, name))
    for name in ("aware", "exact", "neighbours", "bayes_accuracy", "notions"):
        assert getattr(loaded, name) == getattr(curve, name)
    for name in curve.grid:
        np.testing.assert_array_equal(loaded.grid[name], curve.grid[name])
    assert loaded.to_frame() == curve.to_frame()
    with pytest.raises(FileError, match="holds a frontier, not a rule"):
        Rule.load(tmp_path / "curve.npz")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("notions", ["DP", "XX"]),
        ("notions", ["DP"]),
        ("notions", 3),
        ("neighbours", {"mode": "none"}),
        ("bayes_accuracy", "high"),
        ("grid", np.zeros((2, 9))),
        ("grid", np.array([["a", "b"], ["c", "d"]])),
        ("scores", np.zeros((2, 3))),
        ("accuracy", None),
    ],
)
def test_a_damaged_file_is_named_so(tmp_path: Path, field: str, value: Any) -> None:
    path = tmp_path / "curve.npz"
    frontier(instance(), ["DP", "EA"], [0.0, 0.1]).save(path)
    with np.load(path) as content:
        parts = {name: content[name] for name in content.files}
    header = json.loads(str(parts.pop("header")))
    if field in parts:
        parts.pop(field)
        parts |= {} if value is None else {field: value}
    else:
        header["content"][field] = value
    with path.open("wb") as stream:
        np.savez(stream, header=np.array(json.dumps(header)), **parts)
    with pytest.raises(FileError):
        Frontier.load(path)


def test_a_plot() -> None:
    curve = frontier(instance(), ["DP", "EA"], {"DP": [0, 0.1, 0.2], "EA": 0.05})
    try:
        ax = curve.plot()
        assert isinstance(ax, Axes)
        line = ax.lines[0]
        np.testing.assert_allclose(np.asarray(line.get_xdata(), np.float64), [0, 0.1, 0.2])
        np.testing.assert_allclose(np.asarray(line.get_ydata(), np.float64), curve.accuracy)
        assert "DP" in ax.get_xlabel()
        assert "EA = 0.05" in str(line.get_label())
        again = frontier(instance(), ["IF"], [0.0, 0.1]).plot(ax, color="red", label="mine")
        assert again is ax
        assert ax.lines[1].get_color() == "red"
        assert ax.lines[1].get_label() == "mine"
        assert len(plt.get_fignums()) == 1
        # A curve that does not move is drawn too, and so is a mix of notions.
        frontier(instance(), ["DP"], 0.1).plot(ax)
        frontier(instance(), ["DP", "EA"], [0.0, 0.1]).plot(ax)
        ax.figure.canvas.draw()
    finally:
        plt.close("all")


def test_curves_with_the_group_seen_and_hidden_are_told_apart() -> None:
    try:
        ax = None
        for aware in (True, False):
            ax = frontier(instance(), ["DP"], [0.0, 0.1], aware=aware).plot(ax)
        assert ax is not None
        legend = ax.get_legend()
        assert legend is not None
        assert [text.get_text() for text in legend.get_texts()] == ["DP, group seen", "DP, group hidden"]
        seen, hidden = ax.lines[:2]
        assert seen.get_linestyle() != hidden.get_linestyle()
        assert frontier(instance(), ["DP"], [0.0, 0.1]).plot(ls=":").lines[0].get_linestyle() == ":"
    finally:
        plt.close("all")


def test_progress_is_told() -> None:
    for names, exact in [(["IF"], False), (["IF"], True), (["DP"], False), (["DP"], True)]:
        told: list[float] = []
        frontier(instance(), names, exact=exact, progress=lambda share, words, told=told: told.append(share))  # type: ignore[misc]
        assert told[-1] == 1.0
        assert all(0 <= share <= 1 for share in told)


@pytest.mark.parametrize(
    ("names", "options"),
    [
        ([], {}),
        (["XX"], {}),
        (["DP", "DP"], {}),
        (["DP"], {"tolerances": []}),
        (["DP"], {"tolerances": [0.1, -0.1]}),
        (["DP"], {"tolerances": [0.1, math.nan]}),
        (["DP"], {"tolerances": [[0.1], [0.2]]}),
        (["DP"], {"tolerances": "many"}),
        (["DP"], {"tolerances": ["a", "b"]}),
        (["DP"], {"tolerances": {"EA": [0.1]}}),
        (["DP"], {"tolerances": {}}),
        (["DP", "EA"], {"tolerances": {"DP": [0.1]}}),
        (["DP", "EA"], {"tolerances": {"DP": [0.1, 0.2], "EA": [0.1, 0.2, 0.3]}}),
        (["DP"], {"exact": True, "tolerances": [0, 0.1]}),
        (["DP"], {"exact": True, "tolerances": {"DP": (0.2, 0.1)}}),
        (["DP"], {"exact": True, "tolerances": {"DP": (0, math.inf)}}),
        (["DP"], {"exact": True, "tolerances": {"DP": (-0.1, 0.1)}}),
        (["DP"], {"exact": True, "tolerances": {"DP": (math.nan, 0.1)}}),
        (["DP"], {"exact": True, "tolerances": {"DP": (0, 0.1, 0.2)}}),
        (["DP"], {"exact": True, "tolerances": {"DP": ()}}),
        (["DP"], {"exact": True, "tolerances": {"DP": ("a", "b")}}),
        (["DP"], {"exact": True, "tolerances": {"EA": (0, 1)}}),
    ],
)
def test_impossible_asks_are_refused(names: list[str], options: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        frontier(instance(), names, **options)


def test_individual_fairness_needs_distances() -> None:
    with pytest.raises(InputError, match="distances"):
        frontier(CellDistribution.from_mass(np.ones((2, 2, 2))), ["IF"])
