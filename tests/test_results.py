"""Every result has the same four faces: a short repr, a table, a picture, and a few sentences."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pyarrow as pa
import pytest
from markupsafe import escape
from matplotlib.axes import Axes
from sklearn.linear_model import LogisticRegression

import fairlimits as fl
from fairlimits.decorrelation import Certificate, DecorrelationFrontier, decorrelation_frontier
from fairlimits.law import Fidelity, fidelity
from fairlimits.limits import Explanation, Explanations, PredictiveParity, predictive_parity
from known_people import known

# Not results: what goes wrong, what learns, and what a question is made of.
NOT_RESULTS = {
    "ConstrainedBayesClassifier",
    "Decorrelator",
    "FairlimitsError",
    "InfeasibleError",
    "InputError",
    "Neighbourhood",
    "SolverError",
}


@cache
def people() -> fl.Dataset:
    return known(0, 900)[0]


@cache
def outcome() -> fl.Outcome:
    return fl.estimate_outcome(people(), estimator=LogisticRegression(), folds=2)


@cache
def coarse() -> fl.Dataset:
    return replace(people(), columns={**people().columns, "skill": people().columns["skill"].round()})


@cache
def cells() -> fl.CellDistribution:
    return fl.discretize(people(), 8, partition="features")


@cache
def plan() -> fl.Decorrelation:
    return fl.decorrelate(cells(), fl.solve(cells(), {"DP": 0.1}))


@cache
def scenarios() -> fl.Scenarios:
    return fl.compare_scenarios(people(), {"DP": 0.1}, estimator=LogisticRegression(), resamples=100)


def audited() -> fl.Audit:
    score = np.clip(0.5 + 0.3 * people().columns["skill"], 0, 1)
    return fl.audit(people(), {"ours": score}, notions=["DP"], estimator=LogisticRegression(), resamples=100)


def report() -> fl.Report:
    return fl.report(people(), estimator=LogisticRegression(), ceiling=False)


MADE: dict[str, Callable[[], Any]] = {
    "Audit": audited,
    "Ceiling": lambda: fl.ceiling(coarse(), {"DP": np.array([0.0, 0.1])}),
    "CellDistribution": cells,
    "Dataset": people,
    "Decorrelation": plan,
    "Evaluation": lambda: fl.evaluate(fl.solve(cells(), {"DP": 0.1}), known(1, 400)[0]),
    "Frontier": lambda: fl.frontier(cells(), ["DP"], [0.0, 0.1]),
    "GroupRates": lambda: fl.evaluate(fl.solve(cells(), {"DP": 0.1}), known(1, 400)[0]).by_group,
    "Monitoring": lambda: fl.monitor(
        fl.solve(cells(), {"DP": 0.1}), [people().to_frame(), known(1, 600)[0].to_frame()]
    ),
    "Outcome": outcome,
    "Report": report,
    "Rule": lambda: fl.solve(cells(), {"DP": 0.1}),
    "Scenarios": scenarios,
    "Tension": lambda: fl.tension(cells(), 0.02, notions=["DP", "EA", "EOd"]),
}

# Results that are not at the top, but in their rooms.
IN_ROOMS: dict[type, Callable[[], Any]] = {
    Certificate: lambda: plan().certificate(known(1, 600)[0], permutations=20),
    DecorrelationFrontier: lambda: decorrelation_frontier(cells(), fl.solve(cells(), {"DP": 0.1}), [0.0, 5.0, 25.0]),
    Explanation: lambda: fl.solve(outcome(), {"DP": 0.02}).explain(),
    Explanations: lambda: fl.solve(outcome(), {"DP": 0.02}, aware=True).explain(known(1, 600)[0].take([0, 1, 2])),
    Fidelity: lambda: fidelity(people(), known(1, 600)[0], 8),
    PredictiveParity: lambda: predictive_parity(cells(), 0.05),
}


def test_no_result_is_missing() -> None:
    classes = {name for name in fl.__all__ if inspect.isclass(getattr(fl, name))}
    assert classes - NOT_RESULTS == set(MADE)


@pytest.mark.parametrize("name", MADE)
def test_every_public_result_has_its_four_faces(name: str) -> None:
    found = MADE[name]()
    assert type(found) is getattr(fl, name)
    check(found)


@pytest.mark.parametrize("kind", IN_ROOMS, ids=lambda kind: kind.__name__)
def test_results_in_the_rooms_have_them_too(kind: type) -> None:
    found = IN_ROOMS[kind]()
    assert type(found) is kind
    check(found)


def check(found: Any) -> None:
    """One line, sentences, a table with rows, and a picture where it is asked for."""
    assert repr(found).startswith(f"{type(found).__name__}(")
    assert "\n" not in repr(found)
    assert len(repr(found)) < 300

    words = found.summary()
    assert isinstance(words, str)
    assert words.strip()
    assert "nan" not in words

    table = found.to_frame()
    assert isinstance(table, pa.Table)
    assert table.num_rows > 0

    given = plt.subplots()[1]
    assert found.plot(ax=given) is given
    assert given.has_data()
    new = found.plot()
    assert isinstance(new, Axes)
    assert new is not given
    new.figure.canvas.draw()


def test_figures_say_whether_they_are_held_out() -> None:
    for found in (plan(), cells(), MADE["Tension"](), MADE["Rule"](), MADE["Frontier"]()):
        assert "plug-in" in found.summary().lower()
    assert "held out" in outcome().summary()
    assert "held-out" in scenarios().summary()


def test_names_from_the_data_are_drawn_as_they_are() -> None:
    names = np.array(["$a_$", "b"])
    table = pa.table({"x": np.arange(80.0), "g": names[np.arange(80) % 2], "y": np.arange(80) // 2 % 2})
    data = fl.Dataset.from_frame(table, label="y", sensitive="g")
    dist = fl.discretize(data, 4, partition="features")
    estimate = fl.estimate_outcome(data, estimator=LogisticRegression(), folds=2)
    for found in (data, dist, estimate):
        found.plot().figure.canvas.draw()


def test_summaries_of_what_has_no_figure() -> None:
    assert people().take([]).summary().endswith("No row counts.")
    alone = fl.tension(cells(), 0.02, notions=["DP"])
    assert "DP alone costs" in alone.summary()
    alone.plot()
    assert "no two of DP, EA cost more" in fl.tension(cells(), 1.0, notions=["DP", "EA"]).summary()


def test_cells_are_drawn_for_a_group_that_exists() -> None:
    assert "share of m" in cells().plot(group="m").get_xlabel()
    with pytest.raises(fl.InputError, match=r"no group 'z'; the groups are f, m"):
        cells().plot(group="z")


@pytest.mark.parametrize("name", [*MADE, *(kind.__name__ for kind in IN_ROOMS)])
def test_a_notebook_shows_words_table_and_picture(name: str) -> None:
    found = {**MADE, **{kind.__name__: make for kind, make in IN_ROOMS.items()}}[name]()
    shown = found._repr_html_()
    for line in found.summary().splitlines():
        assert escape(line) in shown
    assert shown.count("<img") == 1
    assert "<table>" in shown
    assert shown.count("<tr>") <= 13
    assert ", low</th>" not in shown
    assert "<th>low</th>" not in shown
    assert ">nan" not in shown
    # A notebook shows figures that pyplot still holds, too.
    assert plt.get_fignums() == []


def test_names_are_escaped_in_a_notebook() -> None:
    frame = {"a": [0, 1] * 40, "<i>s</i>": ["<b>m</b>", "f"] * 40, "y": [0, 1, 1, 0] * 20}
    data = fl.Dataset.from_frame(pa.table(frame), label="y", positive=1, sensitive="<i>s</i>")
    shown = data._repr_html_()
    assert "<b>" not in shown
    assert "<i>" not in shown


def test_a_notebook_shows_intervals_beside_their_figures() -> None:
    held = fl.evaluate(fl.solve(cells(), {"DP": 0.1}), known(1, 400)[0])
    for shown, figure in ((held, held.accuracy), (held.by_group, held.by_group.figures["accuracy"][0])):
        assert f"<td>{figure.value:.4g} ({figure.low:.4g} to {figure.high:.4g})</td>" in shown._repr_html_()
