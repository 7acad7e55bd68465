"""Rules for single people: a group-only rule as a function of q(x) = P(A, Y | x), without any cells.

Every row of the estimate is a cell of its own, so nothing is lost to quantization; the program's multipliers make the
rule a function of q that can be applied to rows it has never seen. A small temperature randomises ties.

What q gets wrong on average would show as a gap on real labels. So each rate is shifted by the difference between what
q expects and what the rows' labels show, in a few rounds, before it is held to its limit.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
from scipy.special import expit
from scipy.stats import norm

from fairlimits._smooth import Points, Smoothed, margin, solve_smoothed
from fairlimits.arrays import Floats, Ints
from fairlimits.criteria import ESTIMABLE_ROWS, INDIVIDUAL, NOTIONS, Rate, check_names
from fairlimits.data import Dataset, read_groups
from fairlimits.errors import InputError, SolverError
from fairlimits.frontier import DEFAULT_TOLERANCES, Tolerances, tolerance_grid
from fairlimits.judge import check_confidence, check_like, row_counts, standard_errors, tally
from fairlimits.outcome import Outcome, OutcomeModel
from fairlimits.solve import check_tolerances

Progress: TypeAlias = Callable[[float, str], None]

TEMPERATURE = 0.005
"""Points whose margin is within a few of it, as a share of accuracy, are decided at random."""

# Rounds in which rates are shifted to what the labels show; they stop once no rate is shifted by more than this.
_ROUNDS = 30
_SETTLED = 1e-5

# Rounds before the steps are halved.
_FULL_STEPS = 5

# Rounds in which the margin for uncertainty and the rule that it depends on are brought together.
_MARGIN_ROUNDS = 3

# A gap on the labels that exceeds its tolerance by more than this is said.
_UNMET = 1e-3

# Below any probability that an estimate gives to a group; guards a division.
_TINY = 1e-12


class MarginWarning(UserWarning):
    """The rows are too few to keep a gap within its tolerance, or to do so with the confidence that was asked for."""


@dataclass(frozen=True, eq=False, repr=False)
class PointwiseRule:
    """The most accurate rule under tolerances on group notions, for single people.

    Parameters
    ----------
    model : OutcomeModel
        Estimates q for new rows.
    tolerances : mapping of str to float
        The tolerances that were asked for.
    aware : bool
        Whether the rule sees the group.
    rates : tuple of Rate
        The rates that are held to limits.
    base : ndarray of shape (K, G)
        Probability of each rate's condition in each group, by q.
    multipliers : ndarray of shape (K, G)
        Price of each rate of each group.
    temperature : float
        How wide the band is in which people are decided at random.
    constant : float or None
        Score of everybody, if the rule is a constant one.
    accuracy : float
        Expected by q on the rows it was solved on (plug-in).
    bayes_accuracy : float
        The same for the best rule without tolerances.
    label_accuracy : float
        Share of those rows whose label the rule meets; each row's q comes from learners that did not see it.
    gaps : mapping of str to float
        Gap of every group notion on those rows and labels; NaN where there is none.
    margins : mapping of str to float
        By how much each tolerance was tightened.
    """

    model: OutcomeModel
    tolerances: Mapping[str, float]
    aware: bool
    rates: tuple[Rate, ...]
    base: Floats
    multipliers: Floats
    temperature: float
    constant: float | None
    accuracy: float
    bayes_accuracy: float
    label_accuracy: float
    gaps: Mapping[str, float]
    margins: Mapping[str, float]

    @property
    def groups(self) -> tuple[str, ...]:
        """The groups' names."""
        return self.model.schema.groups

    @cached_property
    def shadow_prices(self) -> dict[str, float]:
        """For each tolerance, how fast accuracy would rise with that tolerance alone."""
        prices = {}
        for name, tolerance in self.tolerances.items():
            others = {other: value for other, value in self.tolerances.items() if other != name}
            # Where another notion holds a shared rate as tightly, this tolerance alone changes nothing.
            own = [rate in NOTIONS[name].rates and tolerance < _limit(rate, others) for rate in self.rates]
            prices[name] = float(np.abs(self.multipliers[own]).sum() / 2)
        return prices

    def scores(self, rows: Any) -> Floats:
        """Probability of deciding 1 for each of some rows.

        Parameters
        ----------
        rows : Dataset, or a pandas, polars or Arrow table
            The rows; labels are not looked at. A table needs the features, and for a rule that sees the group the
            sensitive columns.
        """
        group = None
        if self.aware:
            if isinstance(rows, Dataset):
                check_like(rows, self.groups)
            group = rows.group if isinstance(rows, Dataset) else read_groups(self.model.schema, rows)
        return self.scores_of(self.model.predict(rows), group)

    def scores_of(self, q: Floats, group: Ints | None) -> Floats:
        """Probability of deciding 1 for estimates of shape (n, G, 2); an aware rule needs the group too."""
        if self.constant is not None:
            return np.full(len(q), self.constant)
        gain, rates = _values(q, self.rates, self.base)
        if not self.aware:
            return np.asarray(expit(margin(gain.sum(axis=1), rates, self.multipliers) / self.temperature))
        if group is None:
            raise InputError("This rule sees the group, and none was given; give the group of each row.")
        rows = np.arange(len(q))
        share = np.maximum(q[rows, group].sum(axis=1), _TINY)
        price = (rates[rows, :, group] * self.multipliers.T[group]).sum(axis=1)
        return np.asarray(expit((gain[rows, group] - price) / share / self.temperature))

    def __repr__(self) -> str:
        asked = ", ".join(f"{name} <= {value:g}" for name, value in self.tolerances.items()) or "no constraint"
        sees = "aware" if self.aware else "unaware"
        return f"PointwiseRule({asked}; {sees}; accuracy {self.accuracy:.4f}, best without {self.bayes_accuracy:.4f})"


