"""People who are decided alike, counted: every figure is that of the people one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import fairlimits as fl
from fairlimits.notions import NOTIONS, Kinds, differences, evaluate_scores, rates_by_group, tally
from streams import ROLES, people


def decided(weighted: bool) -> tuple[fl.Dataset, np.ndarray]:
    """Rows, and two rules' scores for them, which take few values."""
    roles: dict[str, Any] = {"weight": "weight"} if weighted else {"drop": "weight"}
    data = fl.Dataset.from_frame(people(), **ROLES, **roles)
    older = data.columns["age"] > 50
    return data, np.stack([np.where(older, 0.8, 0.1), (older & (data.group > 0)).astype(float)])


@pytest.mark.parametrize("weighted", [False, True])
def test_figures_are_those_of_the_people_one_by_one(weighted: bool) -> None:
    data, scores = decided(weighted)
    values = np.column_stack([scores.T, data.group, data.label])
    counted, fewer = Kinds.of(values, data.weight).people(data.groups, "pyarrow")
    assert len(counted.label) < 40
    assert counted.n_rows == data.n_rows
    one, other = tally(data, scores), tally(counted, fewer)
    np.testing.assert_array_equal(one.counts, other.counts)
    np.testing.assert_allclose(one.decided, other.decided, rtol=1e-11)
    for name in NOTIONS:
        a, b = (differences(who, own[0], [name]) for who, own in ((data, scores), (counted, fewer)))
        np.testing.assert_allclose(a.value, b.value, atol=1e-12)
        np.testing.assert_allclose(a.error, b.error, rtol=1e-9)
    held = [evaluate_scores(own, np.zeros(2), who)[0] for who, own in ((data, scores), (counted, fewer))]
    assert held[0].accuracy.value == pytest.approx(held[1].accuracy.value, abs=1e-12)
    # Intervals are drawn anew, so that they agree up to chance.
    assert held[0].accuracy.low == pytest.approx(held[1].accuracy.low, abs=0.004)
    assert held[0].gaps["DP"].high == pytest.approx(held[1].gaps["DP"].high, abs=0.01)
    assert held[0].set_aside == held[1].set_aside
    rates = [rates_by_group(who, own[0], {}, 0.95) for who, own in ((data, scores), (counted, fewer))]
    for name, figures in rates[0].figures.items():
        np.testing.assert_allclose(figures, rates[1].figures[name], rtol=1e-9)
    np.testing.assert_allclose(rates[0].parts, rates[1].parts, rtol=1e-9)  # type: ignore[arg-type]


def test_kinds_of_parts_add_up_to_those_of_all() -> None:
    rng = np.random.default_rng(0)
    values = rng.integers(0, 3, (1000, 3)).astype(float)
    whole = Kinds.of(values, None)
    for cuts in ([500], [1, 2, 990]):
        first, *rest = (Kinds.of(own, None) for own in np.split(values, cuts))
        total = sum(rest, first)
        np.testing.assert_array_equal(total.values, whole.values)
        np.testing.assert_array_equal(total.times, whole.times)
        assert total.n_rows == 1000
    np.testing.assert_array_equal(Kinds.of(np.array([[0.0], [-0.0]]), None).times, [2])
    np.testing.assert_array_equal(whole.with_values(np.zeros((len(whole.values), 1))).times, [1000])
