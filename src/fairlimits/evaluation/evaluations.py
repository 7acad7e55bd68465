"""`evaluate`: what rules and frontiers are worth on rows that took no part in making them.

A limit read on its own rows is optimistic. The same rule on other rows shows what it is worth: its accuracy there is a
lower bound, up to chance, of what can be reached at its gaps. It is no upper bound: a better rule may exist.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias, overload

import numpy as np
import pyarrow as pa
from matplotlib.axes import Axes

from fairlimits._util.plotting import axes_or_new, colour_of, figure_style
from fairlimits._util.types import Floats, Ints
from fairlimits.data import Dataset
from fairlimits.decorrelation import Plan
from fairlimits.errors import InputError
from fairlimits.limits import Frontier, PointwiseFrontier, PointwiseRule, Rule, by_group
from fairlimits.notions import (
    ACCURACY,
    RESAMPLES,
    Estimate,
    Objective,
    Requirement,
    check_confidence,
    gap_estimates,
    objective_estimates,
    percentile_estimate,
    requirement_estimates,
    resampled,
    tally,
)

OneRule: TypeAlias = Rule | PointwiseRule | Plan
ManyRules: TypeAlias = Frontier | PointwiseFrontier


@dataclass(frozen=True, eq=False)
class Evaluation:
    """What a rule is worth on rows that took no part in making it, expected over the rule's own randomness.

    Parameters
    ----------
    accuracy : Estimate
        Share of decisions that equal the label, with its confidence interval.
    gaps : mapping of str to Estimate
        Gap of every group notion; NaN ("not estimable") where a rate has too few rows behind it.
    plug_in : float
        Accuracy that the rule claimed on the rows it was made from.
    rows : int
        Rows that it was evaluated on.
    counts : ndarray of int of shape (G, 2)
        Those rows by group and label.
    confidence : float
        Of the intervals.
    attained : mapping of str to Estimate
        Value of what each requirement of the rule is about, by its text.
    value : Estimate or None
        What the rule was to be best at, where that is not accuracy.
    """

    accuracy: Estimate
    gaps: Mapping[str, Estimate]
    plug_in: float
    rows: int
    counts: Ints
    confidence: float
    attained: Mapping[str, Estimate] = field(default_factory=dict)
    value: Estimate | None = None

    @property
    def optimism(self) -> float:
        """Plug-in less held-out accuracy."""
        return self.plug_in - self.accuracy.value

    def to_dict(self) -> dict[str, float]:
        """All figures by name: value, low and high end of each."""
        record = {"plug-in accuracy": self.plug_in}
        figures = {"accuracy": self.accuracy, **{f"gap {n}": e for n, e in self.gaps.items()}, **self.attained}
        if self.value is not None:
            figures["objective"] = self.value
        for name, estimate in figures.items():
            record |= {name: estimate.value, f"{name}, low": estimate.low, f"{name}, high": estimate.high}
        return record


@dataclass(frozen=True, eq=False)
class EvaluatedFrontier:
    """What the rules of a frontier are worth on rows that took no part in making them.

    Parameters
    ----------
    points : tuple of Evaluation
        One for each rule.
    grid : mapping of str to ndarray of shape (points,)
        Each notion's tolerance at each point.
    """

    points: tuple[Evaluation, ...]
    grid: Mapping[str, Floats]

    @property
    def accuracy(self) -> Floats:
        """Held-out accuracy at each point."""
        return np.array([point.accuracy.value for point in self.points])

    def __len__(self) -> int:
        return len(self.points)

    def to_frame(self) -> pa.Table:
        """Tolerances and all held-out figures as a table, a row for each point."""
        records = [point.to_dict() for point in self.points]
        columns: dict[str, Any] = {f"tolerance {name}": values for name, values in self.grid.items()}
        return pa.table(columns | {key: [record[key] for record in records] for key in records[0]})

    def plot(self, ax: Axes | None = None, **options: Any) -> Axes:
        """Draw held-out accuracy, with its band, and the plug-in accuracy against the tolerance."""
        with figure_style():
            ax = axes_or_new(ax)
            name = next((name for name, values in self.grid.items() if np.ptp(values) > 0), next(iter(self.grid)))
            label = " + ".join(self.grid)
            colour = options.pop("color", colour_of(label))
            at = self.grid[name]
            low, high = ([getattr(point.accuracy, end) for point in self.points] for end in ("low", "high"))
            ax.fill_between(at, low, high, color=colour, alpha=0.2, linewidth=0)
            ax.plot(at, self.accuracy, color=colour, label=f"{label}, held out", **options)
            plug_in = [point.plug_in for point in self.points]
            ax.plot(at, plug_in, color=colour, linestyle="--", label=f"{label}, plug-in", **options)
            ax.set_xlabel(f"tolerance: largest gap allowed, {name}")
            ax.set_ylabel("accuracy")
            ax.legend()
        return ax


@overload
def evaluate(
    rule: OneRule, rows: Dataset, *, confidence: float = ..., resamples: int = ..., random_state: int = ...
) -> Evaluation: ...


@overload
def evaluate(
    rule: ManyRules, rows: Dataset, *, confidence: float = ..., resamples: int = ..., random_state: int = ...
) -> EvaluatedFrontier: ...


def evaluate(
    rule: OneRule | ManyRules,
    rows: Dataset,
    *,
    confidence: float = 0.95,
    resamples: int = RESAMPLES,
    random_state: int = 0,
) -> Evaluation | EvaluatedFrontier:
    """Evaluate a rule, a frontier or a decorrelation plan on rows that took no part in making it.

    Parameters
    ----------
    rule : Rule, PointwiseRule, Frontier, PointwiseFrontier or Plan
        What to evaluate. A plan is evaluated as its rule after the map.
    rows : Dataset
        The rows: none of them may have been seen by generator, cells, estimate or rule. Take them from
        `Dataset.split`, or read them with `Dataset.read_like`.
    confidence : float, default=0.95
        Of the intervals.
    resamples : int, default=1000
        How often the rows are drawn anew for the intervals.
    random_state : int, default=0
        Seed of the resampling.

    Returns
    -------
    Evaluation or EvaluatedFrontier
        Every figure with its interval.
    """
    scores = row_scores(rule, rows)
    points = evaluate_scores(
        scores,
        _plug_in(rule),
        rows,
        requirements=rule.requirements if isinstance(rule, Rule | Frontier) else (),
        objective=rule.objective if isinstance(rule, Rule | Frontier) else ACCURACY,
        confidence=confidence,
        resamples=resamples,
        random_state=random_state,
    )
    if isinstance(rule, Frontier | PointwiseFrontier):
        return EvaluatedFrontier(points, rule.grid)
    return points[0]


def evaluate_scores(
    scores: Floats,
    plug_in: Floats,
    rows: Dataset,
    *,
    requirements: Sequence[Requirement] = (),
    objective: Objective = ACCURACY,
    confidence: float = 0.95,
    resamples: int = RESAMPLES,
    random_state: int = 0,
) -> tuple[Evaluation, ...]:
    """Evaluate scores of shape (points, n): the probability of deciding 1 for each row."""
    check_confidence(confidence)
    check_resamples(resamples)
    found, drawn = tally(rows, scores), resampled(rows, scores, resamples, random_state)
    accuracy, others = found.accuracy(), drawn.accuracy()
    counts = rows.counts
    gaps = gap_estimates(found, drawn, counts, confidence)
    attained = requirement_estimates(found, drawn, counts, requirements, rows.groups, confidence)
    values: list[Estimate | None] = [None] * len(scores)
    if objective != ACCURACY:
        values = list(objective_estimates(found, drawn, objective, confidence))
    return tuple(
        Evaluation(
            percentile_estimate(float(accuracy[point]), others[:, point], confidence),
            gaps[point],
            float(plug_in[point]),
            rows.n_rows,
            counts,
            confidence,
            attained[point],
            values[point],
        )
        for point in range(len(scores))
    )


def row_scores(rule: OneRule | ManyRules, rows: Dataset) -> Floats:
    """Probability of deciding 1, of shape (points, n), for each row and rule."""
    if isinstance(rule, PointwiseRule | PointwiseFrontier):
        own = rule.rules if isinstance(rule, PointwiseFrontier) else (rule,)
        rows.check_groups(own[0].groups)
        q = own[0].model.predict(rows)
        return np.stack([each.scores_of(q, rows.group) for each in own])
    if not isinstance(rule, Rule | Frontier | Plan):
        raise InputError(f"{type(rule).__name__} cannot be evaluated; give a rule, a frontier or a plan.")
    dist = rule.distribution
    rows.check_groups(dist.groups)
    if dist.schema is not None and dist.schema.features != rows.schema.features:
        raise InputError(
            "The rows have other features, or other categories, than those the cells were cut from; read them with "
            "Dataset.read_like and the schema of the first table."
        )
    if isinstance(rule, Plan):
        scores = by_group(rule.mapped_scores, rule.aware, dist.n_groups)[None]
    else:
        scores = by_group(rule.scores, rule.aware, dist.n_groups)
        scores = scores if isinstance(rule, Frontier) else scores[None]
    return np.asarray(scores[:, dist.cells_of(rows), rows.group])


def _plug_in(rule: OneRule | ManyRules) -> Floats:
    return np.atleast_1d(np.asarray(rule.accuracy, dtype=np.float64))


def check_resamples(resamples: int) -> None:
    """Refuse fewer resamples than an interval can be read from."""
    if resamples < 100:
        raise InputError(f"The number of resamples is {resamples}; give at least 100, or the intervals are chance.")