@dataclass(frozen=True, eq=False, repr=False)
class PointwiseFrontier:
    """Pointwise rules over a range of tolerances.

    Parameters
    ----------
    rules : tuple of PointwiseRule
        The rule at each point.
    grid : mapping of str to ndarray of shape (points,)
        Each notion's tolerance at each point.
    """

    rules: tuple[PointwiseRule, ...]
    grid: Mapping[str, Floats]

    @property
    def aware(self) -> bool:
        """Whether the rules see the group."""
        return self.rules[0].aware

    @property
    def accuracy(self) -> Floats:
        """Plug-in accuracy at each point."""
        return np.array([rule.accuracy for rule in self.rules])

    def __len__(self) -> int:
        return len(self.rules)

    def to_frame(self) -> pa.Table:
        """Tolerances, accuracy and gaps as a table, a row for each point."""
        columns: dict[str, Any] = {f"tolerance {name}": values for name, values in self.grid.items()}
        columns["accuracy"] = self.accuracy
        columns["accuracy on labels"] = [rule.label_accuracy for rule in self.rules]
        return pa.table(columns | {f"gap {name}": [rule.gaps[name] for rule in self.rules] for name in NOTIONS})

    def __repr__(self) -> str:
        what = f"{' + '.join(self.grid)}, {'aware' if self.aware else 'unaware'}"
        return f"PointwiseFrontier({what}, {len(self)} points)"


def solve_pointwise(
    outcome: Outcome,
    tolerances: Mapping[str, float],
    *,
    aware: bool = False,
    confidence: float | None = None,
    temperature: float = TEMPERATURE,
) -> PointwiseRule:
    """Find the most accurate rule for single people whose gaps stay within tolerances.

    Parameters
    ----------
    outcome : Outcome
        Estimate of q(x) = P(A, Y | x), from `estimate_outcome`.
    tolerances : mapping of str to float
        Largest gap allowed for each notion, among DP, EA, EOp, PE and EOd. Individual fairness compares cells:
        use `discretize` and `solve` for it.
    aware : bool, default=False
        Whether the rule may see the group.
    confidence : float, optional
        Tighten each tolerance by a margin, so that the gap stays within it in the population with this confidence,
        such as 0.95. By default the tolerance holds on the rows, and is exceeded by chance on others.
    temperature : float, default=0.005
        How wide the band is in which people are decided at random.

    Returns
    -------
    PointwiseRule

    Warns
    -----
    MarginWarning
        If the margin is larger than a tolerance, or a rate has fewer than 30 rows behind it: then everybody gets the
        same score. Without a confidence, if the rows are too few for the gap on their labels to meet its tolerance.
    """
    asked = check_tolerances(tolerances)
    if confidence is not None:
        check_confidence(confidence)
    return _Problem(outcome, tuple(asked), aware, temperature).rule(asked, confidence)


