"""`GroupRates`: how each group fares under decisions, each figure with its interval, and who is lowest and highest."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from fairlimits._util.frames import ARROW, of_user_kind
from fairlimits._util.names import in_a_sentence
from fairlimits._util.notebooks import Shown
from fairlimits._util.plotting import GROUP_COLOURS, axes_or_new, figure_style, plain_text
from fairlimits._util.text_tables import text_table
from fairlimits._util.types import Floats
from fairlimits.notions.intervals import NOT_ESTIMABLE, SUPPRESSED, UNIT, Estimate, with_suppressed
from fairlimits.notions.registry import title
from fairlimits.notions.requirements import FOUR_FIFTHS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SHOWN = ("selection rate", "true positive rate", "false positive rate", "accuracy", "precision")

# More groups than colours use them again with the next pair of marks, whose second one is for a second decider.
_MARKS = (("o", "s"), ("^", "v"), ("D", "X"), ("P", "*"))

# Width of a legend line beside a picture, in letters.
_LEGEND_WIDTH = 24

# Inches that the marks of a group take, and least height of a picture.
_MARK_HEIGHT, _LEAST_HEIGHT = 0.4, 3.6

CHANCE_WORDS = {
    "": "",
    "the gap": "which chance may explain",
    "the groups": "though chance may explain which groups these are",
}
"""Words that follow the lowest and the highest group, by what chance may explain (see `Gap`)."""


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
    chance : {"", "the gap", "the groups"}
        What chance may explain: "the gap", if the rows are compatible with no gap at all; "the groups", if they are
        compatible with no difference between these two groups.
    """

    estimate: Estimate
    rate: str = ""
    lowest: str = ""
    highest: str = ""
    chance: str = ""

    def __str__(self) -> str:
        size = self.estimate.hundredths(" points")
        return f"{size}: {self.direction}" if self.direction else size

    @property
    def direction(self) -> str:
        """Which group is lowest and which highest, and what of it chance may explain; empty if none is."""
        if not self.lowest:
            return ""
        words = f"{self.rate} lowest for {in_a_sentence(self.lowest)}, highest for {in_a_sentence(self.highest)}"
        return f"{words}, {CHANCE_WORDS[self.chance]}" if self.chance else words


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
        Confidence of each interval; those of gaps hold for all pairs of groups at once. None for plug-in figures.
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
        if any(ratio.suppressed for ratio in self.ratios):
            return SUPPRESSED
        known = [ratio for ratio in self.ratios if ratio.known]
        return min(known, key=lambda ratio: ratio.value) if len(known) > 1 else NOT_ESTIMABLE

    def to_dict(self) -> dict[str, Any]:
        """Return all figures as plain data; None where a figure is not estimable, a word where it is suppressed."""
        return {
            "unit": UNIT,
            "confidence": self.confidence,
            "groups": {
                name: {"rows": self.rows[g], **{figure: figures[g].plain() for figure, figures in self.shown.items()}}
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
                    "chance may explain": gap.chance or None,
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
                {name: figures[g] for name, figures in self.shown.items()},
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
        impact = self.impact_ratio
        if not impact.known:
            return f"Four-fifths rule: {impact}."
        lowest = self.groups[next(g for g, each in enumerate(self.ratios) if each is impact)]
        low, high = (impact.value, impact.value) if math.isnan(impact.low) else (impact.low, impact.high)
        if high < FOUR_FIFTHS.at_least:
            verdict = "below four fifths"
        elif low >= FOUR_FIFTHS.at_least:
            verdict = "at least four fifths"
        else:
            verdict = "which side of four fifths it is on cannot be told from these rows"
        share = impact.hundredths("%")
        return f"Four-fifths rule: {in_a_sentence(lowest)} is selected at {share} of the highest rate; {verdict}."

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the rates of each group, with their intervals."""
        with figure_style():
            ax = axes_or_new(ax, (5.6, max(_LEAST_HEIGHT, _MARK_HEIGHT * len(self.groups) + 1)))
            draw_rates(ax, {"": self})
        return ax

    def __str__(self) -> str:
        return f"{text_table(*rates_table({'value': self}))}\n{self.summary()}"

    def __repr__(self) -> str:
        what = "plug-in" if self.confidence is None else f"confidence {self.confidence:g}"
        return f"GroupRates({', '.join(self.groups)}; {what})"


def rates_table(deciders: Mapping[str, GroupRates]) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Return heads and rows of a table, in percent, of the rates of the same groups under deciders side by side."""
    found = list(deciders.values())
    lines = []
    for name in found[0].shown:
        for g, group in enumerate(found[0].groups):
            rows = found[0].rows[g]
            # Base rates do not depend on who decides.
            shown = found[:1] if name == "base rate" else found
            cells = [decider.shown[name][g].hundredths() for decider in shown] + [""] * (len(found) - len(shown))
            lines.append(("" if g else name, group if rows is None else f"{group} ({rows_text(rows)})", *cells))
    return ("rate, %", "group", *deciders), lines


def rows_text(rows: int | str) -> str:
    """Return the number of rows of a group in words."""
    return f"rows {rows}" if isinstance(rows, str) else f"{rows:,} rows"


def draw_rates(ax: Axes, deciders: Mapping[str, GroupRates]) -> None:
    """Draw the rates of the same groups under one or two deciders, the second with open marks."""
    first = next(iter(deciders.values()))
    lines = len(first.groups) * len(deciders)
    for g, name in enumerate(first.groups):
        for number, (decider, found) in enumerate(deciders.items()):
            known = [(at, found.figures[rate][g]) for at, rate in enumerate(_SHOWN) if found.figures[rate][g].known]
            place = [at + (g * len(deciders) + number - (lines - 1) / 2) * 0.7 / lines for at, _ in known]
            ends = np.array([estimate for _, estimate in known]).reshape(-1, 3)
            reach = None if np.isnan(ends).any() else np.array([ends[:, 0] - ends[:, 1], ends[:, 2] - ends[:, 0]])
            ax.errorbar(
                ends[:, 0],
                place,
                xerr=reach,
                fmt=_MARKS[g // len(GROUP_COLOURS) % len(_MARKS)][min(number, 1)],
                markersize=5,
                markerfacecolor="white" if number else None,
                capsize=3,
                linewidth=1.5,
                color=GROUP_COLOURS[g % len(GROUP_COLOURS)],
                label=_wrapped(f"{in_a_sentence(name)}, {decider}" if decider else in_a_sentence(name)),
            )
    ax.set_yticks(range(len(_SHOWN)), list(_SHOWN))
    ax.set_xlim(0, 1)
    ax.invert_yaxis()
    ax.set_xlabel("rate (plug-in)" if first.confidence is None else f"rate, with its {first.confidence:.0%} interval")
    ax.legend(loc="upper left", bbox_to_anchor=(1, 1))


def _wrapped(name: str) -> str:
    """A name in a few short lines, so that groups which were joined leave room for the picture beside them."""
    return "\n".join(textwrap.wrap(plain_text(name), _LEGEND_WIDTH, break_long_words=False))
