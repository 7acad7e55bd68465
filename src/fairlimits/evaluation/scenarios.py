"""`compare_scenarios`: four situations side by side: the group seen or not, the features decorrelated from it or not.

Decorrelation with the rule free to adapt has a simple limit: correlation can be at most kappa exactly when the gap in
demographic parity can be at most kappa / 2 (``docs/decorrelation.md``). Beside that limit stands the paper's own way,
in which a rule is fixed first and its features are decorrelated afterwards.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from fairlimits._util.plotting import axes_or_new, colour_of, figure_style
from fairlimits._util.progress import Progress, or_silent
from fairlimits._util.types import Floats
from fairlimits.data import Dataset
from fairlimits.decorrelation import Decorrelation, decorrelate
from fairlimits.errors import InputError, SmallGroupsWarning
from fairlimits.evaluation.audits import Audit, audit_on, from_rows, split_rows
from fairlimits.evaluation.audits.predictions import Decided, Predictions, Threshold
from fairlimits.evaluation.evaluations import row_scores
from fairlimits.law import Outcome, estimate_outcome
from fairlimits.limits import Rule, on_cells, solve
from fairlimits.notions import (
    INDIVIDUAL,
    RESAMPLES,
    Estimate,
    Evaluation,
    check_confidence,
    check_resamples,
    check_tolerances,
    evaluate_scores,
    percentile_estimate,
    resampled,
    tally,
    warn_of_nothing_to_compare,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False)
class Situation:
    """One of the situations.

    Parameters
    ----------
    aware : bool
        Whether the rule sees the group.
    decorrelated : bool
        Whether its features must be independent of the group.
    fixed : bool
        Whether the rule was fixed before its features were decorrelated, as in the paper.
    evaluation : Evaluation
        Plug-in and held-out figures.
    correlation : float
        Correlation of features and group that is left: 0 is none. NaN where nothing is asked of it.
    constant : bool
        Whether the rule gives everybody the same score.
    """

    aware: bool
    decorrelated: bool
    fixed: bool
    evaluation: Evaluation
    correlation: float
    constant: bool = False

    @property
    def name(self) -> str:
        """The situation in words."""
        sees = "group seen" if self.aware else "group hidden"
        if not self.decorrelated:
            return sees
        return f"{sees}, decorrelated{' after the rule was fixed' if self.fixed else ''}"


@dataclass(frozen=True)
class Cost:
    """Accuracy that one situation loses against another, on the same rows.

    Parameters
    ----------
    name : str
        What costs it, in words.
    plug_in : float
        The difference as the estimates have it.
    held_out : Estimate
        The difference on held-out rows, with an interval from paired resamples.
    """

    name: str
    plug_in: float
    held_out: Estimate


@dataclass(frozen=True, eq=False, repr=False)
class Scenarios:
    """The situations side by side.

    Parameters
    ----------
    tolerances : mapping of str to float
        Largest gap allowed for each notion.
    correlation : float
        Largest correlation of features and group that "decorrelated" allows.
    situations : tuple of Situation
        Without decorrelation, with it and a rule free to adapt, with it and a fixed rule; hidden first, then seen.
    costs : tuple of Cost
        What hiding the group costs, and what decorrelating costs.
    learned, tested : int
        Rows that the rules were made from, and rows that they were evaluated on.
    calibration_error : float
        How far the estimates of P(A, Y | x) are from what came true, out of fold, on average over bins.
    audit : Audit or None
        Given models beside the best rules we found that see the group, in the group notions that were asked for.
    """

    tolerances: Mapping[str, float]
    correlation: float
    situations: tuple[Situation, ...]
    costs: tuple[Cost, ...]
    learned: int
    tested: int
    calibration_error: float
    audit: Audit | None = None

    def to_frame(self) -> pa.Table:
        """All figures as a table, a row for each situation."""
        records: list[dict[str, Any]] = [
            {
                "situation": own.name,
                "aware": own.aware,
                "decorrelated": own.decorrelated,
                "rule fixed before": own.fixed,
                "correlation": own.correlation,
                "same score for all": own.constant,
                **own.evaluation.to_dict(),
            }
            for own in self.situations
        ]
        return pa.Table.from_pylist(records)

    def costs_to_frame(self) -> pa.Table:
        """What hiding and decorrelating cost, as a table."""
        return pa.Table.from_pylist(
            [
                {
                    "what": cost.name,
                    "plug-in": cost.plug_in,
                    "held out": cost.held_out.value,
                    "low": cost.held_out.low,
                    "high": cost.held_out.high,
                }
                for cost in self.costs
            ]
        )

    def summary(self) -> str:
        """Say what was found in a few sentences, and no more than was found."""
        hidden, seen = self.find(aware=False), self.find(aware=True)
        asked = " and ".join(f"{name} within {eps:g}" for name, eps in self.tolerances.items()) or "no constraint"
        best = seen.evaluation.accuracy
        lines = [
            f"With {asked}, the best rule we found that sees the group reaches {best.value:.1%} on "
            f"{self.tested:,} held-out rows (interval {best.low:.1%} to {best.high:.1%}); one that does not see it "
            f"reaches {hidden.evaluation.accuracy.value:.1%}."
        ]
        for own, which in ((seen, "sees the group"), (hidden, "does not")):
            gaps = [f"{name} {own.evaluation.gaps[name]}" for name in self.tolerances if name != INDIVIDUAL]
            if gaps:
                lines.append(f"Gaps on those rows of the one that {which}: {', '.join(gaps)}.")
        alike = [own.name for own in self.situations if own.constant]
        if alike:
            lines.append(f"Everybody gets the same score there: {'; '.join(alike)}.")
        lines += [f"{cost.name}: {_in_points(cost.held_out)}." for cost in self.costs]
        lines.append("These are estimated limits: a rule that we could not find may do better.")
        return " ".join(lines)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the held-out accuracy of each situation with its interval, and the plug-in accuracy beside it.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        """
        with figure_style():
            ax = axes_or_new(ax, (7.4, 3.4))
            for at, own in enumerate(self.situations):
                held, colour = own.evaluation.accuracy, colour_of("aware" if own.aware else "unaware")
                reach = [[held.value - held.low], [held.high - held.value]]
                label = None if at else "held out"
                ax.errorbar([held.value], [at], xerr=reach, fmt="o", capsize=3, color=colour, label=label)
                ax.plot(own.evaluation.plug_in, at, "|", color=colour, markersize=12, label=None if at else "plug-in")
            ax.set_yticks(range(len(self.situations)), [own.name for own in self.situations])
            ax.set_ylim(len(self.situations) - 0.5, -0.5)
            ax.set_xlabel(
                f"accuracy, with its {self.situations[0].evaluation.confidence:.0%} interval on held-out rows"
            )
            ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2)
        return ax

    def __repr__(self) -> str:
        asked = ", ".join(f"{name} <= {value:g}" for name, value in self.tolerances.items()) or "no constraint"
        seen, hidden = (self.find(aware=aware).evaluation.accuracy.value for aware in (True, False))
        return f"Scenarios({asked}; held-out accuracy {seen:.4f} group seen, {hidden:.4f} group hidden)"

    def find(self, *, aware: bool, decorrelated: bool = False, fixed: bool = False) -> Situation:
        """Return one of the situations."""
        wanted = (aware, decorrelated, fixed)
        return next(own for own in self.situations if (own.aware, own.decorrelated, own.fixed) == wanted)


