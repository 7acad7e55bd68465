"""`Guarantee`: what is known about a rule's gaps among new people."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fairlimits._util import plain
from fairlimits._util.archives import reading
from fairlimits._util.states import Described
from fairlimits.errors import FileError, InputError
from fairlimits.notions import NOTIONS

_ROUNDING = 1e-9


@dataclass(frozen=True)
class Guarantee(Described):
    """What is known about a rule's gaps among new people.

    Parameters
    ----------
    confidence : float
        The confidence that was asked for.
    limits : mapping of str to float
        Upper bounds of the gaps that hold with the confidence, all at once; NaN where no two groups can be compared.
    certified : bool
        Whether they are within the tolerances.
    diluted : float
        With ``uncertified="constant"``, share of the decisions that do not depend on the person: left to a lot, or the
        same for everybody, beyond those of the rule without a confidence.
    rows_needed : int, optional
        About how many rows it would take to certify the tolerances without that; None if they are certified, or if no
        number of rows is enough, as for a tolerance of 0.
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
        """Return the numbers as plain data that JSON can hold."""
        return {
            "confidence": self.confidence,
            "limits": {name: None if math.isnan(limit) else limit for name, limit in self.limits.items()},
            "certified": self.certified,
            "diluted": self.diluted,
            "rows_needed": self.rows_needed,
        }

    def check(self, tolerances: Mapping[str, float]) -> None:
        """Refuse a guarantee about other notions, or one that is called certified beyond the tolerances."""
        if not set(self.limits) <= set(tolerances):
            raise InputError("its guarantee is about notions that it does not constrain")
        within = all(not limit > tolerances[name] + _ROUNDING for name, limit in self.limits.items())
        if self.certified and not within:
            raise InputError("its guarantee calls certified what is not within the tolerances")

    @classmethod
    def from_dict(cls, record: Any) -> Guarantee | None:
        """Read what `to_dict` returned."""
        if record is None:
            return None
        with reading("guarantee"):
            limits = {name: math.nan if limit is None else float(limit) for name, limit in record["limits"].items()}
            rows = record["rows_needed"]
            found = cls(
                float(record["confidence"]),
                limits,
                plain.field(record, "certified", bool, "The guarantee"),
                float(record["diluted"]),
                None if rows is None else int(rows),
            )
        known = [limit for limit in limits.values() if not math.isnan(limit)]
        whole = 0 < found.confidence < 1 and 0 <= found.diluted <= 1 and all(0 <= limit <= 1 for limit in known)
        many = found.rows_needed is None or 0 < found.rows_needed < 2**63
        if not (whole and many) or not set(limits) <= set(NOTIONS):
            raise FileError("The file's guarantee has numbers that cannot be; save the rule again.")
        return found
