"""Trees by bit masks: the same scores as scikit-learn's, and nothing but sound trees comes out of a file."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from threadpoolctl import threadpool_limits

from fairlimits.errors import FileError
from fairlimits.law.outcome import learners
from fairlimits.law.outcome.exporting import UnknownLayoutError, export_trees
from fairlimits.law.outcome.learners import Booster, Sample, fit_booster, fit_first, losses_by_trees
from fairlimits.law.outcome.trees import Trees

SIZES = (255, 1, 2, 9, 40)
NOMINAL = (False, False, True, True, True)


def drawn(rows: int, seed: int, weighted: bool = False) -> Sample:
    """Codes of every kind, missing ones among them, and a target that depends on them."""
    rng = np.random.default_rng(seed)
    codes = np.column_stack([rng.integers(0, size + 1, rows) for size in SIZES]).astype(np.uint8)
    score = np.sin(codes[:, 0] / 20) + (codes[:, 3] % 2) + (codes[:, 4] % 3 == 1) - 1 + rng.normal(size=rows)
    return Sample(codes, score > 0, rng.integers(1, 4, rows).astype(float) if weighted else None)


@pytest.fixture(autouse=True, scope="module")
def _one_thread() -> Iterator[None]:
    """As in the package: threads of one fit would wait for each other."""
    with threadpool_limits(limits=1):
        yield


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """What was exported: the models of scikit-learn, and how they saw rows."""
    seen: list[tuple[Any, ...]] = []

    def export(*arguments: Any) -> Any:
        seen.append(arguments)
        return export_trees(*arguments)

    monkeypatch.setattr(learners, "export_trees", export)
    return seen


@settings(max_examples=15)
@given(
    leaves=st.integers(2, 32),
    ordered=st.booleans(),
    rows=st.integers(2, 400),
    weighted=st.booleans(),
    seed=st.integers(0, 1_000),
)
def test_scores_are_those_of_scikit_learn(leaves: int, ordered: bool, rows: int, weighted: bool, seed: int) -> None:
    sample = drawn(rows, seed, weighted)
    sample.target[:2] = False, True
    new = drawn(200, seed + 1)
    with pytest.MonkeyPatch.context() as patch:
        seen: list[tuple[Any, ...]] = []

        def export(*arguments: Any) -> Any:
            seen.append(arguments)
            return export_trees(*arguments)

        patch.setattr(learners, "export_trees", export)
        member = fit_booster(Booster("", leaves, 0.3, ordered=ordered), SIZES, NOMINAL, sample, 5, seed)
    model, _, features, seen_as, _ = seen[0]
    assert member.trees is not None
    assert len(member.trees) == 5
    rows_of = np.column_stack([values[new.codes[:, at]] for at, values in zip(features, seen_as, strict=True)])
    chance = 1 / (1 + np.exp(-member.base - member.trees.scores(new.codes).astype(float)))
    assert chance == pytest.approx(model.predict_proba(rows_of)[:, 1], abs=1e-6)
    # Stage by stage, and with the last feature given later.
    given_later = member.trees.masks(new.codes[:, :-1]) & member.trees.masks_of(4, 7)
    codes = np.column_stack([new.codes[:, :-1], np.full(200, 7, np.uint8)])
    assert (member.trees.reached(given_later).sum(axis=1) == member.trees.scores(codes)).all()
    staged = np.array([own[:, 1] for own in model.staged_predict_proba(rows_of)])
    weight = np.ones(200)
    expected = -np.log(np.where(new.target, staged, 1 - staged)) @ weight
    assert losses_by_trees(member, new) == pytest.approx(expected, rel=1e-4)
    first = member.trees.first(2).scores(new.codes)
    assert 1 / (1 + np.exp(-member.base - first.astype(float))) == pytest.approx(staged[1], abs=1e-6)


def test_growing_stops_when_rows_held_out_gain_no_more() -> None:
    sample, held = drawn(600, 0), drawn(300, 1)
    booster, member, trees = fit_first(Booster("", 8, 0.3), SIZES, NOMINAL, sample, held, 0)
    assert booster.rate == 0.3
    assert member.trees is not None
    best = int(np.argmin(losses_by_trees(member, held))) + 1
    assert trees == int(np.ceil(1.25 * best))
    assert len(member.trees) >= best


def test_a_layout_that_is_not_known_is_noticed(watched: list[tuple[Any, ...]]) -> None:
    sample = drawn(300, 0)
    fit_booster(Booster("", 8, 0.3), SIZES, NOMINAL, sample, 3, 0)
    model, *rest = watched[0]
    decide = model.decision_function
    model.decision_function = lambda rows: decide(rows) + np.arange(len(rows)) / 100
    with pytest.raises(UnknownLayoutError, match="do not agree"):
        export_trees(model, *rest)
    model._predictors = [[None]]
    with pytest.raises(UnknownLayoutError, match="cannot be read"):
        export_trees(model, *rest)
    del model._predictors
    with pytest.raises(UnknownLayoutError, match="cannot be read"):
        export_trees(model, *rest)


@cache
def packed() -> dict[str, Any]:
    member = fit_booster(Booster("", 8, 0.3), SIZES, NOMINAL, drawn(300, 0), 4, 0)
    assert member.trees is not None
    return member.trees.pack()


def test_trees_come_back() -> None:
    arrays = packed()
    codes = drawn(50, 2).codes
    again = Trees.unpack(SIZES, arrays)
    assert (again.scores(codes) == Trees(SIZES, **arrays).scores(codes)).all()
    empty = Trees.unpack(SIZES, Trees.none(SIZES).pack())
    assert (empty.scores(codes) == 0).all()


@given(st.data())
def test_damaged_trees_are_refused_or_still_trees(data: st.DataObject) -> None:
    """Whatever one byte becomes, the result is refused or every row still reaches exactly one leaf."""
    arrays = {name: array.copy() for name, array in packed().items()}
    name = data.draw(st.sampled_from([*arrays]))
    flat = arrays[name].reshape(-1).view(np.uint8)
    flat[data.draw(st.integers(0, len(flat) - 1))] = data.draw(st.integers(0, 255))
    try:
        trees = Trees.unpack(SIZES, arrays)
    except FileError:
        return
    masks = trees.masks(drawn(100, 3).codes).astype(np.uint64)
    assert (masks > 0).all()
    assert (masks & (masks - np.uint64(1)) == 0).all()
    assert np.isfinite(trees.scores(drawn(100, 3).codes)).all()


@pytest.mark.parametrize(
    "change",
    [
        lambda arrays: arrays.pop("values"),
        lambda arrays: arrays.update(values=arrays["values"].astype(float)),
        lambda arrays: arrays.update(values=arrays["values"][:-1]),
        lambda arrays: arrays["values"].__setitem__(0, np.nan),
        lambda arrays: arrays["leaves"].__setitem__(0, 33),
        lambda arrays: arrays["leaves"].__setitem__(0, 0),
        lambda arrays: arrays["feature"].__setitem__(0, 5),
        lambda arrays: arrays["middle"].__setitem__(0, 0),
        lambda arrays: arrays["upper"].__setitem__(1, arrays["upper"][1] + 1),
        lambda arrays: arrays.update(goes_left=arrays["goes_left"][:, :8]),
        lambda arrays: arrays.update(lower=arrays["lower"][:, None]),
    ],
)
def test_damage_gets_a_sentence(change: Any) -> None:
    arrays = {name: array.copy() for name, array in packed().items()}
    change(arrays)
    with pytest.raises(FileError, match="trees are damaged"):
        Trees.unpack(SIZES, arrays)
