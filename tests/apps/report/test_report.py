"""The report: what it says is what the library gives, and no name from the data is taken for markup."""

from __future__ import annotations

import base64
import csv
import io
import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from sklearn.linear_model import LogisticRegression

import fairlimits as fl
from fairlimits.apps.report import Summary, render, summarise
from fairlimits.errors import InputError

HOSTILE = "<script>alert(1)</script>"
DOCS = Path(__file__).parents[3] / "docs" / "report.md"
NOTIONS = ("DP", "EA", "EOp", "PE", "EOd")


def people(
    sex: tuple[str, ...] = ("f", "m"), label: str = "paid", n: int = 1200, rare: int = 0, job: str = "job"
) -> fl.Dataset:
    rng = np.random.default_rng(1)
    group = rng.integers(0, len(sex), n)
    age = rng.normal(40 + 6 * group, 10, n)
    outcome = (age + rng.normal(0, 9, n) > 43).astype(int)
    names = np.array(sex, dtype=object)[group]
    if rare:
        names[:rare] = "rare"
    return fl.Dataset.from_frame(
        pa.table({"sex": names.tolist(), "age": age, job: rng.choice(["a", "b"], n), label: outcome}),
        label=label,
        positive=1,
        sensitive="sex",
    )


def summed_up(data: fl.Dataset, name: str = "people", generator: str | None = None, **options: Any) -> Summary:
    dist = fl.discretize(data, 10, generator=generator, n_samples=11_000)
    return summarise(data, dist, name, estimator=LogisticRegression(), **options)


@pytest.fixture(scope="module")
def summary() -> Summary:
    return summed_up(people())


@pytest.fixture(scope="module")
def page(summary: Summary) -> str:
    return render(summary, "fairlimits report people.csv", "0")


def test_plug_in_figures_are_what_solve_says(summary: Summary) -> None:
    dist = fl.discretize(people(), 10, generator=None)
    for aware in (True, False):
        for name in NOTIONS:
            rule = fl.solve(dist, {name: 0.05}, aware=aware)
            found = summary.on_cells.price(name, 0.05, aware)
            assert found.accuracy == pytest.approx(rule.accuracy, abs=1e-12)
            assert found.shadow_price == pytest.approx(rule.shadow_prices[name], abs=1e-9)
    assert summary.on_cells.best_seen >= summary.on_cells.best_hidden - 1e-12
    assert np.max(summary.on_cells.tensions.tension) == pytest.approx(fl.tension(dist, 0.05).matrix.max(), abs=1e-12)
    rule, free = fl.solve(dist, {"DP": 0.05}), fl.solve(dist, {})
    for shift in (own for own in summary.on_cells.shifts if own.notion == "DP"):
        law = dist.mass[:, dist.groups.index(shift.group)].sum(axis=1)
        assert shift.more_yes - shift.more_no == pytest.approx(law @ (rule.scores - free.scores) / law.sum())


def test_held_out_figures_are_what_evaluate_says(summary: Summary) -> None:
    learn, test = people().split(0.3, 0)
    outcome = fl.estimate_outcome(learn, estimator=LogisticRegression())
    free = fl.evaluate(fl.solve(outcome, {}), test)
    assert summary.held_out.best_hidden.value == pytest.approx(free.accuracy.value)
    for tolerance in (0.0, 0.05):
        rule = fl.evaluate(fl.frontier(outcome, ["EOd"], [tolerance, 0.2], aware=True), test).held_out[0]
        found = summary.held_out.cost("EOd", tolerance, aware=True)
        assert found.accuracy.value == pytest.approx(rule.accuracy.value, abs=2e-3)
        assert found.cost.low <= found.cost.value <= found.cost.high
    table = fl.compare_scenarios(people(), {"DP": 0.05}, estimator=LogisticRegression(), cells=10)
    assert [own.accuracy.value for own in summary.held_out.situations] == pytest.approx(
        [own.evaluation.accuracy.value for own in table.situations]
    )
    assert [own.held_out.value for own in summary.held_out.situation_costs] == pytest.approx(
        [own.held_out.value for own in table.costs]
    )


