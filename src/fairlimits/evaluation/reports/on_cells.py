"""What a report says of the law itself: limits, prices, tension, who is decided otherwise. All of it is plug-in."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fairlimits._util.progress import Progress
from fairlimits._util.small_samples import enough
from fairlimits._util.suppression import SUPPRESSED_TEXT
from fairlimits._util.types import Floats
from fairlimits.data import value_text
from fairlimits.evaluation.reports.parts import (
    PRICED_AT,
    Affected,
    Curve,
    Individual,
    Price,
    Shift,
    Tensions,
    finite,
)
from fairlimits.evaluation.reports.suppression import Suppression
from fairlimits.law import CellDistribution, Neighbourhood, Outcome, StreamedOutcome
from fairlimits.limits import Rule, Variables, frontier, on_cells, solve, tension
from fairlimits.notions import INDIVIDUAL, NOTIONS, estimable, plug_in_rates, suppress_rates, title

_INDIVIDUAL_TOLERANCES = (0.0, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5)
_STRICT = 0.1

# Below this share of people, nothing but rounding of scores decides them otherwise.
_FEWEST = 1e-6

# Of fewer people than this one cannot say what they are like.
_FEWEST_PEOPLE = 5

# Nine in ten of the people lie between these.
_MIDDLE = (0.05, 0.95)


@dataclass(frozen=True)
class OnCells:
    """All plug-in figures of a report.

    Parameters
    ----------
    rows : int
        Rows that the law was learned from.
    cells : int
        Cells that the law was cut into.
    best_seen, best_hidden : float
        Accuracy of the best rules without constraint.
    gaps_seen, gaps_hidden : dict
        Their gaps in the group notions; None where they cannot be estimated, a word where they are suppressed.
    prices : tuple of Price
    curves : tuple of Curve
    tensions : Tensions
        For rules that do not see the group.
    shifts : tuple of Shift
        Whom each notion decides otherwise, at a tolerance of 0.05, group hidden.
    affected : tuple of Affected
        What these people are like.
    individual : Individual
        On cells that cut the features too, for it compares people.
    """

    rows: int
    cells: int
    best_seen: float
    best_hidden: float
    gaps_seen: dict[str, float | str | None]
    gaps_hidden: dict[str, float | str | None]
    prices: tuple[Price, ...]
    curves: tuple[Curve, ...]
    tensions: Tensions
    shifts: tuple[Shift, ...]
    affected: tuple[Affected, ...]
    individual: Individual

    def price(self, notion: str, tolerance: float, aware: bool) -> Price:
        """Look up a notion's price."""
        wanted = (notion, tolerance, aware)
        return next(own for own in self.prices if (own.notion, own.tolerance, own.aware) == wanted)


