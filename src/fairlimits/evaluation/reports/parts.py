"""Parts of a report as plain data: what JSON can hold, and nothing that needs to be computed."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeAlias

from fairlimits._util.suppression import SUPPRESSED_TEXT
from fairlimits.notions import NOTIONS, Estimate

PRICED_AT = (0.0, 0.05)
"""Tolerances at which every notion's cost is said, on the cells and held out."""


@dataclass(frozen=True)
class HeldOutFigure:
    """A held-out figure and its confidence interval."""

    value: float
    low: float
    high: float

    @classmethod
    def of(cls, estimate: Estimate) -> Figure:
        """Take over an estimate; None where it is not estimable, a word where it is suppressed."""
        if estimate.known:
            return cls(*map(float, estimate))
        return SUPPRESSED_TEXT if estimate.suppressed else None


Figure: TypeAlias = HeldOutFigure | str | None
"""A held-out figure; None where it is not estimable, a word where it is suppressed."""


SMALL_GROUPS = "small groups"
"""Kind of the cautions that name groups too small to speak about."""

FEW_TO_CERTIFY = "few rows to certify"
"""Kind of the caution that there are too few rows to show that a gap is small."""

# Kinds that change what all figures mean, and come before them; the others are those of `data.concerns`.
_FIRST = (
    SUPPRESSED_TEXT,
    SMALL_GROUPS,
    FEW_TO_CERTIFY,
    "leak",
    "missingness follows the label",
    "reveals the group",
    "id",
)


@dataclass(frozen=True)
class Caution:
    """What a reader must know before the figures are used: a kind for programs, columns it is about, a sentence."""

    kind: str
    columns: tuple[str, ...]
    text: str

    @property
    def is_first(self) -> bool:
        """Whether it must be read before any figure."""
        return self.kind in _FIRST


@dataclass(frozen=True)
class GroupCount:
    """A group's rows, its share of the weight, and the rate of label 1 in it (None where too few rows have weight).

    Each is a word where it is suppressed.
    """

    name: str
    rows: int | str
    share: float | str
    base_rate: float | str | None


@dataclass(frozen=True)
class FeatureLine:
    """A feature: its kind, how many categories it has if it is not a number, and the share of rows without a value."""

    name: str
    kind: str
    categories: int | None
    missing: float | str


@dataclass(frozen=True)
class Price:
    """What a notion costs at one tolerance on the cells (plug-in), and what more tolerance would gain."""

    notion: str
    title: str
    tolerance: float
    aware: bool
    accuracy: float
    loss: float
    shadow_price: float
    estimable: bool


@dataclass(frozen=True)
class Curve:
    """Corners of an exact frontier on the cells (plug-in); straight lines between them."""

    notion: str
    title: str
    aware: bool
    tolerances: list[float]
    accuracy: list[float]


def _nested(first: str, second: str) -> bool:
    """Whether one notion is part of the other, and so cannot clash with it."""
    one, other = NOTIONS.get(first), NOTIONS.get(second)
    return one is not None and other is not None and (one.includes(other) or other.includes(one))


@dataclass(frozen=True)
class Clash:
    """Two notions, what they cost together, and how much of it is beyond the dearer one alone (plug-in)."""

    first: str
    second: str
    loss: float
    tension: float


@dataclass(frozen=True)
class Tensions:
    """What notions cost on the cells, alone, in pairs, and in pairs beyond the dearer one (plug-in)."""

    notions: list[str]
    tolerance: float
    aware: bool
    pair_loss: list[list[float]]
    tension: list[list[float]]

    def clash(self) -> Clash | None:
        """Find the two notions that clash most; None if no pair costs a tenth of a point more than the dearer one."""
        pairs = [
            Clash(second, first, self.pair_loss[i][j], self.tension[i][j])
            for i, first in enumerate(self.notions)
            for j, second in enumerate(self.notions[:i])
            if not _nested(first, second)
        ]
        most = max(pairs, key=lambda own: (own.tension, own.loss), default=None)
        return most if most is not None and round(100 * most.tension, 1) > 0 else None


