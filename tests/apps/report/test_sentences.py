"""What a person reads in a report: sentences chosen by the figures, names as they are, and whom pictures leave out."""

from __future__ import annotations

import warnings
from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
import pyarrow as pa
import pytest
from sklearn.linear_model import LogisticRegression

import fairlimits as fl
from fairlimits.apps.report.background import learners_named
from fairlimits.apps.report.figures import drawn_groups, individual_figure
from fairlimits.evaluation import Figure, HeldOutFigure
from fairlimits.evaluation.reports.asked_for import AskedFor, AskedRule

ODD = "<i>\x1b[31m tab\there 漢字</i>"


def six_groups(n: int = 1_000) -> fl.Dataset:
    """Six groups by two columns, one of them with 12 people; a label that one column decides nearly alone."""
    rng = np.random.default_rng(0)
    sex, town = rng.choice(["no", "yes"], n), rng.choice(["a", "b", ODD], n, p=[0.6, 0.3, 0.1])
    town[(sex == "no") & (town == ODD)] = "b"
    town[:12], sex[:12] = ODD, "no"
    x = rng.normal(size=n) + 0.5 * (sex == "yes")
    columns = {"x": x, "job": rng.choice(["u", "v"], n), "note": ["left"] * n, "sex": sex, "town": town}
    label = np.where(x + rng.normal(size=n) > 0.3, "deny", "grant")
    return fl.Dataset.from_frame(
        pa.table({**columns, "w": rng.uniform(1, 2, n), "kind": label}),
        label="kind",
        positive="deny",
        sensitive=["sex", "town"],
        weight="w",
        drop="note",
    )


@pytest.fixture(scope="module")
def report() -> fl.Report:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fl.errors.SmallGroupsWarning)
        return fl.report(six_groups(), name="six", estimator=LogisticRegression())


@pytest.fixture(scope="module")
def page(report: fl.Report) -> str:
    # Warnings are errors in these tests: letters that the font of pictures has not make none.
    return report.to_html()


def with_cost(report: fl.Report, *ends: float) -> str:
    """The summary if every cost were this one."""
    figure = HeldOutFigure(*ends)
    held = report.findings.held_out
    costs = tuple(replace(own, cost=figure) for own in held.costs)
    freedoms = tuple(replace(own, held_out=figure) for own in held.situation_costs)
    changed = replace(held, costs=costs, situation_costs=freedoms)
    return fl.Report(replace(report.findings, held_out=changed), "").summary()


def test_costs_are_told_by_their_intervals(report: fl.Report) -> None:
    alike = with_cost(report, 0.0, -1e-5, 4e-4)
    assert "cannot be told from none" not in alike
    assert "0.0 (0.0 to 0.0)" in alike
    assert "changes nothing" in alike
    unsure = with_cost(report, 0.004, -0.01, 0.02)
    assert "cannot be told from none (-1.0 to 2.0)" in unsure
    assert "costs 2.0 points (1.0 to 3.0)" in with_cost(report, 0.02, 0.01, 0.03)
    gained = with_cost(report, -0.02, -0.03, -0.01)
    assert "gains 2.0 points (1.0 to 3.0)" in gained


def test_a_best_rule_that_may_be_no_better_than_one_answer_for_all_says_so(report: fl.Report) -> None:
    alike = report.findings.majority_accuracy
    for ends, said in (((alike - 0.01, alike + 0.03), True), ((alike + 0.01, alike + 0.03), False)):
        held = replace(report.findings.held_out, best_hidden=HeldOutFigure(alike + 0.02, *ends))
        words = fl.Report(replace(report.findings, held_out=held), "").summary()
        assert (f"{100 * alike:.1f}% right, which lies within the first interval." in words) == said


def test_hundredths_of_a_point_are_not_drawn_as_a_slope(report: fl.Report) -> None:
    found = report.findings.on_cells.individual
    flat = replace(found, accuracy_hidden=[0.8] * len(found.tolerances), accuracy_seen=[0.8001] * len(found.tolerances))
    for own in (flat, found):
        figure = individual_figure(own)
        low, high = figure.axes[0].get_ylim()
        assert high - low > 0.0199
        assert low < min(own.accuracy_hidden) <= max(own.accuracy_seen) < high
        plt.close(figure)


def test_several_columns_are_seen_or_not_together(report: fl.Report) -> None:
    assert "without seeing sex and town" in report.summary()
    assert "when it may see them" in report.summary()


def test_selection_is_named_by_what_it_is(report: fl.Report) -> None:
    assert "To be selected is to be decided kind = deny." in report.summary()


