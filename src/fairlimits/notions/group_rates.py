"""`GroupRates`: how each group fares under decisions, each figure with its interval, and who is lowest and highest."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
from scipy.special import ndtri

from fairlimits._util.frames import ARROW, of_user_kind
from fairlimits._util.names import in_a_sentence
from fairlimits._util.notebooks import Shown
from fairlimits._util.plotting import GROUP_COLOURS, axes_or_new, figure_style, plain_text
from fairlimits._util.small_samples import enough
from fairlimits._util.text_tables import text_table
from fairlimits._util.types import Floats, Ints
from fairlimits.notions.intervals import NOT_ESTIMABLE, SUPPRESSED, Estimate, check_confidence, with_suppressed
from fairlimits.notions.rates import RateTable, spread
from fairlimits.notions.registry import NOTIONS, group_gaps, title
from fairlimits.notions.tallies import People, tally

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# A selection rate below this share of the highest is taken as a sign of adverse impact.
_FOUR_FIFTHS = 0.8

# People selected in the group of the highest rate, below which nothing is said about shares of that rate.
_FEWEST_SELECTED = 5

# A gap below this is rounding: nobody is lower than others.
_SAME = 1e-9

_SHOWN = ("selection rate", "true positive rate", "false positive rate", "accuracy", "precision")


class Gap(NamedTuple):
    """Difference between the groups that a notion tells farthest apart.

    Parameters
    ----------
    estimate : Estimate
        Its size.
    rate : str
        The rate in which it is largest.
    lowest, highest : str
        The groups; empty where nothing can be compared, or nothing differs.
    """

    estimate: Estimate
    rate: str = ""
    lowest: str = ""
    highest: str = ""

    def __str__(self) -> str:
        return f"{self.estimate}: {self.direction}" if self.direction else str(self.estimate)

    @property
    def direction(self) -> str:
        """Who is lowest and who highest, and whether chance alone may have made them so; empty if nobody is."""
        if not self.lowest:
            return ""
        words = f"{self.rate} lowest for {in_a_sentence(self.lowest)}, highest for {in_a_sentence(self.highest)}"
        return f"{words}, which chance may explain" if self.estimate.low <= 0 else words


@dataclass(frozen=True, eq=False, repr=False)
class GroupRates(Shown):
    """How each group fares under decisions.

    Parameters
    ----------
    groups : tuple of str
        Names of the groups.
    rows : tuple of int, str or None
        Rows of each group, or that they are suppressed; None for plug-in figures of a law without rows.
    figures : mapping of str to tuple of Estimate
        Of each group: "base rate", "selection rate", "true positive rate", "false positive rate", "accuracy",
        "precision". NaN ("not estimable") where fewer than 30 rows stand behind it.
    ratios : tuple of Estimate
        Selection rate of each group as a share of the highest one.
    gaps : mapping of str to Gap
        Gap of every group notion, with the groups it lies between.
    confidence : float or None
        Of the intervals, one by one; those of gaps hold for all pairs of groups at once. None for plug-in figures.
    parts : ndarray of shape (G, 4), optional
        People of each group by label and decision, whatever they weigh; None where they are not counted, or not shown.
    suppress : int, optional
        Fewest people that a figure may rest on, where others are suppressed.
    frame_kind : str
        The library that `to_frame` makes a frame of, by default Arrow.

    Examples
    --------
    >>> import fairlimits as fl
    >>> label, decided = [1, 0] * 90, [1, 1, 0] * 50 + [0] * 30
    >>> rates = fl.group_rates(label, decided, ["f"] * 90 + ["m"] * 90)
    >>> rates.to_frame().column_names[:4]
    ['group', 'rows', 'base rate', 'base rate, low']
    """

    groups: tuple[str, ...]
    rows: tuple[int | str | None, ...]
    figures: Mapping[str, tuple[Estimate, ...]]
    ratios: tuple[Estimate, ...]
    gaps: Mapping[str, Gap]
    confidence: float | None
    parts: Floats | None = None
    suppress: int | None = None
    frame_kind: str = ARROW

    @property
    def shown(self) -> dict[str, tuple[Estimate, ...]]:
        """Every figure of each group: the rates, and the selection rate as a share of the highest."""
        return {**self.figures, "selection ratio": self.ratios}

    @property
    def impact_ratio(self) -> Estimate:
        """Lowest selection rate as a share of the highest, which the four-fifths rule is about."""
        if any(own.suppressed for own in self.ratios):
            return SUPPRESSED
        known = [own for own in self.ratios if own.known]
        return min(known, key=lambda own: own.value) if len(known) > 1 else NOT_ESTIMABLE

    def to_dict(self) -> dict[str, Any]:
        """Return all figures as plain data; None where a figure is not estimable, a word where it is suppressed."""
        return {
            "confidence": self.confidence,
            "groups": {
                name: {"rows": self.rows[g], **{figure: own[g].plain() for figure, own in self.shown.items()}}
                for g, name in enumerate(self.groups)
            },
            "gaps": {
                name: found
                if not isinstance(found := gap.estimate.plain(), dict)
                else found
                | {
                    "rate": gap.rate or None,
                    "lowest": gap.lowest or None,
                    "highest": gap.highest or None,
                }
                for name, gap in self.gaps.items()
            },
            "impact ratio": self.impact_ratio.plain(),
            "four-fifths rule": self.four_fifths,
        }

    def records(self) -> list[dict[str, Any]]:
        """Return a record for each group: rows, and value, low and high end of each figure, or what is suppressed."""
        return [
            with_suppressed(
                {"group": group, "rows": self.rows[g]},
                {name: own[g] for name, own in self.shown.items()},
                self.suppress,
            )
            for g, group in enumerate(self.groups)
        ]

    @of_user_kind
    def to_frame(self) -> pa.Table:
        """Return a table with a row for each group: rows, and value, low and high end of each figure."""
        records = self.records()
        columns = {name: [record[name] for record in records] for name in records[0]}
        return pa.table(columns)

    def summary(self) -> str:
        """Say in words where the groups are farthest apart."""
        return self.words(tuple(self.gaps))

    def words(self, notions: Sequence[str]) -> str:
        """Say in words where the groups are farthest apart in some notions, and what the four-fifths rule says."""
        return "\n".join([*(f"Gap in {title(name)}: {self.gaps[name]}." for name in notions), self.four_fifths])

    @property
    def four_fifths(self) -> str:
        """What the four-fifths rule says, in a sentence."""
        own = self.impact_ratio
        if not own.known:
            return f"Four-fifths rule: {own}."
        lowest = self.groups[next(g for g, each in enumerate(self.ratios) if each is own)]
        low, high = (own.value, own.value) if math.isnan(own.low) else (own.low, own.high)
        if high < _FOUR_FIFTHS:
            verdict = "below four fifths"
        elif low >= _FOUR_FIFTHS:
            verdict = "at least four fifths"
        else:
            verdict = "which side of four fifths it is on cannot be told from these rows"
        return f"Four-fifths rule: {in_a_sentence(lowest)} is selected at {own} times the highest rate; {verdict}."

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the rates of each group, with their intervals."""
        with figure_style():
            ax = axes_or_new(ax)
            draw_rates(ax, {"": self})
        return ax

    def __str__(self) -> str:
        return f"{text_table(*rates_table({'value': self}))}\n{self.summary()}"

    def __repr__(self) -> str:
        what = "plug-in" if self.confidence is None else f"confidence {self.confidence:g}"
        return f"GroupRates({', '.join(self.groups)}; {what})"


