"""Rates of groups, and how they depend on the scores of a rule: `Rate`, `AffineRates` and `RateTable`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from fairlimits._util.small_samples import enough
from fairlimits._util.suggestions import did_you_mean
from fairlimits._util.types import Flags, Floats, Ints
from fairlimits.errors import InputError

ROUNDING = 64 * float(np.finfo(np.float64).eps)
"""Probabilities are sums of masses: a difference below this share of their size is rounding."""


@dataclass(frozen=True)
class Rate:
    """Probability of an event in a group: ``P(event | A = g, Y in given)``.

    Parameters
    ----------
    name : str
    event : ((float, float), (float, float))
        ``event[y][d]`` is 1 if a person of label y who is decided d counts, else 0. For each label in `given`, exactly
        one of the two decisions must count: then a fair coin makes the rate 1/2 in every group, whatever the law. The
        repair of rounding in rows of programs, and `alike_score`, rely on that.
    given : tuple of int
        The labels of the people in the condition, whom the rate looks at.
    """

    name: str
    event: tuple[tuple[float, float], tuple[float, float]]
    given: tuple[int, ...] = (0, 1)

    def __post_init__(self) -> None:
        if any(sum(self.event[label]) != 1 for label in self.given):
            raise InputError(
                f"The rate {self.name!r} counts {self.event}; of the two decisions about a person of each label in "
                f"{self.given}, exactly one must count."
            )

    @property
    def depends_on_labels(self) -> bool:
        """Whether groups with different base rates have different rates even if everybody has the same score."""
        return len({self.event[label] for label in self.given}) > 1


_DECIDED_1 = ((0.0, 1.0), (0.0, 1.0))
_CORRECT = ((1.0, 0.0), (0.0, 1.0))

SELECTION_RATE = Rate("selection rate", _DECIDED_1)
ACCURACY_RATE = Rate("accuracy", _CORRECT)
TRUE_POSITIVE_RATE = Rate("true positive rate", _DECIDED_1, given=(1,))
FALSE_POSITIVE_RATE = Rate("false positive rate", _DECIDED_1, given=(0,))


RATES: Mapping[str, Rate] = MappingProxyType(
    {
        rate.name: rate
        for rate in (
            SELECTION_RATE,
            ACCURACY_RATE,
            Rate("error rate", ((0.0, 1.0), (1.0, 0.0))),
            TRUE_POSITIVE_RATE,
            Rate("false negative rate", ((1.0, 0.0), (1.0, 0.0)), given=(1,)),
            FALSE_POSITIVE_RATE,
            Rate("true negative rate", ((1.0, 0.0), (1.0, 0.0)), given=(0,)),
        )
    }
)
"""Rates that can be required, by their common names."""

_SHORT = {"TPR": "true positive rate", "FNR": "false negative rate", "FPR": "false positive rate"} | {
    "TNR": "true negative rate",
    "recall": "true positive rate",
}


def rate_name(name: str) -> str:
    """Full name of a rate that can be required."""
    if isinstance(name, str):
        plain = " ".join(name.split())
        for known in (plain, plain.lower(), _SHORT.get(plain.upper(), ""), _SHORT.get(plain.lower(), "")):
            if known in RATES:
                return known
        if plain.lower() in ("precision", "positive predictive value", "ppv"):
            raise InputError("Precision is not linear in the scores; `predictive_parity` solves for it.")
    raise InputError(f"{name!r} is not a rate; the known ones are {', '.join(RATES)}.{did_you_mean(name, RATES)}")


@dataclass(frozen=True)
class AffineRates:
    """Rates of all groups as affine functions of the scores.

    ``rate[g] = constant[g] + sum_i coefficient[g, i] * score[i, g]``, NaN for a group without mass in the
    condition. A group with too few rows in the condition has a rate, which is part of that of all people, but it is set
    aside: it is not compared with others.

    Parameters
    ----------
    coefficient : ndarray of shape (G, N)
    constant : ndarray of shape (G,)
    defined : ndarray of bool of shape (G,)
        Whether the group's rate can be compared: it has mass in the condition, and enough rows where they are counted.
    size : ndarray of shape (G, N)
        Share of the condition's mass in each cell: what a coefficient is rounded in proportion to.
    """

    coefficient: Floats
    constant: Floats
    defined: Flags
    size: Floats

    def values(self, scores: Floats) -> Floats:
        """Return the rates of the groups for scores of shape (..., N, G), as an array of shape (..., G)."""
        return np.asarray(self.constant + np.einsum("gi,...ig->...g", self.coefficient, scores))

    def gap(self, scores: Floats) -> Floats:
        """Return highest minus lowest of the rates that can be compared; NaN where fewer than two can."""
        return spread(np.where(self.defined, self.values(scores), np.nan))


def spread(rates: Floats) -> Floats:
    """Return highest minus lowest of the groups' known rates (..., G); NaN where fewer than two are known."""
    known = ~np.isnan(rates)
    highest = np.where(known, rates, -np.inf).max(axis=-1, initial=-np.inf)
    lowest = np.where(known, rates, np.inf).min(axis=-1, initial=np.inf)
    return np.where(known.sum(axis=-1) >= 2, highest - lowest, np.nan)


