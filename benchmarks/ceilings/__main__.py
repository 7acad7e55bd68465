"""``python -m benchmarks.ceilings WHAT --folder DIR [--law NAME]``: measure, or write the page."""

from __future__ import annotations

import argparse
from pathlib import Path

from benchmarks.ceilings import brackets, coverage, laws, pages


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("coverage", "tightness", "brackets", "growth", "report"))
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--law", action="append", choices=(*laws.NAMES, *laws.HARD), help="all by default")
    asked = parser.parse_args()
    if asked.what == "coverage":
        coverage.run(asked.folder, asked.law or [*laws.NAMES, *laws.HARD])
    elif asked.what == "report":
        pages.write(asked.folder)
    else:
        {"tightness": coverage.run_learned, "brackets": brackets.brackets, "growth": brackets.growth}[asked.what](
            asked.folder
        )


if __name__ == "__main__":
    main()
