"""Sweeps of the weights: accuracy against correlation."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from map_samples import some_distribution, weighed

from fairlimits._util.archives import read_archive, write_archive
from fairlimits.decorrelation import DecorrelationFrontier, decorrelate, decorrelation_frontier
from fairlimits.errors import FileError, InfeasibleError, InputError
from fairlimits.limits import CellPolicy, solve


@pytest.fixture(params=[(False, 2), (True, 2), (False, 3)], ids=["unaware", "aware", "three groups"])
def swept(request: pytest.FixtureRequest) -> DecorrelationFrontier:
    aware, groups = request.param
    dist = some_distribution(1, groups=groups, holes=0.05)
    return decorrelation_frontier(dist, solve(dist, {"DP": 0.3, "EA": 0.1, "IF": 0.6}, aware=aware))


def test_both_fall_as_the_weight_rises(swept: DecorrelationFrontier) -> None:
    assert len(swept) == 162
    assert (np.diff(swept.accuracy) <= 1e-9).all()
    assert (np.diff(swept.correlation) <= 1e-9).all()
    assert (np.diff(swept.objective) <= 1e-9).all()
    assert swept.correlation[-1] == pytest.approx(0, abs=1e-9)
    assert len(np.unique(swept.correlation.round(9))) > 1


def test_points_are_those_of_single_plans(swept: DecorrelationFrontier) -> None:
    rule = solve(swept.distribution, swept.tolerances, aware=swept.aware)
    for point in (0, 60, 100, 161):
        weight = float(swept.weights[point])
        plan = decorrelate(swept.distribution, rule, **weighed(15.0, weight), distortion=None)
        assert swept.objective[point] == pytest.approx(plan.optimum, abs=1e-8)
        assert swept.scores[point].shape == plan.mapped_scores.shape


def test_table_and_figure(swept: DecorrelationFrontier) -> None:
    frame = swept.to_frame()
    assert frame.column_names == ["correlation weight", "accuracy", "correlation", "objective"]
    assert frame.num_rows == len(swept)
    ax = swept.plot(label="mine")
    assert ax.get_ylabel() == "accuracy (plug-in)"
    assert swept.plot(ax=ax) is ax
    assert "162 weights" in repr(swept)


def test_saved_and_loaded(swept: DecorrelationFrontier, tmp_path: Path) -> None:
    swept.save(tmp_path / "sweep.npz")
    again = DecorrelationFrontier.load(tmp_path / "sweep.npz")
    for name in ("weights", "accuracy", "correlation", "scores"):
        assert np.array_equal(getattr(again, name), getattr(swept, name))
    assert (again.aware, again.tolerances, again.neighbours) == (swept.aware, swept.tolerances, swept.neighbours)
    header, arrays = read_archive(tmp_path / "sweep.npz", "decorrelation frontier")
    for name, damaged in (
        ("short", (header, arrays | {"accuracy": arrays["accuracy"][:3]})),
        ("odd", (header | {"tolerances": {"XX": 1.0}}, arrays)),
        ("bare", ({}, arrays)),
    ):
        write_archive(tmp_path / f"{name}.npz", "decorrelation frontier", *damaged)
        with pytest.raises(FileError, match="save it again"):
            DecorrelationFrontier.load(tmp_path / f"{name}.npz")
    swept.distribution.save(tmp_path / "other.npz")
    with pytest.raises(FileError, match="holds a distribution"):
        DecorrelationFrontier.load(tmp_path / "other.npz")


def test_weights_in_any_order_and_progress() -> None:
    dist = some_distribution(2)
    rule = solve(dist, {"DP": 0.2})
    told: list[float] = []
    found = decorrelation_frontier(
        dist, rule, [5.0, 0.1, 1.0], accuracy_weight=1.0, progress=lambda fraction, _: told.append(fraction)
    )
    assert told == pytest.approx([1 / 3, 2 / 3, 1.0])
    assert found.correlation[0] <= found.correlation[2] <= found.correlation[1]
    assert found.accuracy_weight == 1.0


@pytest.mark.parametrize("weights", [[], [-1.0], [float("nan")], [[1.0]], 3.0, ["x"]])
def test_weights_that_cannot_be_used(weights: Any) -> None:
    dist = some_distribution(3, cells=5)
    with pytest.raises(InputError, match="weights"):
        decorrelation_frontier(dist, solve(dist, {}), weights)


def test_infeasible_tolerances() -> None:
    dist = some_distribution(4, cells=6)
    rule = solve(dist, {})
    constant = replace(rule, policy=CellPolicy(dist, np.ones(6), aware=False))
    with pytest.raises(InfeasibleError, match="relax a tolerance"):
        decorrelation_frontier(dist, constant, [1.0], tolerances={"EA": 0.0})
