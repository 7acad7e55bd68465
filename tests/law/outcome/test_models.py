"""Models as plain arrays: the way to a file and back, and what is damaged on the way."""

from __future__ import annotations

import copy
import json
import pickle
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

from fairlimits import Outcome, estimate_outcome
from fairlimits.errors import FileError, InputError
from fairlimits.law import OutcomeModel
from known_people import known


@cache
def fitted() -> Outcome:
    return estimate_outcome(known(0, 300, 3, weighted=True)[0], folds=2)


def test_models_and_estimates_come_back(tmp_path: Path) -> None:
    found, new = fitted(), known(1, 100, 3, weighted=True)[0]
    assert found.model.is_plain
    found.save(tmp_path / "model")
    again = Outcome.load(tmp_path / "model")
    assert (again.q == found.q).all()
    assert (again.weight == found.weight).all()
    assert again.losses == found.losses
    assert again.chosen == found.chosen
    assert again.summary() == found.summary()
    assert again.model.n_folds == 2
    assert (again.model.predict(new) == found.model.predict(new)).all()
    for other in (pickle.loads(pickle.dumps(found.model)), copy.deepcopy(found.model)):  # noqa: S301
        assert (other.predict(new) == found.model.predict(new)).all()
        assert other.schema == found.model.schema


def test_a_users_classifier_is_not_plain() -> None:
    found = estimate_outcome(known(0, 100)[0], estimator=LogisticRegression(), folds=2)
    assert not found.model.is_plain
    with pytest.raises(InputError, match="classifier of your own"):
        found.model._pack()
    again = pickle.loads(pickle.dumps(found.model))  # noqa: S301
    assert (again.predict(found.data) == found.model.predict(found.data)).all()


def changed(path: list[Any], value: Any) -> dict[str, Any]:
    """A copy of the header with one entry changed, or taken out."""
    header = json.loads(json.dumps(fitted().model._pack()[0]))
    inner = header
    for key in path[:-1]:
        inner = inner[key]
    if value is None:
        del inner[path[-1]]
    else:
        inner[path[-1]] = value
    return dict(header)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (["schema"], None),
        (["encoding"], None),
        (["splits"], None),
        (["folds"], None),
        (["folds"], 0),
        (["folds"], True),
        (["folds"], "2"),
        (["splits"], [[[0], [1]]]),
        (["splits"], [[[0], [1, 2]], [[1], [1]]]),
        (["splits"], [[[0], [1, 2]], [[1], [2]], [[1], [2]]]),
        (["splits"], [[[0], [1, 2]], [[1.0], [2]]]),
        (["splits"], [[[1], [2]], [[0], [1, 2]]]),
        (["splits"], [[0, 1]]),
        (["splits"], 3),
        (["schema", "features", 0, "name"], "other"),
        (["encoding", "features", 0, "scale"], float("nan")),
        (["encoding", "features", 1, "categories", 0], "other"),
    ],
)
def test_damaged_headers_get_a_sentence(path: list[Any], value: Any) -> None:
    arrays = fitted().model._pack()[1]
    with pytest.raises(FileError):
        OutcomeModel._unpack(changed(path, value), arrays)


@given(st.data())
def test_damaged_arrays_are_refused_or_still_a_law(data: st.DataObject) -> None:
    """Whatever one byte becomes, the model is refused or still says chances."""
    header, arrays = fitted().model._pack()
    arrays = {name: array.copy() for name, array in arrays.items()}
    name = data.draw(st.sampled_from([name for name, array in arrays.items() if array.size]))
    action = data.draw(st.sampled_from(["byte", "byte", "byte", "gone", "short", "kind", "deep"]))
    if action == "byte":
        flat = arrays[name].reshape(-1).view(np.uint8)
        flat[data.draw(st.integers(0, len(flat) - 1))] = data.draw(st.integers(0, 255))
    elif action == "gone":
        del arrays[name]
    elif action == "short":
        arrays[name] = arrays[name][:-1]
    elif action == "kind":
        arrays[name] = arrays[name].astype(np.int32)
    else:
        arrays[name] = arrays[name][None]
    try:
        model = OutcomeModel._unpack(header, arrays)
    except FileError:
        return
    q = model.predict(known(1, 50, 3, weighted=True)[0])
    assert (q > 0).all()
    assert q.sum(axis=(1, 2)) == pytest.approx(1)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("q", np.zeros((300, 3, 2))),
        ("q", np.full((300, 3, 2), np.nan)),
        ("q", np.ones((2, 3, 2))),
        ("people/group", np.full(300, 7)),
        ("people/weight", np.full(300, -1.0)),
        ("columns/0", np.ones(3)),
    ],
)
def test_damaged_estimates_get_a_sentence(name: str, value: Any) -> None:
    header, arrays = fitted()._pack()
    with pytest.raises(FileError):
        Outcome._unpack(header, arrays | {name: value})
    with pytest.raises(FileError):
        Outcome._unpack(header, {key: array for key, array in arrays.items() if key != "people/label"})
    with pytest.raises(FileError):
        Outcome._unpack(header | {"losses": {}}, arrays)
    with pytest.raises(FileError):
        Outcome._unpack({"model": header["model"]}, arrays)


@pytest.mark.parametrize("field", ["losses", "chosen"])
def test_estimates_restored_from_what_they_cannot_be_are_refused(field: str) -> None:
    state = fitted().__getstate__()
    Outcome.__new__(Outcome).__setstate__(state)
    wrong = {} if field == "losses" else dict.fromkeys(fitted().chosen, (0.5,))
    with pytest.raises(InputError):
        Outcome.__new__(Outcome).__setstate__(state | {field: wrong})
