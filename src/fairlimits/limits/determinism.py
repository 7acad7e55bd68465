"""`Determinism`: what a rule without coins gives up against the best rule with coins."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fairlimits._util.states import Described
from fairlimits.errors import FileError, InputError
from fairlimits.notions import INDIVIDUAL, NOTIONS

if TYPE_CHECKING:
    from fairlimits.limits.rules import Rule

# A smaller cost does not show in a figure of four digits.
_NOTHING = 5e-5

# Sums of probabilities are 1 up to rounding.
_ROUNDING = 1e-6


@dataclass(frozen=True)
class Determinism(Described):
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
        Proven bound on what doing without coins costs, in units of the objective: no rule within the tolerances on the
        law, without coins or with, is better than the one found by more than this.
    confidence : float, optional
        For a rule with a confidence: accuracy, gaps and share are those of the rule with coins and the same confidence.
        The proof is about the law: it leaves out rules certified on labels whose gaps on the law are too wide.
    """

    accuracy: float
    gaps: Mapping[str, float]
    by_lot: float
    cost_at_most: float
    confidence: float | None = None

    @classmethod
    def beside(cls, rule: Rule, cost_at_most: float, confidence: float | None = None) -> Determinism:
        """Put a rule with coins beside one without, and what the latter costs at most."""
        by_lot = (rule.group_scores > 0) & (rule.group_scores < 1)
        return cls(
            accuracy=rule.accuracy,
            gaps={name: gap for name, gap in rule.gaps.items() if name != INDIVIDUAL},
            by_lot=float(rule.distribution.mass.sum(axis=2)[by_lot].sum()),
            cost_at_most=cost_at_most,
            confidence=confidence,
        )

    @property
    def costs_nothing(self) -> bool:
        """Whether doing without coins costs nothing that four digits would show."""
        return self.cost_at_most < _NOTHING

    @property
    def cost_in_words(self) -> str:
        """Return the proven bound on the cost in words."""
        if self.confidence is not None:
            most = max(self.cost_at_most, _NOTHING)
            return f"No decision is drawn; no rule within the tolerances on the law is better by more than {most:.4f}"
        cost = "nothing" if self.costs_nothing else f"at most {self.cost_at_most:.4f}"
        return f"No decision is drawn, which costs {cost}"

    def summary(self) -> str:
        """Say it in a sentence or two."""
        alike = "" if self.confidence is None else f" and confidence {self.confidence:g}"
        return (
            f"{self.cost_in_words} (proven). With coins{alike}, {self.by_lot:.1%} of the people would be decided by "
            f"lot, at accuracy {self.accuracy:.4f}."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers as plain data that JSON can hold."""
        return {
            "accuracy": self.accuracy,
            "gaps": {name: None if math.isnan(gap) else gap for name, gap in self.gaps.items()},
            "by_lot": self.by_lot,
            "cost_at_most": self.cost_at_most,
            "confidence": self.confidence,
        }

    @classmethod
    def from_dict(cls, record: Any) -> Determinism | None:
        """Read what `to_dict` returned."""
        if record is None:
            return None
        try:
            gaps = {name: math.nan if gap is None else float(gap) for name, gap in record["gaps"].items()}
            plain = [float(record[name]) for name in ("accuracy", "by_lot", "cost_at_most")]
            level = None if record["confidence"] is None else float(record["confidence"])
            found = cls(plain[0], gaps, plain[1], plain[2], level)
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            raise FileError(f"What the file says of coins is damaged ({error}); save the rule again.") from error
        shares = [found.accuracy, found.by_lot, *(gap for gap in gaps.values() if not math.isnan(gap))]
        within = all(-_ROUNDING <= share <= 1 + _ROUNDING for share in shares) and 0 <= found.cost_at_most < math.inf
        if not within or not (level is None or 0 < level < 1) or not set(gaps) <= set(NOTIONS):
            raise FileError("What the file says of coins has numbers that cannot be; save the rule again.")
        return found


def check_randomize(randomize: object, names: Mapping[str, float] | tuple[str, ...]) -> bool:
    """Return `randomize` if it is valid; individual fairness needs coins."""
    if not isinstance(randomize, bool):
        raise InputError(f"randomize is {randomize!r}; give True or False.")
    if not randomize and INDIVIDUAL in names:
        raise InputError(
            "Individual fairness lets the scores of like people differ a little, and without coins they differ by 0 or "
            "1; leave IF out, or randomize=False."
        )
    return randomize
