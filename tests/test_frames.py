"""pandas in, pandas out; polars in, polars out; else Arrow."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.linear_model import LogisticRegression

import fairlimits as fl
from fairlimits.law import fidelity

KINDS = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.Table}


def people(n: int = 900) -> pd.DataFrame:
    rng = np.random.default_rng(1)
    group = rng.integers(0, 2, n)
    age = rng.normal(40 + 6 * group, 10, n)
    return pd.DataFrame(
        {
            "sex": np.array(["f", "m"])[group],
            "age": age,
            "job": rng.choice(["a", "b"], n),
            "model": (age > 44).astype(int),
            "paid": (age + rng.normal(0, 9, n) > 43).astype(int),
        }
    )


def in_kind(kind: str) -> Any:
    frame = people()
    if kind == "pandas":
        return frame
    return pl.from_pandas(frame) if kind == "polars" else pa.Table.from_pandas(frame, preserve_index=False)


@pytest.mark.parametrize("kind", list(KINDS))
def test_every_result_comes_out_in_the_kind_that_came_in(kind: str) -> None:
    data = fl.Dataset.from_frame(in_kind(kind), label="paid", sensitive="sex")
    learn, test = data.split(0.3)
    outcome = fl.estimate_outcome(learn, estimator=LogisticRegression())
    dist = fl.discretize(learn, 12, partition="features", generator=None)
    rule, curve = fl.solve(outcome, {"DP": 0.05}), fl.frontier(dist, ["DP"], [0.0, 0.1])
    plan = fl.decorrelate(dist, fl.solve(dist, {"DP": 0.05}))
    audit = fl.audit(data, predictions="model", estimator=LogisticRegression(), resamples=100)
    scenarios = fl.compare_scenarios(data, {"DP": 0.05}, estimator=LogisticRegression(), resamples=100)
    results: list[Any] = [data, outcome, dist, rule, curve, plan, audit, scenarios]
    results += [curve.band(resamples=5), fl.tension(dist, notions=["DP", "EA"]), plan.certificate(test)]
    results += [fl.evaluate(rule, test), fl.evaluate(rule, test).by_group, fidelity(learn, test, 5)]
    results += [fl.report(data, estimator=LogisticRegression())]
    for own in results:
        assert isinstance(own.to_frame(), KINDS[kind]), type(own).__name__
        assert "<table>" in own._repr_html_() if hasattr(own, "_repr_html_") else True
    for frame in (audit.rates_to_frame(), scenarios.rates_to_frame(), scenarios.costs_to_frame()):
        assert isinstance(frame, KINDS[kind])
    assert scenarios.to_dict()["situations"]


def test_the_kind_is_no_part_of_what_columns_mean() -> None:
    pandas, arrow = (
        fl.Dataset.from_frame(in_kind(kind), label="paid", sensitive="sex") for kind in ("pandas", "pyarrow")
    )
    assert pandas.schema == arrow.schema
    assert isinstance(fl.Dataset.read_like(pandas.schema, in_kind("pyarrow")).to_frame(), pd.DataFrame)


def test_the_package_lists_its_public_names_only() -> None:
    assert dir(fl) == sorted(fl.__all__, key=dir(fl).index)
    assert not [name for name in dir(fl) if name.startswith("_")]
    assert {"solve", "Dataset", "report"} <= set(dir(fl))
