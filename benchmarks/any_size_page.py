"""The page of the good law at any size: all that `benchmarks.any_size` and `benchmarks.any_size_beside` measure.

``python -m benchmarks.any_size_page results.json`` goes on where it was stopped, and with ``written`` behind it writes
the page of what was measured so far.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks import any_size, any_size_beside

ROWS = (1, 10, 50)  # million


def run(sizes: tuple[int, ...] = ROWS, kept: Path | None = None) -> dict[str, Any]:
    """Measure each size in a fresh process, and what else there is to compare.

    Fifty million rows take 1.5 GB of disk for a while.

    Parameters
    ----------
    sizes : tuple of int
        Millions of rows.
    kept : Path, optional
        A file of results: what it holds is not measured again, and what is measured is added to it.
    """
    results: dict[str, Any] = json.loads(kept.read_text()) if kept is not None and kept.exists() else {}
    tasks: dict[str, Callable[[], Any]] = {f"{files} million": partial(any_size.of_size, files) for files in sizes}
    for name in any_size_beside.MEASURES:
        tasks[name] = partial(any_size.in_fresh_process, "benchmarks.any_size_beside", name)
    for name, task in tasks.items():
        if name not in results:
            results[name] = task()
            print(name, json.dumps(results[name]), file=sys.stderr, flush=True)
            if kept is not None:
                kept.write_text(json.dumps(results, indent=1))
    return results


def markdown(measured: dict[str, Any]) -> str:
    """Write the results as tables; what was not measured is left out."""
    results = sorted((own for name, own in measured.items() if name.endswith("million")), key=lambda own: own["rows"])
    parts = [f"## Sizes\n\n{any_size.tables(results)}"] if results else []
    parts += [any_size_beside.WORDS[name](measured) for name in any_size_beside.WORDS if name in measured]
    if results:
        parts.append(any_size_beside.a_billion_rows(results))
    return "\n\n".join(parts)


if __name__ == "__main__":
    from benchmarks.__main__ import write

    results_file = Path(sys.argv[1])
    write("any_size", markdown(json.loads(results_file.read_text()) if sys.argv[2:] else run(kept=results_file)))
