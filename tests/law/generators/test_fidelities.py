"""Real against generated rows: the paper's figures by hand, held-out figures that see nothing they should not."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pytest
import typer
from scipy import stats
from typer.testing import CliRunner

import fairlimits as fl
from fairlimits.apps.cli.app import app
from fairlimits.apps.cli.fidelity import fidelity as command
from fairlimits.errors import InputError
from fairlimits.law.generators import BootstrapGenerator
from fairlimits.law.generators.fidelities import fidelity, fidelity_report
from fairlimits.law.generators.fidelity_results import Fidelity, FidelityReport
from fairlimits.law.generators.two_sample import copied_share, label_accuracy, two_sample_auc


def table(n: int = 900, seed: int = 0, shift: float = 0.0) -> pa.Table:
    rng = np.random.default_rng(seed)
    sex = rng.integers(0, 2, n)
    age = np.rint(rng.normal(40 + 5 * sex + shift, 10, n))
    job = rng.choice(["a", "b", "c"], n)
    paid = (age + 6 * (job == "b") + rng.normal(0, 8, n) > 44 + shift).astype(int)
    return pa.table({"sex": np.array(["f", "m"])[sex], "age": age, "job": job, "paid": paid})


def people(n: int = 900, seed: int = 0, shift: float = 0.0) -> fl.Dataset:
    return fl.Dataset.from_frame(table(n, seed, shift), label="paid", positive=1, sensitive="sex")


@pytest.fixture(scope="module")
def data() -> fl.Dataset:
    return people()


@pytest.fixture(scope="module")
def report(data: fl.Dataset) -> FidelityReport:
    return fidelity_report(data, "cart", cells=8, n_samples=20_000)


def test_figures_are_those_of_the_definition() -> None:
    rng = np.random.default_rng(0)
    real, generated = rng.dirichlet(np.ones(24), 2).reshape(2, 6, 2, 2)
    found = Fidelity(("f", "m"), real, generated)
    rows = found.to_frame().to_pylist()
    assert [(row["group"], row["label"]) for row in rows] == [("f", 0), ("f", 1), ("m", 0), ("m", 1)]
    for row in rows:
        p, q = (mass[:, "fm".index(row["group"]), row["label"]] for mass in (real, generated))
        assert row["distance"] == pytest.approx(0.5 * sum(abs(a - b) for a, b in zip(p, q, strict=True)))
        assert row["correlation"] == pytest.approx(np.corrcoef(p, q)[0, 1])
        assert row["p_value"] == pytest.approx(stats.pearsonr(p, q).pvalue)
        assert row["mass"] == pytest.approx(p.sum())
    assert found.total_distance == pytest.approx(np.abs(real - generated).sum() / 2)


def test_rows_are_equal_to_themselves(data: fl.Dataset) -> None:
    found = fidelity(data, data, 8)
    np.testing.assert_allclose(found.correlation, 1)
    np.testing.assert_allclose(found.distance, 0)
    assert found.real_mass.sum() == pytest.approx(1)


def test_cells_are_cut_from_the_real_rows_alone(data: fl.Dataset) -> None:
    first, second = fidelity(data, people(400, 1), 8), fidelity(data, people(500, 2, shift=30.0), 8)
    np.testing.assert_array_equal(first.real_mass, second.real_mass)
    assert second.total_distance > first.total_distance


def test_weights_count(data: fl.Dataset) -> None:
    weight = np.where(data.label == 1, 3.0, 1.0)
    weighted = fl.Dataset(data.schema, data.columns, data.group, data.label, weight)
    twice = data.take(np.concatenate([np.arange(900), *[np.flatnonzero(data.label == 1)] * 2]))
    assert fidelity(weighted, twice, 8).total_distance == pytest.approx(0, abs=1e-12)


def test_masses_that_do_not_vary_have_no_correlation() -> None:
    found = Fidelity(("f", "m"), np.full((3, 2, 2), 1 / 12), np.full((3, 2, 2), 1 / 12))
    assert np.isnan(found.correlation).all()
    assert np.isnan(found.p_value).all()


def test_other_schemas_are_refused(data: fl.Dataset) -> None:
    other = fl.Dataset.from_frame(
        table().rename_columns(["sex", "years", "job", "paid"]), label="paid", sensitive="sex"
    )
    with pytest.raises(InputError, match="read_like"):
        fidelity(data, other, 8)


@dataclass(frozen=True)
class Spy:
    """A bootstrap that writes down whom it saw."""

    seen: list[frozenset[float]] = field(default_factory=list)
    name: str = "spy"
    made: BootstrapGenerator | None = None

    def fit(self, dataset: fl.Dataset, random_state: int = 0, progress: Any = None) -> Spy:
        self.seen.append(frozenset(dataset.columns["age"]))
        return Spy(self.seen, made=BootstrapGenerator().fit(dataset))

    def sample(self, n: int, random_state: int = 0) -> fl.Dataset:
        assert self.made is not None
        return self.made.sample(n, random_state)


def test_generator_never_sees_the_half_that_is_held_out() -> None:
    data = people(400)
    columns = dict(data.columns) | {"age": np.arange(400.0)}
    data = fl.Dataset(data.schema, columns, data.group, data.label)
    spy = Spy()
    report = fidelity_report(data, spy, cells=5, n_samples=2000)
    learned, other = data.split(0.5, 0)
    assert spy.seen == [frozenset(range(400)), frozenset(learned.columns["age"])]
    assert not spy.seen[1] & frozenset(other.columns["age"])
    assert report.generator == "spy"
    assert report.copies == 1
    assert report.copies_natural == 0


def test_report_holds_every_figure(report: FidelityReport, data: fl.Dataset) -> None:
    learned, other = data.split(0.5, 0)
    np.testing.assert_array_equal(report.noise_floor.real_mass, report.held_out.real_mass)
    assert report.noise_floor.total_distance == fidelity(other, learned, 8).total_distance
    assert report.ratio == report.held_out.total_distance / report.noise_floor.total_distance
    assert 0.4 < report.auc < 0.65
    assert abs(report.accuracy - report.accuracy_real) < 0.1
    assert report.to_frame().num_rows == 12
    assert set(report.to_frame()["comparison"].to_pylist()) == {"all rows", "held out", "noise floor"}
    assert report.fitted.n_cells == 8


def test_report_repeats_and_chooses_the_cells_of_the_paper() -> None:
    first, again = (fidelity_report(people(10_000), "bootstrap", n_samples=5000, random_state=3) for _ in range(2))
    assert first.fitted.n_cells == fl.law.cells_supported(10_000) == 9
    assert (first.auc, first.accuracy, first.copies) == (again.auc, again.accuracy, again.copies)
    np.testing.assert_array_equal(first.held_out.generated_mass, again.held_out.generated_mass)


def test_cells_are_at_least_eight_and_fit_into_half_the_rows(data: fl.Dataset) -> None:
    assert fl.law.cells_supported(900) == 0
    assert fidelity_report(data, "bootstrap", n_samples=500).fitted.n_cells == 8
    assert fidelity_report(people(13), "bootstrap", n_samples=500).fitted.n_cells == 6
    spy = Spy()
    with pytest.raises(InputError, match="at most 450 cells"):
        fidelity_report(data, spy, cells=451, n_samples=500)
    assert not spy.seen


def test_ratio_to_a_floor_of_zero_is_not_a_number(report: FidelityReport) -> None:
    same = Fidelity(report.fitted.groups, report.fitted.real_mass, report.fitted.real_mass)
    assert np.isnan(replace(report, noise_floor=same).ratio)


def test_classifier_tells_apart_what_differs(data: fl.Dataset) -> None:
    assert two_sample_auc(data, people(900, 1, shift=25.0)) > 0.8
    assert abs(two_sample_auc(data, people(900, 1)) - 0.5) < 0.08


def test_model_trained_on_wrong_labels_is_wrong(data: fl.Dataset) -> None:
    flipped = fl.Dataset(data.schema, data.columns, data.group, 1 - data.label)
    assert label_accuracy(flipped, data) < 0.4 < label_accuracy(data, data)
    constant = data.take(data.label == 1)
    assert label_accuracy(constant, data) == pytest.approx(data.label.mean())


def test_copies_are_counted_by_every_column(data: fl.Dataset) -> None:
    assert copied_share(data, data) == 1
    flipped = fl.Dataset(data.schema, data.columns, data.group, 1 - data.label)
    expected = {tuple(row.values()) for row in data.to_frame().to_pylist()}
    share = np.mean([tuple(row.values()) in expected for row in flipped.to_frame().to_pylist()])
    assert copied_share(flipped, data) == pytest.approx(share)
    gaps = dict(data.columns) | {"age": np.full(900, np.nan)}
    nobody = fl.Dataset(data.schema, gaps, data.group, data.label)
    assert copied_share(nobody, data) == 0
    assert copied_share(nobody, nobody) == 1


def test_figures_have_a_panel_for_each_group_and_label(report: FidelityReport) -> None:
    for figure in (report.figure(), report.fitted.figure()):
        assert len(figure.axes) == 4
        assert figure.axes[0].get_title(loc="left") == "f, label 0"
        plt.close(figure)


def test_groups_with_dollar_signs_are_drawn_as_they_are() -> None:
    masses = np.random.default_rng(0).dirichlet(np.ones(24), 2).reshape(2, 6, 2, 2)
    figure = Fidelity(("$x_$", "m"), *masses).figure()
    figure.canvas.draw()
    assert figure.axes[0].get_title(loc="left") == "$x_$, label 0"
    plt.close(figure)


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., Any]:
    pa_csv.write_csv(table(), tmp_path / "people.csv")
    alone = typer.Typer()
    alone.command()(command)

    def call(*words: str) -> Any:
        names = ("--label", "paid", "--positive", "1", "--sensitive", "sex", "--cells", "8", "--samples", "3000")
        return CliRunner().invoke(alone, [str(tmp_path / "people.csv"), *names, *words])

    return call


@pytest.mark.parametrize("suffix", [".csv", ".json", ".png", ".svg"])
def test_command_prints_all_figures_and_writes_by_suffix(run: Callable[..., Any], tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"out{suffix}"
    result = run("-o", str(path), "--generator", "bootstrap" if suffix == ".svg" else "cart")
    assert result.exit_code == 0, result.output
    for words in (
        "correlation",
        "p-value",
        "distance",
        "noise floor",
        "AUC",
        "trained on it",
        "equal a row",
        "f, label 0",
    ):
        assert words in result.output
    assert path.stat().st_size > 0
    if suffix == ".json":
        content = json.loads(path.read_text())
        assert len(content["comparisons"]) == 12
        assert content["made from"]["generator"] == "cart"
    if suffix == ".csv":
        assert pa_csv.read_csv(path).num_rows == 12


def test_command_refuses_before_it_works(run: Callable[..., Any], tmp_path: Path) -> None:
    assert isinstance(run("--generator", "gan").exception, InputError)
    assert isinstance(run("--epochs", "3").exception, InputError)
    assert str(run("--samples", "0").exception) == "--samples is 0; it must be at least 1."
    assert str(run("--cells", "-1").exception) == "--cells is -1; it must be at least 1."
    assert isinstance(run("--cells", "500").exception, InputError)
    assert isinstance(run("-o", str(tmp_path / "out.txt")).exception, InputError)


def test_command_says_how_to_get_the_networks() -> None:
    words = " ".join(CliRunner(env={"COLUMNS": "200"}).invoke(app, ["fidelity", "--help"]).output.split())
    assert "fairlimits[ctgan]" in words
    assert "BUSL-1.1" in words


def test_command_leaves_out_what_one_cell_cannot_say(run: Callable[..., Any]) -> None:
    output = run("--cells", "1").output
    assert "(1 cell)" in output
    assert "nan" not in output
