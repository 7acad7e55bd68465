"""Audits of rows that are not in memory: the figures of the same rows in memory, however the rows are read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.dataset as pads
import pyarrow.parquet as pq
import pytest
from sklearn.linear_model import LogisticRegression

import fairlimits as fl
from fairlimits.data import Part, Stream, parts
from fairlimits.data.sides import Side
from fairlimits.errors import InputError
from fairlimits.evaluation.audits import audit_on
from fairlimits.evaluation.audits.audited_people import PeopleInMemory, PeopleInParts, split_people
from fairlimits.evaluation.audits.predictions import from_rows
from fairlimits.notions import NOTIONS
from streams import ROLES, people, write

LEARNER = LogisticRegression()
PLAIN: dict[str, Any] = {**ROLES, "drop": "weight"}
WEIGHTED: dict[str, Any] = {**ROLES, "weight": "weight"}


def table(n: int = 3000) -> pa.Table:
    """People with decisions, with scores, and with scores on another scale."""
    rows = people(n)
    age = rows["age"].to_numpy()
    noise = np.random.default_rng(1).normal(0, 15, n)
    score = 1 / (1 + np.exp(-(age + noise - 50) / 10))
    columns = {"decided": age + noise > 55, "score": score, "points": 300 + 5 * age}
    for name, values in columns.items():
        rows = rows.append_column(name, pa.array(values))
    return rows


def judged(source: Any, roles: dict[str, Any], **options: Any) -> fl.Audit:
    asked: dict[str, Any] = {"notions": ["DP", "EOd"], "estimator": LEARNER, "resamples": 200, **options}
    return fl.audit(source, ["decided", "score"], **asked, **roles)


def read_all(stream: Stream, side: Side) -> tuple[fl.Dataset, Any]:
    """All rows of a stream in memory, and which of them are on a side."""
    learned = stream.learn()

    def read(part: Part, frame: Any) -> list[Any]:
        rows = learned.reader(part, frame)
        assert rows is not None
        return [(pa.table(rows.to_frame()), side.holds(part, frame))]

    found = stream.parts.fold(read, lambda a, b: a + b, lambda total: total)
    assert found is not None
    rows = fl.Dataset.read_like(learned.schema, pa.concat_tables([own for own, _ in found]))
    return rows, np.flatnonzero(np.concatenate([own for _, own in found]))


@pytest.mark.parametrize("roles", [PLAIN, WEIGHTED], ids=["plain", "weighted"])
@pytest.mark.parametrize("threshold", ["auto", None], ids=["decisions", "chances"])
def test_figures_are_those_of_the_same_rows_in_memory(tmp_path: Path, roles: dict[str, Any], threshold: Any) -> None:
    stream = fl.open_data(write(table(), tmp_path / "big"), stream=True, **roles)
    names, options = ["decided", "score"], {"notions": ("DP", "EOd"), "aware": False, "resamples": 200}
    counted = split_people(stream, names, threshold, 0.3, 0)
    audited, learn = counted.audited, counted.learn
    assert isinstance(audited, PeopleInParts)
    assert not counted.alone
    outcome = fl.estimate_outcome(learn, estimator=LEARNER)
    found = audit_on(outcome, audited, **options)  # type: ignore[arg-type]

    assert audited.test.side is not None
    whole, held = read_all(stream, audited.test.side)
    seen, models, _ = from_rows(whole, names, threshold)
    in_memory = audit_on(outcome, PeopleInMemory(seen, models, held), **options)  # type: ignore[arg-type]
    np.testing.assert_array_equal(in_memory.counts, found.counts)
    for one, other in zip(found.models, in_memory.models, strict=True):
        assert one.decided == other.decided
        assert one.accuracy.value == pytest.approx(other.accuracy.value, abs=1e-12)
        assert one.loss.value == pytest.approx(other.loss.value, abs=1e-12)
        for name in NOTIONS:
            assert one.gaps[name].value == pytest.approx(other.gaps[name].value, abs=1e-12)
        for line, same in zip(one.lines, other.lines, strict=True):
            assert line.avoidable.value == pytest.approx(same.avoidable.value, abs=1e-12)
            assert line.unavoidable.value == pytest.approx(same.unavoidable.value, abs=1e-12)
            assert line.avoidable.high == pytest.approx(same.avoidable.high, abs=0.02)
        for figure, values in one.by_group.figures.items():
            for mine, theirs in zip(values, other.by_group.figures[figure], strict=True):
                assert tuple(mine) == pytest.approx(tuple(theirs), abs=1e-4, nan_ok=True)
                assert mine.value == pytest.approx(theirs.value, abs=1e-12, nan_ok=True)


def test_nothing_depends_on_the_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    for number, size in enumerate((3000, 170)):
        folder = write(table(), tmp_path / f"parts{number}", row_group_size=size)
        found.append(judged(folder, PLAIN))
        monkeypatch.setattr(parts, "usable_cores", lambda: 3)
    one, other = found
    assert str(one.to_frame().to_pylist()) == str(other.to_frame().to_pylist())
    np.testing.assert_array_equal(one.counts, other.counts)
    pattern = judged(str(tmp_path / "parts0" / "*.parquet"), PLAIN)
    arrow = judged(pads.dataset(tmp_path / "parts0"), PLAIN)
    for again in (pattern, arrow):
        assert str(one.to_frame().to_pylist()) == str(again.to_frame().to_pylist())


def test_people_of_an_id_are_on_one_side(tmp_path: Path) -> None:
    rows = table(1500)
    who = pa.array(np.arange(1500) % 500)
    folder = write(rows.append_column("who", who), tmp_path / "big")
    found = judged(folder, PLAIN, id="who")
    assert found.tested is not None
    # Three rows of each person, who are on one side together.
    assert found.tested % 3 == 0
    shuffled = rows.append_column("who", who).take(np.random.default_rng(0).permutation(1500))
    again = judged(write(shuffled, tmp_path / "again"), PLAIN, id="who")
    np.testing.assert_array_equal(again.counts, found.counts)


def test_predictions_alone_are_what_rules_are_made_from(tmp_path: Path) -> None:
    few = table().select(["sex", "paid", "score"])
    found = fl.audit(write(few, tmp_path / "big"), "score", estimator=LEARNER, resamples=100, **ROLES)
    assert found.alone
    assert found["score"].decided == "scores decided 1 at 0.5 or above"


@pytest.mark.parametrize("roles", [PLAIN, WEIGHTED], ids=["plain", "weighted"])
@pytest.mark.parametrize("column", ["decided", "score", "flag"])
def test_rates_of_groups_are_those_in_memory(tmp_path: Path, roles: dict[str, Any], column: str) -> None:
    rows = table()
    in_memory = fl.Dataset.from_frame(rows, **roles)
    folder = write(rows, tmp_path / "big")
    of_columns = fl.group_rates(in_memory, column)
    values = rows[column].to_numpy().astype(float)
    weights = rows["weight"].to_numpy() if "weight" in roles else None
    labels = rows["paid"].to_numpy() == "yes"
    of_arrays = fl.group_rates(labels, values, rows["sex"].to_numpy(), weights=weights)
    for own in (folder, str(folder / "*.parquet"), pads.dataset(folder)):
        found = fl.group_rates(own, column, **roles)
        for other in (of_columns, of_arrays):
            assert found.rows == other.rows
            for name, gap in found.gaps.items():
                assert gap.estimate.value == pytest.approx(other.gaps[name].estimate.value, abs=1e-12, nan_ok=True)
                assert gap.highest == other.gaps[name].highest
            for figure, own_values in found.shown.items():
                for mine, theirs in zip(own_values, other.shown[figure], strict=True):
                    assert mine.value == pytest.approx(theirs.value, abs=1e-12, nan_ok=True)
                    # Intervals rest on how scores vary, of which what lies within one of 64 ranges is lost.
                    near = 3e-4 if column == "score" else 1e-12
                    assert tuple(mine) == pytest.approx(tuple(theirs), abs=near, nan_ok=True)


def test_rates_of_groups_ask_for_what_is_missing(tmp_path: Path) -> None:
    folder = write(table(300), tmp_path / "big")
    with pytest.raises(InputError, match="group is missing"):
        fl.group_rates([1, 0], [1, 0])
    with pytest.raises(InputError, match="give its name"):
        fl.group_rates(folder, [1, 0], **PLAIN)
    with pytest.raises(InputError, match="name it with weight"):
        fl.group_rates(folder, "decided", weights=[1.0], **PLAIN)
    with pytest.raises(InputError, match="not chances"):
        fl.group_rates(folder, "points", **PLAIN)
    with pytest.raises(InputError, match="leave label out"):
        fl.group_rates([1, 0], [1, 0], ["a", "b"], label="paid")


def test_scenarios_place_a_model_beside_streamed_rows(tmp_path: Path) -> None:
    folder = write(table().drop_columns(["points", "score"]), tmp_path / "big")
    found = fl.compare_scenarios(folder, {"DP": 0.05}, predictions="decided", estimator=LEARNER, resamples=100, **PLAIN)
    assert found.audit is not None
    assert [own.name for own in found.audit.models] == ["decided"]


@pytest.mark.parametrize(
    ("predictions", "options", "words"),
    [
        (np.zeros(3000), {}, "name their columns"),
        ("sex", {}, "is the label, the weight or sensitive"),
        ("nobody", {}, "is not in the table"),
        ("points", {}, "no threshold says"),
        ("job", {}, "are not numbers"),
        ("income", {}, "missing"),
        (["score", "score"], {}, "twice"),
        ("score", {"threshold": 2.0}, "all would be decided alike"),
        ([], {}, "No predictions"),
    ],
)
def test_bad_predictions_are_refused(tmp_path: Path, predictions: Any, options: dict[str, Any], words: str) -> None:
    folder = tmp_path / "big"
    folder.mkdir()
    pq.write_table(table(600), folder / "part.parquet")
    with pytest.raises(InputError, match=words):
        fl.audit(folder, predictions, estimator=LEARNER, **PLAIN, **options)