class RateTable:
    """Every rate of a law on cells as an affine function of the scores, computed once.

    Parameters
    ----------
    mass : ndarray of shape (N, G, 2)
        ``P(cell, group, label)``.
    groups : tuple of str
        Names of the groups.
    counts : ndarray of int of shape (N, G, 2), optional
        Rows behind each probability. Without counts, any mass is enough for a comparison.
    """

    def __init__(self, mass: Floats, groups: tuple[str, ...], counts: Ints | None = None) -> None:
        self.mass, self.groups, self.counts = mass, groups, counts
        self._known: dict[Rate, AffineRates] = {}

    @property
    def n_groups(self) -> int:
        """Number of groups, G."""
        return len(self.groups)

    def of(self, rate: Rate) -> AffineRates:
        """A rate's value in each group as an affine function of the scores."""
        if rate not in self._known:
            self._known[rate] = _affine_rates(self.mass, rate, self.rows(rate))
        return self._known[rate]

    def shares(self, rate: Rate) -> Floats:
        """Return the share of each group among the people in a rate's condition."""
        mass = self.mass[:, :, list(rate.given)].sum(axis=(0, 2))
        total = mass.sum()
        return np.asarray(mass / total if total > 0 else mass)

    def rows(self, rate: Rate) -> Ints | None:
        """Return the rows of each group in a rate's condition; None for a law without counts."""
        return None if self.counts is None else self.counts[:, :, list(rate.given)].sum(axis=(0, 2))

    def estimable(self, rates: tuple[Rate, ...]) -> bool:
        """Return whether at least one of some rates can be compared between two groups."""
        return any(self.of(rate).defined.sum() >= 2 for rate in rates)


def _affine_rates(mass: Floats, rate: Rate, rows: Ints | None) -> AffineRates:
    event = np.asarray(rate.event)
    chosen = np.zeros(2)
    chosen[list(rate.given)] = 1
    mass = mass * chosen
    total = mass.sum(axis=(0, 2))
    there = total > 0
    # A generator can put mass where there are no rows.
    defined = there if rows is None else there & enough(rows)
    with np.errstate(invalid="ignore", divide="ignore"):
        constant = (mass @ event[:, 0]).sum(axis=0) / total
        coefficient = (mass @ (event[:, 1] - event[:, 0])).T / total[:, None]
        size = mass.sum(axis=2).T / total[:, None]
    coefficient[~there] = size[~there] = 0
    constant[~there] = np.nan
    for array in (coefficient, constant, defined, size):
        array.setflags(write=False)
    return AffineRates(coefficient, constant, defined, size)
