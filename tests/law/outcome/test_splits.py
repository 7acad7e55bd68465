"""Groups told apart by two-way splits, and q put together from them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairlimits.law.outcome.splits import GroupSplit, best_average, group_splits, joint, log_loss


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_splits_make_any_joint_law(shares: list[float]) -> None:
    groups = len(shares)
    splits = group_splits(shares)
    assert len(splits) == groups - 1
    q = np.random.default_rng(0).dirichlet(np.ones(2 * groups), 5).reshape(5, groups, 2)
    sides = []
    for split in splits:
        first, second = (q[:, list(side)].sum(axis=1) for side in (split.first, split.second))
        sides.append(second / (first + second))
    label = q[:, :, 1].sum(axis=1)
    assert joint(label, sides, splits, groups) == pytest.approx(q)


def test_rare_groups_are_split_last() -> None:
    splits = group_splits([0.7, 0.05, 0.2, 0.05])
    assert {frozenset(own.first + own.second) for own in splits} == {
        frozenset({0, 1, 2, 3}),
        frozenset({1, 2, 3}),
        frozenset({1, 3}),
    }
    # A parent comes before its children.
    assert len(splits[0].first + splits[0].second) == 4


def test_names_of_splits() -> None:
    assert GroupSplit((0,), (1,)).name(("f", "m")) == "P(A|x,Y)"
    assert GroupSplit((0,), (1, 2)).name(("f", "m", "x")) == "P(A|x,Y), m or x against f"


def test_an_average_is_chosen_if_it_is_better() -> None:
    target = np.array([False, True])
    first, second = np.array([0.1, 0.5]), np.array([0.5, 0.9])
    members, loss = best_average([first, second], target, np.ones(2))
    assert members == (0, 1)
    assert loss == pytest.approx(-np.log(0.7))
    assert log_loss(np.array([0.0]), np.array([True]), np.ones(1)) < 20
    assert best_average([first, first], target, np.ones(2))[0] == (0,)
