"""`OutcomeProgram`: the best rule on an estimate of P(A, Y | x), in which every row is a cell of its own.

What q gets wrong on average would show as a gap on real labels. So each rate is shifted by the difference between what
q expects and what the rows' labels show, in a few rounds, before it is held to its limit.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from itertools import combinations

import numpy as np
from scipy.stats import norm

from fairlimits._util.types import Floats
from fairlimits.errors import InputError, SolverError
from fairlimits.law import Outcome
from fairlimits.limits.policies import TINY, OutcomePolicy, added_by
from fairlimits.limits.rules import OnLabels, Rule, limit_of
from fairlimits.notions import (
    ESTIMABLE_ROWS,
    INDIVIDUAL,
    NOTIONS,
    Rate,
    alike_score,
    check_names,
    spread,
    standard_errors,
    tally,
)
from fairlimits.solvers import Points, Smoothed, solve_smoothed

TEMPERATURE = 0.005
"""Points whose margin is within a few of it, as a share of accuracy, are decided at random."""

# Rounds in which rates are shifted to what the labels show; they stop once no rate is shifted by more than this.
_ROUNDS = 30
_SETTLED = 1e-5

# Rounds before the steps are halved; and how short steps may become where longer ones lead to where no rule is.
_FULL_STEPS = 5
_LEAST_STEP = 0.01

# Rounds in which the margin for uncertainty and the rule that it depends on are brought together.
_MARGIN_ROUNDS = 3

# A gap on the labels that exceeds its tolerance by more than this is said.
_UNMET = 1e-3


class MarginWarning(UserWarning):
    """The rows are too few to keep a gap within its tolerance, or to do so with the confidence that was asked for."""


class OutcomeProgram:
    """The program of one set of notions; each solution starts from the one before."""

    def __init__(self, outcome: Outcome, names: tuple[str, ...], aware: bool, temperature: float = TEMPERATURE) -> None:
        check_names(names)
        if INDIVIDUAL in names:
            raise InputError(
                "Individual fairness (IF) compares cells, and a rule on an estimate has none; use discretize and solve."
            )
        if not (isinstance(temperature, int | float | np.number) and 0 < temperature < math.inf):
            raise InputError(f"The temperature is {temperature!r}; it must be a number above 0.")
        self.outcome, self.aware, self.temperature = outcome, aware, temperature
        self.rates = tuple(dict.fromkeys(rate for name in names for rate in NOTIONS[name].rates))
        share, q = outcome.weight, outcome.q
        # Rows behind each rate; a rate without any is left out, whatever q expects of it.
        self.rows = np.zeros((len(self.rates), q.shape[1]), dtype=np.int64)
        self.base = np.zeros(self.rows.shape)
        for k, rate in enumerate(self.rates):
            self.rows[k] = outcome.data.counts[:, list(rate.given)].sum(axis=1)
            self.base[k] = np.where(self.rows[k] > 0, share @ q[:, :, list(rate.given)].sum(axis=2), 0.0)
        self.points = points_of(q, share, self.rates, self.base, aware)
        self.zero = float(share @ q[:, :, 0].sum(axis=1))
        self.bayes = self.zero + float(self.points.mass @ np.maximum(self.points.gain, 0))
        self.start: Floats | None = None
        self.shift = np.zeros(self.base.shape)

    def rule(self, tolerances: Mapping[str, float], confidence: float | None) -> Rule:
        """Solve at some tolerances."""
        margins = dict.fromkeys(tolerances, 0.0)
        found = self._solve(limits_of(self.rates, tolerances))
        if confidence is not None and self.rates:
            for _ in range(_MARGIN_ROUNDS):
                margins = self._margins(found, tuple(tolerances), confidence)
                if any(0 < margins[name] >= tolerances[name] for name in tolerances):
                    return self._constant(tolerances, margins, confidence)
                found = self._solve(limits_of(self.rates, {n: tolerances[n] - margins[n] for n in tolerances}))
        rule = self._make(tolerances, margins, found.multipliers, found.scores, None)
        alike = self._alike(tolerances, margins)
        if self.rates and _on_labels(alike) > _on_labels(rule) + _UNMET:
            # Where a handful of rows' labels shift the rates, what meets them can be worse than deciding all alike,
            # which has no gap at all.
            rule = alike
        aims = {name: tolerances[name] - margins[name] for name in tolerances}
        unmet = [name for name, aim in aims.items() if rule.gaps[name] > aim + _UNMET]
        if unmet:
            words = ", ".join(f"{name} is {rule.gaps[name]:.3f} on the labels, not {aims[name]:.3f}" for name in unmet)
            warnings.warn(
                "The rows of some groups and labels are too few, or the estimate too far from them, to bring all gaps "
                f"within their tolerances: {words}. Give more rows, join small groups, or take a wider tolerance.",
                MarginWarning,
                stacklevel=3,
            )
        return rule

    def _solve(self, limits: Floats) -> Smoothed:
        """Solve with the rates shifted to what the labels show."""
        points, best, least = self.points, None, math.inf
        step, feasible = 1.0, np.zeros(self.shift.shape)
        for number in range(_ROUNDS):
            shifted = Points(points.mass, points.gain, points.rates, points.constant + self.shift, points.defined)
            try:
                found = solve_smoothed(shifted, limits, self.temperature, self.start)
            except SolverError:
                if not self.shift.any():
                    raise
                # A few rows' labels can shift rates so far apart that no rule brings them together again: then the
                # shift goes part of the way only.
                self.shift, self.start, step = feasible, None, step / 4
                if best is not None and step < _LEAST_STEP:
                    break
                continue
            self.start, feasible = found.multipliers, self.shift
            expected = points.constant + np.einsum("v,vkg->kg", points.mass * found.scores, points.rates)
            shown = self._label_rates(self._of_rows(found.scores))
            excess = float(np.fmax.reduce(spread(shown) - limits, initial=-np.inf))
            if best is None or excess < least:
                best, least = found, excess
            shift = np.where(points.defined & ~np.isnan(shown), shown - expected, 0.0)
            if np.abs(shift - self.shift).max(initial=0) <= _SETTLED:
                return found
            # Where the shift and the rule chase each other, half a step calms them.
            if number >= _FULL_STEPS:
                step = min(step, 0.5)
            self.shift = step * shift + (1 - step) * self.shift
        assert best is not None
        return best

    def _of_rows(self, scores: Floats) -> Floats:
        """Score of each row as what it is."""
        if not self.aware:
            return scores
        data = self.outcome.data
        return np.asarray(scores.reshape(data.n_rows, -1)[np.arange(data.n_rows), data.group])

    def _label_rates(self, scores: Floats) -> Floats:
        found = tally(self.outcome.data, scores[None])
        rates = [found.rate(rate)[0] for rate in self.rates]
        return np.stack(rates) if rates else np.zeros(self.base.shape)

    def _margins(self, found: Smoothed, names: tuple[str, ...], confidence: float) -> dict[str, float]:
        """By how much each notion's gap may exceed what the rows show, with some confidence in all at once.

        The rows of a fold are judged by learners of the other folds, which have rows in common; so the variance is
        raised by the ratio of rows judged to rows learned (Nadeau and Bengio, 2003).
        """
        folds = max(len(self.outcome.model.folds), 2)
        errors = standard_errors(self.outcome.data, self._of_rows(found.scores), self.rates)
        pairs = list(combinations(range(errors.shape[1]), 2))
        reach = float(norm.ppf(1 - (1 - confidence) / 2 / max(len(self.rates) * len(pairs), 1)))
        reach *= math.sqrt(1 + 1 / (folds - 1))
        margin_of = {}
        for rate, own, rows in zip(self.rates, errors, self.rows, strict=True):
            # A pair of which one group has no rows is not compared.
            spread = [math.hypot(own[g], own[h]) for g, h in pairs if rows[g] and rows[h]]
            # What a few rows show by themselves can be sure by chance: all may have the same score.
            few = bool(spread) and bool((rows[rows > 0] < ESTIMABLE_ROWS).any())
            margin_of[rate] = 1.0 if few else reach * max(spread, default=0.0)
        return {name: max(margin_of[rate] for rate in NOTIONS[name].rates) for name in names}

    def _constant(self, tolerances: Mapping[str, float], margins: Mapping[str, float], confidence: float) -> Rule:
        short = [name for name in tolerances if margins[name] >= tolerances[name]]
        words = ", ".join(f"{name} within {tolerances[name]:g} (margin {margins[name]:.3f})" for name in short)
        warnings.warn(
            f"The {self.outcome.data.n_rows:,} rows cannot show with confidence {confidence:g} that a gap stays this "
            f"small: {words}. Everybody gets the same score; give more rows or a wider tolerance.",
            MarginWarning,
            stacklevel=4,
        )
        return self._alike(tolerances, margins)

    def _alike(self, tolerances: Mapping[str, float], margins: Mapping[str, float]) -> Rule:
        """Everybody gets the same score."""
        score = alike_score(tolerances, 1 - self.zero)
        scores = np.full(len(self.points.mass), score)
        return self._make(tolerances, margins, np.zeros(self.base.shape), scores, score)

    def _make(
        self,
        tolerances: Mapping[str, float],
        margins: Mapping[str, float],
        multipliers: Floats,
        scores: Floats,
        constant: float | None,
    ) -> Rule:
        found = tally(self.outcome.data, self._of_rows(scores)[None])
        gaps = {name: float(found.gap(name)[0]) for name in NOTIONS}
        policy = OutcomePolicy(
            self.outcome.model, self.aware, self.rates, self.base, multipliers, self.temperature, constant
        )
        return Rule(
            policy=policy,
            tolerances=dict(tolerances),
            accuracy=self.zero + float(self.points.mass @ (self.points.gain * scores)),
            bayes_accuracy=self.bayes,
            on_labels=OnLabels(float(found.accuracy()[0]), gaps),
            margins=margins,
        )


def _on_labels(rule: Rule) -> float:
    return math.nan if rule.on_labels is None else rule.on_labels.accuracy


def limits_of(rates: tuple[Rate, ...], tolerances: Mapping[str, float]) -> Floats:
    """Limit of each rate: the smallest tolerance of the notions that it belongs to; no gap is larger than 1."""
    return np.array([min(limit_of(rate, tolerances), 1.0) for rate in rates])


def points_of(q: Floats, share: Floats, rates: tuple[Rate, ...], base: Floats, aware: bool) -> Points:
    """Every row as a point; for an aware rule, every row as a member of each group."""
    gain, added = added_by(q, rates, base)
    constant = np.zeros(base.shape)
    for k, rate in enumerate(rates):
        for y in rate.given:
            constant[k] += share @ q[:, :, y] * rate.event[y][0]
    constant /= np.where(base > 0, base, np.inf)
    if not aware:
        return Points(share, gain.sum(axis=1), added, constant, base > 0)
    n, groups = gain.shape
    chance = np.maximum(q.sum(axis=2), TINY)
    own = np.zeros((n, groups, len(rates), groups))
    for g in range(groups):
        own[:, g, :, g] = added[:, :, g] / chance[:, g, None]
    mass = (share[:, None] * chance).ravel()
    return Points(mass, (gain / chance).ravel(), own.reshape(n * groups, len(rates), groups), constant, base > 0)
