"""`Determinism`: what a rule without coins gives up beside the best rule that may flip them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fairlimits.errors import FileError, InputError
from fairlimits.notions import INDIVIDUAL, NOTIONS

# A cost below this does not show in a figure of four digits.
_NOTHING = 5e-5


@dataclass(frozen=True)
class Determinism:
    """The best rule with coins beside a rule without, at the same tolerances.

    Parameters
    ----------
    accuracy : float
        Of the best rule with coins, on the law (plug-in).
    gaps : mapping of str to float
        Its gaps of group notions; NaN where no two groups can be compared.
    by_lot : float
        Share of the people whom it decides by lot.
    cost_at_most : float
        Proven bound on what doing without coins costs, in units of the objective: no rule without coins is better than
        the one found by more than this, and none with coins either.
    """

    accuracy: float
    gaps: Mapping[str, float]
    by_lot: float
    cost_at_most: float

    @property
    def costs_nothing(self) -> bool:
        """Whether doing without coins costs nothing that four digits would show."""
        return self.cost_at_most < _NOTHING

    def summary(self) -> str:
        """Say it in a sentence."""
        beside = f"with them, {self.by_lot:.1%} of the people would be decided by lot, at accuracy {self.accuracy:.4f}"
        if self.costs_nothing:
            return f"No decision is drawn, which costs nothing: {beside} (proven)."
        return f"No decision is drawn, which costs at most {self.cost_at_most:.4f} (proven): {beside}."

    def to_dict(self) -> dict[str, Any]:
        """Numbers that can be written as JSON."""
        return {
            "accuracy": self.accuracy,
            "gaps": {name: None if math.isnan(gap) else gap for name, gap in self.gaps.items()},
            "by_lot": self.by_lot,
            "cost_at_most": self.cost_at_most,
        }

    @classmethod
    def from_dict(cls, record: Any) -> Determinism | None:
        """Read what `to_dict` gave."""
        if record is None:
            return None
        try:
            gaps = {name: math.nan if gap is None else float(gap) for name, gap in record["gaps"].items()}
            found = cls(float(record["accuracy"]), gaps, float(record["by_lot"]), float(record["cost_at_most"]))
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            raise FileError(f"What the file says of coins is damaged ({error}); save the rule again.") from error
        if not (0 <= found.accuracy <= 1 and 0 <= found.by_lot <= 1 and found.cost_at_most >= 0) or not set(
            gaps
        ) <= set(NOTIONS):
            raise FileError("What the file says of coins has numbers that cannot be; save the rule again.")
        return found


def check_randomize(randomize: object, names: Mapping[str, float] | tuple[str, ...]) -> bool:
    """Return whether coins may be flipped; individual fairness cannot do without."""
    if not isinstance(randomize, bool):
        raise InputError(f"randomize is {randomize!r}; give True or False.")
    if not randomize and INDIVIDUAL in names:
        raise InputError(
            "Individual fairness lets the scores of like people differ a little, and without coins they differ by 0 or "
            "1; leave IF out, or randomize=False."
        )
    return randomize
