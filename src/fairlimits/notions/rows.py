"""What a requirement is: rows of a linear program, and a value that can be computed from decided people."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fairlimits._util.small_samples import ESTIMABLE_ROWS, enough, listed
from fairlimits._util.states import Checked
from fairlimits._util.types import Flags, Floats, Ints
from fairlimits.errors import InputError
from fairlimits.notions.rates import ROUNDING, AffineRates, Rate, RateTable


@dataclass(frozen=True)
class Rows:
    """Rows ``lower <= coefficient . scores + shared * z <= upper`` of a linear program.

    Parameters
    ----------
    coefficient : ndarray of shape (m, G, N)
    size : ndarray of shape (m, G, N)
        Sum of the sizes of what was added up in each coefficient: its rounding error is in proportion to that.
    coin : ndarray of shape (m,)
        Value of each row where all scores are 1/2.
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
        """Return rows that bound sums of the groups' rates with weights of shape (m, G).

        Deciding by a fair coin makes every rate 1/2.
        """
        offset = weight @ np.nan_to_num(rates.constant, nan=0.0)
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


class Requirement(Checked, ABC):
    """A constraint that a rule must keep, linear in its scores."""

    @abstractmethod
    def rows(self, table: RateTable) -> Rows:
        """Write the requirement as rows of a linear program."""

    @abstractmethod
    def attained(self, rates: Floats, shares: Floats, compared: Flags, groups: Sequence[str]) -> float:
        """Return the value that the requirement bounds.

        Parameters
        ----------
        rates : ndarray of shape (G,)
            The rate in each group; NaN for a group without people in the condition.
        shares : ndarray of shape (G,)
            Share of each group among the people in the rate's condition.
        compared : ndarray of bool of shape (G,)
            Whether enough rows stand behind the group's rate; else the group is set aside, and its people count only
            in rates of all people together.
        groups : sequence of str
            The groups' names.
        """

    @property
    @abstractmethod
    def needed(self) -> Rate:
        """The rate that the requirement is about."""

    @property
    @abstractmethod
    def room(self) -> float:
        """By how much the bound can be eased before every rule meets it."""

    @abstractmethod
    def eased(self, by: float) -> Requirement:
        """Return the requirement with its bound moved outwards."""

    def check(self, groups: Sequence[str]) -> None:
        """Refuse groups that are not there."""

    def estimable(self, rows: Ints, groups: Sequence[str]) -> bool:
        """Whether enough rows of each group, of shape (G,), stand behind the value for it to be shown.

        Groups with too few are set aside; two at least must be left to compare.
        """
        return int(enough(rows).sum()) >= 2

    def refuse_few_rows(self, table: RateTable) -> None:
        """Refuse a requirement with too few rows behind its value, where rows are counted."""
        rows = table.rows(self.needed)
        if rows is not None and not self.estimable(rows, table.groups):
            behind = listed([f"{name} {count}" for name, count in zip(table.groups, rows.tolist(), strict=True)])
            raise InputError(
                f"{self}: a group takes {ESTIMABLE_ROWS} rows behind that rate, and there are too few ({behind}); "
                "leave it out, give more rows or join small groups."
            )

    def value(self, table: RateTable, scores: Floats) -> float:
        """Return the value that the requirement bounds, for scores of shape (N, G)."""
        rates = table.of(self.needed)
        return self.attained(rates.values(scores), table.shares(self.needed), rates.defined, table.groups)
