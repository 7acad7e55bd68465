"""Draws are uniform, and depend on nothing but the seed and the row."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from scipy.stats import kstest

from fairlimits._util.types import Floats
from fairlimits.data.columns import Table
from fairlimits.data.draws import content_keys, row_draws
from fairlimits.decorrelation.applying import draw_targets

SEEN = [0.6695113540264677, 0.6695113540264677, 0.383398244607858, 0.7024631283883572]


def draws(frame: Any, seed: int = 0) -> Floats:
    return row_draws(Table.open(frame), seed, draw_by="content")


def table(rows: int = 2_000) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    return pd.DataFrame({"a": rng.normal(size=rows), "b": rng.choice(["u", "v"], rows), "c": np.arange(rows)})


def test_they_are_uniform_and_unlike_those_of_other_seeds() -> None:
    first, second = draws(table(), 0), draws(table(), 1)
    assert kstest(first, "uniform").pvalue > 0.01
    assert kstest(second, "uniform").pvalue > 0.01
    assert abs(np.corrcoef(first, second)[0, 1]) < 0.08
    # Neighbouring numbers are drawn as independently as any.
    near = draws(pd.DataFrame({"c": np.arange(2_000)}))
    assert abs(np.corrcoef(near[1:], near[:-1])[0, 1]) < 0.08


def test_they_are_the_same_on_every_machine() -> None:
    frame = pd.DataFrame({"a": [0.0, -0.0, 1.5, np.nan], "b": ["u", "u", None, "é"]})
    found = draws(frame, 7)
    assert found[0] == found[1]
    np.testing.assert_allclose(found, SEEN, rtol=1e-12)


def test_they_are_the_same_in_every_kind_of_table() -> None:
    frame = table(50).assign(d=[True, False] * 25)
    frame.loc[3, "a"] = np.nan
    frame.loc[4, "b"] = None
    for other in (
        pl.from_pandas(frame),
        pa.Table.from_pandas(frame),
        frame.assign(b=frame["b"].astype("category"), c=frame["c"].astype("float32"), d=frame["d"].astype(float)),
    ):
        np.testing.assert_array_equal(draws(other), draws(frame))


def test_every_column_and_its_place_counts() -> None:
    frame = table(50)
    for name in frame.columns:
        changed = frame.assign(**{name: frame[name].to_numpy()[::-1]})
        assert (draws(changed) != draws(frame)).mean() > 0.4
    numbers = pd.DataFrame({"a": [1.0], "b": [2.0]})
    assert draws(numbers) != draws(numbers[["b", "a"]])


def test_targets_follow_the_chances() -> None:
    chances = np.array([[0.25, 0.0], [0.0, 1.0], [0.75, 0.0]])
    cell = np.repeat([0, 1], [4_000, 10])
    found = draw_targets(chances, cell, np.random.default_rng(0).random(len(cell)))
    assert abs(np.mean(found[:4_000] == 0) - 0.25) < 0.03
    assert set(found[:4_000]) == {0, 2}
    assert set(found[4_000:]) == {1}
    assert draw_targets(chances, cell[:0], np.zeros(0)).shape == (0,)
    assert list(draw_targets(chances, np.array([0]), np.array([1.0]))) == [2]


def test_equal_rows_share_a_draw_by_content_only() -> None:
    frame = table()
    twice = pa.concat_tables([pa.Table.from_pandas(frame, preserve_index=False)] * 3)
    rows = len(frame)
    by_content, by_row = (row_draws(Table.open(twice), 3, draw_by=own) for own in ("content", "row"))
    np.testing.assert_array_equal(by_content[:rows], by_content[rows : 2 * rows])
    # Of equals the first has the draw that it would have alone.
    alone = len(set(by_content[:rows]))
    assert (by_row == by_content).sum() == alone
    assert len(set(by_row)) == len(by_row)
    keys = content_keys(Table.open(twice))
    np.testing.assert_array_equal(keys[:rows], keys[-rows:])
    assert len(set(keys)) == alone
