"""What a report finds: its figures are what the library gives, and it says what to beware of."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from sklearn.linear_model import LogisticRegression

import fairlimits as fl
from fairlimits.errors import InputError
from fairlimits.evaluation import Findings, Tensions, collect_findings
from fairlimits.evaluation.reports.cautions import find_cautions
from fairlimits.evaluation.reports.parts import GeneratorJudged

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


def found_on(data: fl.Dataset, generator: str | None = None, **options: Any) -> Findings:
    dist = fl.discretize(data, 10, generator=generator, n_samples=11_000, partition="features")
    return collect_findings(data, dist, "people", estimator=LogisticRegression(), **options)


@pytest.fixture(scope="module")
def findings() -> Findings:
    return found_on(people())


def test_plug_in_figures_are_what_solve_says(findings: Findings) -> None:
    dist = fl.discretize(people(), 10, generator=None, partition="features")
    for aware in (True, False):
        for name in NOTIONS:
            rule = fl.solve(dist, {name: 0.05}, aware=aware)
            found = findings.on_cells.price(name, 0.05, aware)
            assert found.accuracy == pytest.approx(rule.accuracy, abs=1e-12)
            assert found.shadow_price == pytest.approx(rule.shadow_prices[name], abs=1e-9)
    assert findings.on_cells.best_seen >= findings.on_cells.best_hidden - 1e-12
    assert np.max(findings.on_cells.tensions.tension) == pytest.approx(fl.tension(dist, 0.05).matrix.max(), abs=1e-12)
    rule, free = fl.solve(dist, {"DP": 0.05}), fl.solve(dist, {})
    for shift in (own for own in findings.on_cells.shifts if own.notion == "DP"):
        law = dist.mass[:, dist.groups.index(shift.group)].sum(axis=1)
        assert shift.more_yes - shift.more_no == pytest.approx(law @ (rule.scores - free.scores) / law.sum())


def test_held_out_figures_are_what_evaluate_says(findings: Findings) -> None:
    learn, test = people().split(0.3, 0)
    outcome = fl.estimate_outcome(learn, estimator=LogisticRegression())
    free = fl.evaluate(fl.solve(outcome, {}), test)
    assert findings.held_out.best_hidden.value == pytest.approx(free.accuracy.value)
    for tolerance in (0.0, 0.05):
        rule = fl.evaluate(fl.frontier(outcome, ["EOd"], [tolerance, 0.2], aware=True), test).held_out[0]
        found = findings.held_out.cost("EOd", tolerance, aware=True)
        assert found.accuracy.value == pytest.approx(rule.accuracy.value, abs=2e-3)
        assert found.cost.low <= found.cost.value <= found.cost.high
    table = fl.compare_scenarios(people(), {"DP": 0.05}, estimator=LogisticRegression(), cells=10)
    assert [own.accuracy.value for own in findings.held_out.situations] == pytest.approx(
        [own.evaluation.accuracy.value for own in table.situations]
    )
    assert [own.held_out.value for own in findings.held_out.situation_costs] == pytest.approx(
        [own.held_out.value for own in table.costs]
    )


def test_a_generator_is_judged() -> None:
    findings = found_on(people(n=600), generator="cart")
    assert findings.generator is not None
    assert findings.generator.name == "cart"
    assert 0 < findings.generator.distance < 0.5


def test_cells_of_other_data_are_refused() -> None:
    with pytest.raises(InputError, match="not cut from this data"):
        collect_findings(people(job="work"), fl.discretize(people(), 5, generator=None, partition="features"), "people")


def test_few_rows_are_said_where_gaps_are_not_shown(findings: Findings) -> None:
    unknown = {"DP", "EOd"}
    costs = tuple(replace(own, gap=None) if own.notion in unknown else own for own in findings.held_out.costs)
    data = people()
    dist = fl.discretize(data, 10, generator=None, partition="features")
    said = find_cautions(data, dist, replace(findings.held_out, costs=costs), findings.on_cells, None)
    (found,) = (own for own in said if own.kind == "few rows")
    assert found.columns == ("sex", "paid")
    assert found.text == (
        "Not estimable, for no two groups are left to compare: gaps in demographic parity, equalized odds on held-out "
        "rows."
    )


def test_small_groups_are_said_once_for_the_table_and_for_held_out_rows(findings: Findings) -> None:
    data = people()
    dist = fl.discretize(data, 10, generator=None, partition="features")
    few = data.take(np.r_[np.flatnonzero(data.group == 0)[:20], np.flatnonzero(data.group == 1)])
    note = "Set aside on held-out rows, ..."
    said = find_cautions(few, dist, replace(findings.held_out, set_aside=note), findings.on_cells, None)
    assert [own.text for own in said if own.kind == "small groups"] == [few.small_groups_note, note]
    assert str(few.small_groups_note).startswith("Set aside, with fewer than 30 rows behind a rate: ")


def test_a_generator_that_adds_an_error_is_told_of(findings: Findings) -> None:
    data = people()
    dist = fl.discretize(data, 10, generator=None, partition="features")
    near = GeneratorJudged("cart", 100, 10, 0.1, 0.2, 0.2, 0.0, 0.0)
    for judged, kinds in ((near, 0), (replace(near, held_out_distance=0.3), 1)):
        said = find_cautions(data, dist, findings.held_out, findings.on_cells, judged)
        assert len([own for own in said if own.kind == "generator"]) == kinds


def test_no_warning_is_made_up(findings: Findings) -> None:
    assert {own.kind for own in findings.warnings} <= {"few rows per cell", "tolerance not met"}
    assert [own.text for own in findings.warnings if own.kind == "tolerance not met"] == list(findings.held_out.notes)
    few = [own.text for own in findings.warnings if own.kind == "few rows per cell"]
    assert few == ([findings.sampling] if "are too few for" in findings.sampling else [])


def test_the_pair_that_clashes_most_is_not_nested() -> None:
    loss = [[0.0, 0.0, 0.0], [0.2, 0.0, 0.0], [0.3, 0.4, 0.0]]
    extra = [[0.0, 0.0, 0.0], [0.01, 0.0, 0.0], [0.02, 0.3, 0.0]]
    most = Tensions(["DP", "EOp", "EOd"], 0.05, False, loss, extra).clash()
    assert most is not None
    assert (most.first, most.second, most.loss, most.tension) == ("DP", "EOd", 0.3, 0.02)
    nothing = [[0.0004] * 3] * 3
    assert Tensions(["DP", "EOp", "EOd"], 0.05, False, loss, nothing).clash() is None
