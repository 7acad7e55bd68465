"""Groups with too few rows behind a rate: left out of comparisons rate by rate, counted wherever all people are."""

from __future__ import annotations

import math
import warnings
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairlimits._util.names import in_a_sentence
from fairlimits._util.small_samples import enough, few_rows, listed
from fairlimits.errors import InputError, SmallGroupsWarning
from fairlimits.notions import (
    NOTIONS,
    CountedPeople,
    MeasuredRates,
    RateTable,
    Tally,
    enough_rows,
    estimable,
    evaluate_scores,
    gap_estimates,
    group_gaps,
    read_requirements,
    suppress_evaluation,
    tally,
    warn_of_nothing_to_compare,
)

NAMES = tuple("abcdef")

Counts = list[tuple[int, int]]
counts_of_groups = st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60)), min_size=2, max_size=5).filter(
    lambda counts: any(map(sum, counts))
)


def crowd(counts: Counts) -> CountedPeople:
    """So many people of each group and label, and one more of each that does not count."""
    group, label, share = [], [], []
    for g, own in enumerate(counts):
        for y, number in enumerate(own):
            group += [g] * (number + 1)
            label += [y] * (number + 1)
            share += [1.0] * number + [0.0]
    weight = np.array(share)
    return CountedPeople(
        np.array(group),
        np.array(label, dtype=np.int8),
        weight.astype(np.int64),
        weight,
        weight**2,
        NAMES[: len(counts)],
        len(weight),
    )


def table(counts: Counts, cells: int = 3) -> RateTable:
    """The same people, spread over some cells."""
    spread = np.zeros((cells, len(counts), 2), dtype=np.int64)
    for g, own in enumerate(counts):
        for y, number in enumerate(own):
            spread[:, g, y] = np.bincount(np.arange(number) % cells, minlength=cells)
    return RateTable(spread / spread.sum(), NAMES[: len(counts)], spread)


def by_hand(rows: CountedPeople, counts: Counts, score: np.ndarray, name: str) -> float:
    """Gap of a notion between the groups with thirty rows, rate by rate."""
    gaps = []
    for rate in NOTIONS[name].rates:
        values = []
        for g, own in enumerate(counts):
            if sum(own[y] for y in rate.given) >= 30:
                looked_at = (rows.group == g) & np.isin(rows.label, rate.given) & (rows.shares > 0)
                event = np.array(rate.event)[rows.label[looked_at]]
                values.append((event[:, 1] * score[looked_at] + event[:, 0] * (1 - score[looked_at])).mean())
        if len(values) > 1:
            gaps.append(max(values) - min(values))
    return max(gaps, default=math.nan)


@given(counts_of_groups, st.integers(0, 10_000))
def test_gaps_are_those_of_the_groups_with_thirty_rows(counts: Counts, seed: int) -> None:
    rows = crowd(counts)
    score = np.random.default_rng(seed).random(len(rows.label))
    found = tally(rows, score[None])
    assert found.counts.tolist() == [list(own) for own in counts]
    for name in NOTIONS:
        expected = by_hand(rows, counts, score, name)
        assert found.gap(name)[0] == pytest.approx(expected, nan_ok=True)
        assert enough_rows(name, found.counts) == (not math.isnan(expected)) == estimable(table(counts), name)


