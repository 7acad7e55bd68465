"""`Evaluation`: accuracy, gaps and rates of decisions on labelled people, each figure with its interval."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from fairlimits._util.frames import of_user_kind
from fairlimits._util.notebooks import Shown
from fairlimits._util.plotting import axes_or_new, colour_of, figure_style
from fairlimits._util.small_samples import ESTIMABLE_ROWS, few_rows, listed
from fairlimits._util.suppression import SUPPRESSED_TEXT
from fairlimits._util.types import Floats, Ints
from fairlimits.notions.estimates import (
    accuracy_estimates,
    gap_estimates,
    objective_estimates,
    requirement_estimates,
)
from fairlimits.notions.gap_limits import gaps_at_most
from fairlimits.notions.group_rates import GroupRates
from fairlimits.notions.intervals import Estimate, check_confidence, with_suppressed
from fairlimits.notions.objectives import ACCURACY, Objective
from fairlimits.notions.rate_estimates import rates_by_group
from fairlimits.notions.rows import Requirement
from fairlimits.notions.score_intervals import MeasuredRates
from fairlimits.notions.tallies import People, tally

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation(Shown):
    """How a rule does on people that took no part in making it, expected over the rule's own randomness.

    Parameters
    ----------
    accuracy : Estimate
        Share of decisions that equal the label, with its confidence interval.
    gaps : mapping of str to Estimate
        Gap of every group notion, between rates with enough rows behind them; NaN ("not estimable") where no two groups
        are left to compare.
    plug_in : float
        Accuracy that the rule claimed on the rows it was made from.
    rows : int
        Rows that it was evaluated on.
    counts : ndarray of int of shape (G, 2) or None
        Those rows by group and label; None where some of them are suppressed.
    confidence : float
        Confidence of the intervals.
    attained : mapping of str to Estimate
        The value that each requirement of the rule bounds, by the requirement's text.
    value : Estimate or None
        Value of the objective, where that is not accuracy.
    set_aside : tuple of str
        Groups of which a rate has too few of these rows behind it to be compared, with their counts, unless these are
        suppressed.
    by_group : GroupRates
        The rates of each group, and between which groups each gap lies.
    at_most : mapping of str to float
        Upper bound of each gap with the confidence, one-sided and each by itself; NaN where it is not estimable.
        Without gaps that are suppressed.

    Examples
    --------
    >>> import fairlimits as fl
    >>> from sklearn.linear_model import LogisticRegression
    >>> data = fl.load_dataset("adult").take(range(3_000))
    >>> learn, test = data.split(0.3, random_state=0)
    >>> rule = fl.solve(fl.estimate_outcome(learn, estimator=LogisticRegression(max_iter=500)), {"DP": 0.1})
    >>> held_out = fl.evaluate(rule, test)
    >>> sorted(held_out.gaps)
    ['DP', 'EA', 'EOd', 'EOp', 'PE']
    >>> held_out.gaps["DP"].low <= held_out.gaps["DP"].value <= held_out.gaps["DP"].high
    True
    """

    accuracy: Estimate
    gaps: Mapping[str, Estimate]
    plug_in: float
    rows: int
    counts: Ints | None
    confidence: float
    by_group: GroupRates
    at_most: Mapping[str, float]
    attained: Mapping[str, Estimate] = field(default_factory=dict)
    value: Estimate | None = None
    set_aside: tuple[str, ...] = ()

    @property
    def optimism(self) -> float:
        """Plug-in minus held-out accuracy."""
        return self.plug_in - self.accuracy.value

    @property
    def figures(self) -> dict[str, Estimate]:
        """Every held-out figure by its name."""
        figures = {"accuracy": self.accuracy, **{f"gap {n}": e for n, e in self.gaps.items()}, **self.attained}
        return figures if self.value is None else {**figures, "objective": self.value}

    def to_dict(self) -> dict[str, Any]:
        """All figures by name: value, low and high end of each, or which of them are suppressed."""
        record = with_suppressed({"plug-in accuracy": self.plug_in}, self.figures, self.by_group.suppress)
        return record | {f"gap {name}, at most": limit for name, limit in self.at_most.items()}

    @property
    def frame_kind(self) -> str:
        """Library that `to_frame` makes a frame of: the one whose frame the people came in."""
        return self.by_group.frame_kind

    @of_user_kind
    def to_frame(self) -> pa.Table:
        """All held-out figures as a table, a row for each: value, low and high end."""
        least = self.by_group.suppress
        records = [
            {"figure": name, **dict(zip(("value", "low", "high"), figure.columns(name).values(), strict=True))}
            | ({} if least is None else {SUPPRESSED_TEXT: figure.suppressed})
            for name, figure in self.figures.items()
        ]
        return pa.Table.from_pylist(records)

    def summary(self) -> str:
        """Say what was found in two sentences, and whom it leaves out."""
        gaps = "; ".join(f"{name} {gap}" for name, gap in self.by_group.gaps.items())
        text = (
            f"On {self.rows:,} rows that took no part: accuracy {self.accuracy.hundredths('%')}, where "
            f"{self.plug_in:.1%} was claimed (plug-in). Gaps: {gaps}."
        )
        if self.set_aside:
            text += f" Set aside, with fewer than {ESTIMABLE_ROWS} rows behind a rate: {listed(self.set_aside)}."
        return text

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the gap of every notion that is known, with its interval."""
        with figure_style():
            ax = axes_or_new(ax)
            known = {name: gap for name, gap in self.gaps.items() if gap.known}
            for at, (name, gap) in enumerate(known.items()):
                reach = [[gap.value - gap.low], [gap.high - gap.value]]
                ax.errorbar([gap.value], [at], xerr=reach, fmt="o", capsize=3, color=colour_of(name))
            ax.set_yticks(range(len(known)), list(known))
            ax.invert_yaxis()
            ax.set_xlabel(f"gap on held-out rows, with its {self.confidence:.0%} interval")
            ax.set_xlim(left=0)
        return ax

    def __repr__(self) -> str:
        return f"Evaluation({self.rows:,} rows, accuracy {self.accuracy})"


def evaluate_scores(
    scores: Floats,
    plug_in: Floats,
    people: People,
    *,
    requirements: Sequence[Requirement] = (),
    objective: Objective = ACCURACY,
    confidence: float = 0.95,
) -> tuple[Evaluation, ...]:
    """Evaluate scores of shape (points, n): the probability of deciding 1 for each person."""
    check_confidence(confidence)
    found = tally(people, scores)
    measured = MeasuredRates(people, scores, found)
    accuracy = accuracy_estimates(measured, confidence)
    gaps = gap_estimates(measured, confidence)
    attained = requirement_estimates(measured, requirements, people.groups, confidence)
    set_aside = few_rows(people.groups, found.counts)
    values: list[Estimate | None] = [None] * len(scores)
    if objective != ACCURACY:
        values = list(objective_estimates(measured, objective, confidence))
    return tuple(
        Evaluation(
            accuracy[point],
            gaps[point],
            float(plug_in[point]),
            people.n_rows,
            found.counts,
            confidence,
            rates_by_group(people, scores[point], gaps[point], confidence),
            gaps_at_most(people, scores[point], confidence),
            attained[point],
            values[point],
            set_aside,
        )
        for point in range(len(scores))
    )