def pointwise_frontier(
    outcome: Outcome,
    notions: Sequence[str],
    tolerances: Tolerances | None = None,
    *,
    aware: bool = False,
    confidence: float | None = None,
    temperature: float = TEMPERATURE,
    progress: Progress | None = None,
) -> PointwiseFrontier:
    """Find the best rules for single people over a range of tolerances.

    Parameters
    ----------
    outcome, aware, confidence, temperature
        See `solve_pointwise`.
    notions : sequence of str
        The notions to constrain, among DP, EA, EOp, PE and EOd.
    tolerances : array-like, or mapping of str to array-like or number, optional
        An array moves all notions together, by default 41 tolerances from 0 to 0.2; a mapping gives each its own.
    progress : callable, optional
        Called with the fraction done and a few words.
    """
    names = check_names([notions] if isinstance(notions, str) else notions)
    if not names:
        raise InputError("No notion was given; name at least one, such as ['DP'].")
    grid = tolerance_grid(names, DEFAULT_TOLERANCES if tolerances is None else tolerances)
    if confidence is not None:
        check_confidence(confidence)
    problem = _Problem(outcome, names, aware, temperature)
    total = len(grid[names[0]])
    rules = []
    # From loose to tight: the first is without prices, and each next one starts from the one before.
    for done, point in enumerate(reversed(range(total)), 1):
        rules.append(problem.rule({name: float(values[point]) for name, values in grid.items()}, confidence))
        if progress is not None:
            progress(done / total, f"tolerance {done} of {total}")
    return PointwiseFrontier(tuple(rules[::-1]), grid)


