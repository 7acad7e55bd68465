"""``python -m benchmarks.ceilings coverage|tightness --folder DIR [--law NAME]``: measure, and write the page."""

from __future__ import annotations

import argparse
from pathlib import Path

from benchmarks.ceilings import coverage, laws


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("coverage", "tightness"))
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--law", action="append", choices=laws.NAMES, help="all by default")
    asked = parser.parse_args()
    if asked.what == "coverage":
        coverage.run(asked.folder, asked.law or list(laws.NAMES))
    else:
        coverage.run_learned(asked.folder)


if __name__ == "__main__":
    main()
