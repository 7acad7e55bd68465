r"""Signed differences between the rates of groups, and the chance that one of them lies beyond its tolerance.

A difference D between two groups' rates is estimated by d with a standard error s. Where d is about normal around D,
what the rows say about D is about normal around d, and the chance that D lies beyond a tolerance :math:`\epsilon` is

.. math:: \Phi\left(\frac{d - \epsilon}{s}\right) + \Phi\left(\frac{-d - \epsilon}{s}\right) .

Added up over all pairs of groups and all rates, that bounds the chance that any gap exceeds its tolerance, whatever
depends on what. A gap is certified with confidence 0.95 if the sum is at most 0.05. Differences that are far within
their tolerance add nothing, so nothing is paid for them; with one rate and two groups it is the one-sided test at
0.05, once the gap is more than its error away from 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr

from fairlimits._util.small_samples import enough
from fairlimits._util.types import Floats
from fairlimits.errors import InputError
from fairlimits.notions.intervals import standard_errors
from fairlimits.notions.registry import NOTIONS
from fairlimits.notions.tallies import People, tally

# Errors and differences below these are rounding: scores that are the same for everybody have none.
_LEAST_ERROR, _LEAST_DIFFERENCE = 1e-12, 1e-9


@dataclass(frozen=True, eq=False)
class Differences:
    """Differences between the rates of two groups, for every notion, rate and pair that can be compared.

    Parameters
    ----------
    notions : tuple of str
        The notion that each belongs to.
    value, error : ndarray of shape (m,)
        What was found, and its standard error.
    """

    notions: tuple[str, ...]
    value: Floats
    error: Floats

    def __len__(self) -> int:
        return len(self.notions)

    def diluted(self, share: float) -> Differences:
        """The same where only a share of all decisions depends on the person, by chance."""
        return Differences(self.notions, share * self.value, share * self.error)

    def if_none(self) -> Differences:
        """The same if no difference had been found."""
        return Differences(self.notions, np.zeros(len(self)), self.error)

    def chances(self, tolerances: Mapping[str, float]) -> dict[str, float]:
        """For each notion, a bound on the chance that its gap exceeds its tolerance; it may be above 1."""
        limit = np.array([tolerances[name] for name in self.notions])
        error = np.maximum(self.error, _LEAST_ERROR)
        beyond = ndtr((self.value - limit) / error) + ndtr((-self.value - limit) / error)
        beyond = np.where(self.error > _LEAST_ERROR, beyond, np.abs(self.value) > limit + _LEAST_DIFFERENCE)
        found = dict.fromkeys(tolerances, 0.0)
        for name, own in zip(self.notions, beyond.tolist(), strict=True):
            found[name] += own
        return found

    def chance(self, tolerances: Mapping[str, float]) -> float:
        """A bound on the chance that any gap exceeds its tolerance; it may be above 1."""
        return math.fsum(self.chances(tolerances).values())

    def limits(self, tolerances: Mapping[str, float], confidence: float) -> dict[str, float]:
        """Upper limits of the notions' gaps that hold with a confidence, all at once.

        What may go wrong is shared out to the notions as they need it for their tolerances: all limits are within the
        tolerances if those are certified, and none is if they are not.
        """
        need, allowed = self.chances(tolerances), 1 - confidence
        total = math.fsum(need.values())
        limits = {}
        for name in tolerances:
            own = np.array([each == name for each in self.notions], dtype=bool)
            if not own.any():
                limits[name] = math.nan
                continue
            # What is left over is shared out equally; what is missing is missed by all in proportion.
            share = need[name] + (allowed - total) / len(need) if total <= allowed else need[name] * allowed / total
            part = Differences((name,) * int(own.sum()), self.value[own], self.error[own])
            limits[name] = part._limit(name, share)
        return limits

    def _limit(self, name: str, chance: float) -> float:
        """The tolerance of the one notion here that is exceeded with a chance."""
        return min(_root(lambda limit: self.chance({name: limit}) - chance, float(np.abs(self.value).max())), 1.0)

    def dilution(self, tolerances: Mapping[str, float], confidence: float) -> float:
        """Largest share of decisions that may depend on the person if the tolerances are to be certified."""
        if self.chance(tolerances) <= 1 - confidence:
            return 1.0
        if any(tolerances[name] <= 0 for name in self.notions):
            return 0.0
        # Diluting by t is the same as tolerances divided by t.
        return 1 / self.widening(tolerances, confidence)

    def widening(self, tolerances: Mapping[str, float], confidence: float) -> float:
        """Smallest factor of the tolerances, at least 1, with which they would be certified; infinite without any."""
        if any(tolerances[name] <= 0 for name in self.notions):
            return math.inf

        def excess(factor: float) -> float:
            return self.chance({name: factor * eps for name, eps in tolerances.items()}) - (1 - confidence)

        return _root(excess, 1.0) if excess(1.0) > 0 else 1.0


def _root(falling: Callable[[float], float], start: float) -> float:
    """Where a falling function becomes 0, or the smallest number from `start` on where it is below."""
    if falling(start) <= 0:
        return start
    low, step = start, max(start, 1e-3)
    while falling(low + step) > 0:
        low, step = low + step, 2 * step
    return float(brentq(falling, low, low + step, xtol=1e-12))


def differences(people: People, scores: Floats, names: Iterable[str], inflation: float = 1.0) -> Differences:
    """Read the differences of group notions off people who are decided 1 with some probability.

    Parameters
    ----------
    people : People
        Labelled people.
    scores : ndarray of shape (n,)
        Probability of deciding 1.
    names : iterable of str
        Group notions. Rates with fewer than 30 rows behind them are left out.
    inflation : float, default=1
        What standard errors are multiplied by.
    """
    found = tally(people, scores[None])
    notions: list[str] = []
    value: list[float] = []
    error: list[float] = []
    for name in names:
        rates = NOTIONS[name].rates
        for rate, own in zip(rates, standard_errors(people, scores, rates), strict=True):
            mean = found.rate(rate)[0]
            for g, h in combinations(np.flatnonzero(enough(found.rows(rate))), 2):
                notions.append(name)
                value.append(float(mean[g] - mean[h]))
                error.append(inflation * math.hypot(own[g], own[h]))
    return Differences(tuple(notions), np.array(value), np.array(error))


def gaps_at_most(people: People, scores: Floats, confidence: float) -> dict[str, float]:
    """For each group notion, an upper limit of its gap that holds with the confidence; NaN where it is not estimable.

    The scores must not have been made from these people's labels. Each limit holds by itself.
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
        """What is missing to the power where 1 / sigma is `precision`."""

        def beyond(found: float) -> float:
            return float(ndtr((found - gap) * precision) + ndtr((-found - gap) * precision)) - (1 - confidence)

        if beyond(0.0) > 0:
            return power
        largest = float(brentq(beyond, 0.0, gap))
        return power - float(ndtr((largest - true_gap) * precision) - ndtr((-largest - true_gap) * precision))

    # The chance of being certified rises with the rows, from none to all.
    precision = _root(short, 1 / gap)
    return math.ceil(precision**2 * rate * (1 - rate) * sum(1 / share for share in shares))
