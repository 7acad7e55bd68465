"""`Scenarios`: the situations side by side, as plain data, as tables, in words and as a picture."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from fairlimits._util.frames import arrow_table, of_user_kind
from fairlimits._util.notebooks import Shown
from fairlimits._util.percentages import hundredfold
from fairlimits._util.plotting import axes_or_new, colour_of, figure_style
from fairlimits._util.suppression import check_suppress
from fairlimits.evaluation.audits import Audit
from fairlimits.evaluation.ceilings import Ceiling
from fairlimits.notions import INDIVIDUAL, UNIT, Estimate, Evaluation, plain_records, suppress_evaluation

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# A difference that is printed as 0.0 points is none.
_NOTHING = 5e-4


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
    ceiling : Ceiling or None
        What no rule in this situation passes, if it was asked for; a rule that was fixed before has none.
    """

    aware: bool
    decorrelated: bool
    fixed: bool
    evaluation: Evaluation
    correlation: float
    constant: bool = False
    ceiling: Ceiling | None = None

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
    key : {"hiding", "hiding_decorrelated", "decorrelating_hidden", "decorrelating_seen"}
        What costs it.
    name : str
        The same in words.
    plug_in : float
        The difference as the estimates have it.
    held_out : Estimate
        The difference on the same held-out rows.
    """

    key: str
    name: str
    plug_in: float
    held_out: Estimate


@dataclass(frozen=True, eq=False, repr=False)
class Scenarios(Shown):
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
    doubts : tuple of str
        Features that may give the label or the group away, or that are ids: a sentence each.

    Examples
    --------
    >>> import fairlimits as fl
    >>> from sklearn.linear_model import LogisticRegression
    >>> data = fl.load_dataset("adult").take(range(3_000))
    >>> found = fl.compare_scenarios(data, {"DP": 0.05}, estimator=LogisticRegression(max_iter=500))
    >>> found.to_frame().column_names[:3]
    ['situation', 'aware', 'decorrelated']
    >>> found.costs_to_frame().column_names
    ['what', 'plug-in', 'held out', 'low', 'high']
    """

    tolerances: Mapping[str, float]
    correlation: float
    situations: tuple[Situation, ...]
    costs: tuple[Cost, ...]
    learned: int
    tested: int
    calibration_error: float
    audit: Audit | None = None
    doubts: tuple[str, ...] = ()

    def suppressed(self, least: int | None, hidden: Collection[str] = ()) -> Scenarios:
        """Leave out counts and rates that rest on fewer people; None leaves nothing out.

        Parameters
        ----------
        least : int or None
            Fewest people that a figure may rest on.
        hidden : collection of str
            Groups to be left out anyway.
        """
        if check_suppress(least) is None:
            return self
        return replace(
            self,
            situations=tuple(
                replace(own, evaluation=suppress_evaluation(own.evaluation, least, hidden)) for own in self.situations
            ),
            audit=None if self.audit is None else self.audit.suppressed(least, hidden),
        )

    @property
    def frame_kind(self) -> str:
        """Library that `to_frame` makes a frame of: the one whose frame the people came in."""
        return self.situations[0].evaluation.frame_kind

    @of_user_kind
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
                **({} if own.ceiling is None else {"no rule passes": own.ceiling.upper}),
            }
            for own in self.situations
        ]
        if any("no rule passes" in record for record in records):
            records = [{**record, "no rule passes": record.get("no rule passes")} for record in records]
        return pa.Table.from_pylist(records)

    @of_user_kind
    def rates_to_frame(self) -> pa.Table:
        """How each group fares on held-out rows, a row for each situation and group."""
        return pa.Table.from_pylist(
            [
                {"situation": own.name, **record}
                for own in self.situations
                for record in own.evaluation.by_group.records()
            ]
        )

    def to_dict(self) -> dict[str, Any]:
        """All figures as plain data; None where a figure is not estimable."""
        situations = plain_records(arrow_table(self.to_frame()).to_pylist())
        for record, own in zip(situations, self.situations, strict=True):
            record["rates by group"] = own.evaluation.by_group.to_dict()
        return {
            "unit": UNIT,
            "tolerances": dict(self.tolerances),
            "rows": {"learned": self.learned, "held out": self.tested},
            "situations": situations,
            "costs": plain_records(arrow_table(self.costs_to_frame()).to_pylist()),
            "calibration error": self.calibration_error,
            "in words": self.summary(),
            "notes": list(self.doubts),
            "model": None
            if self.audit is None
            else {
                "rates by group": self.audit.rates_to_dict(),
                "lines": plain_records(arrow_table(self.audit.to_frame()).to_pylist()),
                "in words": self.audit.summary(),
                "notes": list(self.audit.notes),
            },
        }

    @of_user_kind
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
            gaps = [_held(own.evaluation, name, eps) for name, eps in self.tolerances.items() if name != INDIVIDUAL]
            if gaps:
                lines.append(f"Gaps on those rows of the one that {which}: {'; '.join(gaps)}.")
        alike = [own.name for own in self.situations if own.constant]
        if alike:
            lines.append(f"Everybody gets the same score there: {'; '.join(alike)}.")
        lines += [_cost_words(cost) for cost in self.costs]
        for own in (seen, hidden):
            if own.ceiling is not None:
                which = "sees the group" if own.aware else "does not see it"
                lines.append(
                    f"With {own.ceiling.confidence:.0%} confidence no rule at all that {which} and keeps this passes "
                    f"{own.ceiling.upper:.1%} ({own.ceiling.twins:.0%} of the people have a twin, which that rests on)."
                )
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


def _held(evaluation: Evaluation, name: str, tolerance: float) -> str:
    """A gap on held-out rows, what it stays within, whether that is its tolerance, and who is lowest and highest."""
    gap, most = evaluation.gaps[name], f"{100 * tolerance:g} points"
    if not gap.known:
        return f"{name} {gap}"
    if gap.low > tolerance:
        kept = f"above {most}"
    elif evaluation.at_most[name] <= tolerance:
        kept = f"within {most}"
    else:
        kept = f"whether it is within {most} cannot be told from these rows"
    direction = evaluation.by_group.gaps[name].direction
    sure = f"at most {hundredfold(evaluation.at_most[name])} with confidence {evaluation.confidence:g}"
    return f"{name} {gap.hundredths(' points')}, {sure}, {kept}{f' ({direction})' if direction else ''}"


def _cost_words(cost: Cost) -> str:
    """What less freedom costs, as far as its interval shows."""
    value, low, high = (hundredfold(end) for end in cost.held_out)
    points = f"{value} points of accuracy (interval {low} to {high})"
    name = f"{cost.name}," if "," in cost.name else cost.name
    if cost.held_out.low > _NOTHING:
        return f"{name} costs {points}."
    if cost.held_out.high < -_NOTHING:
        value, low, high = (hundredfold(-end) for end in (cost.held_out.value, cost.held_out.high, cost.held_out.low))
        return (
            f"{name} gains {value} points of accuracy (interval {low} to {high}) on these rows, so the freer rule "
            "that we found is not the best there is, unless it keeps the tolerances better."
        )
    return f"{cost.name}: {points}, so no cost is shown on these rows."
