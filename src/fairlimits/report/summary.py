"""What a report says, as plain data: figures first, words and pictures later."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from fairlimits.criteria import INDIVIDUAL, NOTIONS, estimable, title
from fairlimits.discretize import sampling_note
from fairlimits.distribution import CellDistribution
from fairlimits.frontier import Frontier, frontier
from fairlimits.progress import silent
from fairlimits.solve import Rule, solve
from fairlimits.tension import Tension, tension

TOLERANCES = (0.0, 0.05)
"""Tolerances at which every notion is priced."""


@dataclass(frozen=True)
class GroupCount:
    """A group's rows, its share of the weight and the rate of label 1 in it."""

    name: str
    rows: int | None
    share: float
    base_rate: float


@dataclass(frozen=True)
class Price:
    """What a notion costs at one tolerance, for a rule that sees the group or not."""

    notion: str
    title: str
    tolerance: float
    aware: bool
    accuracy: float
    loss: float
    estimable: bool


@dataclass(frozen=True)
class Curve:
    """Corners of an exact frontier; straight lines between them."""

    notion: str
    title: str
    aware: bool
    tolerances: list[float]
    accuracy: list[float]


@dataclass(frozen=True)
class Clash:
    """Two notions, what each loses alone, both together, and beyond the dearer one."""

    first: str
    second: str
    loss_first: float
    loss_second: float
    loss_together: float
    tension: float


@dataclass(frozen=True)
class Summary:
    """Everything a report shows. All accuracies are plug-in figures on the cells' own rows.

    Parameters
    ----------
    name : str
        What the data is called.
    label, positive : str
        The column that is decided on and the value that counts as 1.
    sensitive : tuple of str
        The columns that make up the groups.
    rows : int
        Rows of the table.
    cells : int
        Cells of the feature space.
    sampling : str
        What the number of rows guarantees at this number of cells, and what it does not, in words.
    share_error : float or None
        The error that the median cell's own count guarantees at 95%.
    groups : tuple of GroupCount
    majority_accuracy : float
        Accuracy of deciding everybody alike.
    best_aware, best_unaware : float
        Accuracy of the best rules without constraint.
    gaps_aware, gaps_unaware : dict
        Their gaps; None where they cannot be estimated.
    prices : tuple of Price
    curves : tuple of Curve
    clashes : tuple of Clash
        At a tolerance of 0.05, for rules that do not see the group, tensest first.
    info : dict
        How the cells were made.
    """

    name: str
    label: str
    positive: str
    sensitive: tuple[str, ...]
    rows: int
    cells: int
    sampling: str
    share_error: float | None
    groups: tuple[GroupCount, ...]
    majority_accuracy: float
    best_aware: float
    best_unaware: float
    gaps_aware: dict[str, float | None]
    gaps_unaware: dict[str, float | None]
    prices: tuple[Price, ...]
    curves: tuple[Curve, ...]
    clashes: tuple[Clash, ...]
    info: dict[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """Return the summary as plain data that JSON can hold."""
        return asdict(self)

    def price(self, notion: str, tolerance: float, aware: bool) -> Price:
        """Look up a notion's price."""
        return next(
            price
            for price in self.prices
            if price.notion == notion and price.tolerance == tolerance and price.aware == aware
        )


def summarise(dist: CellDistribution, name: str, progress: Callable[[float, str], None] | None = None) -> Summary:
    """Compute everything that a report on a distribution shows.

    Parameters
    ----------
    dist : CellDistribution
        Made by `discretize`.
    name : str
        What the data is called.
    progress : callable, optional
        Called with the fraction done and a few words.
    """
    tell = progress if progress is not None else silent
    free = {aware: solve(dist, {}, aware=aware) for aware in (True, False)}
    prices, curves = [], []
    for done, notion in enumerate(NOTIONS):
        tell(done / (len(NOTIONS) + 1), f"frontiers of {title(notion)}")
        for aware in (True, False):
            prices += [_price(dist, notion, tolerance, free[aware]) for tolerance in TOLERANCES]
            curves.append(_curve(frontier(dist, [notion], aware=aware, exact=True)))
    tell(len(NOTIONS) / (len(NOTIONS) + 1), "tension between notions")
    clashes = _clashes(tension(dist, 0.05))
    label_rate = float(dist.mass[:, :, 1].sum())
    counts, schema = dist.counts, dist.schema
    errors = None if counts is None else float(np.median(dist.share_errors()))
    return Summary(
        name=name,
        label="label" if schema is None else schema.label,
        positive="1" if schema is None else str(schema.positive),
        sensitive=("group",) if schema is None else schema.sensitive,
        rows=0 if counts is None else int(counts.sum()),
        cells=dist.n_cells,
        sampling=sampling_note(dist),
        share_error=errors,
        groups=tuple(_group_count(dist, g) for g in range(dist.n_groups)),
        majority_accuracy=max(label_rate, 1 - label_rate),
        best_aware=free[True].accuracy,
        best_unaware=free[False].accuracy,
        gaps_aware=_shown_gaps(free[True]),
        gaps_unaware=_shown_gaps(free[False]),
        prices=tuple(prices),
        curves=tuple(curves),
        clashes=clashes,
        info=dict(dist.info),
    )


def _price(dist: CellDistribution, notion: str, tolerance: float, free: Rule) -> Price:
    rule = solve(dist, {notion: tolerance}, aware=free.aware)
    return Price(
        notion=notion,
        title=title(notion),
        tolerance=tolerance,
        aware=free.aware,
        accuracy=rule.accuracy,
        loss=rule.price,
        estimable=estimable(dist, notion),
    )


def _curve(curve: Frontier) -> Curve:
    (notion, tolerances), *_ = curve.grid.items()
    return Curve(notion, title(notion), curve.aware, tolerances.tolist(), curve.accuracy.tolist())


def _clashes(found: Tension) -> tuple[Clash, ...]:
    rows = found.to_frame().to_pylist()
    # A notion that is part of another cannot clash with it.
    nested = {("EOp", "EOd"), ("PE", "EOd")}
    return tuple(Clash(*row.values()) for row in rows if (row["first"], row["second"]) not in nested)


def _group_count(dist: CellDistribution, g: int) -> GroupCount:
    mass = dist.mass[:, g]
    share = float(mass.sum())
    return GroupCount(
        name=dist.groups[g],
        rows=None if dist.counts is None else int(dist.counts[:, g].sum()),
        share=share,
        base_rate=float(mass[:, 1].sum()) / share if share > 0 else math.nan,
    )


def _shown_gaps(rule: Rule) -> dict[str, float | None]:
    """Gaps that enough rows stand behind; None for the others."""
    shown: dict[str, float | None] = {}
    for name, gap in rule.gaps.items():
        known = not math.isnan(gap) and (name == INDIVIDUAL or estimable(rule.distribution, name))
        shown[name] = gap if known else None
    return shown
