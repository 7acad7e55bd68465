"""Parts of a report as plain data: what JSON can hold, and nothing that needs to be computed."""

from __future__ import annotations

import math
from dataclasses import dataclass

from fairlimits.notions import Estimate


@dataclass(frozen=True)
class Figure:
    """A held-out figure and its confidence interval."""

    value: float
    low: float
    high: float

    @classmethod
    def of(cls, estimate: Estimate) -> Figure | None:
        """Take over an estimate; None where it is not estimable."""
        return cls(*map(float, estimate)) if estimate.known else None


@dataclass(frozen=True)
class GroupCount:
    """A group's rows, its share of the weight, and the rate of label 1 in it (None without weight)."""

    name: str
    rows: int
    share: float
    base_rate: float | None


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


@dataclass(frozen=True)
class Tensions:
    """What notions cost on the cells, alone, in pairs, and in pairs beyond the dearer one (plug-in)."""

    notions: list[str]
    tolerance: float
    aware: bool
    pair_loss: list[list[float]]
    tension: list[list[float]]


@dataclass(frozen=True)
class Shift:
    """Shares of a group who are decided otherwise because of a notion: more often 1, and more often 0."""

    notion: str
    tolerance: float
    group: str
    more_yes: float
    more_no: float


@dataclass(frozen=True)
class ChangedCell:
    """A cell that a notion decides otherwise: its typical person, share of all people, score before and after."""

    notion: str
    cell: int
    person: dict[str, str]
    share: float
    label_rate: float
    before: float
    after: float


@dataclass(frozen=True)
class Individual:
    """Individual fairness on the cells: accuracy at each tolerance, and how unlike neighbours are treated (plug-in)."""

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
    accuracy: Figure
    gap: Figure | None
    cost: Figure


@dataclass(frozen=True)
class HeldOutCurve:
    """Rules at a row of tolerances: expected on the rows they were made from (plug-in), and on others."""

    notions: list[str]
    aware: bool
    tolerances: list[float]
    plug_in: list[float]
    accuracy: list[float]
    low: list[float]
    high: list[float]
    gaps: dict[str, list[float | None]]


@dataclass(frozen=True)
class SituationLine:
    """One of the four situations, or the paper's fixed rule in it."""

    name: str
    aware: bool
    decorrelated: bool
    rule_fixed_before: bool
    plug_in: float
    accuracy: Figure
    gaps: dict[str, Figure | None]
    correlation: float | None


@dataclass(frozen=True)
class SituationCost:
    """What less freedom costs: plug-in, and held out from paired resamples."""

    name: str
    plug_in: float
    held_out: Figure


@dataclass(frozen=True)
class GeneratorJudged:
    """How near generated rows come to real ones: distances over cells, beside what real rows themselves give."""

    name: str
    samples: int
    cells: int
    distance: float
    held_out_distance: float
    noise_floor: float
    copies: float
    copies_natural: float


@dataclass(frozen=True)
class Decorrelated:
    """The least-distorting map on the cells, before and after, and what adversaries find on rows that took no part."""

    notion: str
    tolerance: float
    correlation_before: float
    correlation_after: float
    accuracy_before: float
    accuracy_after: float
    kept_in_place: float
    auc_before: float
    auc_after: Figure
    auc_with_label: Figure
    groups: list[str]
    law_before: list[list[float]]
    law_after: list[list[float]]
    words: str


def finite(value: float) -> float | None:
    """Return the value, or None for NaN, which JSON has not."""
    return None if math.isnan(value) else float(value)
