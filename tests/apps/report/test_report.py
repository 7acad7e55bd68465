"""The report: what it says is what the library gives, and no name from the data is taken for markup."""

from __future__ import annotations

import base64
import csv
import io
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from html import escape, unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv
import pytest
from sklearn.linear_model import LogisticRegression

import fairlimits as fl
from fairlimits.apps.cli import run
from fairlimits.apps.report import making
from fairlimits.apps.report.drawings import csv_data
from fairlimits.apps.report.rendering import render
from fairlimits.errors import FileError, InputError
from fairlimits.evaluation import HeldOutFigure
from fairlimits.limits import card_schema

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


def reported(data: fl.Dataset, name: str = "people", **options: Any) -> fl.Report:
    return fl.report(data, name=name, estimator=LogisticRegression(), **options)


@pytest.fixture(scope="module")
def report() -> fl.Report:
    return reported(people(), command="fairlimits report people.csv")


@pytest.fixture(scope="module")
def page(report: fl.Report) -> str:
    return report.to_html()


def keys(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from keys(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from keys(inner)


def test_the_content_is_plain_data_and_every_key_is_documented(report: fl.Report) -> None:
    content = json.loads(json.dumps(report.to_dict(), allow_nan=False))
    assert content == report.to_dict()
    assert content["rows"] == 1200
    assert content["schema"] == 1
    documented = set(re.findall(r"`([A-Za-z_ ]+)`", DOCS.read_text(encoding="utf-8"))) | {"value", "low", "high"}
    # What comes from the data, or names a notion, a learner or a package, is no key of the layout.
    content.pop("versions")
    content["held_out"].pop("learners")
    for own in content["on_cells"]["affected"]:
        own.pop("person")
        own.pop("groups")
    content["from_above"].pop("resolution")
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
    assert pictures == 8
    assert page.count('role="img" aria-label="') == pictures
    files = re.findall(r'download="([\w-]+)\.csv" href="data:text/csv;base64,([^"]+)"', page)
    # Two tables have theirs too, and here the brackets: nobody has a twin, so that nothing can be drawn.
    assert len(files) == pictures + 3
    for _, content in files:
        lines = list(csv.DictReader(io.StringIO(base64.b64decode(content).decode())))
        assert len(lines) > 1
        assert all(None not in line for line in lines)


def test_it_is_said_what_is_a_limit_from_above(report: fl.Report, page: str) -> None:
    assert "No figure here says that no rule can do better." in page
    found = report.findings.from_above
    assert found is not None
    alike = fl.Report(replace(report.findings, from_above=replace(found, says_little=False)), "").to_html()
    assert "No figure here says" not in alike
    assert '<a href="#from-above">what no rule can pass</a> is a limit from above.' in alike


def test_names_inside_pictures_are_their_own(page: str) -> None:
    names = re.findall(r' id="([^"]+)"', page)
    assert len(names) == len(set(names))
    used = set(re.findall(r"url\(#([^)]+)\)", page)) | set(re.findall(r'href="#([^"]+)"', page))
    assert used <= set(names)


def test_the_first_screen_answers(page: str) -> None:
    first = page[: page.index("<section id=")]
    for words in (
        "1,200 people. The label is",
        "On people that it had never seen",
        "What each notion of fairness would cost, with the group hidden",
        "Four-fifths rule",
        "Hiding",
        "independent of",
        "clash",
    ):
        assert words in first or (words == "clash" and "No two notions" in first)
    assert "Labels are taken as they are" in first
    # Every figure of the table has its interval, or says that it has none.
    cells = re.findall(r"<td data-head=[^>]*>(.*?)</td>", first, re.DOTALL)
    assert len(cells) == 4 * len(NOTIONS)
    assert all(re.search(r"<small>\(-?[\d.]+ to -?[\d.]+\)</small>", cell) for cell in cells)
    # The gap that a tolerance came to is also what it is certified to be at most.
    assert all(("<small>at most " in cell) == (place % 4 == 2) for place, cell in enumerate(cells))


def test_names_from_the_data_are_escaped() -> None:
    data = people(sex=(HOSTILE, "$m$"), label="<b>paid</b>", job='"><i>job')
    page = reported(data, HOSTILE, command=f"fairlimits report '{HOSTILE}.csv'").to_html()
    assert "<script" not in page
    assert "<b>paid" not in page
    assert "<i>job" not in page
    assert "&lt;script&gt;" in page


def test_a_name_like_a_formula_stays_a_name() -> None:
    content = csv_data([{"group": "=1+1", "n": -1.5}])
    assert base64.b64decode(content).decode() == "group,n\n'=1+1,-1.5\n"


def test_small_groups_are_said_before_all_figures() -> None:
    data = people(rare=25)
    found = reported(data)
    note = str(data.small_groups_note)
    assert "rare (25 rows)" in note
    assert [own.text for own in found.warnings if own.kind == "small groups"] == [note]
    assert found.summary().splitlines()[0] == note
    assert found.summary().count("Set aside") == 1
    page = found.to_html()
    assert page.index("rare (25 rows)") < page.index("<p class=lead>")
    # The others are compared, without a gap in any notion.
    assert "few rows" not in [own.kind for own in found.warnings]


def test_where_nothing_is_left_to_compare_the_page_says_so() -> None:
    found = reported(people(sex=("f", "f"), rare=25))
    (few,) = (own.text for own in found.warnings if own.kind == "few rows")
    assert few.startswith("Not estimable, for no two groups are left to compare: gaps in demographic parity")
    assert few.endswith(
        "on held-out rows, and in demographic parity, equal accuracy, equal opportunity, predictive "
        "equality, equalized odds on the rows learned from."
    )
    assert "not estimable" in found.to_html()
    # Nothing is said of what a notion costs that nobody could be compared in.
    assert "Accuracy lost" not in found.summary()
    assert "demographic parity: not estimable, for no two groups have rows enough." in found.summary()


def test_every_figure_says_on_whom_it_is(report: fl.Report, page: str) -> None:
    held = report.findings.held_out
    assert (held.learned, held.tested) == (840, 360)
    told = " ".join(unescape(re.sub(r"<svg.*?</svg>|<[^>]+>", " ", page, flags=re.DOTALL)).split())
    sections = re.findall(r'<section id="([^"]+)">(.*?)</section>', page, re.DOTALL)
    for name, content in sections:
        if name in ("data", "limits", "again"):
            continue
        assert "plug-in" in content or "new people" in content, name
        assert "840 rows learned from" in content or "360 new people" in content, name
        if "plug-in" in content:
            assert "840 rows learned from" in content, name
    assert "generator" not in told
    best = f"{100 * report.findings.on_cells.best_hidden:.1f}% without constraints"
    assert best in dict(sections)["exact-limits"]
    assert f"best {100 * held.best_hidden.value:.1f}%" in dict(sections)["costs"]


def test_the_same_data_gives_the_same_page(page: str, report: fl.Report) -> None:
    again = reported(people(), command="fairlimits report people.csv")
    assert again.to_html() == page
    assert render(report.findings, "fairlimits report people.csv", fl.__version__) == page


def test_the_command_writes_what_python_gives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """But for the estimator, for which the command has no option, and which would take long."""
    monkeypatch.chdir(tmp_path)
    pa_csv.write_csv(people(n=600).to_frame(), "loans.csv")
    columns: dict[str, Any] = {"label": "paid", "positive": "1", "sensitive": "sex"}
    made: list[fl.Report] = []

    def fast(*given: Any, **options: Any) -> fl.Report:
        made.append(making.report(*given, **options, estimator=LogisticRegression()))
        return made[-1]

    monkeypatch.setattr("fairlimits.apps.report.report", fast)
    words = ["report", "loans.csv", *(word for key, value in columns.items() for word in (f"--{key}", value))]
    words += ["--seed", "2", "-t", "EOd=0.1", "-o"]
    assert run([*words, "written.json"]) == 0
    shown = capsys.readouterr().out
    assert run([*words, "written.html"]) == 0
    own = fl.report(
        fl.open_data("loans.csv", **columns),
        {"EOd": 0.1},
        name="loans",
        random_state=2,
        estimator=LogisticRegression(),
        command=made[0].command,
    )
    assert made[0].command.startswith("fairlimits report loans.csv --label paid")
    own.save("own.json")
    assert Path("own.json").read_bytes() == Path("written.json").read_bytes()
    assert json.loads(Path("own.json").read_text(encoding="utf-8")) == own.to_dict()
    assert Path("written.html").read_text(encoding="utf-8") == made[1].to_html()
    assert made[1].to_dict() == {**own.to_dict(), "command": made[1].command}
    assert own.summary() in shown
    assert "Written to written.json." in shown


def test_a_report_is_saved_by_its_suffix_or_not_at_all(report: fl.Report, page: str, tmp_path: Path) -> None:
    report.save(tmp_path / "a.HTML")
    assert (tmp_path / "a.HTML").read_text(encoding="utf-8") == page
    for name in ("a.pdf", "a"):
        with pytest.raises(FileError, match=r"must end in one of \.html, \.json\.$"):
            report.save(tmp_path / name)
    with pytest.raises(FileError, match="does not exist"):
        report.save(tmp_path / "none" / "a.html")
    assert [path.name for path in tmp_path.iterdir()] == ["a.HTML"]


def test_the_summary_is_the_first_screen_in_plain_text(report: fl.Report, page: str) -> None:
    first = page[page.index("<h1>") : page.index("<section id=")]
    prose = re.sub(r"<table>.*</table>", "", first, flags=re.DOTALL)
    told = [
        unescape(re.sub(r"<[^>]+>", "", part)) for part in re.findall(r"<(?:h1|p|li)[^>]*>(.*?)</(?:h1|p|li)>", prose)
    ]
    words = report.summary()
    assert "<" not in words
    lines = words.split("\n")
    # The table, and what introduces it, are sentences in plain text.
    assert [own for own in told if own not in lines and not own.startswith("What each notion of fairness")] == []
    figures = re.findall(r"-?[\d.]+ to -?[\d.]+", re.search(r"<table[^>]*>.*</table>", first, flags=re.DOTALL)[0])  # type: ignore[index]
    sentences = [own for own in lines if own.startswith("- ")]
    assert re.findall(r"-?[\d.]+ to -?[\d.]+", "\n".join(sentences)) == figures
    before, after = ([own.text for own in report.warnings if own.is_first is first] for first in (True, False))
    assert lines[: len(before)] == before
    assert lines[-len(after) :] == [f"Note: {text}" for text in after]


def test_columns_that_may_spoil_the_answer_are_named_before_it() -> None:
    data = people()
    columns = {name: data.to_frame()[name] for name in data.to_frame().column_names}
    spoilt = pa.table({**columns, "code": pc.equal(columns["sex"], "m").cast("int8"), "case": np.arange(data.n_rows)})
    found = reported(
        fl.Dataset.from_frame(spoilt, label=data.schema.label, positive=data.schema.positive, sensitive="sex")
    )
    named = {own.kind: own for own in found.warnings}
    assert named["reveals the group"].columns == ("code",)
    assert named["id"].columns == ("case",)
    page = found.to_html()
    for own in (named["reveals the group"], named["id"]):
        assert page.index(escape(own.text)) < page.index("On people that it had never seen")
        assert own.text in found.summary()
    assert [own["columns"] for own in found.to_dict()["warnings"] if own["kind"] == "id"] == [["case"]]


def test_the_table_has_a_row_for_each_question(report: fl.Report) -> None:
    rows = report.to_frame().to_pylist()
    assert report.to_frame().column_names == ["notion", "tolerance", "situation", "plug-in", "held out", "low", "high"]
    questions = [(row["notion"], row["tolerance"], row["situation"]) for row in rows]
    assert len(questions) == len(set(questions))
    held = report.findings.held_out
    for cost in held.costs:
        sees = "group seen" if cost.aware else "group hidden"
        row = rows[questions.index((cost.notion, cost.tolerance, sees))]
        assert cost.accuracy == HeldOutFigure(row["held out"], row["low"], row["high"])
    for own in held.situations:
        row = rows[questions.index(("DP", 0.05, own.name))]
        # A rule of a frontier and the rule solved for alone may differ in ties.
        assert row["held out"] == pytest.approx(own.accuracy.value, abs=2e-3)
        assert row["plug-in"] == pytest.approx(own.plug_in, abs=1e-4)


def test_the_page_says_how_each_group_fares(report: fl.Report) -> None:
    page = report.to_html()
    assert "How each group fares" in page
    assert "Four-fifths rule" in page
    for own in report.findings.held_out.fares:
        for line in own.groups:
            assert f"{line.rows:,}" in page


def test_situations_with_two_tolerances_have_none_in_the_table(report: fl.Report) -> None:
    held = replace(report.findings.held_out, tolerances={"EOd": 0.1, "DP": 0.05})
    rows = fl.Report(replace(report.findings, held_out=held), "x").to_frame().to_pylist()
    assert {(row["notion"], row["tolerance"]) for row in rows if "decorrelated" in row["situation"]} == {
        ("DP + EOd", None)
    }


def test_costs_are_drawn_where_asked(report: fl.Report) -> None:
    _, (left, right) = plt.subplots(1, 2)
    assert report.plot(right) is right
    assert not left.has_data()
    costs = [100 * own.cost.value for own in report.findings.held_out.costs]
    drawn = [float(x) for box in right.containers for x in box[0].get_xdata()]
    assert sorted(drawn) == pytest.approx(sorted(costs))
    assert "held-out rows" in report.plot().get_xlabel()


def test_a_report_says_what_it_is_and_how_to_make_it_again(report: fl.Report, page: str) -> None:
    assert repr(report) == "Report(people; 1,200 rows; DP within 0.05)"
    again = making._call({"DP": 0.05}, test_size=0.4, random_state=0)
    assert again == "fairlimits.report(data, {'DP': 0.05}, test_size=0.4)"
    assert escape(report.command) in page
    with pytest.raises(AttributeError):
        report.command = "x"  # type: ignore[misc]


def test_few_rows_are_among_the_warnings(report: fl.Report, page: str) -> None:
    (few,) = (own["text"] for own in report.to_dict()["warnings"] if own["kind"] == "few rows learned from")
    assert f"Note: {few}" in report.summary()
    assert escape(few) in page


def test_another_objective_and_requirements_have_a_rule_of_their_own(report: fl.Report) -> None:
    data = people()
    found = reported(data, objective="balanced accuracy", requirements=["selection rate <= 0.3"])
    asked = found.to_dict()["held_out"]["asked_for"]
    assert (asked["objective"], asked["requirements"]) == ("balanced accuracy", ["selection rate <= 0.3"])
    learn, test = data.split(0.3, 0)
    outcome = fl.estimate_outcome(learn, estimator=LogisticRegression())
    for own in asked["rules"]:
        rule = fl.solve(
            outcome,
            {"DP": 0.05},
            aware=own["aware"],
            requirements=["selection rate <= 0.3"],
            objective="balanced accuracy",
        )
        expected = fl.evaluate(rule, test)
        assert expected.value is not None
        assert own["value"] == pytest.approx(expected.value._asdict(), abs=1e-9)
        assert own["attained"]["selection rate <= 0.3"]["value"] == pytest.approx(
            expected.attained["selection rate <= 0.3"].value, abs=1e-9
        )
    assert "The rule you asked for" in found.to_html()
    assert "Asked for besides: balanced accuracy, selection rate &lt;= 0.3" not in found.summary()
    assert "Asked for besides: balanced accuracy, selection rate <= 0.3." in found.summary()
    assert "objective='balanced accuracy'" in found.command
    # All else is as it was.
    assert found.to_dict()["held_out"]["costs"] == report.to_dict()["held_out"]["costs"]
    assert report.to_dict()["held_out"]["asked_for"] is None
    assert "asked for" not in report.to_html().lower()


def test_costs_are_costs() -> None:
    found = reported(people(), objective="costs 1:5", suppress=10)
    (own, _) = found.to_dict()["held_out"]["asked_for"]["rules"]
    assert 0 < own["value"]["low"] <= own["value"]["value"] <= own["value"]["high"]
    assert "to a cost of 0." in found.summary()
    assert "cost of a person" in found.to_html()


def test_bad_questions_get_one_sentence() -> None:
    with pytest.raises(InputError, match="needs a Dataset"):
        fl.report("adult")
    with pytest.raises(InputError, match="not a fairness notion"):
        fl.report(people(), {"XX": 0.1})
    with pytest.raises(InputError, match="random_state"):
        fl.report(people(), random_state=-1)


def test_the_page_of_the_guide_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its program, on fewer rows than people would take."""
    monkeypatch.chdir(tmp_path)
    program = re.findall(r"```python\n(.*?)```", DOCS.read_text(encoding="utf-8"), re.DOTALL)
    names: dict[str, Any] = {}
    load = fl.load_dataset

    def few(name: str) -> fl.Dataset:
        return load(name).take(np.arange(1500))

    def fast(*given: Any, **options: Any) -> fl.Report:
        return making.report(*given, **options, estimator=LogisticRegression(max_iter=1000))

    monkeypatch.setattr(fl, "load_dataset", few)
    monkeypatch.setattr(fl, "report", fast)
    exec(compile("\n".join(program), DOCS.name, "exec"), names)
    assert sorted(path.suffix for path in tmp_path.iterdir()) == [".html", ".json"]


def test_the_rules_are_told_in_words_with_who_changes(report: fl.Report, page: str) -> None:
    hidden, seen = report.findings.explained
    assert (hidden.aware, seen.aware) == (False, True)
    for own in (hidden, seen):
        assert own.groups == ("f", "m")
        kept = [share for name, share in own.changed.items() if name != "by lot"]
        np.testing.assert_allclose(np.sum(kept, axis=0), 1)
        assert own.sentences[0] in page
    assert 'id="in-words"' in page
    few = reported(people(rare=9), suppress=10).findings.explained[0]
    assert "rare" not in few.groups


def test_a_report_has_a_model_card(report: fl.Report) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    card = report.card(since="2026-01-31")
    jsonschema.validate(card.to_dict(), card_schema())
    assert card.features == ("age", "job")
    assert "Holds since 2026-01-31" in card.to_markdown()
