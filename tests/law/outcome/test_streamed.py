"""The law of rows that are not in memory: learned on a sample, summed over all rows, alike however they are read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.linear_model import LogisticRegression

import fairlimits as fl
from fairlimits.data import Part, parts
from fairlimits.errors import InputError
from fairlimits.law import StreamedOutcome
from fairlimits.law.outcome import sampling, streamed
from streams import ROLES, people, write

LEARNER = LogisticRegression()
PLAIN: dict[str, Any] = {**ROLES, "drop": "weight"}


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Samples and pieces so small that a few thousand rows are many."""
    monkeypatch.setattr(sampling, "_FIRST", 400)
    monkeypatch.setattr(sampling, "_MOST", 1600)
    monkeypatch.setattr(sampling, "_JUDGED", 800)
    monkeypatch.setattr(streamed, "_ROWS", 700)


def estimate(source: Any, **roles: Any) -> StreamedOutcome:
    found = fl.estimate_outcome(source, estimator=LEARNER, **roles)
    assert isinstance(found, StreamedOutcome)
    return found


def rows_and_q(outcome: StreamedOutcome) -> tuple[list[fl.Dataset], np.ndarray]:
    """Every row of an estimate, with its q."""
    found = outcome.stream.parts.fold(
        lambda part, frame: list(outcome.estimates.pieces(part, frame)), lambda a, b: a + b, lambda total: total
    )
    assert found is not None
    return [rows for rows, _ in found], np.concatenate([q for _, q in found])


@pytest.mark.parametrize("roles", [PLAIN, {**ROLES, "weight": "weight"}])
def test_masses_are_sums_of_q_and_labels_are_counted(tmp_path: Path, roles: dict[str, Any]) -> None:
    outcome = estimate(write(people(), tmp_path / "big"), **roles)
    pieces, q = rows_and_q(outcome)
    weight = np.concatenate([np.ones(own.n_rows) if own.weight is None else own.weight for own in pieces])
    share = weight / weight.sum()
    dist = fl.discretize(outcome.stream, 24, outcome=outcome)
    np.testing.assert_allclose(dist.mass.sum(axis=0), np.tensordot(share, q, 1), atol=1e-8)
    np.testing.assert_array_equal(dist.counts.sum(axis=0), outcome.counts)  # type: ignore[union-attr]
    # Placed one by one, the rows are where they were counted, with the group seen and hidden.
    columns = {name: np.concatenate([own.columns[name] for own in pieces]) for name in pieces[0].columns}
    group = np.concatenate([own.group for own in pieces])
    label = np.concatenate([own.label for own in pieces])
    assert dist.labelled is not None
    for aware in (False, True):
        cell = dist.cells_of(columns, q=q, group=group if aware else None)
        by_hand = np.zeros((24, 3, 2))
        np.add.at(by_hand, (cell, group, label), weight)
        who, where = dist.labelled.hidden, dist.labelled.hidden_cells
        if aware:
            who, where = dist.labelled.seen, dist.labelled.seen_cells
        counted = np.zeros((24, 3, 2))
        np.add.at(counted, (where, who.group, who.label), who.weight)
        np.testing.assert_allclose(counted, by_hand, rtol=1e-9, atol=1e-9)


def test_nothing_depends_on_the_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    for number, size in enumerate((4000, 560, 200)):
        folder = write(people(), tmp_path / f"parts{number}", row_group_size=size)
        outcome = estimate(folder, **PLAIN)
        rules = [fl.solve(outcome, {"DP": 0.03}, aware=aware) for aware in (False, True)]
        found.append((outcome, rules))
        monkeypatch.setattr(parts, "usable_cores", lambda: 3)
    (first, rules), *others = found
    for outcome, again in others:
        assert str(outcome.learning_curve) == str(first.learning_curve)
        for one, other in zip(rules, again, strict=True):
            np.testing.assert_array_equal(other.distribution.mass, one.distribution.mass)
            np.testing.assert_array_equal(other.distribution.counts, one.distribution.counts)
            np.testing.assert_array_equal(other.scores, one.scores)
            assert other.on_labels == one.on_labels


