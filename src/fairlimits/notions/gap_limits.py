r"""Differences between the rates of groups, and the chance that one of them lies beyond its tolerance.

The rate R of a group is estimated by r with a standard error s, each group's from people of its own. Where r is about
normal around R, what the rows say about R is about normal around r, and the chance that the rates of two groups are
farther apart than a tolerance :math:`\epsilon` is, for their difference d and its error,

.. math:: \Phi\left(\frac{d - \epsilon}{s}\right) + \Phi\left(\frac{-d - \epsilon}{s}\right) .

For more groups it is one integral over the lowest rate, because groups are independent of each other (see
`beyond_chance`): pairs that share a group are not counted twice. The sum over rates and notions, dependent or not,
bounds the chance that any gap exceeds its tolerance (union bound). A gap is certified with confidence 0.95 if the sum
is at most 0.05. Rates that are far within their tolerance add nothing, so nothing is paid for them; with one rate and
two groups it is the one-sided test at 0.05, once the gap is more than its error away from 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr

from fairlimits._util.small_samples import enough
from fairlimits._util.types import Floats, Ints
from fairlimits.errors import InputError
from fairlimits.notions.intervals import standard_errors
from fairlimits.notions.registry import NOTIONS
from fairlimits.notions.tallies import People, tally

# Errors and differences below these are rounding: scores that are the same for everybody have none.
_LEAST_ERROR, _LEAST_DIFFERENCE = 1e-12, 1e-9

# Points of the integral, in standard errors around each rate.
_GRID = np.linspace(-8.0, 8.0, 97)


@dataclass(frozen=True, eq=False)
class Differences:
    """Differences between the rates of groups, for every notion and each of its rates that can be compared.

    Parameters
    ----------
    notions : tuple of str
        The notion that each rate belongs to.
    rates, errors : tuple of ndarray
        For each of them, the rates of the groups that can be compared, and their standard errors.
    """

    notions: tuple[str, ...]
    rates: tuple[Floats, ...]
    errors: tuple[Floats, ...]

    def __len__(self) -> int:
        return len(self.value)

    @property
    def value(self) -> Floats:
        """Differences between two groups, for all rates and pairs."""
        return np.concatenate([np.zeros(0), *(own[g] - own[h] for own in self.rates for g, h in [_pairs(own)])])

    @property
    def error(self) -> Floats:
        """Their standard errors."""
        return np.concatenate(
            [np.zeros(0), *(np.hypot(own[g], own[h]) for own in self.errors for g, h in [_pairs(own)])]
        )

    def diluted(self, share: float) -> Differences:
        """Return the differences if only a share of all decisions, drawn by lot, depended on the person."""
        return Differences(
            self.notions, tuple(share * own for own in self.rates), tuple(share * own for own in self.errors)
        )

    def if_none(self) -> Differences:
        """Return the same standard errors with all differences at 0."""
        return Differences(self.notions, tuple(np.zeros_like(own) for own in self.rates), self.errors)

    def of(self, name: str) -> Differences:
        """Return the differences of one notion."""
        kept = [at for at, own in enumerate(self.notions) if own == name]
        return Differences((name,) * len(kept), *(tuple(own[at] for at in kept) for own in (self.rates, self.errors)))

    def chances(self, tolerances: Mapping[str, float]) -> dict[str, float]:
        """Return for each notion a bound on the chance that its gap exceeds its tolerance; it may be above 1."""
        found = dict.fromkeys(tolerances, 0.0)
        for name, rates, errors in zip(self.notions, self.rates, self.errors, strict=True):
            found[name] += beyond_chance(rates, errors, tolerances[name])
        return found

    def chance(self, tolerances: Mapping[str, float]) -> float:
        """Return a bound on the chance that any gap exceeds its tolerance; it may be above 1."""
        return math.fsum(self.chances(tolerances).values())

    def limits(self, tolerances: Mapping[str, float], confidence: float) -> dict[str, float]:
        """Return upper bounds of the notions' gaps that hold with a confidence, all at once.

        The allowed chance of failure is divided among the notions as their tolerances need it: all bounds are within
        the tolerances if those are certified, and none is if they are not.
        """
        need, allowed = self.chances(tolerances), 1 - confidence
        total = math.fsum(need.values())
        limits = {}
        for name in tolerances:
            own = self.of(name)
            if not len(own):
                limits[name] = math.nan
                continue
            # What the notions do not need is divided equally; if they need too much, all get less in proportion.
            share = need[name] + (allowed - total) / len(need) if total <= allowed else need[name] * allowed / total
            limits[name] = own._limit(name, share)
        return limits

    def _limit(self, name: str, chance: float) -> float:
        """Return the tolerance of the one notion here that is exceeded with just this chance."""
        return min(_root(lambda limit: self.chance({name: limit}) - chance, float(np.abs(self.value).max())), 1.0)

    def dilution(self, tolerances: Mapping[str, float], confidence: float) -> float:
        """Return the largest share of decisions that may depend on the person if the tolerances are to be certified."""
        if self.chance(tolerances) <= 1 - confidence:
            return 1.0
        if any(tolerances[name] <= 0 for name in self.notions):
            return 0.0
        # Diluting by t is the same as tolerances divided by t.
        return 1 / self.widening(tolerances, confidence)

    def widening(self, tolerances: Mapping[str, float], confidence: float) -> float:
        """Return the smallest factor, at least 1, by which tolerances would be certified; infinite if there is none."""
        if any(tolerances[name] <= 0 for name in self.notions):
            return math.inf

        def excess(factor: float) -> float:
            return self.chance({name: factor * eps for name, eps in tolerances.items()}) - (1 - confidence)

        return _root(excess, 1.0) if excess(1.0) > 0 else 1.0


def beyond_chance(rates: Floats, errors: Floats, limit: float) -> float:
    r"""Return the chance that the highest of some rates is more than a limit above the lowest.

    If group g is the lowest, at x, no other is lower, and not all of them are within the limit of x, so the chance is

    .. math::

        \sum_g \int \Bigl( \prod_{h \ne g} (1 - F_h(x)) - \prod_{h \ne g} (F_h(x + \epsilon) - F_h(x)) \Bigr) dF_g(x) ,

    with F the groups' normal distributions. For two groups it is the sum of both tails of their difference.

    Parameters
    ----------
    rates, errors : ndarray of shape (G,)
        Means of the rates and their standard errors; the rates are independent.
    limit : float
    """
    if errors.max() <= _LEAST_ERROR:
        return float(np.ptp(rates) > limit + _LEAST_DIFFERENCE)
    if len(rates) == 2:
        difference, apart = float(rates[0] - rates[1]), math.hypot(*errors.tolist())
        return float(ndtr((difference - limit) / apart) + ndtr((-difference - limit) / apart))
    mean, error = rates[:, None], np.maximum(errors, _LEAST_ERROR)[:, None]
    # Wherever one of the distributions changes.
    x = np.unique(np.concatenate([(mean + error * _GRID).ravel(), (mean - limit + error * _GRID).ravel()]))
    below, above, far = ndtr((x - mean) / error), ndtr((mean - x) / error), ndtr((mean - limit - x) / error)
    lost = _product_of_others(above) - _product_of_others(np.maximum(above - far, 0))
    return float(((lost[:, 1:] + lost[:, :-1]) / 2 * np.diff(below, axis=1)).sum())


def _product_of_others(factors: Floats) -> Floats:
    """Return for each row the product of all other rows."""
    first, last = np.ones_like(factors), np.ones_like(factors)
    first[1:], last[:-1] = factors[:-1].cumprod(axis=0), factors[:0:-1].cumprod(axis=0)[::-1]
    return np.asarray(first * last)


def _pairs(rates: Floats) -> tuple[Ints, Ints]:
    """Return the positions of the first and the second group of every pair."""
    first, second = np.triu_indices(len(rates), 1)
    return first.astype(np.int64), second.astype(np.int64)


def _root(falling: Callable[[float], float], start: float) -> float:
    """Return where a falling function becomes 0, or `start` if it is not above 0 there."""
    if falling(start) <= 0:
        return start
    low, step = start, max(start, 1e-3)
    while falling(low + step) > 0:
        low, step = low + step, 2 * step
    return float(brentq(falling, low, low + step, xtol=1e-12))


def differences(people: People, scores: Floats, names: Iterable[str]) -> Differences:
    """Estimate the differences of group notions on people who are decided 1 with some probability.

    Parameters
    ----------
    people : People
        Labelled people.
    scores : ndarray of shape (n,)
        Probability of deciding 1.
    names : iterable of str
        Group notions. Rates with fewer than 30 rows behind them are left out.
    """
    found = tally(people, scores[None])
    notions: list[str] = []
    means: list[Floats] = []
    errors: list[Floats] = []
    for name in names:
        rates = NOTIONS[name].rates
        for rate, own in zip(rates, standard_errors(people, scores, rates), strict=True):
            compared = np.flatnonzero(enough(found.rows(rate)))
            if len(compared) > 1:
                notions.append(name)
                means.append(found.rate(rate)[0][compared])
                errors.append(own[compared])
    return Differences(tuple(notions), tuple(means), tuple(errors))


def gaps_at_most(people: People, scores: Floats, confidence: float) -> dict[str, float]:
    """Return an upper bound of each notion's gap that holds with the confidence; NaN where it is not estimable.

    The scores must not have been made from these people's labels. Each bound holds by itself.
    """
    found = {name: differences(people, scores, [name]) for name in NOTIONS}
    return {name: own.limits({name: 0.0}, confidence)[name] for name, own in found.items()}


def rows_to_certify(
    gap: float,
    *,
    shares: Sequence[float] = (0.5, 0.5),
    rate: float = 0.5,
    true_gap: float = 0.0,
    confidence: float = 0.95,
    power: float = 0.8,
) -> int:
    r"""Rows needed to certify that a gap between two groups is at most `gap`.

    A rate of n rows has a standard error of :math:`\sqrt{r(1-r)/n}`, so the difference between groups with shares
    :math:`p_g` of n rows has one of :math:`\sigma = \sqrt{r(1-r) \sum_g 1/(p_g n)}`. The gap is certified if a
    difference of at most c is found, where c is what leaves a chance of 1 - confidence for the true one to be beyond
    (see `Differences`). If it is really d (`true_gap`), that happens with probability

    .. math:: \Phi\left(\frac{c - d}{\sigma}\right) - \Phi\left(\frac{-c - d}{\sigma}\right) ,

    and n is the smallest for which this is at least `power`. The rows are those that the gap is judged on, by a rule
    that was made without them.

    Parameters
    ----------
    gap : float
        What the gap is to be shown to stay within.
    shares : sequence of float
        Share of all rows that each of the two groups has *in the condition of the rate*: for equal opportunity, the
        share of rows that are of the group and have label 1.
    rate : float, default=0.5
        About how large the rates are; 0.5 is the worst case.
    true_gap : float, default=0
        How large the gap really is.
    confidence : float, default=0.95
        Of the certificate.
    power : float, default=0.8
        Probability that the rows suffice.

    Examples
    --------
    >>> rows_to_certify(0.05)
    3426
    >>> rows_to_certify(0.05, shares=(0.05, 0.2))
    21412
    """
    for what, value in (("gap", gap), ("confidence", confidence), ("power", power), ("rate", rate)):
        if not (isinstance(value, int | float | np.number) and 0 < value < 1):
            raise InputError(f"The {what} is {value!r}; it must lie strictly between 0 and 1.")
    if not (isinstance(true_gap, int | float | np.number) and 0 <= true_gap < gap):
        raise InputError(f"The true gap is {true_gap!r}; only one below {gap:g} can be shown to be, so give less.")
    if len(shares) != 2 or min(shares) <= 0 or sum(shares) > 1 + 1e-9:
        raise InputError(f"The shares are {shares!r}; give two of more than 0 that sum to 1 at most.")

    def short(precision: float) -> float:
        """Return how much power is missing where 1 / sigma is `precision`."""

        def beyond(found: float) -> float:
            return float(ndtr((found - gap) * precision) + ndtr((-found - gap) * precision)) - (1 - confidence)

        if beyond(0.0) > 0:
            return power
        largest = float(brentq(beyond, 0.0, gap))
        return power - float(ndtr((largest - true_gap) * precision) - ndtr((-largest - true_gap) * precision))

    # The chance of being certified rises with the rows, from none to all.
    precision = _root(short, 1 / gap)
    return math.ceil(precision**2 * rate * (1 - rate) * sum(1 / share for share in shares))
