"""Rows that are too few for their cells are told of by leaving each person out of the count that decides them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fairlimits as fl
from fairlimits.law import support_note
from fairlimits.law.cells.support import self_decided
from known_people import people as known
from known_people import read


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=1, max_size=8))
def test_everybody_is_left_out_in_turn(cells: list[tuple[int, int]]) -> None:
    counts = np.array(cells)[:, None, :]
    total = counts.sum()
    lost = 0.0
    for zeros, ones in cells:
        for label, members in ((0, zeros), (1, ones)):
            for _ in range(members):
                rest = [zeros, ones]
                rest[label] -= 1
                lead = rest[label] - rest[1 - label]
                lost += -(1.0 if lead > 0 else 0.5 if lead == 0 else 0.0)
        lost += max(zeros, ones)
    assert self_decided(counts) == pytest.approx(lost / max(total, 1))


def test_many_cells_of_few_people_are_no_limit() -> None:
    learn, test = read(known(1, 2000)[0]).split(0.5, 0)
    features = fl.discretize(learn, 256, partition="features", generator=None)
    note = support_note(features)
    assert note is not None
    assert note.startswith("1,000 rows are too few for 256 cells of the features: ")
    assert "are not limits" in note
    rule = fl.solve(features, {})
    off = rule.accuracy - fl.evaluate(rule, test).accuracy.value
    assert off > 0.05
    # It says about how much of the accuracy is not there on new people.
    assert self_decided(np.asarray(features.counts)) == pytest.approx(off, abs=0.04)


def test_cells_of_an_estimate_are_no_more_optimistic_for_being_many() -> None:
    learn, test = read(known(1, 2000)[0]).split(0.5, 0)
    outcome = fl.estimate_outcome(learn)
    for cells in (16, 256):
        dist = fl.discretize(learn, cells, outcome=outcome)
        assert support_note(dist) is None
        rule = fl.solve(dist, {})
        assert rule.accuracy == pytest.approx(fl.evaluate(rule, test).accuracy.value, abs=0.03)


def test_few_cells_and_bare_numbers_are_left_alone() -> None:
    data = read(known(1, 2000)[0])
    assert support_note(fl.discretize(data, 4, partition="features", generator=None)) is None
    assert support_note(fl.CellDistribution.from_mass(np.ones((2, 2, 2)))) is None