def rates_table(deciders: Mapping[str, GroupRates]) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Heads and lines of a table of the rates of the same groups under one or several deciders, side by side."""
    found = list(deciders.values())
    lines = []
    for name in found[0].shown:
        for g, group in enumerate(found[0].groups):
            rows = found[0].rows[g]
            # Who people are does not depend on who decides.
            shown = found[:1] if name == "base rate" else found
            cells = [_cell(own.shown[name][g]) for own in shown] + [""] * (len(found) - len(shown))
            lines.append(("" if g else name, group if rows is None else f"{group} ({rows_text(rows)})", *cells))
    return ("rate", "group", *deciders), lines


def rows_text(rows: int | str) -> str:
    """Rows of a group in words."""
    return f"rows {rows}" if isinstance(rows, str) else f"{rows:,} rows"


def draw_rates(ax: Axes, deciders: Mapping[str, GroupRates]) -> None:
    """Draw the rates of the same groups under one or two deciders, the second with open marks."""
    first = next(iter(deciders.values()))
    lines = len(first.groups) * len(deciders)
    for g, name in enumerate(first.groups):
        for number, (decider, found) in enumerate(deciders.items()):
            known = [(at, found.figures[own][g]) for at, own in enumerate(_SHOWN) if found.figures[own][g].known]
            place = [at + (g * len(deciders) + number - (lines - 1) / 2) * 0.7 / lines for at, _ in known]
            ends = np.array([own for _, own in known]).reshape(-1, 3)
            reach = None if np.isnan(ends).any() else np.array([ends[:, 0] - ends[:, 1], ends[:, 2] - ends[:, 0]])
            ax.errorbar(
                ends[:, 0],
                place,
                xerr=reach,
                fmt="s" if number else "o",
                markersize=5,
                markerfacecolor="white" if number else None,
                capsize=3,
                linewidth=1.5,
                color=GROUP_COLOURS[g % len(GROUP_COLOURS)],
                label=plain_text(f"{name}, {decider}" if decider else name),
            )
    ax.set_yticks(range(len(_SHOWN)), list(_SHOWN))
    ax.set_xlim(0, 1)
    ax.invert_yaxis()
    ax.set_xlabel("rate (plug-in)" if first.confidence is None else f"rate, with its {first.confidence:.0%} interval")
    ax.legend(loc="upper left", bbox_to_anchor=(1, 1))


def rates_by_group(people: People, scores: Floats, gaps: Mapping[str, Estimate], confidence: float) -> GroupRates:
    """Read the rates of each group.

    Parameters
    ----------
    people : People
        Labelled people.
    scores : ndarray of shape (n,)
        Probability of deciding 1.
    gaps : mapping of str to Estimate
        Gap of every group notion on the same decisions.
    confidence : float
        Of the intervals.
    """
    check_confidence(confidence)
    one = (people.label == 1).astype(np.float64)
    everybody = np.ones(len(one))
    right = np.where(people.label == 1, scores, 1 - scores)
    sides = {
        "base rate": (one, everybody),
        "selection rate": (scores, everybody),
        "true positive rate": (scores, one),
        "false positive rate": (scores, 1 - one),
        "accuracy": (right, everybody),
        "precision": (one, scores),
    }
    read = {name: _wilson(people, *side, confidence) for name, side in sides.items()}
    found = tally(people, scores[None])
    return GroupRates(
        people.groups,
        tuple(found.counts.sum(axis=1).tolist()),
        {name: own for name, (own, _) in read.items()},
        _ratios(*read["selection rate"], confidence),
        {
            name: _gap(gaps[name], {rate.name: found.compared(rate)[0] for rate in NOTIONS[name].rates}, people.groups)
            for name in NOTIONS
            if name in gaps
        },
        confidence,
        parts=_parts(found.counts, _decided_people(people, scores)),
        frame_kind=people.frame_kind,
    )


def plug_in_rates(table: RateTable, scores: Floats) -> GroupRates:
    """Read the rates of each group on a law, for scores of shape (N, G): exact figures without intervals.

    Where the law counts rows, a rate with too few of them behind it is not estimable.
    """
    mass, decided = (own.sum(axis=0) for own in (table.mass, table.mass * scores[:, :, None]))
    rows = None if table.counts is None else table.counts.sum(axis=0)
    chosen = None if table.counts is None else (table.counts * scores[:, :, None]).sum(axis=(0, 2))
    right = mass[:, 0] - decided[:, 0] + decided[:, 1]

    def parts(hit: Floats, whole: Floats, behind: Any) -> tuple[Estimate, ...]:
        known = (whole > 0) & (True if behind is None else enough(np.floor(behind + 1e-9).astype(np.int64)))
        return tuple(
            Estimate(float(np.clip(h / w, 0, 1)), math.nan, math.nan) if there else NOT_ESTIMABLE
            for h, w, there in zip(hit, whole, known, strict=True)
        )

    people = None if rows is None else rows.sum(axis=1)
    by_label = (None, None) if rows is None else (rows[:, 0], rows[:, 1])
    figures = {
        "base rate": parts(mass[:, 1], mass.sum(axis=1), people),
        "selection rate": parts(decided.sum(axis=1), mass.sum(axis=1), people),
        "true positive rate": parts(decided[:, 1], mass[:, 1], by_label[1]),
        "false positive rate": parts(decided[:, 0], mass[:, 0], by_label[0]),
        "accuracy": parts(right, mass.sum(axis=1), people),
        "precision": parts(decided[:, 1], decided.sum(axis=1), chosen),
    }
    selected = [own.value for own in figures["selection rate"]]
    top = max((own for own in selected if not math.isnan(own)), default=0.0)
    ratios = tuple(Estimate(own / top, math.nan, math.nan) if top > 0 else NOT_ESTIMABLE for own in selected)
    gaps = {}
    for name, value in group_gaps(table, scores).items():
        estimate = Estimate(float(value), math.nan, math.nan)
        affine = {rate.name: table.of(rate) for rate in NOTIONS[name].rates}
        values = {rate: np.where(own.defined, own.values(scores), np.nan) for rate, own in affine.items()}
        gaps[name] = _gap(estimate, values, table.groups)
    counted = (None,) * len(table.groups) if people is None else tuple(people.tolist())
    by_decision = None
    if table.counts is not None and rows is not None:
        by_decision = _parts(rows, (table.counts * scores[:, :, None]).sum(axis=0))
    return GroupRates(table.groups, counted, figures, ratios, gaps, None, parts=by_decision)


def _parts(counts: Ints, decided: Floats) -> Floats:
    """People by label and decision, of shape (G, 4), from all of them and those decided 1, both by label."""
    return np.concatenate([counts - decided, decided], axis=1)


def _decided_people(people: People, scores: Floats) -> Floats:
    """People decided 1 by group and label; somebody decided by lot is so much of a person."""
    part = people.times * scores
    total = np.bincount(people.group * 2 + people.label, weights=part, minlength=2 * len(people.groups))
    return np.asarray(total.reshape(-1, 2), dtype=np.float64)


def _wilson(people: People, value: Floats, part: Floats, confidence: float) -> tuple[tuple[Estimate, ...], Floats]:
    """Weighted mean of values from 0 to 1 in each group with Wilson's interval, and the rows it is worth.

    Of each person a part counts: a chance to be decided 1 is so much of a person. Weighted rows are worth
    (sum w)^2 / sum w^2 equal ones. Values between 0 and 1 vary less than decisions of the same mean, for which the
    interval is made.
    """
    groups, weight = len(people.groups), people.shares * part
    total, hit, squares, rows = (
        np.bincount(people.group, weights=own, minlength=groups)
        for own in (weight, weight * value, people.squares * part**2, people.times * part)
    )
    known = enough(np.floor(rows + 1e-9).astype(np.int64)) & (total > 0)
    worth = np.where(known, total**2 / np.where(squares > 0, squares, 1), 0)
    z = float(ndtri(0.5 + confidence / 2))
    estimates = []
    for g in range(groups):
        if not known[g]:
            estimates.append(NOT_ESTIMABLE)
            continue
        p, n = float(np.clip(hit[g] / total[g], 0, 1)), worth[g]
        centre = (p + z * z / (2 * n)) / (1 + z * z / n)
        reach = z * np.sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / (1 + z * z / n)
        estimates.append(Estimate(p, min(max(float(centre - reach), 0.0), p), max(min(float(centre + reach), 1.0), p)))
    return tuple(estimates), worth


def _ratios(rates: tuple[Estimate, ...], worth: Floats, confidence: float) -> tuple[Estimate, ...]:
    """Rates as shares of the highest one, with intervals on the scale of logarithms (Katz and others)."""
    known = [g for g, own in enumerate(rates) if own.known]
    top = max(known, key=lambda g: rates[g].value, default=0)
    if len(known) < 2 or rates[top].value * worth[top] < _FEWEST_SELECTED:
        return (NOT_ESTIMABLE,) * len(rates)
    z = float(ndtri(0.5 + confidence / 2))
    found = []
    for g, own in enumerate(rates):
        if not own.known:
            found.append(NOT_ESTIMABLE)
        elif g == top:
            found.append(Estimate(1.0, 1.0, 1.0))
        else:
            ratio = own.value / rates[top].value
            # Half a hit where there is none, so that there is an upper end.
            p, q = max(own.value, 0.5 / worth[g]), rates[top].value
            reach = z * float(np.sqrt((1 - p) / (worth[g] * p) + (1 - q) / (worth[top] * q)))
            middle = p / q
            low = 0.0 if own.value == 0 else middle * float(np.exp(-reach))
            found.append(Estimate(ratio, min(low, ratio), max(middle * float(np.exp(reach)), ratio)))
    return tuple(found)


def _gap(estimate: Estimate, rates: Mapping[str, Floats], groups: tuple[str, ...]) -> Gap:
    """Say between which groups, and in which rate, a gap lies."""
    widths = {name: float(spread(values)) for name, values in rates.items()}
    known = {name: width for name, width in widths.items() if width > _SAME}
    if not estimate.known or not known:
        return Gap(estimate)
    widest = max(known, key=lambda name: known[name])
    values = rates[widest]
    return Gap(estimate, widest, groups[int(np.nanargmin(values))], groups[int(np.nanargmax(values))])


def _cell(own: Estimate) -> str:
    if not own.known:
        return str(own)
    return f"{own.value:.3f}" if math.isnan(own.low) else f"{own.value:.3f} ({own.low:.3f} to {own.high:.3f})"
