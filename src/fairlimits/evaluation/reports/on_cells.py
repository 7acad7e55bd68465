"""What a report says of the cells: limits, prices, tension, who is decided otherwise. All of it is plug-in."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fairlimits._util.progress import Progress
from fairlimits.data import value_text
from fairlimits.evaluation.reports.parts import (
    PRICED_AT,
    ChangedCell,
    Curve,
    Individual,
    Price,
    Shift,
    Tensions,
    finite,
)
from fairlimits.law import CellDistribution, Neighbourhood, can_compare
from fairlimits.limits import Rule, Variables, frontier, solve, tension
from fairlimits.notions import INDIVIDUAL, NOTIONS, estimable, title

_INDIVIDUAL_TOLERANCES = (0.0, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5)
_STRICT = 0.1

# Cells shown for each notion.
_CELLS_SHOWN = 2


@dataclass(frozen=True)
class OnCells:
    """All plug-in figures of a report.

    Parameters
    ----------
    cells : int
        Cells of the feature space.
    best_seen, best_hidden : float
        Accuracy of the best rules without constraint.
    gaps_seen, gaps_hidden : dict
        Their gaps; None where they cannot be estimated.
    prices : tuple of Price
    curves : tuple of Curve
    tensions : Tensions
        For rules that do not see the group.
    shifts : tuple of Shift
        Whom each notion decides otherwise, at a tolerance of 0.05, group hidden.
    changed : tuple of ChangedCell
        The cells that it matters most in.
    individual : Individual or None
        None where cells cannot be compared.
    """

    cells: int
    best_seen: float
    best_hidden: float
    gaps_seen: dict[str, float | None]
    gaps_hidden: dict[str, float | None]
    prices: tuple[Price, ...]
    curves: tuple[Curve, ...]
    tensions: Tensions
    shifts: tuple[Shift, ...]
    changed: tuple[ChangedCell, ...]
    individual: Individual | None

    def price(self, notion: str, tolerance: float, aware: bool) -> Price:
        """Look up a notion's price."""
        wanted = (notion, tolerance, aware)
        return next(own for own in self.prices if (own.notion, own.tolerance, own.aware) == wanted)


def find_on_cells(dist: CellDistribution, tell: Progress) -> OnCells:
    """Compute everything that a report says of the cells."""
    free = {aware: solve(dist, {}, aware=aware) for aware in (True, False)}
    prices, curves, shifts, changed = [], [], [], []
    for done, notion in enumerate(NOTIONS):
        tell(done / (len(NOTIONS) + 2), f"limits of {title(notion)} on the cells")
        for aware in (True, False):
            for tolerance in PRICED_AT:
                rule = solve(dist, {notion: tolerance}, aware=aware)
                prices.append(_price(rule, notion, tolerance))
                if not aware and tolerance == PRICED_AT[-1]:
                    shifts += _shifts(rule, free[False], notion, tolerance)
                    changed += _changed(rule, free[False], notion)
            curve = frontier(dist, [notion], aware=aware, exact=True)
            tolerances = curve.grid[notion].tolist()
            curves.append(Curve(notion, title(notion), aware, tolerances, curve.accuracy.tolist()))
    tell(len(NOTIONS) / (len(NOTIONS) + 2), "tension between notions")
    found = tension(dist, PRICED_AT[-1])
    tensions = Tensions(
        list(found.notions), found.tolerance, found.aware, found.pair_loss.tolist(), found.matrix.tolist()
    )
    tell((len(NOTIONS) + 1) / (len(NOTIONS) + 2), "individual fairness")
    return OnCells(
        cells=dist.n_cells,
        best_seen=free[True].accuracy,
        best_hidden=free[False].accuracy,
        gaps_seen=_shown_gaps(free[True]),
        gaps_hidden=_shown_gaps(free[False]),
        prices=tuple(prices),
        curves=tuple(curves),
        tensions=tensions,
        shifts=tuple(shifts),
        changed=tuple(changed),
        individual=_individual(dist, free) if can_compare(dist) else None,
    )


def _price(rule: Rule, notion: str, tolerance: float) -> Price:
    return Price(
        notion=notion,
        title=title(notion),
        tolerance=tolerance,
        aware=rule.aware,
        accuracy=rule.accuracy,
        loss=rule.price,
        shadow_price=rule.shadow_prices[notion],
        estimable=estimable(rule.distribution.rates, notion),
    )


def _shown_gaps(rule: Rule) -> dict[str, float | None]:
    """Gaps that can be estimated; None for the others."""
    return {name: finite(gap) for name, gap in rule.gaps.items()}


def _shifts(rule: Rule, free: Rule, notion: str, tolerance: float) -> list[Shift]:
    """Whom a notion decides otherwise, group by group."""
    dist, change = rule.distribution, rule.scores - free.scores
    people = dist.mass.sum(axis=2)
    shifts = []
    for g, name in enumerate(dist.groups):
        share = people[:, g].sum()
        if share > 0:
            more, less = (float(people[:, g] @ np.maximum(way, 0) / share) for way in (change, -change))
            shifts.append(Shift(notion, tolerance, name, more, less))
    return shifts


def _changed(rule: Rule, free: Rule, notion: str) -> list[ChangedCell]:
    """The cells in which a notion decides most people otherwise."""
    dist = rule.distribution
    if dist.centroids is None:
        return []
    people = dist.mass.sum(axis=(1, 2))
    moved = people * np.abs(rule.scores - free.scores)
    centres = dist.centres()
    found = []
    for cell in np.argsort(-moved, kind="stable")[:_CELLS_SHOWN].tolist():
        if moved[cell] <= 1e-9:
            break
        found.append(
            ChangedCell(
                notion=notion,
                cell=cell,
                person={name: _words(values[cell]) for name, values in centres.items()},
                share=float(people[cell]),
                label_rate=float(dist.mass[cell, :, 1].sum() / people[cell]),
                before=float(free.scores[cell]),
                after=float(rule.scores[cell]),
            )
        )
    return found


def _words(value: object) -> str:
    return f"{value:.3g}" if isinstance(value, float | np.floating) else value_text(value)  # type: ignore[arg-type]


def _individual(dist: CellDistribution, free: dict[bool, Rule]) -> Individual:
    curves = {aware: frontier(dist, [INDIVIDUAL], _INDIVIDUAL_TOLERANCES, aware=aware) for aware in (True, False)}
    comparison = Variables(dist, aware=False).compare(Neighbourhood())
    strict = _INDIVIDUAL_TOLERANCES.index(_STRICT)
    filled = Variables(dist, aware=False).filled

    def mean_difference(scores: np.ndarray) -> float:
        differences = comparison.differences(scores[filled])
        return float(differences.mean()) if len(differences) else 0.0

    return Individual(
        tolerances=list(_INDIVIDUAL_TOLERANCES),
        accuracy_seen=curves[True].accuracy.tolist(),
        accuracy_hidden=curves[False].accuracy.tolist(),
        gap_seen=free[True].gaps[INDIVIDUAL],
        gap_hidden=free[False].gaps[INDIVIDUAL],
        neighbours=len(comparison.first),
        difference_free=mean_difference(free[False].scores),
        difference_strict=mean_difference(curves[False].scores[strict]),
    )
