"""Kinds of requirements: a limit of a rate, a ratio or a difference between groups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Literal

import numpy as np

from fairlimits._util.number_texts import exact_text
from fairlimits._util.small_samples import enough
from fairlimits._util.states import check_kinds
from fairlimits._util.suggestions import did_you_mean
from fairlimits._util.types import Flags, Floats, Ints
from fairlimits.errors import InputError
from fairlimits.notions.rates import RATES, Rate, RateTable, rate_name
from fairlimits.notions.rows import Requirement, Rows

EACH_GROUP = "each group"

# Of bounds that were eased.
_DIGITS = 12

Against = Literal["each other", "the rest", "the average"]


@dataclass(frozen=True)
class Limit(Requirement):
    """A rate of all people, of one group, or of each group, at least or at most something.

    Parameters
    ----------
    rate : str
        Name of the rate, such as "selection rate".
    at_least, at_most : float, optional
        The bound; give one of them.
    group : str, optional
        A group, or "each group"; by default all people together.

    Examples
    --------
    >>> import fairlimits as fl
    >>> dist = fl.CellDistribution.from_mass([[[2, 1], [1, 0]], [[0, 1], [2, 3]]])
    >>> floor = fl.notions.Limit("selection rate", at_most=0.3)
    >>> str(floor)
    'selection rate <= 0.3'
    >>> round(fl.solve(dist, {}, requirements=[floor]).attained[str(floor)], 3)
    0.3
    """

    rate: str
    at_least: float | None = None
    at_most: float | None = None
    group: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "rate", rate_name(self.rate))
        if (self.at_least is None) == (self.at_most is None):
            raise InputError(f"The limit of the {self.rate} has no bound, or two; give at_least or at_most.")
        side = "at_most" if self.at_least is None else "at_least"
        object.__setattr__(self, side, _bound(getattr(self, side), self.rate))

    @property
    def needed(self) -> Rate:
        """The rate that is looked at."""
        return RATES[self.rate]

    @property
    def room(self) -> float:
        """By how much the requirement can be eased before it says nothing any more."""
        return self.at_least if self.at_least is not None else 1 - (self.at_most or 0.0)

    def eased(self, by: float) -> Limit:
        """Return the requirement with its bound moved outwards."""
        if self.at_least is not None:
            return replace(self, at_least=_moved(self.at_least - by))
        assert self.at_most is not None
        return replace(self, at_most=_moved(self.at_most + by))

    def _check(self) -> None:
        check_kinds(self, group=(str, type(None)))

    def check(self, groups: Sequence[str]) -> None:
        """Refuse a group that is not there."""
        if self.group is not None and self.group != EACH_GROUP and self.group not in groups:
            raise InputError(
                f"{self} names no group of this data; the groups are {', '.join(groups)}."
                f"{did_you_mean(self.group, groups)}"
            )

    def estimable(self, rows: Ints, groups: Sequence[str]) -> bool:
        """Whether enough rows of each group, of shape (G,), stand behind the value for it to be shown."""
        if self.group is None:
            return bool(enough(rows.sum()))
        if self.group != EACH_GROUP:
            return bool(enough(rows[list(groups).index(self.group)]))
        return bool(enough(rows).any())

    def rows(self, table: RateTable) -> Rows:
        """Write the requirement as rows of a linear program."""
        rates, shares = table.of(self.needed), table.shares(self.needed)
        self.check(table.groups)
        if not shares.any():
            raise InputError(f"{self}: there is nobody whom that rate looks at; leave it out.")
        if self.group is None:
            weight = shares[None]
        else:
            if self.group != EACH_GROUP and not shares[table.groups.index(self.group)]:
                raise InputError(f"{self}: the group has nobody whom that rate looks at; leave it out.")
            self.refuse_few_rows(table)
            which = rates.defined if self.group == EACH_GROUP else [table.groups.index(self.group)]
            weight = np.eye(table.n_groups)[which]
        low = 0.0 if self.at_least is None else self.at_least
        high = 1.0 if self.at_most is None else self.at_most
        return Rows.of_rates(rates, weight, 0.0, low, high)

    def attained(self, rates: Floats, shares: Floats, compared: Flags, groups: Sequence[str]) -> float:
        """Value of the rate; of each group the one that is farthest out."""
        known = ~np.isnan(rates)
        if self.group is None:
            return float(shares[known] @ rates[known]) if known.any() else float("nan")
        if self.group != EACH_GROUP:
            return float(rates[list(groups).index(self.group)])
        left = rates[known & compared]
        if not len(left):
            return float("nan")
        return float(left.min() if self.at_least is not None else left.max())

    def __str__(self) -> str:
        of = "" if self.group is None else f" of {self.group}"
        bound = (
            f">= {exact_text(self.at_least)}" if self.at_least is not None else f"<= {exact_text(self.at_most or 0.0)}"
        )
        return f"{self.rate}{of} {bound}"


@dataclass(frozen=True)
class Ratio(Requirement):
    """The lowest rate of a group over the highest, at least something: 0.8 of selection rates is the four-fifths rule.

    Parameters
    ----------
    rate : str, default="selection rate"
        Name of the rate.
    at_least : float, default=0.8
        The smallest ratio.

    Examples
    --------
    >>> import fairlimits as fl
    >>> dist = fl.CellDistribution.from_mass([[[2, 1], [1, 0]], [[0, 1], [2, 3]]])
    >>> four_fifths = fl.notions.Ratio("selection rate", at_least=0.8)
    >>> str(four_fifths)
    'selection rate ratio >= 0.8'
    >>> round(fl.solve(dist, {}, requirements=[four_fifths]).attained[str(four_fifths)], 3)
    0.8
    """

    rate: str = "selection rate"
    at_least: float = 0.8

    def __post_init__(self) -> None:
        object.__setattr__(self, "rate", rate_name(self.rate))
        object.__setattr__(self, "at_least", _bound(self.at_least, f"{self.rate} ratio"))

    @property
    def needed(self) -> Rate:
        """The rate that is looked at."""
        return RATES[self.rate]

    @property
    def room(self) -> float:
        """By how much the requirement can be eased before it says nothing any more."""
        return self.at_least

    def eased(self, by: float) -> Ratio:
        """Return the requirement with its bound moved outwards."""
        return replace(self, at_least=_moved(self.at_least - by))

    def rows(self, table: RateTable) -> Rows:
        """Write the requirement as rows: with z the highest rate or more, ``r_g <= z`` and ``r_g >= ratio z``."""
        self.refuse_few_rows(table)
        rates = table.of(self.needed)
        one = np.eye(table.n_groups)[rates.defined]
        below, above = np.repeat([True, False], len(one)), np.repeat([False, True], len(one))
        return Rows.of_rates(
            rates,
            np.concatenate([one, one]),
            shared=-1.0 * below - self.at_least * above,
            lower=-1.0 * below,
            upper=1.0 * above,
        )

    def attained(self, rates: Floats, shares: Floats, compared: Flags, groups: Sequence[str]) -> float:
        """Lowest over highest rate; 1 where all are 0, for then they are equal."""
        known = rates[~np.isnan(rates) & compared]
        if len(known) < 2:
            return float("nan")
        highest = float(known.max())
        return max(float(known.min()), 0.0) / highest if highest > 0 else 1.0

    def __str__(self) -> str:
        return f"{self.rate} ratio >= {exact_text(self.at_least)}"


@dataclass(frozen=True)
class Difference(Requirement):
    """How far apart the rates of groups may be.

    Parameters
    ----------
    rate : str
        Name of the rate.
    at_most : float
        The largest difference.
    against : {"each other", "the rest", "the average"}, default="each other"
        Highest minus lowest rate; or each group against all other people together; or against all people. People of
        groups that are set aside, for too few rows, are among the others, but are not compared with them.

    Examples
    --------
    >>> import fairlimits as fl
    >>> dist = fl.CellDistribution.from_mass([[[2, 1], [1, 0]], [[0, 1], [2, 3]]])
    >>> near = fl.notions.Difference("error rate", at_most=0.1, against="the average")
    >>> str(near)
    'error rate difference from the average <= 0.1'
    >>> fl.solve(dist, {}, requirements=[near]).attained[str(near)] <= 0.1 + 1e-9
    True
    """

    rate: str
    at_most: float
    against: Against = "each other"

    def __post_init__(self) -> None:
        object.__setattr__(self, "rate", rate_name(self.rate))
        object.__setattr__(self, "at_most", _bound(self.at_most, f"{self.rate} difference"))
        if self.against not in ("each other", "the rest", "the average"):
            raise InputError(
                f"Groups are compared with {self.against!r}; choose 'each other', 'the rest' or 'the average'."
            )

    @property
    def needed(self) -> Rate:
        """The rate that is looked at."""
        return RATES[self.rate]

    @property
    def room(self) -> float:
        """By how much the requirement can be eased before it says nothing any more."""
        return 1 - self.at_most

    def eased(self, by: float) -> Difference:
        """Return the requirement with its bound moved outwards."""
        return replace(self, at_most=_moved(self.at_most + by))

    def rows(self, table: RateTable) -> Rows:
        """Write the requirement as rows of a linear program."""
        self.refuse_few_rows(table)
        rates = table.of(self.needed)
        if self.against == "each other":
            # With z the lowest rate or less, no rate is farther above it than allowed.
            weight = np.eye(table.n_groups)[rates.defined]
            return Rows.of_rates(rates, weight, -1.0, 0.0, self.at_most)
        # A rate differs from the average by a share of what it differs from the rest: that of the rest. Written with
        # the rest, rows of large groups are not what rounding leaves of one less their share.
        weight, others = self._contrasts(table.shares(self.needed), rates.defined)
        bound = np.minimum(self.at_most / others, 1.0) if self.against == "the average" else self.at_most
        return Rows.of_rates(rates, weight, 0.0, -bound, bound)

    @staticmethod
    def _contrasts(shares: Floats, compared: Flags) -> tuple[Floats, Floats]:
        """Each group's rate less that of all others together, as weights of the rates; and the share of the others."""
        weight, share = [], []
        for g in np.flatnonzero(compared):
            others = shares.copy()
            others[g] = 0.0
            total = others.sum()
            if total > 0:
                weight.append(np.eye(len(shares))[g] - others / total)
                share.append(total / shares.sum())
        return np.array(weight).reshape(-1, len(shares)), np.array(share)

    def weights(self, shares: Floats, compared: Flags) -> Floats:
        """Every difference that is bounded, as weights of the groups' rates, of shape (C, G).

        Parameters
        ----------
        shares : ndarray of shape (G,)
            Share of each group among the people who are looked at.
        compared : ndarray of bool of shape (G,)
            Groups that are compared.
        """
        if self.against == "each other":
            one = np.eye(len(shares))
            pairs = combinations(np.flatnonzero(compared).tolist(), 2)
            return np.array([one[g] - one[h] for g, h in pairs]).reshape(-1, len(shares))
        contrasts, others = self._contrasts(shares, compared)
        return contrasts * others[:, None] if self.against == "the average" else contrasts

    def attained(self, rates: Floats, shares: Floats, compared: Flags, groups: Sequence[str]) -> float:
        """The largest difference."""
        known = ~np.isnan(rates)
        differences = self.weights(np.where(known, shares, 0.0), known & compared) @ np.where(known, rates, 0.0)
        return float(np.abs(differences).max()) if len(differences) else float("nan")

    def __str__(self) -> str:
        compared = "" if self.against == "each other" else f" from {self.against}"
        return f"{self.rate} difference{compared} <= {exact_text(self.at_most)}"


def _moved(bound: float) -> float:
    """Return a bound that was eased, as people write it: without the last digits, which rounding leaves."""
    return min(max(round(bound, _DIGITS), 0.0), 1.0)


def _bound(value: float, what: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | np.number) or not 0 <= value <= 1:
        raise InputError(f"The bound of the {what} is {value!r}; it must lie in 0 to 1.")
    return float(value)


FOUR_FIFTHS = Ratio("selection rate", 0.8)
"""Selection rates of any two groups within a factor of 0.8."""
