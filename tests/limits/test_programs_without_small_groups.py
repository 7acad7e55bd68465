"""Groups that are set aside: no row of a program is about them, but they count in accuracy."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairlimits import CellDistribution, frontier, solve, tension
from fairlimits.errors import SmallGroupsWarning
from fairlimits.limits import ConstantRuleWarning, Variables, compile_rows, predictive_parity, ratio_frontier
from fairlimits.notions import NOTIONS

CELLS = 4


def cells(counts: np.ndarray) -> CellDistribution:
    return CellDistribution(counts / counts.sum(), tuple("abcd"[: counts.shape[1]]), counts=counts)


@st.composite
def crowds(draw: st.DrawFn) -> np.ndarray:
    """Two or three groups with thirty rows of each label, and one of a few rows, the last."""
    seed, groups = draw(st.integers(0, 10_000)), draw(st.integers(2, 3))
    rng = np.random.default_rng(seed)
    large = rng.integers(8, 40, (CELLS, groups, 2))
    few = rng.multinomial(draw(st.integers(1, 29)), np.full(2 * CELLS, 1 / 8)).reshape(CELLS, 1, 2)
    return np.concatenate([large, few], axis=1)


@given(crowds(), st.booleans())
def test_the_rows_are_those_without_the_small_group(counts: np.ndarray, aware: bool) -> None:
    dist, without = cells(counts), cells(counts[:, :-1])
    variables = Variables(dist, aware)
    rows = compile_rows(variables, NOTIONS)
    expected = compile_rows(Variables(without, aware), NOTIONS)
    assert len(rows) == len(expected)
    tolerances = dict.fromkeys(NOTIONS, 0.05)
    np.testing.assert_allclose(rows.lower(tolerances), expected.lower(tolerances), atol=1e-12)
    np.testing.assert_allclose(rows.upper(tolerances), expected.upper(tolerances), atol=1e-12)
    of_small = np.zeros(len(variables), bool) if variables.group is None else variables.group == dist.n_groups - 1
    for own, other in zip(rows.blocks, expected.blocks, strict=True):
        assert not own.matrix[:, of_small].any()
        np.testing.assert_allclose(own.matrix[:, ~of_small], other.matrix, atol=1e-12)


@given(crowds(), st.booleans())
def test_people_who_are_set_aside_count_in_accuracy(counts: np.ndarray, aware: bool) -> None:
    dist = cells(counts)
    rule = solve(dist, {"EOd": 0.0, "DP": 0.02}, aware=aware)
    by_group = rule.group_scores
    right = (dist.mass[:, :, 1] * by_group + dist.mass[:, :, 0] * (1 - by_group)).sum()
    assert rule.accuracy == pytest.approx(right, abs=1e-9)
    assert rule.gaps["EOd"] <= 1e-7
    if aware:
        # Nothing holds them back: they are decided as most of their like are.
        best = np.maximum(dist.mass[:, -1, 0], dist.mass[:, -1, 1]).sum()
        own = (dist.mass[:, -1, 1] * by_group[:, -1] + dist.mass[:, -1, 0] * (1 - by_group[:, -1])).sum()
        assert own == pytest.approx(best, abs=1e-9)


def said(caught: pytest.WarningsRecorder) -> list[str]:
    return [str(own.message) for own in caught if issubclass(own.category, SmallGroupsWarning)]


def test_what_cannot_be_compared_is_left_out_and_said_once() -> None:
    counts = np.array([[[20, 1], [15, 20]], [[20, 2], [25, 20]]])
    dist = cells(counts)
    with pytest.warns(SmallGroupsWarning) as caught:
        rule = solve(dist, {"EOp": 0.0})
    assert len(said(caught)) == 1
    assert "Nothing to compare in EOp" in said(caught)[0]
    assert "a (3 rows with label 1)" in said(caught)[0]
    assert rule.accuracy == pytest.approx(rule.bayes_accuracy)
    assert math.isnan(rule.gaps["EOp"])
    assert rule.gaps["EOd"] == rule.gaps["PE"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ConstantRuleWarning)
        assert solve(dist, {"EOd": 0.0}).gaps["PE"] <= 1e-9
    for ask in (
        lambda: frontier(dist, ["EOp"]),
        lambda: frontier(dist, ["EOp"], exact=True),
        lambda: tension(dist),
        lambda: ratio_frontier(dist, [0.5, 0.8], tolerances={"EOp": 0.1}),
        lambda: predictive_parity(dist, 0.1, {"EOp": 0.1}),
    ):
        with pytest.warns(SmallGroupsWarning) as caught:
            ask()
        assert len(said(caught)) == 1


def test_precision_is_compared_without_small_groups() -> None:
    counts = np.array([[[10, 30], [12, 40], [9, 0]], [[30, 10], [40, 12], [3, 0]]])
    found = predictive_parity(cells(counts), 0.05)
    assert set(found.precision) == {"a", "b"}
    assert found.gap <= 0.05 + 1e-6
    assert found.rule.accuracy == pytest.approx(found.rule.bayes_accuracy, abs=1e-6)
