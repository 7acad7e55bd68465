"""How long people wait for the main job on Adult: the frontier, the report, the explorer's first curve, the import.

Every run is a process of its own, from its start to its end, as in a terminal. Processor time is that of the process
and of those that it started. One more run of each is profiled, to see where the time goes.
"""

from __future__ import annotations

import os
import pstats
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

import fairlimits
from benchmarks.cases import table

JOBS: dict[str, tuple[str, ...]] = {
    "import fairlimits": ("-c", "import fairlimits"),
    "fairlimits --version": ("-m", "fairlimits", "--version"),
    "fairlimits frontier adult": ("-m", "fairlimits", "frontier", "adult"),
    "fairlimits report adult": ("-m", "fairlimits", "report", "adult", "-o", "report.html"),
    "fairlimits explore adult, to the first curve": ("-m", "benchmarks.main_job"),
}
"""What is run, as arguments of Python."""

BARS: dict[str, float] = {"fairlimits frontier adult": 10.0, "fairlimits report adult": 30.0}
"""Seconds that a job may take on two quiet cores."""

REPEATS = 3

# Rooms named for each job, of those that take the most time.
_NAMED = 6

_LOADING = "loading packages"
_WAITING = "waiting for others"

Place = tuple[str, int, str]


def run(jobs: Mapping[str, Sequence[str]] = JOBS, repeats: int = REPEATS) -> list[dict[str, Any]]:
    """Time every job, and profile those that are modules."""
    results = []
    with tempfile.TemporaryDirectory() as folder:
        for job, arguments in jobs.items():
            times = [_timed(arguments, folder) for _ in range(repeats)]
            results.append(
                {
                    "job": job,
                    "wall": median(wall for wall, _ in times),
                    "cpu": median(cpu for _, cpu in times),
                    "rooms": _rooms(arguments, folder) if arguments[0] == "-m" else {},
                }
            )
    return results


def _timed(arguments: Sequence[str], folder: str) -> tuple[float, float]:
    """Seconds that a process takes, and seconds of processor time of it and of those that it waited for."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    _python(arguments, folder)
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _python(arguments: Sequence[str], folder: str) -> None:
    # Jobs write files where they run; this package and the one that is measured are found from there.
    paths = [str(Path(__file__).parents[1]), str(Path(fairlimits.__file__).parents[1])]
    known = os.pathsep.join([*paths, *filter(None, [os.environ.get("PYTHONPATH")])])
    env = {**os.environ, "PYTHONPATH": known}
    ran = subprocess.run([sys.executable, *arguments], cwd=folder, env=env, capture_output=True, text=True)
    if ran.returncode:
        raise RuntimeError(f"{' '.join(arguments)} ended with code {ran.returncode}:\n{ran.stderr}")


def _rooms(arguments: Sequence[str], folder: str) -> dict[str, float]:
    """Seconds of the main thread in each room of the package, and in each package beneath it, most first."""
    file = os.path.join(folder, "profile")
    _python(["-m", "cProfile", "-o", file, *arguments], folder)
    found: dict[str, float] = {}
    # The stubs of the standard library do not know what is in the statistics.
    stats: dict[Place, Any] = pstats.Stats(file).stats  # type: ignore[attr-defined]
    for place, (_, _, own, _, callers) in stats.items():
        if place[0] != "~" or "lock" in place[2]:
            found[_room(place)] = found.get(_room(place), 0.0) + own
            continue
        # What is written in C has no file: it counts for whoever called it.
        for caller, (_, _, seconds, _) in callers.items():
            found[_room(caller)] = found.get(_room(caller), 0.0) + seconds
    return dict(sorted(found.items(), key=lambda item: -item[1]))


def _room(place: Place) -> str:
    file, _, function = place
    if file == "~":
        return _WAITING if "lock" in function else "Python"
    if function == "<module>" or "importlib" in file:
        return _LOADING
    parts = Path(file).with_suffix("").parts
    if "fairlimits" in parts:
        inner = parts[len(parts) - parts[::-1].index("fairlimits") :]
        return ".".join(inner[: 2 if len(inner) > 2 else 1])
    if "site-packages" in parts:
        return parts[parts.index("site-packages") + 1]
    return "Python"


def first_curve() -> None:
    """Do what ``fairlimits explore adult`` does, and ask for the first curve in place of serving the page."""
    # Here, so that the other jobs' process does not wait for Dash.
    import benchmarks.explorer as page
    from fairlimits.apps import cli, explorer

    subjects: list[explorer.Subject] = []
    make_app = explorer.make_app

    def noted(subject: explorer.Subject) -> Any:
        subjects.append(subject)
        return make_app(subject)

    def ask_once(app: Any, port: int, started: Any) -> None:
        tab = page.Tab(app, subjects[0])
        tab.props["use-DP.value"] = ["DP"]
        if tab.ask() is None:
            raise RuntimeError("The page's server gave no answer.")

    explorer.make_app, explorer.serve = noted, ask_once
    sys.exit(cli.run(["explore", "adult", "--no-browser"]))


def markdown(results: list[dict[str, Any]]) -> str:
    """Write the results as tables."""
    rows = [
        (
            f"`{row['job']}`" if "," not in row["job"] else row["job"],
            f"{BARS[row['job']]:.0f}" if row["job"] in BARS else "",
            f"{row['wall']:.2f}",
            f"{row['cpu']:.2f}",
        )
        for row in results
    ]
    places = [
        (row["job"], ", ".join(f"{room} {seconds:.1f}" for room, seconds in list(row["rooms"].items())[:_NAMED]))
        for row in results
        if sum(row["rooms"].values()) > 1
    ]
    text = table(("job", "bar", "seconds", "processor"), rows)
    if places:
        text += "\n\n" + table(("job", "where the main thread spends its seconds, by room or package"), places)
    return (
        text + f"\n\nSeconds, medians of {REPEATS} runs, each a process of its own from start to end; processor "
        "time includes the processes that it starts. The second table is of one more run under a profiler, which makes "
        f"Python code slower; '{_WAITING}' is for threads and processes that work meanwhile. The explorer is asked as "
        "a browser asks it, without network and browser. "
        f"The load was {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores."
    )


if __name__ == "__main__":
    first_curve()
