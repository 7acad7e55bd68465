"""`monitor`: a rule in use, watched over time."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.special import ndtri

from fairlimits._util.frames import kind_of
from fairlimits._util.small_samples import enough
from fairlimits.data import Schema
from fairlimits.evaluation.monitoring.drift import Drift, drifts
from fairlimits.evaluation.monitoring.missing_groups import GapBounds, gap_bounds
from fairlimits.evaluation.monitoring.periods import Every, Period, read_periods
from fairlimits.evaluation.monitoring.results import Alarm, Monitoring, PeriodFigures
from fairlimits.evaluation.monitoring.tests_over_time import (
    ACCURACY_PART,
    DRIFT_PART,
    GAP_PART,
    Known,
    accuracy_of,
    accuracy_p_value,
    gap_p_values,
    known_people,
    signed_differences,
    spent,
    usable,
)
from fairlimits.limits import Rule
from fairlimits.notions import (
    NOT_ESTIMABLE,
    NOTIONS,
    SELECTION_RATE,
    Differences,
    Estimate,
    check_confidence,
    check_tolerances,
    standard_errors,
    tally,
)


def monitor(
    rule: Rule,
    tables: Any,
    *,
    dates: str | None = None,
    every: Every = "month",
    tolerances: Mapping[str, float] | None = None,
    confidence: float = 0.95,
) -> Monitoring:
    """Watch a rule in use: accuracy, rates and gaps over time with limits, drift, missing groups, and alarms.

    Parameters
    ----------
    rule : Rule
        The rule.
    tables : one table with `dates`; or a sequence, or a mapping of names to tables, one for each period
        The people, as in `Rule.decide`, with the sensitive columns and, where they are known, the labels. The first
        period is what later ones are compared with. None of them may have taken part in making the rule.
    dates : str, optional
        The column of dates of one table.
    every : {"day", "week", "month", "quarter", "year"}, default="month"
        How long a period by dates is.
    tolerances : mapping of str to float, optional
        The gaps to watch; by default those of the rule.
    confidence : float, default=0.95
        All limits hold at once with it. One minus it bounds the chance that there is ever an alarm, however many
        periods are looked at, while gaps are within the tolerances, accuracy has not fallen and nothing drifts.

    Returns
    -------
    Monitoring

    Notes ----- Limits and alarms of gaps rest on normal distributions, and rates with fewer than 30 people behind them
    are left out. How often they hold in simulations is in ``docs/deploy.md``. A rule whose gap is at its tolerance on
    the law can be beyond it among people, and an alarm of that is not a false one: give a little more here than in
    `solve`.

    Examples
    --------
    >>> import fairlimits as fl
    >>> from sklearn.linear_model import LogisticRegression
    >>> learn, later = fl.load_dataset("adult").take(range(3_000)).split(0.5, random_state=0)
    >>> rule = fl.solve(fl.estimate_outcome(learn, estimator=LogisticRegression(max_iter=500)), {"DP": 0.05})
    >>> decided = later.to_frame()
    >>> months = {"May": decided.slice(0, 750), "June": decided.slice(750)}
    >>> watched = fl.monitor(rule, months, tolerances={"DP": 0.1})
    >>> [(own.name, own.rows) for own in watched.periods]
    [('May', 750), ('June', 750)]
    >>> watched.alarm
    False
    """
    level = check_confidence(confidence)
    asked = check_tolerances(rule.tolerances if tolerances is None else tolerances)
    watched = {name: eps for name, eps in asked.items() if name in NOTIONS and math.isfinite(eps)}
    periods = read_periods(rule, tables, dates, every)
    schema = rule.distribution.schema
    assert schema is not None
    moved = [()] + [drifts(schema.features, rule.groups, periods[0], own) for own in periods[1:]]
    figures = _figures(periods, moved, rule.groups, level)
    alarms = [
        alarm
        for at in range(len(periods))
        for alarm in _alarms(periods[: at + 1], moved[at], watched, schema, 1 - level)
    ]
    given = tables.values() if isinstance(tables, Mapping) else tables if isinstance(tables, Sequence) else (tables,)
    return Monitoring(figures, tuple(alarms), watched, level, kind_of(*given))


def _figures(
    periods: Sequence[Period], moved: Sequence[tuple[Drift, ...]], groups: tuple[str, ...], level: float
) -> tuple[PeriodFigures, ...]:
    """Figures of all periods, whose limits hold at once."""
    read = []
    for own in periods:
        people = known_people([own], groups)
        names = usable(tuple(NOTIONS), own.people.label is not None)
        read.append((people, {name: signed_differences(people, [name]) for name in names}))
    many = sum(1 + len(groups) + sum(map(len, found.values())) for _, found in read)
    z = float(ndtri(1 - (1 - level) / 2 / many))
    return tuple(
        PeriodFigures(
            own.name,
            len(own.scores),
            _accuracy(own, z),
            _selection(people, z),
            {name: _gap(each, z) for name, each in found.items()},
            float(own.shares[own.people.group < 0].sum()),
            _bounds(own, tuple(found)),
            drift,
        )
        for own, (people, found), drift in zip(periods, read, moved, strict=True)
    )


def _bounds(period: Period, names: Sequence[str]) -> dict[str, GapBounds]:
    found = {name: gap_bounds(period, name) for name in names}
    return {name: own for name, own in found.items() if own is not None}


def _accuracy(period: Period, z: float) -> Estimate:
    found = accuracy_of([period])
    if found is None or not enough(np.array([len(period.scores)]))[0]:
        return NOT_ESTIMABLE
    value, error = found
    return Estimate(value, max(value - z * error, 0.0), min(value + z * error, 1.0))


def _selection(people: Known, z: float) -> dict[str, Estimate]:
    if not len(people.group):
        return dict.fromkeys(people.groups, NOT_ESTIMABLE)
    rates = tally(people, people.scores[None]).compared(SELECTION_RATE)[0]
    (errors,) = standard_errors(people, people.scores, (SELECTION_RATE,))
    return {
        group: NOT_ESTIMABLE
        if np.isnan(rate)
        else Estimate(float(rate), max(float(rate - z * error), 0.0), min(float(rate + z * error), 1.0))
        for group, rate, error in zip(people.groups, rates, errors, strict=True)
    }


def _gap(found: Differences, z: float) -> Estimate:
    """Largest difference, from limits that hold for all of them."""
    if not len(found):
        return NOT_ESTIMABLE
    size, reach = np.abs(found.value), z * found.error
    return Estimate(
        float(size.max()), float(np.maximum(size - reach, 0).max()), float(np.minimum((size + reach).max(), 1.0))
    )


def _alarms(
    periods: Sequence[Period],
    moved: tuple[Drift, ...],
    watched: Mapping[str, float],
    schema: Schema,
    allowed: float,
) -> list[Alarm]:
    """Alarms of the last of some periods."""
    now, t = periods[-1], len(periods)
    found = []
    own = spent(t, allowed * GAP_PART) / 2 / max(len(watched), 1)
    for what, over in (("", [now]), (", over all periods so far", periods)):
        if over is periods and t == 1:
            continue
        names = usable(tuple(watched), all(each.people.label is not None for each in over))
        people = known_people(over, schema.groups)
        tested = gap_p_values(people, {name: watched[name] for name in names}) if len(people.group) else {}
        for name, p_value in tested.items():
            if p_value <= own:
                gap = float(np.abs(signed_differences(people, [name]).value).max())
                words = f"{name} is {gap:.4f}, beyond {watched[name]:g} by more than chance explains{what}."
                found.append(Alarm(now.name, "gap", name, p_value, own, words))
    if t == 1:
        return found
    return [*found, *_falls(periods, spent(t - 1, allowed * ACCURACY_PART) / 2), *_drifted(now, moved, t, allowed)]


def _falls(periods: Sequence[Period], allowed: float) -> list[Alarm]:
    """Alarms of an accuracy below that of the first period: in the last one, and over all since the first."""
    found = []
    before = accuracy_of(periods[:1])
    for what, over in (("", periods[-1:]), (" over all periods since", periods[1:])):
        now = accuracy_of(over)
        if before is None or now is None or (what and len(over) == 1):
            continue
        p_value = accuracy_p_value(before, now)
        if p_value <= allowed:
            words = f"accuracy is {now[0]:.4f}{what}, and was {before[0]:.4f} in {periods[0].name}."
            found.append(Alarm(periods[-1].name, "accuracy", "accuracy", p_value, allowed, words))
    return found


def _drifted(now: Period, moved: tuple[Drift, ...], t: int, allowed: float) -> list[Alarm]:
    own = spent(t - 1, allowed * DRIFT_PART) / max(len(moved), 1)
    return [
        Alarm(
            now.name,
            "drift",
            drift.name,
            drift.p_value,
            own,
            f"{drift.name} has drifted from the first period, by {drift.distance:.4f}.",
        )
        for drift in moved
        if drift.p_value <= own
    ]