def test_the_first_screen_says_which_columns_play_no_part(report: fl.Report, page: str) -> None:
    for shown in (report.summary(), page):
        assert "Left out by choice: note." in shown
        assert "Rows weigh what w says." in shown
    assert report.to_dict()["left_out"] == ["note"]
    assert report.to_dict()["weight"] == "w"


def test_equalized_odds_in_one_rate_alone_say_so(report: fl.Report) -> None:
    held = report.findings.held_out
    best = held.fares[0]
    gaps = tuple(replace(own, gap=None) if own.notion == "EOp" else own for own in best.gaps)
    fares = (replace(best, gaps=gaps), *held.fares[1:])
    found = fl.Report(replace(report.findings, held_out=replace(held, fares=fares)), "")
    assert "rates alone" in found.summary()
    assert "rates alone" not in report.summary()


def test_names_reach_the_terminal_as_text_alone(report: fl.Report) -> None:
    assert all(line.isprintable() for line in report.summary().splitlines())
    assert "漢字" in report.summary()


def test_letters_that_no_font_has_make_no_warnings(report: fl.Report, page: str) -> None:
    assert "漢字" in page
    assert report._repr_html_()


def test_pictures_show_the_largest_groups_and_say_so(report: fl.Report, page: str) -> None:
    rows = {own.name: int(own.rows) for own in report.findings.groups}
    drawn = drawn_groups(report.findings)
    assert len(rows) > len(drawn) == 4
    assert min(rows[name] for name in drawn) >= max(rows[name] for name in rows if name not in drawn)
    assert f"Of {len(rows)} groups, the 4 largest are drawn; the data has all." in page


def test_groups_of_few_people_have_no_shares(report: fl.Report) -> None:
    small = {own.name for own in report.findings.groups if isinstance(own.rows, int) and own.rows < 30}
    assert small
    assert all(own.base_rate is None for own in report.findings.groups if own.name in small)
    assert not small & {own.group for own in report.findings.on_cells.shifts}


def test_learners_of_many_groups_are_summed_up() -> None:
    splits = {f"P(A|x,Y), {own} against the others": ["boosting", own] for own in "abcde"}
    assert learners_named({"P(Y|x)": ["logistic"], **splits}) == [
        "P(Y|x): logistic",
        "5 splits of the groups: boosting, a, b, c, d, e",
    ]
    assert learners_named({"P(Y|x)": ["one", "two"], "P(A|x,Y)": ["one"]}) == ["P(Y|x): one and two", "P(A|x,Y): one"]


@pytest.mark.parametrize(("names", "said"), [(("no", "yes"), "group no"), (("0", "1"), "group 0"), (("m", "f"), "f")])
def test_groups_named_by_an_answer_are_named_as_groups(names: tuple[str, str], said: str) -> None:
    rng = np.random.default_rng(0)
    group, decided = rng.choice(names, 800), rng.random(800)
    found = fl.group_rates(rng.integers(0, 2, 800), decided < np.where(group == min(names), 0.2, 0.6), group)
    assert f"Four-fifths rule: {said} is selected at" in found.summary()
    assert f"selection rate lowest for {said}, highest for" in found.summary()


@pytest.mark.parametrize(
    ("objective", "attained", "said"),
    [
        ("costs 1:5", {}, "people to a cost of 0.171 per person (0.153 to 0.190)."),
        (
            "costs 1:5",
            {"selection rate <= 0.3": HeldOutFigure(0.25, 0.2, 0.3)},
            "people to a cost of 0.171 per person (0.153 to 0.190), and in percent, to selection rate <= 0.3: 25.0 "
            "(20.0 to 30.0).",
        ),
        ("balanced accuracy", {}, "people, in percent, to balanced accuracy: 17.1 (15.3 to 19.0)."),
    ],
)
def test_costs_of_errors_are_no_percents(
    report: fl.Report, objective: str, attained: dict[str, Figure], said: str
) -> None:
    figure = HeldOutFigure(0.171, 0.153, 0.19)
    rule = AskedRule(False, figure, 0.17, figure, {}, attained, False)
    asked = AskedFor(objective, objective.startswith("costs"), tuple(attained), (rule,))
    changed = replace(report.findings, held_out=replace(report.findings.held_out, asked_for=asked))
    (line,) = (own for own in fl.Report(changed, "").summary().splitlines() if own.startswith("Asked for besides"))
    assert line.endswith(f"and the group hidden came on new {said}")
