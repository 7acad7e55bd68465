"""Ceilings of rows that are not in memory: those of the same people in memory, however the rows are read."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.dataset as pads
import pytest
from sklearn.linear_model import LogisticRegression

import fairlimits as fl
from fairlimits._util.types import Flags, Floats, Ints
from fairlimits.data import Dataset, Stream, array_keys, buckets, key_draws, parts
from fairlimits.errors import FileError, InputError
from fairlimits.evaluation import Study
from fairlimits.evaluation.ceilings import curves, kind_counts, kind_learning, streamed, twins
from fairlimits.evaluation.ceilings.kind_counts import feature_keys
from fairlimits.evaluation.ceilings.kind_learning import Learn
from fairlimits.evaluation.ceilings.kinds import coarsen, feature_kinds
from fairlimits.evaluation.ceilings.resolutions import Proposal
from fairlimits.evaluation.ceilings.streamed import StreamedTwins
from fairlimits.evaluation.ceilings.twins import Twins
from fairlimits.notions import Estimate
from streams import ROLES, people, write

PLAIN: dict[str, Any] = {**ROLES, "features": ["age", "job"]}
WEIGHTED: dict[str, Any] = {**PLAIN, "weight": "weight"}
ASKED: dict[str, Any] = {"DP": [0.02, 0.1], "EA": [0.1, 0.2]}


def table(rows: int = 1500, seed: int = 0) -> pa.Table:
    """People of some hundred kinds."""
    own = people(rows, seed)
    age = np.floor(own["age"].to_numpy() / 3) * 3
    return own.set_column(own.schema.get_field_index("age"), "age", pa.array(age))


def some_chances(columns: Any, groups: int) -> Floats:
    """Chances that stand for those of a model: some numbers for every kind."""
    key = array_keys(columns.values(), "model")
    q = np.stack([key_draws(array_keys([key], str(at))) + 0.2 for at in range(2 * groups)], axis=1)
    return np.asarray(q / q.sum(axis=1, keepdims=True)).reshape(-1, groups, 2)


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Learn nothing, which takes no time, where it makes no difference."""

    def laws(data: Dataset, fold: Ints, folds: int, watched: Flags, **options: Any) -> list[Any]:
        law = SimpleNamespace(
            predict=lambda columns, rows: some_chances(columns, len(data.groups)),
            codes=SimpleNamespace(schema=data.schema),
        )
        return [law] * folds

    monkeypatch.setattr(kind_learning, "learn_apart", laws)
    monkeypatch.setattr(
        kind_learning, "estimate_apart", lambda data, *_, **__: some_chances(data.columns, len(data.groups))
    )


def opened(source: Any, roles: dict[str, Any]) -> Stream:
    found = fl.open_data(source, stream=True, **roles)
    assert isinstance(found, Stream)
    return found


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("roles", [PLAIN, WEIGHTED], ids=["plain", "weighted"])
@pytest.mark.parametrize("steps", [None, {"age": 12.0}], ids=["as they are", "in steps"])
def test_a_ceiling_is_that_of_the_same_people_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, roles: dict[str, Any], steps: Any
) -> None:
    drawn: list[tuple[Dataset, Flags]] = []
    sample, halves = Learn.people, twins.in_halves

    def watched(self: Learn, features: Any) -> tuple[Dataset, Flags]:
        drawn.append(sample(self, features))
        return drawn[-1]

    monkeypatch.setattr(Learn, "people", watched)
    for module in (twins, kind_counts):
        # One order of people for both; whose it is makes no difference here.
        monkeypatch.setattr(
            module,
            "in_halves",
            lambda kind, sort, weight, order: halves(kind, sort, weight, np.lexsort((weight, sort))),
        )
    # Draws along axes that may point either way.
    monkeypatch.setattr(curves, "_quantile", lambda *_: 2.0)
    monkeypatch.setattr(streamed, "_BUCKET", 200)
    folder = write(table(), tmp_path / "big")
    study = Study.of(opened(folder, roles), steps)
    ((rows, apart),) = drawn
    whole = Dataset.from_frame(table(), **roles)
    counted = whole if whole.weight is None else whole.take(whole.weight > 0)
    np.testing.assert_array_equal(rows.counts, counted.counts)
    np.testing.assert_allclose(rows.shares.sum(), 1)

    assert isinstance(study.twins, StreamedTwins)
    rows = coarsen(rows, steps or {})
    learnt = study.twins.learnt
    chances = learnt.models.chances(rows.columns, feature_keys(rows)).reshape(-1, len(rows.groups), 2)
    chances[apart] = learnt.witnesses.chances
    in_memory = Study(Twins(rows, feature_kinds(rows), apart, chances, 0), steps or {}, None)
    for aware, asked in ((False, ASKED), (True, ASKED), (False, {"DP": 0.05}), (True, {"EOd": 0.1})):
        options: dict[str, Any] = {"aware": aware, "requirements": ["selection rate <= 0.6"]}
        one, other = (own.ceiling(asked, **options) for own in (study, in_memory))
        assert (one.rows, one.kinds) == (other.rows, other.kinds)
        assert one.twins == pytest.approx(other.twins, abs=1e-14)
        for mine, theirs in ((one.curve, other.curve), (one.twins_curve, other.twins_curve)):
            assert mine is not None
            assert theirs is not None
            np.testing.assert_allclose(mine.duals, theirs.duals, rtol=0, atol=1e-12)
            np.testing.assert_allclose(mine.value, theirs.value, rtol=0, atol=1e-12)
            np.testing.assert_allclose(mine.alone, theirs.alone, rtol=0, atol=1e-12)
            # Errors rest on differences of 1e-6, in which what sums are rounded by counts for more.
            np.testing.assert_allclose(mine.standard_error, theirs.standard_error, rtol=0, atol=1e-9)
            np.testing.assert_allclose(mine.upper, theirs.upper, rtol=0, atol=1e-9)


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("roles", [PLAIN, WEIGHTED], ids=["plain", "weighted"])
def test_nothing_depends_on_the_parts_or_on_the_order_of_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, roles: dict[str, Any]
) -> None:
    monkeypatch.setattr(streamed, "_BUCKET", 300)
    # A sample is drawn too.
    monkeypatch.setattr(streamed, "_MOST_LEARNED", 700)
    monkeypatch.setattr(streamed, "_MOST_APART", 200)
    one = write(table(), tmp_path / "one")
    shuffled = table().take(np.random.default_rng(0).permutation(1500))
    other = write(shuffled, tmp_path / "other", files=2, row_group_size=170)
    first = fl.ceiling(one, ASKED, **roles).to_dict()
    assert first["rows"] > 1300
    monkeypatch.setattr(parts, "usable_cores", lambda: 3)
    monkeypatch.setattr(buckets, "usable_cores", lambda: 3)
    for source in (str(one / "*.parquet"), pads.dataset(one), other):
        assert fl.ceiling(source, ASKED, **roles).to_dict() == first


