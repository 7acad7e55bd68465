"""How often the intervals of an audit hold the truth, where the law of the people is known.

The truth is an audit of the same models on the law itself: what the best rule on it gains at the model's true gap.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

import fairlimits as fl
from benchmarks.cases import table
from fairlimits._util.types import Floats

SAMPLES, ROWS, CROWD = 40, 4_000, 10_000
NOTIONS = ("DP", "EOd")
_GROUPS = np.arange(2)


@dataclass(frozen=True)
class Line:
    """A model beside the rules of a notion, or of all: the truth, and what was estimated in each sample."""

    model: str
    notions: tuple[str, ...]
    gaps: tuple[float, ...]
    truth: float
    found: tuple[fl.notions.Estimate, ...]

    @property
    def held(self) -> int:
        """In how many samples the interval held the truth."""
        return sum(own.low <= self.truth <= own.high for own in self.found)

    @property
    def excess(self) -> float:
        """By how much the estimate is above the truth, on average."""
        return float(np.mean([own.value for own in self.found])) - self.truth

    @property
    def width(self) -> float:
        """How wide the intervals are, on average."""
        return float(np.mean([own.high - own.low for own in self.found]))


def draw_people(seed: int, rows: int) -> tuple[pa.Table, Floats]:
    """People with two features, their group and label, and for each P(A = g, Y = y | x)."""
    rng = np.random.default_rng(seed)
    skill, area = rng.normal(size=rows), rng.integers(0, 3, rows)
    share = np.exp(np.outer(area - 1, _GROUPS) * 0.8)
    share /= share.sum(axis=1, keepdims=True)
    chance = expit(1.5 * skill[:, None] + 0.8 * (area[:, None] - 1) + 0.6 * _GROUPS - 0.5)
    law = np.stack([share * (1 - chance), share * chance], axis=2)
    drawn = (rng.random(rows)[:, None] < law.reshape(rows, -1).cumsum(axis=1)).argmax(axis=1)
    columns = {"skill": skill, "area": np.array(["north", "east", "south"])[area]}
    return pa.table(columns | {"sex": np.array(["f", "m"])[drawn // 2], "hired": drawn % 2}), law


def decide(people: pa.Table, law: Floats) -> dict[str, Floats]:
    """What the audited models decide; none of them was learned from these people."""
    skill = people["skill"].to_numpy()
    best = (law[:, :, 1].sum(axis=1) > 0.5).astype(np.float64)
    north = (people["area"].to_numpy(zero_copy_only=False) == "north").astype(np.float64)
    return {
        "skill alone": (skill > 0).astype(np.float64),
        "skill, more of it asked in the north": (skill > 0.3 * north).astype(np.float64),
        "best without tolerances": best,
        "that, or half of the time a coin": 0.25 + 0.5 * best,
    }


def run(samples: int = SAMPLES, rows: int = ROWS, crowd: int = CROWD) -> list[Line]:
    """Audit the models on every sample and on the law."""
    people, law = draw_people(10_000, crowd)
    # On the law itself, decided as on the samples: by lot where a score is neither 0 nor 1.
    true = fl.audit(fl.CellDistribution.from_mass(law), decide(people, law), notions=NOTIONS, threshold=None)
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for seed in range(samples):
            drawn, own = draw_people(seed, rows)
            data = fl.Dataset.from_frame(drawn, label="hired", sensitive="sex")
            learner: Any = LogisticRegression()
            found.append(fl.audit(data, decide(drawn, own), notions=NOTIONS, threshold=None, estimator=learner))
    return [
        Line(
            model.name,
            line.notions,
            tuple(model.gaps[name].value for name in line.notions),
            line.avoidable.value,
            tuple(sample[model.name].lines[at].avoidable for sample in found),
        )
        for model in true.models
        for at, line in enumerate(model.lines)
    ]


def markdown(lines: list[Line]) -> str:
    """A table with a line for each model and notion."""
    samples = len(lines[0].found)
    shown = [
        (
            own.model,
            " + ".join(own.notions),
            ", ".join(f"{gap:.3f}" for gap in own.gaps),
            f"{100 * own.truth:.1f}",
            f"{own.held} of {samples}",
            f"{100 * own.excess:+.1f}",
            f"{100 * own.width:.1f}",
        )
        for own in sorted(lines, key=lambda line: (len(line.notions), min(line.gaps)))
    ]
    heads = (
        "model",
        "as fair in",
        "its true gap",
        "avoidable, truth",
        "interval holds it",
        "estimate above it",
        "width of the interval",
    )
    return (
        f"{samples} samples of {ROWS:,} people whose law is known, of whom 30% are held out; P(A, Y given x) is "
        f"learned by logistic regression. The truth is the audit of the same models on the law of {CROWD:,} other "
        "people. Avoidable parts in points of accuracy, intervals of 95%.\n\n" + table(heads, shown)
    )
