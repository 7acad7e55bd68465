"""Group notions: rates and gaps against sums written out, the registry, and what can be estimated."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairlimits.errors import InputError
from fairlimits.law.cells.distributions import CellDistribution
from fairlimits.notions.rates import ACCURACY_RATE, Rate
from fairlimits.notions.registry import (
    ALL_NOTIONS,
    NOTIONS,
    alike_score,
    check_names,
    check_tolerances,
    estimable,
    group_gaps,
    title,
)
from literal import GROUP_NOTIONS
from strategies import Case, cases

# Two cells; group a has 2 + 3 people, group b 1 + 4.
HAND = np.array([[[1, 1], [0, 1]], [[2, 1], [1, 3]]])


def test_a_table_worked_out_by_hand() -> None:
    dist = CellDistribution.from_mass(HAND)
    decide_first_cell_1 = np.array([[1.0, 1.0], [0.0, 0.0]])
    gaps = group_gaps(dist.rates, decide_first_cell_1)
    assert gaps["DP"] == pytest.approx(2 / 5 - 1 / 5)
    assert gaps["EOp"] == pytest.approx(1 / 2 - 1 / 4)
    assert gaps["PE"] == pytest.approx(1 / 3 - 0)
    assert gaps["EOd"] == pytest.approx(1 / 3)
    assert gaps["EA"] == pytest.approx(3 / 5 - 2 / 5)


@given(cases(distances=False), st.integers(0, 10_000))
def test_gaps_are_those_of_the_definitions(case: Case, seed: int) -> None:
    scores = np.random.default_rng(seed).random((3, *case.shape))
    found = group_gaps(case.dist().rates, scores)
    assert tuple(found) == GROUP_NOTIONS
    literal = case.literal(aware=True)
    for name, gaps in found.items():
        assert gaps.shape == (3,)
        np.testing.assert_allclose(gaps, [literal.gap(name, point) for point in scores], atol=1e-12)


@given(cases(distances=False), st.integers(0, 10_000))
def test_rates_are_probabilities_or_missing(case: Case, seed: int) -> None:
    dist, scores = case.dist(), np.random.default_rng(seed).random(case.shape)
    for rate in {rate for notion in NOTIONS.values() for rate in notion.rates}:
        rates = dist.rates.of(rate)
        values = rates.values(scores)
        there = case.mass[:, :, list(rate.given)].sum(axis=(0, 2)) > 0
        assert (rates.defined == there).all()
        assert (np.isnan(values) == ~there).all()
        assert ((values[there] >= -1e-12) & (values[there] <= 1 + 1e-12)).all()


def test_equalized_odds_keeps_the_half_that_can_be_compared() -> None:
    # Nobody of group b has label 0: only true positive rates can be compared.
    dist = CellDistribution.from_mass([[[1, 2], [0, 1]], [[2, 1], [0, 3]]])
    gaps = group_gaps(dist.rates, np.array([[1.0, 1.0], [0.0, 0.0]]))
    assert math.isnan(gaps["PE"])
    assert gaps["EOd"] == gaps["EOp"] == pytest.approx(2 / 3 - 1 / 4)


def test_a_rate_counts_one_decision_about_each_person() -> None:
    """Else a fair coin would not make it 1/2, and rows that are repaired to that would be wrong."""
    with pytest.raises(InputError, match="exactly one must count"):
        Rate("yield", ((0.0, 0.0), (0.0, 1.0)))
    assert Rate("of label 1", ((0.0, 0.0), (0.0, 1.0)), given=(1,)).event[1] == (0.0, 1.0)


def test_who_is_decided_alike_fares_alike() -> None:
    dependent = [name for name, own in NOTIONS.items() if any(rate.depends_on_labels for rate in own.rates)]
    assert dependent == ["EA"]
    assert alike_score(["DP", "EA"], 0.9) == 0.5
    assert alike_score(["DP", "EOd", "IF"], 0.9) == 1.0
    assert NOTIONS["EOd"].includes(NOTIONS["PE"])
    assert not NOTIONS["EOd"].includes(NOTIONS["DP"])


def test_the_rate_of_correct_decisions_of_all_people_is_accuracy() -> None:
    dist = CellDistribution.from_mass(HAND)
    scores = np.random.default_rng(0).random((2, 2))
    share = dist.mass.sum(axis=(0, 2))
    whole = (dist.rates.of(ACCURACY_RATE).values(scores) * share).sum()
    assert whole == pytest.approx((dist.mass[..., 1] * scores + dist.mass[..., 0] * (1 - scores)).sum())


def test_the_registry() -> None:
    assert ALL_NOTIONS == ("DP", "EA", "EOp", "PE", "EOd", "IF")
    assert all(name == notion.name for name, notion in NOTIONS.items())
    assert set(NOTIONS["EOd"].rates) == {*NOTIONS["EOp"].rates, *NOTIONS["PE"].rates}
    with pytest.raises(TypeError):
        NOTIONS["XX"] = NOTIONS["DP"]  # type: ignore[index]
    assert [title(name) for name in ("PE", "IF")] == ["predictive equality", "individual fairness"]
    assert len({title(name) for name in ALL_NOTIONS}) == 6


def test_names_are_checked() -> None:
    assert check_names(iter(["EOd", "DP"])) == ("EOd", "DP")
    with pytest.raises(InputError, match="DP, EA, EOp, PE, EOd, IF"):
        check_names(["DP", "fairness"])
    with pytest.raises(InputError, match="twice"):
        check_names(["DP", "EA", "demographic_parity"])
    with pytest.raises(InputError, match="did you mean EOd"):
        check_names(["equalised_ods"])


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ("demographic_parity", "DP"),
        ("demographic_parity_difference", "DP"),
        ("statistical parity", "DP"),
        ("equalized_odds", "EOd"),
        ("Equalized odds", "EOd"),
        ("equal_opportunity", "EOp"),
        ("true_positive_rate_parity", "EOp"),
        ("false_positive_rate_parity", "PE"),
        ("predictive equality", "PE"),
        ("accuracy_parity", "EA"),
        ("individual_fairness", "IF"),
        ("eop", "EOp"),
    ],
)
def test_notions_answer_to_the_names_that_others_give_them(given: str, code: str) -> None:
    assert check_names([given]) == (code,)
    assert check_tolerances({given: 0.1}) == {code: 0.1}


def counted(counts: list[list[int]]) -> CellDistribution:
    array = np.array([counts])
    return CellDistribution(array / array.sum(), tuple("abcd"[: len(counts)]), counts=array)


def test_thirty_rows_must_stand_behind_a_rate() -> None:
    assert all(estimable(counted([[30, 30], [30, 30]]).rates, name) for name in ALL_NOTIONS)
    few = counted([[29, 30], [40, 40]])
    assert [name for name in ALL_NOTIONS if not estimable(few.rates, name)] == ["PE"]
    few = counted([[15, 14], [40, 40]])
    assert [name for name in ALL_NOTIONS if estimable(few.rates, name)] == ["IF"]
    # The small one is set aside, and the others are compared.
    assert all(estimable(counted([[15, 14], [40, 40], [30, 30]]).rates, name) for name in ALL_NOTIONS)


def test_a_group_without_rows_does_not_stop_the_others() -> None:
    assert estimable(counted([[30, 30], [30, 30], [0, 0]]).rates, "EOd")
    lonely = counted([[30, 30], [30, 0]])
    assert [name for name in ALL_NOTIONS if estimable(lonely.rates, name)] == ["DP", "EA", "PE", "EOd", "IF"]


def test_numbers_without_counts_are_taken_at_their_word() -> None:
    assert estimable(CellDistribution.from_mass(HAND).rates, "EOd")
    assert not estimable(CellDistribution.from_mass(HAND[:, :1]).rates, "DP")
