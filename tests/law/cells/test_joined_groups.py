"""Small groups that were joined: in cells, in files, for new rows, and in rows that are not in memory."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import fairlimits as fl
from fairlimits.errors import SmallGroupsWarning
from fairlimits.law.generators.registry import make_generator

PARTS: dict[str, Any] = {"label": "y", "sensitive": ["sex", "race"], "small_groups": "join"}
SIZES = {("F", "b"): (60, 50), ("F", "w"): (90, 60), ("M", "b"): (20, 12), ("M", "w"): (70, 80), ("F", "o"): (15, 25)}


def people(seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    rows = [(sex, race, y) for (sex, race), own in SIZES.items() for y, number in enumerate(own) for _ in range(number)]
    frame = pd.DataFrame(rows, columns=["sex", "race", "y"])
    return frame.assign(age=rng.normal(40, 10, len(frame)) + 5 * frame["y"], job=rng.choice(["a", "b"], len(frame)))


def read(frame: pd.DataFrame) -> fl.Dataset:
    with pytest.warns(SmallGroupsWarning, match="Joined into one group of 72 rows"):
        return fl.Dataset.from_frame(frame, **PARTS)


def test_new_rows_get_into_the_joined_group_also_from_files(tmp_path: Path) -> None:
    data = read(people())
    rule = fl.solve(fl.discretize(data, 6, generator=None, partition="features"), {"DP": 0.05}, aware=True)
    rule.save(tmp_path / "rule.npz")
    kept = fl.Rule.load(tmp_path / "rule.npz")
    assert kept.groups == data.groups == ("F / b", "F / w", "M / w", "F / o, M / b (joined)")
    new = people(1)
    # By hand: everybody of the two small groups is scored as of the joined one.
    coded = fl.Dataset.read_like(data.schema, new)
    joined = ((new["sex"] + new["race"]).isin(["Fo", "Mb"])).to_numpy()
    assert (coded.group[joined] == 3).all()
    assert (coded.group[~joined] < 3).all()
    by_hand = rule.scores[rule.distribution.cells_of(coded), coded.group]
    for own in (rule, kept):
        np.testing.assert_allclose(own.decide(new.drop(columns="y")), by_hand)
        np.testing.assert_allclose(own.decide(coded), by_hand)
    assert kept.distribution.schema == data.schema


def test_rows_that_are_not_in_memory_are_counted_in_the_joined_group(tmp_path: Path) -> None:
    frame = people()
    frame.to_parquet(tmp_path / "all.parquet")
    whole = fl.discretize(read(frame), 6, generator=None, partition="features")
    with pytest.warns(SmallGroupsWarning, match=r"Joined.*: F / o \(15 rows with label 0 and 25.*, M / b \(20"):
        parts = fl.discretize(tmp_path / "all.parquet", 6, partition="features", **PARTS)
    assert parts.schema == whole.schema
    assert parts.counts is not None
    np.testing.assert_array_equal(parts.counts, whole.counts)
    others = people(1)
    others.to_parquet(tmp_path / "others.parquet")
    more = fl.discretize(tmp_path / "others.parquet", like=parts)
    assert more.counts is not None
    assert more.counts[:, 3].sum() == 72
    assert fl.merge([parts, more]).groups == parts.groups


def test_generated_rows_know_the_joined_group() -> None:
    data = read(people())
    fitted = make_generator("cart").fit(data, 0)
    drawn = fitted.sample(200, 0)
    assert drawn.schema == data.schema
    again = fl.Dataset.read_like(data.schema, drawn.to_frame())
    np.testing.assert_array_equal(again.group, drawn.group)


def test_cells_name_groups_that_are_small_by_the_rows_behind_them() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SmallGroupsWarning)
        data = fl.Dataset.from_frame(people(), **PARTS | {"small_groups": "set aside"})
    dist = fl.discretize(data, 6, generator=None, partition="features")
    assert dist.small_groups_note == data.small_groups_note
    assert "M / b (20 rows with label 0 and 12 rows with label 1)" in str(dist.small_groups_note)
    assert fl.CellDistribution.from_mass(dist.mass).small_groups_note is None
