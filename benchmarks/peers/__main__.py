"""``python -m benchmarks.peers run`` measures, ``python -m benchmarks.peers report`` writes docs/benchmark.md."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from benchmarks.peers.methods import METHODS
from benchmarks.peers.report import report
from benchmarks.peers.run import keep, read, run
from benchmarks.peers.splits import DATA

PAGE = Path(__file__).parents[2] / "docs" / "benchmark.md"


def _seeds(text: str) -> range:
    start, _, stop = text.partition(":")
    return range(int(start), int(stop) if stop else int(start) + 1)


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
    options = parser.parse_args(arguments)
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
