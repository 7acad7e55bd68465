"""`save` and `load` find the format by themselves: archives of numbers, or files of learners."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import fairlimits as fl
from fairlimits._util.archives import write_archive
from fairlimits.errors import FileError, InputError
from known_people import known


def test_archives_and_learners_come_back_as_what_they_were(tmp_path: Path) -> None:
    data, _ = known(0, 600)
    dist = fl.discretize(data, 6, partition="features", generator=None)
    rule = fl.solve(dist, {"DP": 0.05})
    outcome = fl.estimate_outcome(data, estimator=LogisticRegression())
    curve = fl.frontier(outcome, ["DP"], [0.0, 0.1])
    kept: dict[str, Any] = {
        "cells": dist,
        "rule": rule,
        "curve": fl.frontier(dist, ["DP"], [0.0, 0.1]),
        "map": fl.decorrelate(dist, rule, distortion=None),
        "single": fl.solve(outcome, {"DP": 0.05}),
        "singles": curve,
    }
    for name, thing in kept.items():
        path = tmp_path / f"{name}.kept"
        fl.save(thing, path)
        again = fl.load(path)
        assert type(again) is type(thing)
        if not isinstance(thing, fl.CellDistribution):
            assert again.accuracy == pytest.approx(thing.accuracy)
    np.testing.assert_array_equal(fl.load(tmp_path / "single.kept").decide(data), kept["single"].decide(data))
    fl.save(fl.evaluate(curve, data), tmp_path / "evaluated.kept")
    assert fl.load(tmp_path / "evaluated.kept").held_out == ()


def test_other_archives_are_named(tmp_path: Path) -> None:
    write_archive(tmp_path / "odd.npz", "oddity", {}, {"x": np.zeros(1)})
    with pytest.raises(FileError, match="holds a oddity"):
        fl.load(tmp_path / "odd.npz")
    with pytest.raises(InputError, match="list of names"):
        fl.load(tmp_path / "odd.npz", trusted="all")


def test_a_frontier_of_ratios_is_not_saved(tmp_path: Path) -> None:
    dist = fl.CellDistribution.from_mass(np.random.default_rng(0).gamma(0.7, size=(12, 2, 2)))
    curve = fl.limits.ratio_frontier(dist, [0.5, 0.8])
    with pytest.raises(InputError, match="frontier of ratios"):
        curve.save(tmp_path / "ratios.npz")
    assert not list(tmp_path.iterdir())
    assert "selection rate ratio" in curve.summary()
    assert curve.plot().get_xlabel().startswith("smallest ratio")


def test_bands_and_held_out_frontiers_say_what_they_are() -> None:
    data, _ = known(0, 900)
    test, _ = known(1, 900)
    dist = fl.discretize(data, 6, partition="features", generator=None)
    curve = fl.frontier(dist, ["DP"], [0.0, 0.1])
    band = curve.band(resamples=3)
    assert "3 resamples" in band.summary()
    assert repr(band).startswith("Band(2 points")
    held = fl.evaluate(curve, test)
    assert "Held out" in held.summary()
    assert held.accuracy.tolist() == [own.accuracy.value for own in held.held_out]
    assert held.plug_in.tolist() == curve.accuracy.tolist()
