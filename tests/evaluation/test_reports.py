"""What a report finds: its figures are what the library gives, and it says what to beware of."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from sklearn.linear_model import LogisticRegression

import fairlimits as fl
from fairlimits.evaluation import Findings, Tensions, collect_findings
from fairlimits.evaluation.reports.cautions import find_cautions
from fairlimits.evaluation.reports.held_out import _notes
from fairlimits.evaluation.reports.on_cells import _person, _words
from fairlimits.evaluation.reports.parts import HeldOutFigure
from fairlimits.evaluation.reports.suppression import Suppression
from fairlimits.evaluation.reports.surveys import Survey
from fairlimits.limits import MarginWarning, UncertifiedWarning

NOTIONS = ("DP", "EA", "EOp", "PE", "EOd")


def people(n: int = 1200, job: str = "job") -> fl.Dataset:
    rng = np.random.default_rng(1)
    group = rng.integers(0, 2, n)
    age = rng.normal(40 + 6 * group, 10, n)
    outcome = (age + rng.normal(0, 9, n) > 43).astype(int)
    return fl.Dataset.from_frame(
        pa.table(
            {
                "sex": np.array(("f", "m"), dtype=object)[group].tolist(),
                "age": age,
                job: rng.choice(["a", "b"], n),
                "paid": outcome,
            }
        ),
        label="paid",
        positive=1,
        sensitive="sex",
    )


@pytest.fixture(scope="module")
def findings() -> Findings:
    return collect_findings(people(), "people", estimator=LogisticRegression())


@pytest.fixture(scope="module")
def outcome() -> fl.Outcome:
    learn, _ = people().split(0.3, 0)
    return fl.estimate_outcome(learn, estimator=LogisticRegression())


def test_plug_in_figures_are_what_solve_says(findings: Findings, outcome: fl.Outcome) -> None:
    found = findings.on_cells
    assert found.rows == findings.held_out.learned == outcome.data.n_rows == 840
    for aware in (True, False):
        for name in NOTIONS:
            rule = fl.solve(outcome, {name: 0.05}, aware=aware)
            price = found.price(name, 0.05, aware)
            assert price.accuracy == pytest.approx(rule.accuracy, abs=1e-12)
            assert price.shadow_price == pytest.approx(rule.shadow_prices[name], abs=1e-9)
            (curve,) = (own for own in found.curves if (own.notion, own.aware) == (name, aware))
            assert np.interp(0.05, curve.tolerances, curve.accuracy) == pytest.approx(rule.accuracy, abs=1e-9)
    assert found.best_seen >= found.best_hidden - 1e-12
    rule, free = fl.solve(outcome, {"DP": 0.05}), fl.solve(outcome, {})
    assert found.gaps_hidden == pytest.approx({name: free.gaps[name] for name in NOTIONS})
    dist = free.distribution
    for shift in (own for own in found.shifts if own.notion == "DP"):
        law = dist.mass[:, dist.groups.index(shift.group)].sum(axis=1)
        assert isinstance(shift.more_yes, float)
        assert isinstance(shift.more_no, float)
        assert shift.more_yes - shift.more_no == pytest.approx(law @ (rule.scores - free.scores) / law.sum())


def test_there_is_one_plug_in_and_one_held_out_answer(findings: Findings) -> None:
    """The frontiers, the prices and the situations of the page say the same."""
    held, on_cells = findings.held_out, findings.on_cells
    for curve in held.curves:
        if len(curve.notions) > 1:
            continue
        for k, tolerance in enumerate(curve.tolerances):
            if tolerance in (0.0, 0.05):
                price = on_cells.price(curve.notions[0], tolerance, curve.aware)
                assert curve.plug_in[k] == pytest.approx(price.accuracy, abs=1e-9)
                cost = held.cost(curve.notions[0], tolerance, curve.aware)
                assert curve.accuracy[k] == cost.accuracy.value
    for own in held.situations:
        if not own.rule_fixed_before:
            tolerance = 0.0 if own.decorrelated else 0.05
            assert own.plug_in == pytest.approx(on_cells.price("DP", tolerance, own.aware).accuracy, abs=1e-9)
            expected = held.cost("DP", tolerance, own.aware).accuracy.value
            assert own.accuracy.value == pytest.approx(expected, abs=1e-9)


def test_tension_is_read_on_the_cells_that_its_notions_need(findings: Findings, outcome: fl.Outcome) -> None:
    found = findings.on_cells.tensions
    assert found.notions == [*NOTIONS, "IF"]
    groups, alike = fl.tension(outcome, notions=NOTIONS), fl.tension(outcome, notions=("DP", "IF"))
    np.testing.assert_allclose(np.array(found.tension)[:5, :5], groups.matrix, atol=1e-12)
    assert found.tension[0][5] == found.tension[5][0] == pytest.approx(alike.matrix[0, 1], abs=1e-9)
    assert found.pair_loss[5][5] == pytest.approx(alike.loss[1], abs=1e-9)


def test_people_who_are_affected_are_described(findings: Findings, outcome: fl.Outcome) -> None:
    rule, free = fl.solve(outcome, {"DP": 0.05}), fl.solve(outcome, {})
    dist, change = free.distribution, rule.scores - free.scores
    more, less = (own for own in findings.on_cells.affected if own.notion == "DP")
    assert (more.more_yes, less.more_yes) == (True, False)
    for own, way in ((more, change), (less, -change)):
        moved = dist.mass.sum(axis=(1, 2)) * np.maximum(way, 0)
        assert own.share == pytest.approx(moved.sum())
        assert sum(map(float, own.groups.values())) == pytest.approx(1)
        assert 0 <= own.label_low <= own.label_high <= 1
        assert set(own.person) == {"age", "job"}
    # Women are younger and have the label less often: they are given a yes, and older men lose theirs.
    assert float(more.groups["f"]) > 0.5 > float(less.groups["f"])
    assert next(iter(more.person)) == "age"
    # It is a yes for those whose chance was just too low, and a no for those whose chance was just high enough.
    assert more.label_low < 0.5 < less.label_high


def test_held_out_figures_are_what_evaluate_says(findings: Findings, outcome: fl.Outcome) -> None:
    _, test = people().split(0.3, 0)
    free = fl.evaluate(fl.solve(outcome, {}), test)
    assert findings.held_out.best_hidden.value == pytest.approx(free.accuracy.value, abs=1e-12)
    for tolerance in (0.0, 0.05):
        rule = fl.evaluate(fl.solve(outcome, {"EOd": tolerance}, aware=True), test)
        found = findings.held_out.cost("EOd", tolerance, aware=True)
        assert found.accuracy.value == pytest.approx(rule.accuracy.value, abs=1e-9)
        assert found.cost.low <= found.cost.value <= found.cost.high
    table = fl.compare_scenarios(people(), {"DP": 0.05}, estimator=LogisticRegression())
    assert [own.accuracy.value for own in findings.held_out.situations] == pytest.approx(
        [own.evaluation.accuracy.value for own in table.situations]
    )
    assert [own.held_out.value for own in findings.held_out.situation_costs] == pytest.approx(
        [own.held_out.value for own in table.costs]
    )


def test_groups_fare_as_the_rules_on_the_page_decide(findings: Findings, outcome: fl.Outcome) -> None:
    _, test = people().split(0.3, 0)
    best, fair = findings.held_out.fares
    for found, tolerances in ((best, {}), (fair, {"DP": 0.05})):
        expected = fl.group_rates(
            test.label, fl.solve(outcome, tolerances).decide(test), np.array(test.groups)[test.group]
        )
        for g, line in enumerate(found.groups):
            assert line.group == expected.groups[g]
            for name, own in expected.figures.items():
                value = line.figures[name]
                assert isinstance(value, HeldOutFigure) == own[g].known
                assert not isinstance(value, HeldOutFigure) or value.value == pytest.approx(own[g].value, abs=1e-9)
        for gap in found.gaps:
            assert (gap.lowest, gap.highest) == (expected.gaps[gap.notion].lowest, expected.gaps[gap.notion].highest)


def test_notes_have_no_gaps_where_those_of_few_people_are_left_out() -> None:
    data = Survey.of(people(), 0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for category in (MarginWarning, MarginWarning, UncertifiedWarning, UserWarning):
            warnings.warn("DP within 0.05 is 0.123", category, stacklevel=1)
    assert _notes(caught, Suppression.of(data, None)) == ("DP within 0.05 is 0.123",)
    notes = _notes(caught, Suppression.of(data, 10))
    assert len(notes) == 2
    assert not any("0.123" in note for note in notes)


def test_so_few_people_that_nobody_can_be_described_are_not(findings: Findings) -> None:
    assert all(840 * own.share > 4.5 for own in findings.on_cells.affected)


@pytest.mark.parametrize(
    ("value", "said"), [(1999.2, "1999"), (-4_000.0, "-4000"), (12_345.6, "12,346"), (30.71, "30.7"), (2e9, "2e+09")]
)
def test_years_look_like_years(value: float, said: str) -> None:
    assert _words(value) == said


def test_dates_of_people_look_like_dates_and_what_they_lack_is_left_out() -> None:
    days = np.datetime64("1979-10-01") + np.arange(40) % 20
    frame = {"born": days.astype(str), "left": [None if k < 20 else 7.0 for k in range(40)]}
    roles = {"sex": ["f", "m"] * 20, "paid": [0, 0, 1, 1] * 10}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        data = fl.Dataset.from_frame(pa.table(frame | roles), label="paid", sensitive="sex")
        dist = fl.discretize(data, 40, generator=None, partition="features")
    assert dist.encoding is not None
    assert dist.centroids is not None
    values = dist.encoding.decode(dist.centroids)["left"]
    lacking = np.isnan(np.asarray(values, dtype=float))
    assert lacking.any()
    assert not lacking.all()
    without = _person(dist, lacking.astype(float))
    assert set(without) == {"born"}
    assert without["born"].startswith("1979-10-1")
    assert set(_person(dist, (~lacking).astype(float))) == {"born", "left"}


def test_few_rows_are_said_where_gaps_are_not_shown(findings: Findings) -> None:
    unknown = {"DP", "EOd"}
    costs = tuple(replace(own, gap=None) if own.notion in unknown else own for own in findings.held_out.costs)
    data = Survey.of(people(), 0)
    said = find_cautions(data, replace(findings.held_out, costs=costs), findings.on_cells, Suppression.of(data, None))
    (found,) = (own for own in said if own.kind == "few rows")
    assert found.columns == ("sex", "paid")
    assert found.text == (
        "Not estimable, for no two groups are left to compare: gaps in demographic parity, equalized odds on held-out "
        "rows."
    )


def test_small_groups_are_said_once_for_the_table_and_for_held_out_rows(findings: Findings) -> None:
    data = people()
    few = data.take(np.r_[np.flatnonzero(data.group == 0)[:20], np.flatnonzero(data.group == 1)])
    note = "Set aside on held-out rows, ..."
    table = Survey.of(few, 0)
    held = replace(findings.held_out, set_aside=note)
    said = find_cautions(table, held, findings.on_cells, Suppression.of(table, None))
    assert [own.text for own in said if own.kind == "small groups"] == [few.small_groups_note, note]
    assert str(few.small_groups_note).startswith("Set aside, with fewer than 30 rows behind a rate: ")


def test_few_rows_to_learn_from_are_said(findings: Findings) -> None:
    (few,) = (own.text for own in findings.warnings if own.kind == "few rows learned from")
    assert few.startswith(
        "The law was learned from 840 rows: by chance alone, plug-in accuracies can be off by 3 points"
    )
    many = replace(findings.on_cells, rows=30_000)
    table = Survey.of(people(), 0)
    kinds = [own.kind for own in find_cautions(table, findings.held_out, many, Suppression.of(table, None))]
    assert "few rows learned from" not in kinds


def test_no_warning_is_made_up(findings: Findings) -> None:
    known = {"few rows learned from", "few rows to certify", "tolerance not met"}
    assert {own.kind for own in findings.warnings} <= known
    assert [own.text for own in findings.warnings if own.kind == "tolerance not met"] == list(findings.held_out.notes)


def test_the_pair_that_clashes_most_is_not_nested() -> None:
    loss = [[0.0, 0.0, 0.0], [0.2, 0.0, 0.0], [0.3, 0.4, 0.0]]
    extra = [[0.0, 0.0, 0.0], [0.01, 0.0, 0.0], [0.02, 0.3, 0.0]]
    most = Tensions(["DP", "EOp", "EOd"], 0.05, False, loss, extra).clash()
    assert most is not None
    assert (most.first, most.second, most.loss, most.tension) == ("DP", "EOd", 0.3, 0.02)
    nothing = [[0.0004] * 3] * 3
    assert Tensions(["DP", "EOp", "EOd"], 0.05, False, loss, nothing).clash() is None


def test_rules_made_to_hold_are_certified_by_the_rows_they_were_made_with(outcome: fl.Outcome) -> None:
    found = collect_findings(people(), "people", estimator=LogisticRegression(), confidence=0.9).held_out
    with pytest.warns(UncertifiedWarning, match="840 rows"):
        rule = fl.solve(outcome, {"DP": 0.05}, confidence=0.9)
    assert rule.guarantee is not None
    assert found.cost("DP", 0.05, False).at_most == pytest.approx(rule.guarantee.limits["DP"])