@pytest.mark.usefixtures("quick")
def test_steps_are_proposed_where_few_have_a_twin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Dataset] = []

    def propose(apart: Dataset, random_state: int) -> Proposal:
        asked.append(apart)
        return Proposal({"age": 12.0}, Estimate(0.0, 0.0, 0.0))

    monkeypatch.setattr(kind_learning, "propose_steps", propose)
    folder = write(table(), tmp_path / "big")
    study = Study.of(opened(folder, PLAIN), "auto", enough_twins=0.5)
    assert study.proposal is None
    assert not asked
    study = Study.of(opened(folder, PLAIN), "auto")
    assert study.resolution == {"age": 12.0}
    assert isinstance(study.twins, StreamedTwins)
    # Who is set apart does not depend on the steps.
    assert len(study.twins.learnt.witnesses.label) == asked[0].n_rows
    top = study.ceiling({"DP": 0.1})
    assert top.rows == 1500
    assert top.kinds < Study.of(opened(folder, PLAIN)).ceiling({"DP": 0.1}).kinds


@pytest.mark.usefixtures("quick")
def test_audits_and_scenarios_of_files_have_ceilings(tmp_path: Path) -> None:
    rows = table()
    rows = rows.append_column("decided", pa.array(rows["age"].to_numpy() > 50))
    folder = write(rows, tmp_path / "big")
    options: dict[str, Any] = {"estimator": LogisticRegression(), "resamples": 100, "ceiling": True}
    roles = {**PLAIN, "features": ["age", "job", "decided"]}
    reach = fl.audit(folder, "decided", notions="DP", **options, **roles)["decided"].reach
    assert reach is not None
    # What rules see are the features, and not what was decided.
    top = Study.of(opened(folder, PLAIN)).ceiling(reach.gaps, confidence=0.975)
    assert reach.upper == pytest.approx(top.upper)
    assert reach.twins == pytest.approx(top.twins)
    scenarios = fl.compare_scenarios(folder, {"DP": 0.1}, **options, **PLAIN)
    assert all((own.ceiling is None) == own.fixed for own in scenarios.situations)


def test_what_is_learned_of_streamed_rows_bounds_them(tmp_path: Path) -> None:
    folder = write(table(1000), tmp_path / "big")
    top = fl.ceiling(folder, {"DP": 0.05}, **PLAIN)
    in_memory = fl.ceiling(Dataset.from_frame(table(1000), **PLAIN), {"DP": 0.05})
    assert (top.rows, top.kinds) == (in_memory.rows, in_memory.kinds)
    assert top.twins == pytest.approx(in_memory.twins)
    # Others are set apart: as far off as chance explains.
    assert abs(top.value - in_memory.value) < 3 * top.curve.standard_error[0]
    assert "no rule" in top.summary()


def test_coins_take_their_share_of_people_who_are_alike() -> None:
    rng = np.random.default_rng(0)
    found = np.empty(4000, np.dtype([("full", "u8"), ("sort", "i4"), ("weight", "f8")]))
    found["full"], found["sort"], found["weight"] = rng.integers(0, 2**63, 4000), np.arange(4000) % 4, 1.0
    times = rng.integers(0, 30, 4000)
    taken = kind_counts.drawn(found, times, 0.1, "purpose")
    assert ((taken >= 0) & (taken <= times)).all()
    assert taken.sum() == pytest.approx(0.1 * times.sum(), rel=0.05)
    assert taken.var() == pytest.approx((0.09 * times).mean() + 0.01 * times.var(), rel=0.1)
    np.testing.assert_array_equal(kind_counts.drawn(found, times, 1.0, "purpose"), times)
    assert (kind_counts.drawn(found, times, 0.1, "other") != taken).any()


def test_what_cannot_be_asked_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write(table(300), tmp_path / "big")
    with pytest.raises(InputError, match="say which columns"):
        fl.ceiling(folder, {"DP": 0.1})
    with pytest.raises(InputError, match="is not a number"):
        fl.ceiling(folder, {"DP": 0.1}, resolution={"job": 5}, **PLAIN)
    with pytest.raises(InputError, match="explained already"):
        fl.ceiling(Dataset.from_frame(table(300), **PLAIN), {"DP": 0.1}, label="paid")
    monkeypatch.setattr(buckets.FileBuckets, "_path", lambda self, number: tmp_path / "nowhere" / "at all")
    with pytest.raises(FileError, match="make room there"):
        fl.ceiling(folder, {"DP": 0.1}, **PLAIN)
