"""Figure 3 places cells by the analysis that fits their features, with the package prince or a stand-in for it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import fairlimits as fl
from fairlimits._util.types import Floats
from fairlimits.apps.paper import Settings, figure3


class Model:
    """Takes what prince's models take, and remembers which one was asked for."""

    asked: list[str]

    def __init__(self, name: str, n_components: int, random_state: int) -> None:
        self.asked.append(name)
        self.percentage_of_variance_ = [30.0, 20.0, 10.0]
        self.n_components = n_components

    def fit(self, frame: Any) -> Model:
        return self

    def row_coordinates(self, frame: Any) -> Floats:
        return np.zeros((len(frame), self.n_components))


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    pytest.importorskip("pandas")
    Model.asked = []
    kinds = {name: lambda name=name, **settings: Model(name, **settings) for name in ("FAMD", "MCA", "PCA")}
    monkeypatch.setattr(figure3, "_prince", lambda: SimpleNamespace(**kinds))
    return Model.asked


def dataset(columns: list[str]) -> fl.Dataset:
    rng = np.random.default_rng(0)
    n = 300
    table = {
        "age": rng.normal(40, 10, n),
        "height": rng.normal(170, 10, n),
        "job": rng.choice(["nurse", "smith", "clerk"], n),
        "town": rng.choice(["north", "south"], n),
    }
    rest = {"sex": rng.choice(["f", "m"], n), "paid": rng.random(n) < 0.5}
    return fl.Dataset.from_frame(
        pa.table({**{name: table[name] for name in columns}, **rest}), label="paid", sensitive="sex"
    )


@pytest.mark.parametrize(
    ("columns", "model"), [(["age", "job"], "FAMD"), (["job", "town"], "MCA"), (["age", "height"], "PCA")]
)
def test_the_analysis_fits_the_features(asked: list[str], columns: list[str], model: str) -> None:
    dist = fl.discretize(dataset(columns), 5, generator=None, partition="features")
    found = figure3.measure(SimpleNamespace(dist=dist, settings=Settings()))  # type: ignore[arg-type]
    assert asked == [model]
    assert np.shape(found["places"]) == (5, 3)
    assert found["explained"] == pytest.approx(0.6)
    smooth, rough = found["rules"]["EA+Ind"], found["rules"]["EA"]
    assert smooth["mean difference"] <= rough["mean difference"] + 1e-9
    assert smooth["accuracy"] <= rough["accuracy"] + 1e-9


def test_numbers_and_claims_follow_from_the_scores() -> None:
    def rule(difference: float, opposite: float) -> dict[str, Any]:
        return {
            "accuracy": 0.8,
            "scores": [0.0, 1.0],
            "mean difference": difference,
            "opposite": opposite,
            "largest difference": 1.0,
            "pairs": 1,
        }

    places = [[0.0, 0.0, 0.0], [1.0, 1.0, 1.0]]
    good = {"places": places, "explained": 0.5, "rules": {"EA": rule(0.5, 0.2), "EA+Ind": rule(0.1, 0.0)}}
    bad = {"places": places, "explained": 0.5, "rules": {"EA": rule(0.1, 0.0), "EA+Ind": rule(0.1, 0.0)}}
    found = figure3.section({"figure3": {"adult": good}}, Settings())
    assert [claim.holds for claim in found.claims] == [True, True]
    assert found.tables[0].rows[0][:4] == ("Adult", "0.500", "0.100", "-0.400")
    assert found.figure is not None
    assert len(found.figure().axes) == 3
    assert [claim.holds for claim in figure3.section({"figure3": {"adult": bad}}, Settings()).claims] == [False, False]
