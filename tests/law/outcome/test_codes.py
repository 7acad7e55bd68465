"""Features as codes: in order, a code for each value where that is possible, missing values apart."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairlimits.data import Dataset
from fairlimits.errors import FileError
from fairlimits.law.outcome.codes import Codes


def read(**columns: Any) -> Dataset:
    rows = len(next(iter(columns.values())))
    table = pa.table({**columns, "sex": ["f", "m"] * (rows // 2), "hired": [0, 1] * (rows // 2)})
    return Dataset.from_frame(table, label="hired", sensitive="sex")


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=2, max_size=40))
def test_codes_of_numbers_keep_their_order(values: list[float]) -> None:
    data = read(x=values * 2)
    codes = Codes.fit(data)
    found = codes.transform(data.columns, data.n_rows)[:, 0]
    expected = np.unique(np.asarray(values * 2), return_inverse=True)[1]
    assert (found == expected).all()
    assert codes.sizes == (len(set(values)),)


def test_many_numbers_share_codes_evenly() -> None:
    x = np.random.default_rng(0).normal(size=4_000)
    data = read(x=x)
    codes = Codes.fit(data)
    found = codes.transform(data.columns, data.n_rows)[:, 0]
    assert codes.sizes == (255,)
    assert (np.diff(found[np.argsort(x)].astype(int)) >= 0).all()
    assert np.bincount(found).max() < 40
    new = {"x": np.array([np.nan, -1e300, 1e300, np.inf])}
    assert codes.transform(new, 4)[:, 0].tolist() == [255, 0, 254, 254]


def test_categories_are_codes_and_the_rarest_share_one(monkeypatch: pytest.MonkeyPatch) -> None:
    # Tables group that many, but other rooms may be handed them.
    monkeypatch.setattr("fairlimits.data.features._FEW", 1000)
    data = read(c=["b", "a", "c", "a"])
    assert Codes.fit(data).transform({"c": np.array([0, 1, 2, -1])}, 4)[:, 0].tolist() == [0, 1, 2, 3]
    names = [f"c{i:03}" for i in range(300)]
    data = read(c=names + names[50:])
    codes = Codes.fit(data)
    assert codes.sizes == (255,)
    # Those that appear once are the rarest; there is room for four of them.
    assert codes.tables[0][50:].max() < 254
    assert (codes.tables[0][:50] == 254).sum() == 46
    assert len(set(codes.tables[0][50:].tolist())) == 250


def test_rows_of_weight_0_have_no_say() -> None:
    table = pa.table({"x": [1.0, 2.0, 3.0, 9.0], "sex": list("fmfm"), "hired": [0, 1, 0, 1], "w": [1, 1, 1, 0]})
    data = Dataset.from_frame(table, label="hired", sensitive="sex", weight="w")
    assert Codes.fit(data).sizes == (3,)


def test_codes_come_back_and_damage_is_refused() -> None:
    data = read(x=[1.0, 2.0, None, 5.0], c=["b", "a", "c", "a"])
    codes = Codes.fit(data)
    again = Codes.unpack(data.schema, codes.pack())
    assert (again.transform(data.columns, 4) == codes.transform(data.columns, 4)).all()
    for name, array in [
        ("0", np.array([2.0, 1.0])),
        ("0", np.array([1.0, np.nan])),
        ("0", np.arange(255.0)),
        ("0", np.array([1, 2])),
        ("1", np.array([0, 1], np.uint8)),
        ("1", np.array([0, 1, 255], np.uint8)),
        ("1", np.array([0, 1, 2])),
    ]:
        with pytest.raises(FileError, match="codes of the feature"):
            Codes.unpack(data.schema, codes.pack() | {name: array})
    with pytest.raises(FileError, match="codes of the feature 'c'"):
        Codes.unpack(data.schema, {"0": codes.tables[0]})
