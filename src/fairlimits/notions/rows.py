"""Rates by their common names, and what a requirement is: rows of a linear program."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from fairlimits._util.types import Floats, Ints
from fairlimits.errors import InputError
from fairlimits.law.cells.distributions import CellDistribution
from fairlimits.notions.rates import (
    ACCURACY,
    ESTIMABLE_ROWS,
    FALSE_POSITIVE_RATE,
    ROUNDING,
    SELECTION_RATE,
    TRUE_POSITIVE_RATE,
    AffineRates,
    Rate,
    affine_rates,
)

RATES: Mapping[str, Rate] = MappingProxyType(
    {
        rate.name: rate
        for rate in (
            SELECTION_RATE,
            ACCURACY,
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


@dataclass(frozen=True)
class Rows:
    """Rows ``lower <= coefficient . scores + shared * z <= upper`` of a linear program.

    Parameters
    ----------
    coefficient : ndarray of shape (m, G, N)
    size : ndarray of shape (m, G, N)
        What was added up in each coefficient: what it is rounded in proportion to.
    coin : ndarray of shape (m,)
        What scores of 1/2 give each row.
    shared : ndarray of shape (m,)
        Entries of z, one more variable between 0 and 1 that only these rows have; all 0 if there is none.
    lower, upper : ndarray of shape (m,)
        Both finite.
    """

    coefficient: Floats
    size: Floats
    coin: Floats
    shared: Floats
    lower: Floats
    upper: Floats

    @classmethod
    def of_rates(
        cls, rates: AffineRates, weight: Floats, shared: Floats | float, lower: Floats | float, upper: Floats | float
    ) -> Rows:
        """Weighted sums of the groups' rates, of shape (m, G), between bounds.

        Deciding by a fair coin makes every rate 1/2.
        """
        offset = weight @ np.where(rates.defined, rates.constant, 0.0)
        offset[np.abs(offset) <= ROUNDING] = 0
        count = len(weight)
        return cls(
            coefficient=weight[:, :, None] * rates.coefficient,
            size=np.abs(weight)[:, :, None] * rates.size,
            coin=np.round(weight.sum(axis=1), 12) / 2 - offset,
            shared=np.broadcast_to(np.asarray(shared, dtype=np.float64), (count,)).copy(),
            lower=lower - offset,
            upper=upper - offset,
        )


class Requirement(ABC):
    """Something that a rule must keep, linear in its scores."""

    @abstractmethod
    def rows(self, dist: CellDistribution) -> Rows:
        """Write the requirement as rows of a linear program."""

    @abstractmethod
    def attained(self, rates: Floats, shares: Floats, groups: Sequence[str]) -> float:
        """Value of what is required.

        Parameters
        ----------
        rates : ndarray of shape (G,)
            The rate in each group; NaN where nobody is looked at.
        shares : ndarray of shape (G,)
            Share of each group among the people who are looked at.
        groups : sequence of str
            The groups' names.
        """

    @property
    @abstractmethod
    def needed(self) -> Rate:
        """The rate that is looked at."""

    @property
    @abstractmethod
    def room(self) -> float:
        """By how much the requirement can be eased before it says nothing any more."""

    @abstractmethod
    def eased(self, by: float) -> Requirement:
        """Return the requirement with its bound moved outwards."""

    def check(self, groups: Sequence[str]) -> None:  # noqa: B027 (most requirements name no group)
        """Refuse groups that are not there."""

    def estimable(self, rows: Ints, groups: Sequence[str]) -> bool:
        """Whether enough rows of each group, of shape (G,), stand behind the value for it to be shown."""
        there = rows[rows > 0]
        return len(there) > 1 and bool((there >= ESTIMABLE_ROWS).all())

    def value(self, dist: CellDistribution, scores: Floats) -> float:
        """Value of what is required, for scores of shape (N, G)."""
        rates = affine_rates(dist, self.needed)
        return self.attained(rates.values(scores), group_shares(dist, self.needed), dist.groups)


def rate_name(name: str) -> str:
    """Full name of a rate that can be required."""
    if isinstance(name, str):
        plain = " ".join(name.split())
        for known in (plain, plain.lower(), _SHORT.get(plain.upper(), ""), _SHORT.get(plain.lower(), "")):
            if known in RATES:
                return known
        if plain.lower() in ("precision", "positive predictive value", "ppv"):
            raise InputError("Precision is not linear in the scores; `predictive_parity` solves for it.")
    raise InputError(f"{name!r} is no rate; the known ones are {', '.join(RATES)}.")


def group_shares(dist: CellDistribution, rate: Rate) -> Floats:
    """Share of each group among the people whom a rate looks at."""
    mass = dist.mass[:, :, list(rate.given)].sum(axis=(0, 2))
    total = mass.sum()
    return np.asarray(mass / total if total > 0 else mass)