def find_on_cells(
    outcome: Outcome | StreamedOutcome, withhold: Suppression, random_state: int, tell: Progress
) -> OnCells:
    """Compute everything that a report says of the law itself.

    Parameters
    ----------
    outcome : Outcome or StreamedOutcome
        The law: an estimate on the rows to learn from.
    withhold : Suppression
        What to leave out.
    random_state : int
        Seed of the cells.
    tell : callable
        Called with the fraction done and a few words.
    """
    dist = on_cells(outcome, (), random_state)
    free = {aware: solve(dist, {}, aware=aware) for aware in (True, False)}
    prices, curves, shifts, affected = [], [], [], []
    for done, notion in enumerate(NOTIONS):
        tell(done / (len(NOTIONS) + 2), f"limits of {title(notion)}")
        for aware in (True, False):
            for tolerance in PRICED_AT:
                rule = solve(dist, {notion: tolerance}, aware=aware)
                prices.append(_price(rule, notion, tolerance))
                if not aware and tolerance == PRICED_AT[-1]:
                    shifts += _shifts(rule, free[False], notion, tolerance, withhold)
                    affected += _affected(rule, free[False], notion, tolerance, withhold)
            curve = frontier(dist, [notion], aware=aware, exact=True)
            tolerances = curve.grid[notion].tolist()
            curves.append(Curve(notion, title(notion), aware, tolerances, curve.plug_in.tolist()))
    tell(len(NOTIONS) / (len(NOTIONS) + 2), "tension between notions")
    comparable = on_cells(outcome, [INDIVIDUAL], random_state)
    tensions = _tensions(dist, comparable)
    tell((len(NOTIONS) + 1) / (len(NOTIONS) + 2), "individual fairness")
    return OnCells(
        rows=outcome.n_rows,
        cells=dist.n_cells,
        best_seen=free[True].accuracy,
        best_hidden=free[False].accuracy,
        gaps_seen=_shown_gaps(free[True], withhold),
        gaps_hidden=_shown_gaps(free[False], withhold),
        prices=tuple(prices),
        curves=tuple(curves),
        tensions=tensions,
        shifts=tuple(shifts),
        affected=tuple(affected),
        individual=_individual(comparable),
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


def _shown_gaps(rule: Rule, withhold: Suppression) -> dict[str, float | str | None]:
    """Gaps in group notions that can be estimated and shown; None or a word for the others."""
    gaps = suppress_rates(
        plug_in_rates(rule.distribution.rates, rule.group_scores), withhold.least, withhold.hidden
    ).gaps
    return {name: SUPPRESSED_TEXT if gaps[name].estimate.suppressed else finite(rule.gaps[name]) for name in NOTIONS}


def _tensions(dist: CellDistribution, comparable: CellDistribution) -> Tensions:
    """Tension of group notions on cells of the law, and of individual fairness with them on cells that it can compare.

    What individual fairness costs beyond a group notion is read within its own cells, so that no difference between
    the two kinds of cells is taken for a clash.
    """
    groups, alike = tension(dist, PRICED_AT[-1], notions=tuple(NOTIONS)), tension(comparable, PRICED_AT[-1])
    pair_loss, matrix = alike.pair_loss.copy(), alike.matrix.copy()
    size = len(groups.notions)
    pair_loss[:size, :size], matrix[:size, :size] = groups.pair_loss, groups.matrix
    return Tensions(list(alike.notions), alike.tolerance, alike.aware, pair_loss.tolist(), matrix.tolist())


def _shifts(rule: Rule, free: Rule, notion: str, tolerance: float, withhold: Suppression) -> list[Shift]:
    """Whom a notion decides otherwise, group by group."""
    dist, change = rule.distribution, rule.scores - free.scores
    people, rows = dist.mass.sum(axis=2), _people(dist)
    ways = [np.maximum(way, 0) for way in (change, -change)]
    hidden = [withhold.few(rows.T @ way) for way in ways]
    shifts = []
    for g, name in enumerate(dist.groups):
        share = people[:, g].sum()
        if share > 0 and enough(rows[:, g].sum().astype(np.int64)):
            more, less = (
                SUPPRESSED_TEXT if hide[g] else float(people[:, g] @ way / share)
                for way, hide in zip(ways, hidden, strict=True)
            )
            shifts.append(Shift(notion, tolerance, name, more, less))
    return shifts


def _affected(rule: Rule, free: Rule, notion: str, tolerance: float, withhold: Suppression) -> list[Affected]:
    """What the people are like whom a notion decides otherwise, those with more and those with less yes."""
    dist, change = rule.distribution, rule.scores - free.scores
    people, rows = dist.mass.sum(axis=2), _people(dist)
    found = []
    for more_yes in (True, False):
        way = np.maximum(change if more_yes else -change, 0)
        moved = people * way[:, None]
        share, behind = float(moved.sum()), rows.T @ way
        # A description of so few people could give them away.
        few = dist.counts is not None and behind.sum() < (withhold.least or _FEWEST_PEOPLE)
        if share <= _FEWEST or few:
            continue
        weight = moved.sum(axis=1)
        low, high = _middle(dist.mass[:, :, 1].sum(axis=1), people.sum(axis=1), weight)
        groups = {
            name: SUPPRESSED_TEXT if hide else float(own)
            for name, hide, own in zip(dist.groups, withhold.few(behind), moved.sum(axis=0) / share, strict=True)
        }
        found.append(Affected(notion, tolerance, more_yes, share, low, high, groups, _person(dist, weight)))
    return found


def _people(dist: CellDistribution) -> Floats:
    """Rows of each cell and group that a law was learned from."""
    return np.zeros(dist.mass.shape[:2]) if dist.counts is None else dist.counts.sum(axis=2).astype(np.float64)


def _middle(ones: Floats, people: Floats, weight: Floats) -> tuple[float, float]:
    """Between which rates of the label most of some people lie, who are in cells with some weight."""
    inside = np.flatnonzero(weight > 0)
    rate = ones[inside] / people[inside]
    order = np.argsort(rate, kind="stable")
    reached = np.cumsum(weight[inside][order])
    at = np.searchsorted(reached, np.array(_MIDDLE) * reached[-1])
    low, high = rate[order][np.minimum(at, len(order) - 1)]
    return float(low), float(high)


def _person(dist: CellDistribution, weight: Floats) -> dict[str, str]:
    """Say what people in cells with some weight are like, the features first in which they differ most from all."""
    if dist.centroids is None or dist.encoding is None:
        return {}
    centroids = np.asarray(dist.centroids, dtype=np.float64)
    own, everybody = (np.average(centroids, axis=0, weights=by) for by in (weight, dist.mass.sum(axis=(1, 2))))
    apart: dict[str, float] = {}
    for part in dist.encoding.features:
        columns = slice(part.start, part.stop)
        apart[part.name] = apart.get(part.name, 0.0) + float(((own - everybody)[columns] ** 2).sum())
    values = {name: column[0] for name, column in dist.encoding.decode(own[None]).items()}
    dates = {feature.name for feature in dist.schema.features if feature.date} if dist.schema is not None else set()
    # Of people without a number there is none to tell.
    known = [name for name, value in values.items() if value == value]
    return {name: _words(values[name], name in dates) for name in sorted(known, key=lambda name: -apart[name])}


def _words(value: object, is_date: bool = False) -> str:
    if is_date:
        return str(np.datetime64(0, "D") + round(float(value)))  # type: ignore[arg-type]
    if not isinstance(value, float | np.floating):
        return value_text(value)  # type: ignore[arg-type]
    number = float(value)
    if not 1e3 <= abs(number) < 1e9:
        return f"{number:.3g}"
    # With a thousands separator, a year would not look like one.
    return f"{number:.0f}" if abs(number) < 1e4 else f"{number:,.0f}"


def _individual(dist: CellDistribution) -> Individual:
    free = {aware: solve(dist, {}, aware=aware) for aware in (True, False)}
    curves = {aware: frontier(dist, [INDIVIDUAL], _INDIVIDUAL_TOLERANCES, aware=aware) for aware in (True, False)}
    comparison = Variables(dist, aware=False).compare(Neighbourhood())
    strict = _INDIVIDUAL_TOLERANCES.index(_STRICT)
    filled = Variables(dist, aware=False).filled

    def mean_difference(scores: Floats) -> float:
        differences = comparison.differences(scores[filled])
        return float(differences.mean()) if len(differences) else 0.0

    return Individual(
        cells=dist.n_cells,
        tolerances=list(_INDIVIDUAL_TOLERANCES),
        accuracy_seen=curves[True].plug_in.tolist(),
        accuracy_hidden=curves[False].plug_in.tolist(),
        gap_seen=free[True].gaps[INDIVIDUAL],
        gap_hidden=free[False].gaps[INDIVIDUAL],
        neighbours=len(comparison.first),
        difference_free=mean_difference(free[False].scores),
        difference_strict=mean_difference(curves[False].scores[strict]),
    )