@given(counts_of_groups, st.integers(0, 10_000))
def test_equalized_odds_contain_their_two_halves(counts: Counts, seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = crowd(counts)
    score = rng.random((1, len(rows.label)))
    estimates = gap_estimates(MeasuredRates(rows, score, tally(rows, score)), 0.95)[0]
    on_cells = group_gaps(table(counts), rng.random((3, len(counts))))
    for gaps in ({name: own.value for name, own in estimates.items()}, on_cells):
        for half in ("EOp", "PE"):
            if not math.isnan(gaps[half]):
                assert gaps["EOd"] >= gaps[half]
        if math.isnan(gaps["EOp"]) and math.isnan(gaps["PE"]):
            assert math.isnan(gaps["EOd"])


def test_people_who_are_set_aside_count_in_accuracy() -> None:
    rows = crowd([(40, 40), (40, 40), (20, 0)])
    score = np.where(rows.group == 2, 1.0, 0.0)
    held = evaluate_scores(score[None], np.array([0.5]), rows)[0]
    assert held.accuracy.value == pytest.approx(80 / 180)
    assert held.gaps["DP"].value == 0
    assert held.set_aside == ("c (20 rows)",)
    assert held.summary().endswith("Set aside, with fewer than 30 rows behind a rate: c (20 rows).")
    large = crowd([(40, 40), (40, 40)])
    assert "Set aside" not in evaluate_scores(large.shares[None], np.array([0.5]), large)[0].summary()


@pytest.mark.parametrize("names", [("a", "a (b", "c"), ("no", "1", "yes"), ("c", "c (", "c (1")])
def test_those_set_aside_are_named_whatever_they_are_called(names: tuple[str, ...]) -> None:
    rows = replace(crowd([(40, 40), (40, 40), (20, 4)]), groups=names)
    score = np.asarray(np.arange(rows.n_rows) % 2, dtype=np.float64)
    held = evaluate_scores(score[None], np.array([0.5]), rows)[0]
    called = in_a_sentence(names[2])
    assert held.set_aside == (f"{called} (24 rows)",)
    found = suppress_evaluation(held, 30)
    assert found.set_aside == (called,)


def test_a_law_without_counts_is_taken_at_its_word() -> None:
    mass = table([(40, 40), (1, 1), (0, 0)]).mass
    scores = np.array([[0, 1, 0], [0, 0, 0], [0, 0, 0]], dtype=float)
    assert group_gaps(RateTable(mass, NAMES[:3]), scores)["DP"] == pytest.approx(1.0)
    assert math.isnan(group_gaps(table([(40, 40), (1, 1), (0, 0)]), scores)["DP"])


def test_requirements_leave_the_same_groups_out() -> None:
    """A and b are alike; c, of whom everybody is selected, is too small to be compared."""
    counts: Counts = [(40, 40), (40, 40), (9, 3)]
    people = table(counts)
    scores = np.tile([0.25, 0.5, 1.0], (3, 1))
    value = {
        str(own): own.value(people, scores)
        for own in read_requirements(
            [
                "selection rate <= 0.9",
                "selection rate of each group <= 0.9",
                "selection rate ratio >= 0.1",
                "selection rate difference <= 0.9",
                "selection rate difference from the rest <= 0.9",
                "selection rate difference from the average <= 0.9",
            ]
        )
    }
    average = (80 * 0.25 + 80 * 0.5 + 12) / 172
    rest = (80 * 0.5 + 12) / 92 - 0.25
    assert list(value.values()) == pytest.approx([average, 0.5, 0.5, 0.25, rest, average - 0.25])
    # The rows of a program say the same.
    for own in read_requirements(["selection rate <= 0.9", "selection rate difference from the rest <= 0.9"]):
        rows = own.rows(people)
        reached = np.einsum("mgi,ig->m", rows.coefficient, scores)
        assert np.abs(reached).max() == pytest.approx(value[str(own)])
        assert len(reached) == (1 if own.needed and "difference" not in str(own) else 2)


@pytest.mark.parametrize(
    "text",
    [
        "selection rate of c <= 0.9",
        "true positive rate ratio >= 0.8",
        "true positive rate difference <= 0.1",
        "true positive rate difference from the rest <= 0.1",
        "true positive rate of b >= 0.5",
    ],
)
def test_what_too_few_rows_stand_behind_cannot_be_required(text: str) -> None:
    people = table([(40, 40), (40, 20), (9, 3)])
    (own,) = read_requirements([text])
    with pytest.raises(InputError, match=r"takes 30 rows behind that rate, .*\(a \d+, b \d+, c \d+\); leave it out"):
        own.rows(people)
    found = Tally(people.mass.sum(axis=0), people.mass.sum(axis=0)[None], np.array([[40, 40], [40, 20], [9, 3]]))
    assert not own.estimable(found.rows(own.needed), people.groups)


def test_all_of_no_group_cannot_be_required() -> None:
    (own,) = read_requirements(["true positive rate of each group >= 0.5"])
    assert len(own.rows(table([(40, 40), (40, 20)])).lower) == 1
    with pytest.raises(InputError, match="too few"):
        own.rows(table([(40, 20), (40, 20)]))


def test_nothing_to_compare_is_said_once_with_groups_and_counts() -> None:
    counts = np.array([[40, 12], [50, 40], [9, 1]])
    with pytest.warns(SmallGroupsWarning) as caught:
        warn_of_nothing_to_compare(["DP", "EOp", "EOd", "IF"], NAMES[:3], counts)
    (only,) = caught
    assert str(only.message).startswith("Nothing to compare in EOp, which is left out: no two groups have 30 rows")
    assert "a (12 rows with label 1), c (10 rows)" in str(only.message)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_nothing_to_compare(["DP", "EOd", "IF"], NAMES[:3], counts)
        warn_of_nothing_to_compare(["EOp"], NAMES[:3], None)


def test_small_groups_are_named_with_their_counts() -> None:
    counts = np.array([[29, 0], [30, 30], [0, 0], [20, 20], [1, 0], [0, 300]])
    assert few_rows(NAMES, counts) == (
        "a (29 rows)",
        "d (20 rows with label 0 and 20 rows with label 1)",
        "e (1 row)",
        "f (0 rows with label 0)",
    )
    assert enough(np.array([29, 30, 31])).tolist() == [False, True, True]
    assert listed([f"g{k}" for k in range(60)]) == "g0, g1, g2, g3, g4, g5, g6, g7 and 52 more"
