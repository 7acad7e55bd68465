"""What was measured, as lines that are kept beside this file, so that one solver can be measured without the others."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.ablation.highs import Attempt

KEPT = Path(__file__).with_name("results.json")


@dataclass(frozen=True)
class Line:
    """One program: what ours took, and what else was tried."""

    solver: str
    case: str
    ours: Attempt
    others: dict[str, Attempt]

    @property
    def best(self) -> str:
        """The fastest other method whose result is proven; where none is, the one that was stopped last."""
        proven = [name for name, own in self.others.items() if not own.failure]
        if proven:
            return min(proven, key=lambda name: self.others[name].seconds)
        return max(self.others, key=lambda name: self.others[name].seconds)

    @property
    def ratio(self) -> float:
        """How many times as long the best of the others takes, at least."""
        return self.others[self.best].seconds / self.ours.seconds

    @classmethod
    def of(cls, record: dict[str, Any]) -> Line:
        """Read a line that was kept."""
        others = {name: Attempt(**own) for name, own in record["others"].items()}
        return cls(record["solver"], record["case"], Attempt(**record["ours"]), others)


def read() -> dict[str, list[Line]]:
    """Lines that were measured before, by the name under which they are run."""
    if not KEPT.exists():
        return {}
    return {name: [Line.of(own) for own in lines] for name, lines in json.loads(KEPT.read_text("utf-8")).items()}


def keep(name: str, lines: Iterable[Line]) -> None:
    """Put new lines in the place of those of the same name."""
    kept = read() | {name: list(lines)}
    records = {own: [asdict(line) for line in found] for own, found in kept.items()}
    KEPT.write_text(json.dumps(records, indent=1) + "\n", encoding="utf-8")