def compare_scenarios(
    data: Dataset,
    tolerances: Mapping[str, float],
    *,
    correlation: float = 0.0,
    test_size: float = 0.3,
    estimator: Any = None,
    predictions: Predictions | None = None,
    threshold: Threshold = "auto",
    confidence: float = 0.95,
    resamples: int = RESAMPLES,
    random_state: int = 0,
    progress: Progress | None = None,
) -> Scenarios:
    """Compare the four situations, on rows that took no part in making the rules.

    Rules on group notions are solved on up to 256 cells of an estimate of P(A, Y | x), learned from the rows to learn
    from. With individual fairness among the tolerances, and for the paper's fixed rule, the cells cut that estimate and
    the features.

    Parameters
    ----------
    data : Dataset
        The people; they are split in rows to learn from and rows to evaluate on.
    tolerances : mapping of str to float
        Largest gap allowed for each notion.
    correlation : float, default=0
        Largest correlation of features and group that "decorrelated" allows, from 0 to 2.
    test_size : float, default=0.3
        Share of the rows to evaluate on.
    estimator : scikit-learn classifier, optional
        What to learn with; see `estimate_outcome`.
    predictions : str, sequence of str, array-like, or mapping of str to array-like, optional
        One or several models to place beside the limit, as in `audit`, at their own gaps in the group notions among
        the tolerances. They must not have learned from these rows.
    threshold : float, "auto" or None, default="auto"
        Where their scores begin to decide 1; see `audit`.
    confidence, resamples, random_state
        See `evaluate`.
    progress : callable, optional
        Called with the fraction done and a few words.

    Warns
    -----
    BeatenWarning
        If the model is better than the estimated limit beyond what chance explains.
    SmallGroupsWarning
        If no two groups have 30 rows behind a rate of some notion: it is left out.
    """
    asked = check_tolerances(tolerances)
    if not 0 <= correlation <= 2:
        raise InputError(f"The correlation is {correlation!r}; it must lie between 0 and 2.")
    check_confidence(confidence)
    check_resamples(resamples)
    tell = or_silent(progress)
    people: Dataset = data
    models: tuple[Decided, ...] = ()
    if predictions is not None:
        if not set(asked) - {INDIVIDUAL}:
            raise InputError("A model is compared at its gap in a group notion; give a tolerance for one, such as DP.")
        people, models, alone = from_rows(data, predictions, threshold)
        if alone:
            raise InputError("There is no feature besides the predictions; use audit, or give the features too.")
    learned, held = split_rows(people, test_size, random_state)
    learn, test = people.take(learned), people.take(held)
    outcome = estimate_outcome(
        learn, estimator=estimator, random_state=random_state, progress=lambda done, words: tell(0.8 * done, words)
    )
    options: dict[str, Any] = {"confidence": confidence, "resamples": resamples, "random_state": random_state}
    found = compare(
        outcome,
        test,
        asked,
        correlation=correlation,
        progress=lambda done, words: tell(0.8 + 0.15 * done, words),
        **options,
    )
    if not models:
        return found
    names = tuple(name for name in asked if name != INDIVIDUAL)
    return replace(found, audit=audit_on(outcome, people, models, held, names, aware=True, **options))


