"""Recalibration: biased estimates are mended where there are many rows, and left alone where there are few."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairlimits.errors import FileError
from fairlimits.law.outcome.recalibration import Recalibration


def drawn(seed: int, rows: int, groups: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A true q for each row, and the group and label drawn from it."""
    rng = np.random.default_rng(seed)
    share = rng.dirichlet(np.ones(groups) * 5, rows)
    positive = 1 / (1 + np.exp(-rng.normal(0, 1.5, (rows, 1)) - np.linspace(-0.5, 0.5, groups)))
    q = np.stack([share * (1 - positive), share * positive], axis=2)
    cumulated = q.reshape(rows, -1).cumsum(axis=1)
    which = (rng.random((rows, 1)) > cumulated).sum(axis=1).clip(max=2 * groups - 1)
    return q, which // 2, which % 2


def biased(q: np.ndarray, size: float) -> np.ndarray:
    """The last group's positive label is made more likely than it is."""
    moved = q.copy()
    moved[:, -1, 1] *= np.exp(size)
    return np.asarray(moved / moved.sum(axis=(1, 2), keepdims=True))


def test_a_bias_that_many_rows_show_is_mended() -> None:
    q, group, label = drawn(0, 40_000, 3)
    wrong = biased(q, 0.15)
    weight = np.full(len(q), 1 / len(q))
    mended = Recalibration.fit(wrong, weight, group, label).apply(wrong)
    before, after = (np.abs((found - q).mean(axis=0)).max() for found in (wrong, mended))
    assert after < 0.35 * before


def test_estimates_that_are_too_sure_are_calmed() -> None:
    q, group, label = drawn(2, 3_000, 4)
    sure = q**1.5
    sure /= sure.sum(axis=(1, 2), keepdims=True)
    weight = np.full(len(q), 1 / len(q))
    mended = Recalibration.fit(sure, weight, group, label).apply(sure)
    before, after = (np.abs(found[:, :, 1].sum(axis=1) - q[:, :, 1].sum(axis=1)).mean() for found in (sure, mended))
    assert after < 0.4 * before


def test_what_few_rows_show_moves_little_and_a_handful_nothing() -> None:
    q, group, label = drawn(1, 400, 2)
    weight = np.full(len(q), 1 / len(q))
    found = Recalibration.fit(q, weight, group, label).coefficient
    # What is a group's own.
    assert np.abs(found[:, 0] - found[:, 1]).max() < 0.2
    few = Recalibration.fit(q[:40], weight[:40] * 10, group[:40], label[:40]).coefficient
    counts = np.bincount(group[:40] * 2 + label[:40], minlength=4).reshape(2, 2)
    assert (counts < 30).all()
    # Only what the groups have in common is left.
    assert few[:, 0] == pytest.approx(few[:, 1], abs=1e-12)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 1_000), rows=st.integers(5, 300), groups=st.integers(1, 5))
def test_what_comes_out_is_a_law(seed: int, rows: int, groups: int) -> None:
    q, group, label = drawn(seed, rows, groups)
    weight = np.random.default_rng(seed).dirichlet(np.ones(rows))
    found = Recalibration.fit(q, weight, group, label)
    mended = found.apply(q)
    assert (mended > 0).all()
    assert mended.sum(axis=(1, 2)) == pytest.approx(1)
    again = Recalibration.from_dict(found.to_dict(), groups)
    assert (again.apply(q) == mended).all()


def test_damaged_corrections_are_refused() -> None:
    record = Recalibration(0.0, 1.0, np.zeros((2, 2, 2))).to_dict()
    for damage in ({"scale": 0.0}, {"centre": float("nan")}, {"coefficient": [[1.0]]}, {"scale": "x"}):
        with pytest.raises(FileError, match="correction"):
            Recalibration.from_dict(record | damage, 2)
