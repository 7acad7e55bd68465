"""``python -m attack [areas]``: run the attack, or some areas of it, and write the table of docs/reliability.md.

An attack that was stopped goes on where it was (``--state``); each area can be run alone, with a number of cases.
"""

from __future__ import annotations

import argparse
import math
import sys
import tempfile
import warnings
from pathlib import Path

from attack import commands, faults, files, programs, requests, soak, tables, values, workers
from attack.area import Area, Count, attack, read_counts, write_counts

AREAS: dict[str, Area] = {
    own.name: own
    for module in (files, values, commands, programs, tables, faults, requests, workers, soak)
    for own in module.AREAS
}

PAGE = Path(__file__).parents[1] / "docs" / "reliability.md"
_START, _END = "<!-- attack -->", "<!-- end of attack -->"


def table_of(counts: dict[str, Count], seed: int) -> str:
    """Return what came of all areas as a table."""
    lines = ["| area | what has to come of it | cases | failures | seconds |", "| --- | --- | ---: | ---: | ---: |"]
    for name, area in AREAS.items():
        if name in counts:
            own = counts[name]
            lines.append(f"| {name} | {area.what} | {own.done:,} | {len(own.failures)} | {own.seconds:,.0f} |")
    measured = [f"{name.capitalize()}: {own.measured}" for name, own in counts.items() if own.measured]
    head = f"Seed {seed}, on Python {sys.version.split()[0]}, {sys.platform}."
    return "\n".join([head, "", *lines, *(line for own in measured for line in ("", own))])


def main() -> int:
    """Run the attack; 1 if a case failed."""
    parser = argparse.ArgumentParser(prog="attack", description=__doc__)
    parser.add_argument("areas", nargs="*", help=f"{', '.join(AREAS)}; all by default")
    parser.add_argument("--cases", type=int, help="cases of each area, instead of its own number")
    parser.add_argument("--minutes", type=float, help="how long each area is tried, instead of a number of cases")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--state", type=Path, default=Path(".attack.json"), help="where counts are kept")
    parser.add_argument("--page", type=Path, default=PAGE, help="where the table is written")
    given = parser.parse_args()
    strange = sorted(set(given.areas) - set(AREAS))
    if strange:
        parser.error(f"there is no area {strange[0]!r}; the areas are {', '.join(AREAS)}")
    counts = read_counts(given.state)
    warnings.simplefilter("ignore")
    cases, seconds = given.cases, math.inf
    if given.minutes is not None:
        cases, seconds = sys.maxsize, 60 * given.minutes
    for name in given.areas or AREAS:
        count, area = counts.setdefault(name, Count()), AREAS[name]
        with tempfile.TemporaryDirectory() as folder:
            most = area.cases if cases is None else cases
            attack(area, Path(folder), most, given.seed, count, lambda: write_counts(given.state, counts), seconds)
        print(f"{name}: {count.done:,} cases, {len(count.failures)} failures, {count.seconds:,.0f} s", flush=True)
        for failure in count.failures[:20]:
            print(f"  {failure}", flush=True)
    text = given.page.read_text(encoding="utf-8")
    before, _, rest = text.partition(_START)
    _, _, after = rest.partition(_END)
    given.page.write_text(f"{before}{_START}\n\n{table_of(counts, given.seed)}\n\n{_END}{after}", encoding="utf-8")
    return int(any(own.failures for own in counts.values()))


if __name__ == "__main__":
    sys.exit(main())
