"""Cells that start by splitting rows in two, again and again."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairlimits.law.cells.quantizer.codebook import assign, distortion, fit_codebook, refine
from fairlimits.law.cells.quantizer.rows import Rows
from fairlimits.law.cells.quantizer.splitting import split_start


def rows(n: int, columns: int, seed: int) -> Rows:
    rng = np.random.default_rng(seed)
    return Rows(rng.random((n, columns), dtype=np.float32) ** 3, rng.uniform(0.5, 2, n))


@given(n=st.integers(1, 60), columns=st.integers(1, 4), cells=st.integers(1, 80), steps=st.integers(1, 5))
@settings(max_examples=100, deadline=None)
def test_parts_are_distinct_and_none_is_empty(n: int, columns: int, cells: int, steps: int) -> None:
    rng = np.random.default_rng(n)
    values = (rng.integers(0, steps, (n, columns)) / steps).astype(np.float32)
    found = split_start(Rows(values, np.ones(n)), cells)
    distinct = len(np.unique(values, axis=0))
    assert len(found) == min(cells, distinct)
    assert len(np.unique(found, axis=0)) == len(found)
    if len(found) == distinct:
        assert distortion(values, found) < 1e-12


def test_points_that_only_rounding_tells_apart_are_one() -> None:
    values = np.array([[0.5, 0.5], [0.5 + 1e-7, 0.5], [0.1, 0.2]], dtype=np.float32)
    assert len(split_start(Rows(values, np.ones(3)), 3)) == 2


@pytest.mark.parametrize("columns", [4, 12])
def test_lloyd_from_here_ends_near_the_careful_codebook(columns: int) -> None:
    given_rows = rows(4_000, columns, 1)
    careful = fit_codebook(given_rows.values, 64, weights=given_rows.weights)
    quick = refine(given_rows, split_start(given_rows, 64), 0.01, 300)
    assert quick.distortion < 1.15 * careful.distortion
    assert len(np.unique(assign(given_rows.values, quick.centroids))) == 64


def test_a_row_of_weight_two_is_two_rows() -> None:
    once = rows(200, 3, 2)
    weight = np.where(np.arange(200) % 3 == 0, 2.0, 1.0)
    twice = np.repeat(np.arange(200), weight.astype(int))
    np.testing.assert_allclose(
        split_start(Rows(once.values, weight), 20),
        split_start(Rows(once.values[twice], np.ones(len(twice))), 20),
        rtol=1e-5,
    )
