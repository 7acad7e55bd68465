"""`GroupRates`: how each group fares under decisions, each figure with its interval, and who is lowest and highest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import narwhals.stable.v1 as nw
import numpy as np
import pyarrow as pa
from scipy.special import ndtri

from fairlimits._util.notebooks import Shown
from fairlimits._util.plotting import GROUP_COLOURS, axes_or_new, figure_style
from fairlimits._util.small_samples import enough
from fairlimits._util.types import Flags, Floats, Ints
from fairlimits.notions.intervals import NOT_ESTIMABLE, Estimate, check_confidence
from fairlimits.notions.registry import NOTIONS
from fairlimits.notions.tallies import People, Tally, tally

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# A selection rate below this share of the highest is taken as a sign of adverse impact.
_FOUR_FIFTHS = 0.8

# People selected in the group of the highest rate, below which nothing is said about shares of that rate.
_FEWEST_SELECTED = 5

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
        The groups; empty where nothing can be compared.
    """

    estimate: Estimate
    rate: str = ""
    lowest: str = ""
    highest: str = ""

    def __str__(self) -> str:
        if not self.estimate.known:
            return str(self.estimate)
        return f"{self.estimate}: {self.rate} lowest for {self.lowest}, highest for {self.highest}"


@dataclass(frozen=True, eq=False, repr=False)
class GroupRates(Shown):
    """How each group fares under decisions.

    Parameters
    ----------
    groups : tuple of str
        Names of the groups.
    counts : ndarray of int of shape (G, 2)
        Rows by group and label.
    figures : mapping of str to tuple of Estimate
        Of each group: "base rate", "selection rate", "true positive rate", "false positive rate", "accuracy",
        "precision". NaN ("not estimable") where fewer than 30 rows stand behind it.
    ratios : tuple of Estimate
        Selection rate of each group as a share of the highest one.
    gaps : mapping of str to Gap
        Gap of every group notion, with the groups it lies between.
    confidence : float
        Of the intervals, one by one; those of gaps hold for all pairs of groups at once.
    backend : module, optional
        The library that `to_frame` makes a frame of, by default Arrow.
    """

    groups: tuple[str, ...]
    counts: Ints
    figures: Mapping[str, tuple[Estimate, ...]]
    ratios: tuple[Estimate, ...]
    gaps: Mapping[str, Gap]
    confidence: float
    backend: Any = None

    @property
    def impact_ratio(self) -> Estimate:
        """Lowest selection rate as a share of the highest, which the four-fifths rule is about."""
        known = [own for own in self.ratios if own.known]
        return min(known, key=lambda own: own.value) if len(known) > 1 else NOT_ESTIMABLE

    def to_dict(self) -> dict[str, Any]:
        """Return all figures as plain data; None where a figure is not estimable."""
        return {
            "confidence": self.confidence,
            "groups": {
                name: {"rows": int(self.counts[g].sum())}
                | {figure: _plain(own[g]) for figure, own in self.figures.items()}
                | {"selection ratio": _plain(self.ratios[g])}
                for g, name in enumerate(self.groups)
            },
            "gaps": {
                name: None
                if not gap.estimate.known
                else {**_ends(gap.estimate), "rate": gap.rate, "lowest": gap.lowest, "highest": gap.highest}
                for name, gap in self.gaps.items()
            },
            "impact ratio": _plain(self.impact_ratio),
        }

    def to_frame(self) -> Any:
        """Return a table with a row for each group: rows, and value, low and high end of each figure."""
        columns: dict[str, list[Any]] = {"group": list(self.groups), "rows": self.counts.sum(axis=1).tolist()}
        for name, own in {**self.figures, "selection ratio": self.ratios}.items():
            columns[name] = [each.value for each in own]
            columns[f"{name}, low"] = [each.low for each in own]
            columns[f"{name}, high"] = [each.high for each in own]
        return nw.from_dict(columns, backend=self.backend or pa).to_native()

    def summary(self) -> str:
        """Say in words where the groups are farthest apart."""
        lines = [f"Gap in {NOTIONS[name].title}: {gap}." for name, gap in self.gaps.items()]
        return "\n".join([*lines, self.four_fifths])

    @property
    def four_fifths(self) -> str:
        """What the four-fifths rule says, in a sentence."""
        own = self.impact_ratio
        if not own.known:
            return "Four-fifths rule: not estimable."
        lowest = self.groups[next(g for g, each in enumerate(self.ratios) if each is own)]
        if own.high < _FOUR_FIFTHS:
            verdict = "below four fifths"
        elif own.low >= _FOUR_FIFTHS:
            verdict = "at least four fifths"
        else:
            verdict = "which side of four fifths it is on cannot be told from these rows"
        return f"Four-fifths rule: {lowest} is selected at {own} times the highest rate; {verdict}."

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the rates of each group, with their intervals."""
        with figure_style():
            ax = axes_or_new(ax)
            height = 0.7 / max(len(self.groups), 1)
            for g, name in enumerate(self.groups):
                colour = GROUP_COLOURS[g % len(GROUP_COLOURS)]
                known = [(at, self.figures[own][g]) for at, own in enumerate(_SHOWN) if self.figures[own][g].known]
                place = [at + (g - (len(self.groups) - 1) / 2) * height for at, _ in known]
                value = np.array([own.value for _, own in known])
                reach = np.array([(own.value - own.low, own.high - own.value) for _, own in known]).reshape(-1, 2).T
                ax.errorbar(value, place, xerr=reach, fmt="o", ms=5, capsize=3, lw=1.5, color=colour, label=name)
            ax.set_yticks(range(len(_SHOWN)), list(_SHOWN))
            ax.set_xlim(0, 1)
            ax.invert_yaxis()
            ax.set_xlabel(f"rate, with its {self.confidence:.0%} interval")
            ax.legend(loc="upper left", bbox_to_anchor=(1, 1))
        return ax

    def __repr__(self) -> str:
        return f"GroupRates({len(self.groups)} groups, {int(self.counts.sum()):,} rows)"


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
    one, share = people.label == 1, people.shares
    right = np.where(one, scores, 1 - scores)
    sides = {
        "base rate": (one.astype(np.float64), share),
        "selection rate": (scores, share),
        "true positive rate": (scores, share * one),
        "false positive rate": (scores, share * ~one),
        "accuracy": (right, share),
        "precision": (one.astype(np.float64), share * scores),
    }
    read = {name: _wilson(people, *side, confidence) for name, side in sides.items()}
    found = tally(people, scores[None])
    return GroupRates(
        people.groups,
        found.counts,
        {name: own for name, (own, _) in read.items()},
        _ratios(*read["selection rate"], confidence),
        {name: _gap(found, name, gaps[name], people.groups) for name in NOTIONS if name in gaps},
        confidence,
    )


def _wilson(people: People, value: Floats, weight: Floats, confidence: float) -> tuple[tuple[Estimate, ...], Floats]:
    """Weighted mean of values from 0 to 1 in each group with Wilson's interval, and the rows it is worth.

    Weighted rows are worth (sum w)^2 / sum w^2 equal ones. Values between 0 and 1 vary less than decisions of the same
    mean, for which the interval is made.
    """
    groups = len(people.groups)
    total, hit, squares = (
        np.bincount(people.group, weights=own, minlength=groups) for own in (weight, weight * value, weight**2)
    )
    # A chance to be decided 1 is so much of a row.
    there = people.shares > 0
    parts = np.divide(weight, people.shares, out=np.zeros(len(weight)), where=there)
    rows = np.bincount(people.group, weights=parts, minlength=groups)
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


def _gap(found: Tally, name: str, estimate: Estimate, groups: tuple[str, ...]) -> Gap:
    """Say between which groups, and in which rate, a gap lies."""
    if not estimate.known:
        return Gap(estimate)
    best: tuple[float, str, Floats] | None = None
    for rate in NOTIONS[name].rates:
        values = found.compared(rate)[0]
        here: Flags = ~np.isnan(values)
        if here.sum() > 1:
            width = float(np.nanmax(values) - np.nanmin(values))
            if best is None or width > best[0]:
                best = width, rate.name, values
    if best is None:
        return Gap(estimate)
    _, rate_name, values = best
    return Gap(estimate, rate_name, groups[int(np.nanargmin(values))], groups[int(np.nanargmax(values))])


def _ends(own: Estimate) -> dict[str, float]:
    return {"value": own.value, "low": own.low, "high": own.high}


def _plain(own: Estimate) -> dict[str, float] | None:
    return _ends(own) if own.known else None