def compare(
    outcome: Outcome,
    test: Dataset,
    tolerances: Mapping[str, float],
    *,
    correlation: float = 0.0,
    confidence: float = 0.95,
    resamples: int = RESAMPLES,
    random_state: int = 0,
    progress: Progress | None = None,
) -> Scenarios:
    """Compare the four situations, from an estimate that is there already (see `compare_scenarios`).

    Parameters
    ----------
    outcome : Outcome
        Estimate on the rows to learn from.
    test : Dataset
        Rows to evaluate on.
    tolerances, correlation, confidence, resamples, random_state, progress
        See `compare_scenarios`.
    """
    tell = or_silent(progress)
    apart = {**tolerances, "DP": min(tolerances.get("DP", np.inf), correlation / 2)}
    found: list[tuple[bool, bool, bool, Rule | Decorrelation, float]] = []
    warn_of_nothing_to_compare(apart, outcome.data.groups, outcome.data.counts)
    tell(0.0, "cutting cells")
    # A map sends people to cells, which have to be kinds of people: those of individual fairness.
    dist = on_cells(outcome, [INDIVIDUAL], random_state)
    with warnings.catch_warnings():
        # Said once, for all situations.
        warnings.simplefilter("ignore", SmallGroupsWarning)
        for aware in (False, True):
            tell(0.3 + 0.25 * aware, f"solving, group {'seen' if aware else 'hidden'}")
            asked: dict[str, Any] = {"aware": aware, "random_state": random_state}
            fixed = solve(dist, tolerances, aware=aware)
            plan = decorrelate(dist, fixed, distortion=None)
            found += [
                (aware, False, False, solve(outcome, tolerances, **asked), np.nan),
                (aware, True, False, solve(outcome, apart, **asked), correlation),
                (aware, True, True, plan, plan.correlation),
            ]
    tell(0.8, "evaluating on held-out rows")
    scores = np.vstack([row_scores(rule, test) for *_, rule, _ in found])
    plug_in = np.array([rule.accuracy for *_, rule, _ in found])
    drawn = resampled(test, scores, resamples, random_state)
    judged = evaluate_scores(scores, plug_in, test, confidence=confidence, drawn=drawn)
    situations = tuple(
        Situation(aware, apart_, fixed, evaluation, left, isinstance(rule, Rule) and rule.is_constant)
        for (aware, apart_, fixed, rule, left), evaluation in zip(found, judged, strict=True)
    )
    costs = _costs(situations, tally(test, scores).accuracy(), drawn.accuracy(), confidence)
    return Scenarios(
        tolerances=dict(tolerances),
        correlation=correlation,
        situations=situations,
        costs=costs,
        learned=outcome.data.n_rows,
        tested=test.n_rows,
        calibration_error=outcome.calibration_error(),
    )


# What each cost compares: the situation with more freedom, and the one with less, as (aware, decorrelated, fixed).
_COMPARED = (
    ("Hiding the group", (True, False, False), (False, False, False)),
    ("Hiding the group, features decorrelated", (True, True, False), (False, True, False)),
    ("Decorrelating, group hidden", (False, False, False), (False, True, False)),
    ("Decorrelating, group seen", (True, False, False), (True, True, False)),
)


def _costs(situations: Sequence[Situation], value: Floats, drawn: Floats, confidence: float) -> tuple[Cost, ...]:
    """What less freedom costs, from the accuracies of the situations; both are resampled together."""
    at = {(own.aware, own.decorrelated, own.fixed): position for position, own in enumerate(situations)}
    costs = []
    for name, more, less in _COMPARED:
        i, j = at[more], at[less]
        costs.append(
            Cost(
                name,
                situations[i].evaluation.plug_in - situations[j].evaluation.plug_in,
                percentile_estimate(float(value[i] - value[j]), drawn[:, i] - drawn[:, j], confidence),
            )
        )
    return tuple(costs)


def _in_points(cost: Estimate) -> str:
    value, low, high = (100 * end for end in cost)
    return f"{value:.1f} points of accuracy (interval {low:.1f} to {high:.1f})"