def keys(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from keys(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from keys(inner)


def test_the_content_is_plain_data_and_every_key_is_documented(summary: Summary) -> None:
    content = json.loads(json.dumps(summary.to_dict(), allow_nan=False))
    assert content["rows"] == 1200
    assert content["schema"] == 1
    documented = set(re.findall(r"`([A-Za-z_]+)`", DOCS.read_text(encoding="utf-8"))) | {"value", "low", "high"}
    # What comes from the data, or names a notion, a learner or a package, is no key of the layout.
    for free in ("info", "versions"):
        content.pop(free)
    content["held_out"].pop("learners")
    for cell in content["on_cells"]["changed"]:
        cell.pop("person")
    assert set(keys(content)) - set(NOTIONS) - {"IF"} <= documented


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.seen: set[str] = set()
        self.attributes: list[tuple[str, str, Any]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)
        self.attributes += [(tag, *pair) for pair in attrs]


def parsed(page: str) -> Tags:
    tags = Tags()
    tags.feed(page)
    return tags


def test_page_is_whole_and_needs_nothing_else(page: str) -> None:
    tags = parsed(page)
    assert {"main", "svg", "table", "figcaption"} <= tags.seen
    assert not {"script", "link", "img", "iframe"} & tags.seen
    links = [value for _, name, value in tags.attributes if name in ("src", "href", "xlink:href")]
    assert not [value for value in links if not value.startswith(("#", "data:text/csv"))]
    assert len(page) < 6_000_000


def test_every_picture_speaks_and_gives_its_data(page: str) -> None:
    pictures = page.count("<figure>")
    assert pictures == 6
    assert page.count('role="img" aria-label="') == pictures
    files = re.findall(r'download="(\w+)\.csv" href="data:text/csv;base64,([^"]+)"', page)
    assert len(files) == pictures + 1
    for _, content in files:
        lines = list(csv.DictReader(io.StringIO(base64.b64decode(content).decode())))
        assert len(lines) > 1
        assert all(None not in line for line in lines)


def test_names_inside_pictures_are_their_own(page: str) -> None:
    names = re.findall(r' id="([^"]+)"', page)
    assert len(names) == len(set(names))
    used = set(re.findall(r"url\(#([^)]+)\)", page)) | set(re.findall(r'href="#([^"]+)"', page))
    assert used <= set(names)


def test_the_first_screen_answers(page: str) -> None:
    first = page[: page.index("<section id=")]
    for words in (
        "On people that it had never seen",
        "Accuracy lost without seeing",
        "Hiding",
        "independent of",
        "clash",
    ):
        assert words in first or "No two notions" in first


def test_names_from_the_data_are_escaped() -> None:
    data = people(sex=(HOSTILE, "$m$"), label="<b>paid</b>", job='"><i>job')
    page = render(summed_up(data, HOSTILE), f"fairlimits report '{HOSTILE}.csv'", "0")
    assert "<script" not in page
    assert "<b>paid" not in page
    assert "<i>job" not in page
    assert "&lt;script&gt;" in page


def test_a_name_like_a_formula_stays_a_name(summary: Summary) -> None:
    from fairlimits.apps.report.page import download

    content = re.search(r"base64,([^\"]+)", download("x", [{"group": "=1+1", "n": -1.5}]))
    assert content is not None
    assert base64.b64decode(content[1]).decode() == "group,n\n'=1+1,-1.5\n"


def test_small_groups_are_not_estimable() -> None:
    page = render(summed_up(people(rare=25)), "x", "0")
    assert "not estimable" in page


def test_a_generator_is_judged() -> None:
    summary = summed_up(people(n=600), generator="cart")
    assert summary.generator is not None
    assert summary.generator.name == "cart"
    assert 0 < summary.generator.distance < 0.5
    assert "rows of the generator cart" in render(summary, "x", "0")


def test_the_same_data_gives_the_same_page(page: str) -> None:
    again = summed_up(people())
    assert render(again, "fairlimits report people.csv", "0") == page


def test_cells_of_other_data_are_refused() -> None:
    with pytest.raises(InputError, match="not cut from this data"):
        summarise(people(job="work"), fl.discretize(people(), 5, generator=None), "people")