@dataclass(frozen=True)
class Shift:
    """Shares of a group who are decided otherwise because of a notion: more often 1, and more often 0."""

    notion: str
    tolerance: float
    group: str
    more_yes: float | str
    more_no: float | str


@dataclass(frozen=True)
class Affected:
    """The people whom a notion decides otherwise in one way (plug-in), and what they are like.

    Parameters
    ----------
    notion : str
    tolerance : float
    more_yes : bool
        Whether they get a yes more often, or less often.
    share : float
        Their share of all people.
    label_low, label_high : float
        Where P(Y=1 | x) lies for nine in ten of them.
    groups : dict
        The share of each group among them.
    person : dict
        Means of numbers and most frequent values, the features first in which they differ most from everybody.
    """

    notion: str
    tolerance: float
    more_yes: bool
    share: float
    label_low: float
    label_high: float
    groups: dict[str, float | str]
    person: dict[str, str]


@dataclass(frozen=True)
class Individual:
    """Individual fairness on its cells: accuracy at each tolerance, how unlike neighbours are treated (plug-in)."""

    cells: int
    tolerances: list[float]
    accuracy_seen: list[float]
    accuracy_hidden: list[float]
    gap_seen: float
    gap_hidden: float
    neighbours: int
    difference_free: float
    difference_strict: float


@dataclass(frozen=True)
class HeldOutCost:
    """What a notion costs at a tolerance, on rows that took no part: paired with the rule without constraint."""

    notion: str
    title: str
    tolerance: float
    aware: bool
    accuracy: HeldOutFigure
    gap: Figure
    at_most: float | None
    """What the gap is certified to be at most: with the confidence that rules were made to hold with, if they were, and
    else, by the rows that they are judged on, with that of the intervals."""
    cost: HeldOutFigure
    constant: bool
    """Whether the rule gives everybody the same score."""


@dataclass(frozen=True)
class HeldOutCurve:
    """Rules at several tolerances: what their law expects of them (plug-in), and what they came to on other rows."""

    notions: list[str]
    aware: bool
    tolerances: list[float]
    plug_in: list[float]
    accuracy: list[float]
    low: list[float]
    high: list[float]
    gaps: dict[str, list[float | str | None]]
    constant: list[bool]
    """Whether the rule at each tolerance gives everybody the same score."""


@dataclass(frozen=True)
class SituationLine:
    """One of the four situations, or the paper's fixed rule in it."""

    name: str
    aware: bool
    decorrelated: bool
    rule_fixed_before: bool
    plug_in: float
    accuracy: HeldOutFigure
    gaps: dict[str, Figure]
    correlation: float | None
    constant: bool
    """Whether the rule gives everybody the same score."""


@dataclass(frozen=True)
class SituationCost:
    """What less freedom costs: plug-in, and on the same held-out rows; `key` is for programs, `name` in words."""

    key: str
    name: str
    plug_in: float
    held_out: HeldOutFigure


@dataclass(frozen=True)
class Decorrelated:
    """The least-distorting map, before and after, and what it does to rows that took no part and to adversaries there.

    Correlation, accuracy and the groups' laws are plug-in figures of `cells` cells; the rest is of `tested` held-out
    rows. The laws are a word where they are suppressed.
    """

    notion: str
    tolerance: float
    cells: int
    tested: int
    correlation_before: float
    correlation_after: float
    accuracy_before: float
    accuracy_after: float
    categories_kept: float | None
    numbers_moved: float | None
    auc_before: HeldOutFigure | None
    auc_after: HeldOutFigure | None
    auc_with_label: HeldOutFigure | None
    groups: list[str]
    law_before: list[list[float]] | str
    law_after: list[list[float]] | str
    words: str


def finite(value: float) -> float | None:
    """Return the value, or None for NaN, which JSON has not."""
    return None if math.isnan(value) else float(value)
