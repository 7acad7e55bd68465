"""The report: what it says is what the library gives, and no name from the data is taken for markup."""

from __future__ import annotations

import json
from html.parser import HTMLParser

import numpy as np
import pyarrow as pa
import pytest

import fairlimits as fl
from fairlimits.report import render, summarise

HOSTILE = "<script>alert(1)</script>"


def people(sex=("f", "m"), label="paid", n=400, rare=0):
    rng = np.random.default_rng(1)
    group = rng.integers(0, len(sex), n)
    age = rng.normal(40 + 6 * group, 10, n)
    outcome = (age + rng.normal(0, 9, n) > 43).astype(int)
    names = np.array(sex, dtype=object)[group]
    if rare:
        names[:rare] = "rare"
    return fl.Dataset.from_frame(
        pa.table({"sex": names.tolist(), "age": age, "job": rng.choice(["a", "b"], n), label: outcome}),
        label=label,
        positive=1,
        sensitive="sex",
    )


@pytest.fixture(scope="module")
def summary():
    return summarise(fl.discretize(people(), 10, generator=None), "people")


def test_summary_says_what_solve_says(summary):
    dist = fl.discretize(people(), 10, generator=None)
    for aware in (True, False):
        for name in ("DP", "EA", "EOp", "PE", "EOd"):
            rule = fl.solve(dist, {name: 0.05}, aware=aware)
            assert summary.price(name, 0.05, aware).accuracy == pytest.approx(rule.accuracy, abs=1e-12)
    assert summary.best_aware >= summary.best_unaware - 1e-12
    assert summary.clashes[0].tension == pytest.approx(fl.tension(dist, 0.05).matrix.max(), abs=1e-12)


def test_summary_is_plain_data(summary):
    again = json.loads(json.dumps(summary.to_dict(), allow_nan=False))
    assert again["rows"] == 400
    assert {curve["notion"] for curve in again["curves"]} == {"DP", "EA", "EOp", "PE", "EOd"}


class Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.seen, self.attributes = set(), []

    def handle_starttag(self, tag, attrs):
        self.seen.add(tag)
        self.attributes += attrs


def test_page_is_whole_and_needs_nothing_else(summary):
    page = render(summary, "fairlimits report people.csv", "0")
    tags = Tags()
    tags.feed(page)
    assert {"main", "svg", "table", "figcaption"} <= tags.seen
    assert not {"script", "link", "img", "iframe"} & tags.seen
    assert not [value for name, value in tags.attributes if name in ("src", "href") and not value.startswith("#")]
    assert "plug-in" in page
    assert len(page) < 6_000_000


def test_names_from_the_data_are_escaped():
    data = people(sex=(HOSTILE, "m"), label="<b>paid</b>")
    page = render(summarise(fl.discretize(data, 6, generator=None), HOSTILE), f"fairlimits report '{HOSTILE}.csv'", "0")
    assert "<script" not in page
    assert "<b>paid" not in page
    assert "&lt;script&gt;" in page


def test_small_groups_are_not_estimable():
    page = render(summarise(fl.discretize(people(rare=12), 6, generator=None), "people"), "x", "0")
    assert "not estimable" in page


def test_the_same_data_gives_the_same_page(summary):
    assert render(summary, "x", "0") == render(summary, "x", "0")
