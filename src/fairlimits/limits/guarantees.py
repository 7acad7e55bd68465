"""`Guarantee`: what is known about a rule's gaps among people whom nobody has seen."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fairlimits.errors import FileError
from fairlimits.notions import NOTIONS


@dataclass(frozen=True)
class Guarantee:
    """What is known about a rule's gaps among people whom nobody has seen.

    Parameters
    ----------
    confidence : float
        The confidence that was asked for.
    limits : mapping of str to float
        Upper limits of the gaps that hold with the confidence, all at once; NaN where no two groups can be compared.
    certified : bool
        Whether they are within the tolerances.
    diluted : float
        Share of the decisions that do not depend on the person, because nothing else could be certified.
    rows_needed : int, optional
        About how many rows it would take to certify the tolerances without that; None if they are certified, or if no
        number of rows would do, as for a tolerance of 0.
    """

    confidence: float
    limits: Mapping[str, float]
    certified: bool
    diluted: float = 0.0
    rows_needed: int | None = None

    def summary(self) -> str:
        """Say it in a sentence."""
        held = ", ".join(f"{name} {limit:.3f}" for name, limit in self.limits.items() if not math.isnan(limit))
        text = f"With confidence {self.confidence:g} the gaps among people are at most: {held or 'nothing known'}."
        if self.diluted:
            text += f" For that, {self.diluted:.0%} of the decisions do not depend on the person."
        if not self.certified:
            text += " That is more than was asked for."
        return text

    def to_dict(self) -> dict[str, Any]:
        """Numbers that can be written as JSON."""
        return {
            "confidence": self.confidence,
            "limits": {name: None if math.isnan(limit) else limit for name, limit in self.limits.items()},
            "certified": self.certified,
            "diluted": self.diluted,
            "rows_needed": self.rows_needed,
        }

    @classmethod
    def from_dict(cls, record: Any) -> Guarantee | None:
        """Read what `to_dict` gave."""
        if record is None:
            return None
        try:
            limits = {name: math.nan if own is None else float(own) for name, own in record["limits"].items()}
            rows = record["rows_needed"]
            found = cls(
                float(record["confidence"]),
                limits,
                bool(record["certified"]),
                float(record["diluted"]),
                None if rows is None else int(rows),
            )
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            raise FileError(f"The file's guarantee is damaged ({error}); save the rule again.") from error
        known = [own for own in limits.values() if not math.isnan(own)]
        whole = 0 < found.confidence < 1 and 0 <= found.diluted <= 1 and all(0 <= own <= 1 for own in known)
        if not whole or not set(limits) <= set(NOTIONS):
            raise FileError("The file's guarantee has numbers that cannot be; save the rule again.")
        return found
