"""Cells of an estimate, and how rows find their cells, whatever the cells cut."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from fairlimits import CellDistribution, Outcome, Rule, decorrelate, discretize, estimate_outcome, evaluate, solve
from fairlimits.data import Dataset, Encoding
from fairlimits.errors import FileError, InputError
from fairlimits.law.cells.origins import Partition
from fairlimits.law.cells.outcome_cells import Space, chance_cuts
from fairlimits.law.generators import CartGenerator
from known_people import known

OF_AN_ESTIMATE: tuple[Partition, ...] = ("outcome", "blend")


@cache
def learned(weighted: bool = False) -> tuple[Dataset, Outcome]:
    data, _ = known(0, 3_000, weighted=weighted)
    return data, estimate_outcome(data, estimator=LogisticRegression())


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("partition", OF_AN_ESTIMATE)
def test_masses_are_sums_of_the_estimate(partition: Partition, weighted: bool) -> None:
    data, outcome = learned(weighted)
    dist = discretize(data, 20, partition=partition, outcome=outcome)
    expected = np.tensordot(outcome.weight, outcome.q, axes=1)
    assert dist.mass.sum(axis=0) == pytest.approx(expected)
    assert dist.counts is not None
    counted = data.n_rows if data.weight is None else int((data.weight > 0).sum())
    assert dist.counts.sum() == counted
    assert dist.origin.partition == partition
    assert set(dist.centres()) == {"skill", "area"}


def test_outcome_cells_tell_apart_what_matters() -> None:
    data, outcome = learned()
    test, _ = known(1, 5_000)
    features = evaluate(solve(discretize(data, 6, generator=None, partition="features"), {}), test).accuracy.value
    cells = evaluate(solve(discretize(data, 6, partition="outcome", outcome=outcome), {}), test).accuracy.value
    assert cells > features


@pytest.mark.parametrize("partition", ["features", "outcome", "blend"])
def test_new_rows_find_cells_without_label_or_group(partition: Partition) -> None:
    data, outcome = learned()
    dist = discretize(data, 12, partition=partition, outcome=outcome, generator=None)
    test, _ = known(2, 200)
    found = dist.cells_of(test)
    assert ((found >= 0) & (found < 12)).all()
    np.testing.assert_array_equal(dist.cells_of(test.columns), found)
    plan = decorrelate(dist, solve(dist, {"DP": 0.05}))
    assert plan.apply(test).num_rows == 200
    # Individual fairness compares the cells' mean features.
    assert solve(dist, {"IF": 0.1}).gaps["IF"] <= 0.1 + 1e-6


def test_a_saved_distribution_of_outcome_cells_says_that_it_cannot_place_rows(tmp_path: Path) -> None:
    data, outcome = learned()
    dist = discretize(data, 10, partition="outcome", outcome=outcome)
    dist.save(tmp_path / "dist.npz")
    loaded = CellDistribution.load(tmp_path / "dist.npz")
    assert solve(loaded, {"DP": 0.0}).accuracy == pytest.approx(solve(dist, {"DP": 0.0}).accuracy)
    with pytest.raises(InputError, match="learners are not in the file"):
        loaded.cells_of(data)
    with pytest.raises(InputError, match="bare numbers"):
        CellDistribution.from_mass(dist.mass).cells_of(data)


@pytest.mark.parametrize("partition", ["outcome", "blend"])
def test_a_saved_distribution_of_the_default_learners_places_rows(partition: Partition, tmp_path: Path) -> None:
    data, _ = known(0, 300)
    dist = discretize(data, 10, partition=partition)
    dist.save(tmp_path / "dist.npz")
    loaded = CellDistribution.load(tmp_path / "dist.npz")
    assert (loaded.cells_of(data) == dist.cells_of(data)).all()
    rule = solve(dist, {"DP": 0.1})
    rule.save(tmp_path / "rule.npz")
    assert (Rule.load(tmp_path / "rule.npz").decide(data) == rule.decide(data)).all()
    damages: list[dict[str, Any]] = [{"outcome_scale": -1.0}, {"feature_scale": "x"}, {"model": {}}]
    for damage in damages:
        header, arrays = dist._pack()
        header["places"] |= damage
        with pytest.raises(FileError, match=r"save (it|the model) again"):
            CellDistribution._unpack(header, arrays)
    header, arrays = dist._pack()
    for name, wrong in (("places/divisor", np.zeros((2, 2))), ("places/codewords", np.zeros((10, 9), np.float32))):
        with pytest.raises(FileError, match="save it again"):
            CellDistribution._unpack(header, {**arrays, name: wrong})


@pytest.mark.parametrize("partition", ["features", "outcome", "blend"])
def test_the_rows_that_cells_were_made_from_find_them_out_of_fold(partition: Partition) -> None:
    data, outcome = learned()
    dist = discretize(data, 12, partition=partition, outcome=outcome, generator=None)
    assert dist.counts is not None
    found = dist.cells_of(data, q=outcome.q)
    np.testing.assert_array_equal(np.bincount(found, minlength=12), dist.counts.sum(axis=(1, 2)))
    in_fold = dist.cells_of(data)
    assert np.array_equal(found, in_fold) == (partition == "features")


def test_rows_of_another_kind_have_no_cell() -> None:
    data, outcome = learned()
    dist = discretize(data, 10, partition="outcome", outcome=outcome)
    with pytest.raises(InputError, match=r"differ in area; read the table with Dataset\.read_like"):
        dist.cells_of(data.take_out("area")[0])
    flipped = replace(data.schema.features[1], categories=data.schema.features[1].categories[::-1])
    other = replace(data, schema=replace(data.schema, features=(data.schema.features[0], flipped)))
    with pytest.raises(InputError, match="code their values in another way"):
        dist.cells_of(other)
    with pytest.raises(InputError, match="are a Table, which is not coded yet"):
        dist.cells_of(data.to_frame())
    with pytest.raises(InputError, match=r"q has shape \(3, 2, 2\); it must be \(3000, 2, 2\)"):
        dist.cells_of(data, q=outcome.q[:3])


def test_bad_input_gets_a_sentence() -> None:
    data, outcome = learned()
    with pytest.raises(InputError, match="known ones are"):
        discretize(data, 10, partition="cells")  # type: ignore[arg-type]
    for generator, name in (("cart", "cart"), ("bootstrap", "bootstrap"), (CartGenerator(min_leaf=50), "cart")):
        for partition in OF_AN_ESTIMATE:
            with pytest.raises(InputError, match=f"is '{name}', but .*'{partition}'.*leave the generator out"):
                discretize(data, 10, partition=partition, generator=generator, outcome=outcome)
    with pytest.raises(InputError, match="other rows"):
        discretize(data.take(np.arange(100)), 10, partition="outcome", outcome=outcome)


def test_rounding_is_not_taken_for_a_difference() -> None:
    data, q = known(0, 60)
    alike = np.full_like(q, 0.25)
    alike[::2] *= 1 + 1e-15
    encoding = Encoding.fit(data)
    encoded = encoding.transform_dataset(data)
    space = Space.fit(alike, np.full(60, 1 / 60), encoding, encoded, 0.5)
    assert np.abs(space.place(alike, encoded)).max() < 10


def test_with_the_group_seen_rows_go_to_cells_in_the_order_of_their_chance() -> None:
    data, outcome = learned()
    dist = discretize(data, 12, partition="outcome", outcome=outcome)
    found = dist.cells_of(data, q=outcome.q, group=data.group)
    chances = dist.mass[:, :, 1] / dist.mass.sum(axis=2)
    for g in range(2):
        rows = np.flatnonzero(data.group == g)
        own = outcome.q[rows, g, 1] / outcome.q[rows, g].sum(axis=1)
        assert (np.diff(chances[found[rows], g][np.argsort(own, kind="stable")]) >= 0).all()
        # Each cell gets as many of the group as was planned: everybody counts as far as they may be of the group.
        all_of_them = np.full(data.n_rows, g)
        at = dist.cells_of(data, q=outcome.q, group=all_of_them)
        held = np.bincount(at, weights=outcome.weight * outcome.q[:, g].sum(axis=1), minlength=12)
        np.testing.assert_allclose(held, dist.mass[:, g].sum(axis=1), atol=2 / data.n_rows)
    # Cells that people are compared by are those of the features too, whoever sees the group.
    blend = discretize(data, 12, partition="blend", outcome=outcome)
    np.testing.assert_array_equal(
        blend.cells_of(data, q=outcome.q, group=data.group), blend.cells_of(data, q=outcome.q)
    )


def test_cells_without_anybody_of_a_group_are_not_for_it() -> None:
    mass = np.array([[[0.2, 0.1], [0.0, 0.0]], [[0.1, 0.1], [0.1, 0.4]]])
    q = np.array([[[0.3, 0.2], [0.2, 0.3]]])
    of_group = np.repeat(q.sum(axis=2), 4, axis=0)
    cuts = chance_cuts(mass, np.repeat(q[:, :, 1], 4, axis=0) / of_group, 0.25 * of_group)
    assert np.isfinite(cuts).tolist() == [[True], [False]]
    data, outcome = learned()
    own = discretize(data, 12, partition="outcome", outcome=outcome).places
    assert own is not None
    places = replace(own, cuts=cuts)
    assert places.cells_by_chance(mass, q, np.array([1])).tolist() == [1]
