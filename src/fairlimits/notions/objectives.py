"""What a rule is to be best at: accuracy, balanced accuracy, or the expected cost of its errors."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from fairlimits._util.number_texts import exact_text
from fairlimits._util.states import Checked
from fairlimits._util.types import Floats
from fairlimits.errors import InputError
from fairlimits.notions.rates import RateTable


@dataclass(frozen=True)
class Objective(Checked):
    """What is maximised: a credit for each right decision, by label; all of it is linear in the scores.

    Parameters
    ----------
    name : str
        What it is called.
    """

    name: str

    def credit(self, table: RateTable) -> tuple[float, float]:
        """Credit of a right decision on a person of label 0, and of label 1."""
        if self.name == "accuracy":
            return 1.0, 1.0
        share = table.mass.sum(axis=(0, 1))
        if not (share > 0).all():
            raise InputError("Balanced accuracy needs people of both labels; choose accuracy, or give such people.")
        return float(0.5 / share[0]), float(0.5 / share[1])

    def value(self, table: RateTable, scores: Floats) -> Floats:
        """What scores of shape (..., N, G) are worth."""
        zero, one = self.credit(table)
        gain = one * table.mass[:, :, 1] - zero * table.mass[:, :, 0]
        return np.asarray(self.base(table) + np.einsum("ig,...ig->...", gain, scores))

    def base(self, table: RateTable) -> float:
        """What deciding 0 for everybody is worth."""
        return self.credit(table)[0] * float(table.mass[:, :, 0].sum())

    @property
    def title(self) -> str:
        """What the value is called on an axis or above a table."""
        return self.name

    def in_words(self, value: float) -> str:
        """Say a value with the name of what it is."""
        return f"{self.name} {value:.4f}"

    def _check(self) -> None:
        if type(self) is Objective and self.name not in (ACCURACY.name, BALANCED_ACCURACY.name):
            raise InputError(f"There is no objective {self.name!r}.")

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Costs(Objective):
    """Expected cost of errors, to be made as small as possible; the value is minus the cost of a person.

    Parameters
    ----------
    false_positive, false_negative : float
        What it costs to decide 1 for a person of label 0, and 0 for a person of label 1.

    Examples
    --------
    >>> str(Costs(1, 5))
    'costs 1:5'
    """

    false_positive: float
    false_negative: float

    def __init__(self, false_positive: float, false_negative: float) -> None:
        both = []
        for cost in (false_positive, false_negative):
            if isinstance(cost, bool) or not isinstance(cost, int | float | np.number):
                raise InputError(f"The cost of an error is {cost!r}; give a number of at least 0.")
            try:
                both.append(float(cost))
            except OverflowError:
                raise InputError("The cost of an error is too large a number; divide both costs by it.") from None
        if not all(0 <= cost < math.inf for cost in both) or not any(both):
            raise InputError(
                f"The costs of errors are {both[0]:g} and {both[1]:g}; both must be at least 0, and one above it."
            )
        object.__setattr__(self, "false_positive", both[0])
        object.__setattr__(self, "false_negative", both[1])
        object.__setattr__(self, "name", "expected cost")

    def credit(self, table: RateTable) -> tuple[float, float]:
        """Credit of a right decision on a person of label 0, and of label 1."""
        return self.false_positive, self.false_negative

    def base(self, table: RateTable) -> float:
        """What deciding 0 for everybody is worth: every person of label 1 is an error."""
        return -self.false_negative * float(table.mass[:, :, 1].sum())

    @property
    def title(self) -> str:
        """What the value is called on an axis or above a table."""
        return "minus expected cost"

    def in_words(self, value: float) -> str:
        """Say a value with the name of what it is."""
        return f"expected cost {-value:.4f} a person"

    def __getstate__(self) -> dict[str, Any]:
        return {"false_positive": self.false_positive, "false_negative": self.false_negative}

    def __str__(self) -> str:
        return f"costs {exact_text(self.false_positive)}:{exact_text(self.false_negative)}"


ACCURACY = Objective("accuracy")
BALANCED_ACCURACY = Objective("balanced accuracy")
