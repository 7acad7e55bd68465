"""``python -m benchmarks.peers run`` measures, ``python -m benchmarks.peers report`` writes docs/benchmark.md.

``tuned`` and ``small`` measure against tuned peers, on all rows and on few; with ``--report`` they write
docs/benchmarks/peers_tuned.md and peers_small.md.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from benchmarks.peers import pages, rounds
from benchmarks.peers.methods import METHODS
from benchmarks.peers.report import report
from benchmarks.peers.run import keep, read, run
from benchmarks.peers.splits import DATA

PAGE = Path(__file__).parents[2] / "docs" / "benchmark.md"


def _seeds(text: str) -> range:
    start, _, stop = text.partition(":")
    return range(int(start), int(stop) if stop else int(start) + 1)


def _add_part(commands: Any, part: rounds.Part) -> None:
    own = commands.add_parser(part.name, help="against tuned peers; results that are there are kept")
    own.add_argument("--folder", type=Path, help=f"where {part.name}.jsonl is; needed to measure")
    own.add_argument("--report", action="store_true", help="keep the results, or take those kept, and write the page")
    own.add_argument("--processes", type=int, choices=(1, 2), default=2, help="jobs side by side (2)")
    own.add_argument("--cuts", type=_seeds, help="first:past-the-last (all)")
    own.add_argument("--cases", nargs="+", default=[], choices=[case.title for case in part.cases], help="(all)")


def _do_part(part: rounds.Part, options: argparse.Namespace) -> int:
    if options.report:
        records = rounds.read(part, options.folder)
        if options.folder is not None:
            rounds.keep(part, records)
        print(pages.write(part, records))
        return 0
    if options.folder is None:
        raise SystemExit("Say where the results go with --folder, or write the page with --report.")
    for line in rounds.run(part, options.folder, options.processes, options.cuts, options.cases):
        print(line, flush=True)
    return 0


def main(arguments: list[str]) -> int:
    """Read the command line and do what it says."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    runs = commands.add_parser("run", help="fit and judge the methods; results that are there are kept")
    runs.add_argument("--only", nargs="+", choices=METHODS, default=list(METHODS), help="methods (all)")
    runs.add_argument("--data", nargs="+", choices=DATA, default=DATA, help="data sets (all)")
    runs.add_argument("--seeds", type=_seeds, help="first:past-the-last (all of a method)")
    runs.add_argument("--scenario", choices=("aware", "unaware"), help="group seen or hidden (both)")
    writes = commands.add_parser("report", help="write the tables and the figure of docs/benchmark.md")
    runs.add_argument("--folder", type=Path, required=True, help="results.jsonl and cache/ of this benchmark")
    writes.add_argument("--folder", type=Path, help="results to keep and write about (those kept before)")
    for part in rounds.PARTS.values():
        _add_part(commands, part)
    options = parser.parse_args(arguments)
    if options.command in rounds.PARTS:
        return _do_part(rounds.PARTS[options.command], options)
    if options.command == "report":
        records = read(options.folder)
        if options.folder is not None:
            keep(records)
        print(report(records, PAGE))
        return 0
    scenarios = [options.scenario == "aware"] if options.scenario else [False, True]
    for line in run(options.folder, options.only, options.data, options.seeds, scenarios):
        print(line, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
