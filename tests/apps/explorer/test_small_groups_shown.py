"""The page names small groups before any figure, and places models without them."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pyarrow as pa
import pytest

import fairlimits as fl
from fairlimits.apps.explorer import Subject
from fairlimits.apps.explorer.answer import Choices
from fairlimits.apps.explorer.upload import place


def people(small: int) -> fl.Dataset:
    rng = np.random.default_rng(0)
    n = 400
    group = np.array(["a", "b"] * (n // 2), dtype=object)
    group[:small] = "tiny"
    age = rng.normal(40, 10, n)
    table = pa.table({"group": group.tolist(), "age": age, "paid": (age + rng.normal(0, 8, n) > 41).astype(int)})
    return fl.Dataset.from_frame(table, label="paid", sensitive="group")


def test_small_groups_are_named_in_the_header() -> None:
    page = pytest.importorskip("fairlimits.apps.explorer.page", reason="the extra app is not installed")
    data = people(12)
    dist = fl.discretize(data, 8, generator=None, partition="features")
    for subject in (Subject("people", dist, data), Subject("people", dist)):
        header = json.dumps(page.layout(subject).to_plotly_json()["props"]["children"][6].to_plotly_json(), default=str)
        assert "tiny (12 rows); these people count in accuracy" in header
    large = people(0)
    without = Subject("people", fl.discretize(large, 8, generator=None, partition="features"), large)
    assert without.small_groups_note is None


def test_figures_leave_the_small_group_out_and_nothing_is_warned_of() -> None:
    data = people(12)
    subject = Subject("people", fl.discretize(data, 8, generator=None, partition="features"), data)
    decided = (data.columns["age"] > 45).astype(float)
    placed = place(data, decided)
    rates = [decided[data.group == g].mean() for g in (0, 1)]
    assert placed["gaps"]["DP"] == pytest.approx(abs(rates[0] - rates[1]))
    two = data.take(data.group != 1)
    nothing = Subject("people", fl.discretize(two, 8, generator=None, partition="features"), two)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        answer = nothing.answer(Choices({"DP": 0.0}, False, False, "DP"))
        nothing.curve("DP", {}, False)
        subject.answer(Choices({"EOd": 0.0}, True, False, "EOd"))
    assert answer["gaps"]["DP"] is None
    assert answer["accuracy"] == answer["best"]


def test_doubtful_columns_are_named_in_the_header() -> None:
    page = pytest.importorskip("fairlimits.apps.explorer.page", reason="the extra app is not installed")
    rows = people(0)
    told = pa.table({"group": np.array(rows.groups)[rows.group], "sect": rows.group, "paid": rows.label})
    data = fl.Dataset.from_frame(told, label="paid", sensitive="group", categorical=["sect"])
    subject = Subject("people", fl.discretize(data, 2, generator=None, partition="features"), data)
    header = json.dumps(page.layout(subject).to_plotly_json()["props"]["children"], default=str)
    assert "sect gives group away by itself" in header
    assert Subject("people", subject.dist).doubts == ()