def test_the_sample_is_drawn_from_all_files_and_grows_while_it_helps(tmp_path: Path) -> None:
    table = people()
    late = pa.array(np.where(np.arange(4000) < 3800, "early", "late"))
    folder = write(table.append_column("when", late), tmp_path / "big", files=20)
    outcome = estimate(folder, **PLAIN)
    (when,) = (own for own in outcome.learned.schema.features if own.name == "when")
    assert when.categories == ("early", "late")
    sample = outcome.stream.parts.fold(
        lambda part, frame: sampling.draw_rows(
            outcome.learned.reader, outcome.sampling.draw, outcome.sampling.below, part, frame
        ),
        lambda a, b: a + b,
        lambda total: total.rows()[0],
    )
    assert sample is not None
    assert sample.n_rows == max(outcome.learning_curve, key=lambda own: -own.loss).rows
    assert 0.01 < (sample.columns["when"] == 1).mean() < 0.12
    sizes = [own.rows for own in outcome.learning_curve]
    assert sizes[0] == 400
    assert sizes == sorted(sizes)
    last = outcome.learning_curve[-1]
    assert len(sizes) > 1
    assert last.rows >= 1400 or last.gain <= max(2 * last.error, 1e-4)
    assert "the last doubling gained" in outcome.summary()
    assert outcome.to_frame().num_rows == len(sizes)


def test_few_rows_are_all_learned_from(tmp_path: Path) -> None:
    outcome = estimate(write(people(390), tmp_path / "big"), **PLAIN)
    assert [own.rows for own in outcome.learning_curve] == [390]
    assert "no larger sample" in outcome.summary()


def test_rows_that_were_learned_from_are_judged_out_of_fold(tmp_path: Path) -> None:
    outcome = estimate(write(people(390), tmp_path / "big"), **PLAIN)
    _, q = rows_and_q(outcome)
    pieces, _ = rows_and_q(outcome)
    seen = np.concatenate([outcome.model.predict(own) for own in pieces])
    assert np.abs(q - seen).max() > 1e-4


def test_held_out_figures_are_those_of_the_same_rows_in_memory(tmp_path: Path) -> None:
    stream = fl.open_data(write(people(), tmp_path / "big"), stream=True, **PLAIN)
    learn, test = stream.split(0.3)
    outcome = estimate(learn)
    curve = fl.frontier(outcome, ["DP"], [0.0, 0.05])
    reader = test.learn().reader

    def read(part: Part, frame: Any) -> list[pa.Table] | None:
        rows = reader(part, frame)
        return None if rows is None else [pa.table(rows.to_frame())]

    held = test.parts.fold(read, lambda a, b: a + b, pa.concat_tables)
    assert held is not None
    rows = fl.Dataset.read_like(outcome.learned.schema, held)
    pq.write_table(held, tmp_path / "held.parquet")
    in_memory = fl.evaluate(curve, rows)
    for source in (test, tmp_path / "held.parquet"):
        streamed_ = fl.evaluate(curve, source)
        for one, other in zip(in_memory.held_out, streamed_.held_out, strict=True):
            assert other.rows == one.rows
            np.testing.assert_array_equal(other.counts, one.counts)
            assert other.accuracy.value == pytest.approx(one.accuracy.value, abs=1e-12)
            assert other.at_most == pytest.approx(one.at_most, abs=1e-9)
            for name, gap in one.gaps.items():
                assert other.gaps[name].value == pytest.approx(gap.value, abs=1e-12)
                assert other.gaps[name].high == pytest.approx(gap.high, abs=0.02)


def test_bad_input_is_refused(tmp_path: Path) -> None:
    folder = write(people(800), tmp_path / "big")
    with pytest.raises(InputError, match="name the columns of files"):
        fl.solve(str(folder), {"DP": 0.1})
    outcome = estimate(folder, **PLAIN)
    with pytest.raises(InputError, match="estimated already"):
        fl.solve(outcome, {"DP": 0.1}, label="paid")
    with pytest.raises(InputError, match="on other rows"):
        fl.discretize(fl.open_data(folder, stream=True, **PLAIN), 8, outcome=outcome)
    with pytest.raises(InputError, match="on other rows"):
        fl.discretize(fl.Dataset.from_frame(people(800), **PLAIN), 8, outcome=outcome)


def test_results_of_a_classifier_on_streamed_rows_are_saved(tmp_path: Path) -> None:
    """Labels that were counted were written with them, and no file that holds them can be loaded."""
    stream = fl.open_data(write(people(), tmp_path / "big"), stream=True, **PLAIN)
    outcome = estimate(stream)
    rule = fl.solve(outcome, {"DP": 0.3})
    dist = fl.discretize(stream, 8, outcome=outcome)
    for found in (rule, dist, fl.frontier(dist, "DP", [0.2, 0.3])):
        fl.save(found, tmp_path / "saved")
        again = fl.load(tmp_path / "saved")
        assert type(again) is type(found)
    fl.save(rule, tmp_path / "saved")
    assert fl.load(tmp_path / "saved").on_labels == rule.on_labels
