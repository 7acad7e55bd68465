"""The paper's claims, checked: writes ``docs/benchmarks/paper.md`` from what ``fairlimits reproduce all`` left.

``python -m benchmarks.paper reproduction`` takes the folder that the command wrote.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks import included
from benchmarks.__main__ import machine
from benchmarks.cases import table

PAGE = Path(__file__).parents[1] / "docs" / "benchmarks" / "paper.md"
TITLE = "The paper's claims"


def read(folder: Path) -> list[dict[str, str]]:
    """The claims that a run checked."""
    with (folder / "claims.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def markdown(claims: Sequence[Mapping[str, str]], measured: str) -> str:
    """How many claims hold, and all of them.

    Parameters
    ----------
    claims : sequence of mapping
        With ``where``, ``claim``, ``ours`` and ``holds``.
    measured : str
        What they were measured with.
    """
    holds = [claim["holds"] == "true" for claim in claims]
    rows = [
        (claim["where"], claim["claim"], claim["ours"], "yes" if own else "**no**")
        for claim, own in zip(claims, holds, strict=True)
    ]
    shown = table(("where", "the paper's claim", "ours", "holds"), rows)
    return (
        f"# {TITLE}\n\nOf {len(claims)} claims {sum(holds)} hold on ours and {len(claims) - sum(holds)} do not.\n\n"
        f"{shown}\n\n{measured}\n"
    )


def main(arguments: Sequence[str]) -> int:
    """Write the page from a folder, and renew what is copied from it."""
    if len(arguments) != 1:
        print("Give the folder that fairlimits reproduce wrote.", file=sys.stderr)
        return 2
    claims = read(Path(arguments[0]))
    PAGE.write_text(markdown(claims, f"Measured on {machine()}."), encoding="utf-8")
    return included.main()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