class _Problem:
    """The program of one set of notions; each solution starts from the one before."""

    def __init__(self, outcome: Outcome, names: tuple[str, ...], aware: bool, temperature: float) -> None:
        check_names(names)
        if INDIVIDUAL in names:
            raise InputError(
                "Individual fairness (IF) compares cells, and a pointwise rule has none; use discretize and solve."
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
            self.rows[k] = row_counts(outcome.data)[:, list(rate.given)].sum(axis=1)
            self.base[k] = np.where(self.rows[k] > 0, share @ q[:, :, list(rate.given)].sum(axis=2), 0.0)
        self.points = _points(q, share, self.rates, self.base, aware)
        self.zero = float(share @ q[:, :, 0].sum(axis=1))
        self.bayes = self.zero + float(self.points.mass @ np.maximum(self.points.gain, 0))
        self.start: Floats | None = None
        self.shift = np.zeros(self.base.shape)

    def rule(self, tolerances: Mapping[str, float], confidence: float | None) -> PointwiseRule:
        """Solve at some tolerances."""
        margins = dict.fromkeys(tolerances, 0.0)
        found = self._solve(_limits(self.rates, tolerances))
        if confidence is not None and self.rates:
            for _ in range(_MARGIN_ROUNDS):
                margins = self._margins(found, tuple(tolerances), confidence)
                if any(0 < margins[name] >= tolerances[name] for name in tolerances):
                    return self._constant(tolerances, margins, confidence)
                found = self._solve(_limits(self.rates, {n: tolerances[n] - margins[n] for n in tolerances}))
        rule = self._make(tolerances, margins, found.multipliers, found.scores, None)
        unmet = [name for name in tolerances if rule.gaps[name] > tolerances[name] - margins[name] + _UNMET]
        if unmet:
            words = ", ".join(f"{name} is {rule.gaps[name]:.3f} on their labels" for name in unmet)
            warnings.warn(
                f"The rows of some groups and labels are too few to bring all gaps within their tolerances: {words}. "
                "Give more rows, join small groups, or take a wider tolerance.",
                MarginWarning,
                stacklevel=3,
            )
        return rule

    def _solve(self, limits: Floats) -> Smoothed:
        """Solve with the rates shifted to what the labels show."""
        points, best, least = self.points, None, math.inf
        for number in range(_ROUNDS):
            shifted = Points(points.mass, points.gain, points.rates, points.constant + self.shift, points.defined)
            try:
                found = solve_smoothed(shifted, limits, self.temperature, self.start)
            except SolverError:
                if not self.shift.any():
                    raise
                # A few rows' labels can shift rates so far apart that no rule brings them together again.
                self.shift, self.start = (self.shift / 2 if number < _ROUNDS // 2 else 0 * self.shift), None
                continue
            self.start = found.multipliers
            expected = points.constant + np.einsum("v,vkg->kg", points.mass * found.scores, points.rates)
            shown = self._label_rates(self._of_rows(found.scores))
            excess = float(np.fmax.reduce([_spread(own) for own in shown] - limits, initial=-np.inf))
            if best is None or excess < least:
                best, least = found, excess
            shift = np.where(points.defined & ~np.isnan(shown), shown - expected, 0.0)
            if np.abs(shift - self.shift).max(initial=0) <= _SETTLED:
                return found
            # Where the shift and the rule chase each other, half a step calms them.
            self.shift = shift if number < _FULL_STEPS else (shift + self.shift) / 2
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
        """By how much each notion's gap may exceed what the rows show, with some confidence in all at once."""
        errors = standard_errors(self.outcome.data, self._of_rows(found.scores), self.rates)
        pairs = list(combinations(range(errors.shape[1]), 2))
        reach = float(norm.ppf(1 - (1 - confidence) / 2 / max(len(self.rates) * len(pairs), 1)))
        margin_of = {}
        for rate, own, rows in zip(self.rates, errors, self.rows, strict=True):
            # A pair of which one group has no rows is not compared.
            spread = [math.hypot(own[g], own[h]) for g, h in pairs if rows[g] and rows[h]]
            # What a few rows show by themselves can be sure by chance: all may have the same score.
            few = bool(spread) and bool((rows[rows > 0] < ESTIMABLE_ROWS).any())
            margin_of[rate] = 1.0 if few else reach * max(spread, default=0.0)
        return {name: max(margin_of[rate] for rate in NOTIONS[name].rates) for name in names}

    def _constant(
        self, tolerances: Mapping[str, float], margins: Mapping[str, float], confidence: float
    ) -> PointwiseRule:
        short = [name for name in tolerances if margins[name] >= tolerances[name]]
        words = ", ".join(f"{name} within {tolerances[name]:g} (margin {margins[name]:.3f})" for name in short)
        warnings.warn(
            f"The {self.outcome.data.n_rows:,} rows cannot show with confidence {confidence:g} that a gap stays this "
            f"small: {words}. Everybody gets the same score; give more rows or a wider tolerance.",
            MarginWarning,
            stacklevel=4,
        )
        # Deciding all alike is equally accurate in all groups only by the toss of a coin.
        majority = float(self.zero < 0.5)
        score = 0.5 if "EA" in tolerances else majority
        scores = np.full(len(self.points.mass), score)
        return self._make(tolerances, margins, np.zeros(self.base.shape), scores, score)

    def _make(
        self,
        tolerances: Mapping[str, float],
        margins: Mapping[str, float],
        multipliers: Floats,
        scores: Floats,
        constant: float | None,
    ) -> PointwiseRule:
        found = tally(self.outcome.data, self._of_rows(scores)[None])
        gaps = {}
        for name, notion in NOTIONS.items():
            spread = [_spread(found.rate(rate)[0]) for rate in notion.rates]
            gaps[name] = float(np.fmax.reduce(spread))
        return PointwiseRule(
            model=self.outcome.model,
            tolerances=dict(tolerances),
            aware=self.aware,
            rates=self.rates,
            base=self.base,
            multipliers=multipliers,
            temperature=self.temperature,
            constant=constant,
            accuracy=self.zero + float(self.points.mass @ (self.points.gain * scores)),
            bayes_accuracy=self.bayes,
            label_accuracy=float(found.accuracy()[0]),
            gaps=gaps,
            margins=margins,
        )


def _spread(rates: Floats) -> float:
    known = rates[~np.isnan(rates)]
    return float(known.max() - known.min()) if len(known) >= 2 else math.nan


def _limits(rates: tuple[Rate, ...], tolerances: Mapping[str, float]) -> Floats:
    """Limit of each rate: the smallest tolerance of the notions that it belongs to; no gap is larger than 1."""
    return np.array([min(_limit(rate, tolerances), 1.0) for rate in rates])


def _limit(rate: Rate, tolerances: Mapping[str, float]) -> float:
    """Smallest tolerance of the notions that a rate belongs to; without any, there is no limit."""
    return min((value for name, value in tolerances.items() if rate in NOTIONS[name].rates), default=math.inf)


def _values(q: Floats, rates: tuple[Rate, ...], base: Floats) -> tuple[Floats, Floats]:
    """What deciding 1 adds at each point: to accuracy, of shape (n, G), and to the rates, of shape (n, K, G)."""
    gain = q[:, :, 1] - q[:, :, 0]
    added = np.zeros((len(q), len(rates), q.shape[1]))
    for k, rate in enumerate(rates):
        event = np.asarray(rate.event)
        for y in rate.given:
            added[:, k] += q[:, :, y] * (event[y, 1] - event[y, 0])
    return gain, added / np.where(base > 0, base, np.inf)


def _points(q: Floats, share: Floats, rates: tuple[Rate, ...], base: Floats, aware: bool) -> Points:
    """Every row as a point; for an aware rule, every row as a member of each group."""
    gain, added = _values(q, rates, base)
    constant = np.zeros(base.shape)
    for k, rate in enumerate(rates):
        for y in rate.given:
            constant[k] += share @ q[:, :, y] * rate.event[y][0]
    constant /= np.where(base > 0, base, np.inf)
    if not aware:
        return Points(share, gain.sum(axis=1), added, constant, base > 0)
    n, groups = gain.shape
    chance = np.maximum(q.sum(axis=2), _TINY)
    own = np.zeros((n, groups, len(rates), groups))
    for g in range(groups):
        own[:, g, :, g] = added[:, :, g] / chance[:, g, None]
    mass = (share[:, None] * chance).ravel()
    return Points(mass, (gain / chance).ravel(), own.reshape(n * groups, len(rates), groups), constant, base > 0)
