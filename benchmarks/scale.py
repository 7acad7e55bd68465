"""Tables larger than memory: rows streamed from disk, workers of a Dask cluster, and bands of resampled frontiers.

The rows are drawn from the CART generator fitted to Adult, ten million of them, and written to Parquet files in a
temporary directory; fifty million are the same files under five names. Each size runs in a process of its own, whose
peak memory is that of Python with its libraries plus the work. Processor time is measured beside the seconds that pass,
because it hardly depends on what else the machine is doing.

The time of a run is that of the passes over all rows, and that of finding the first cells on a sample, which does not
grow with the rows. Linear means that a row costs the same in each pass at every size.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

import fairlimits as fl
from benchmarks.cases import adult, peak_megabytes, table, timed
from fairlimits._util.dask import dask_module
from fairlimits.law import CartGenerator

ROWS = (1, 10, 50)  # million
DRAWN = 10  # million
WORKER_ROWS = 10  # million
CELLS = 256
FILE_ROWS = 1_000_000
ROLES: dict[str, Any] = {"label": "income", "positive": ">50K", "sensitive": "sex"}
NOTIONS = ("DP", "EA", "EOd")
RESAMPLES = 200


def write_rows(folder: Path, files: int) -> None:
    """Write files of a million rows each; after the first ten they are the same again."""
    generator = CartGenerator().fit(fl.load_dataset("adult"))
    for number in range(files):
        path = folder / f"part{number:03}.parquet"
        if number >= DRAWN:
            os.link(folder / f"part{number % DRAWN:03}.parquet", path)
            continue
        drawn = generator.sample(FILE_ROWS, random_state=number).to_frame()
        pq.write_table(drawn, path, row_group_size=250_000)


def paths(folder: Path, files: int) -> list[Path]:
    return sorted(folder.glob("*.parquet"))[:files]


def processor_seconds() -> float:
    """Processor time of this process and of those it started and that have ended."""
    own, children = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


def measure(folder: Path, files: int) -> dict[str, Any]:
    """Stream some of the files in this process."""
    told: list[str] = []
    clocks: list[tuple[float, float]] = []

    def tell(done: float, words: str) -> None:
        told.append(words)
        clocks.append((time.perf_counter(), processor_seconds()))

    begin = time.perf_counter(), processor_seconds()
    dist = fl.discretize(paths(folder, files), CELLS, partition="features", **ROLES, progress=tell)
    end = time.perf_counter(), processor_seconds()
    # Between the last part of the sample and the first part of a pass, the first cells are found.
    sampled = max(at for at, words in enumerate(told) if words.startswith("drawing"))
    seeding = [after - before for before, after in zip(clocks[sampled], clocks[sampled + 1], strict=True)]
    rows = int(dist.counts.sum()) if dist.counts is not None else 0
    # Columns, a sample, Lloyd's first assignment and its iterations, and the counts.
    passes = 1 + 1 + 1 + (dist.origin.iterations or 0) + 1
    return {
        "rows": rows,
        "seconds": end[0] - begin[0],
        "processor": end[1] - begin[1],
        "seeding": seeding[0],
        "passes": passes,
        "microseconds": 1e6 * (end[1] - begin[1] - seeding[1]) / rows / passes,
        "peak MB": peak_megabytes(),
    }


def stream(folder: Path) -> list[dict[str, Any]]:
    """Stream each number of rows in a fresh process."""
    results = []
    for files in ROWS:
        command = [sys.executable, "-m", "benchmarks.scale", str(folder), str(files)]
        answer = subprocess.run(command, capture_output=True, text=True, check=True)
        results.append(json.loads(answer.stdout))
    return results


def workers(folder: Path, files: int) -> list[dict[str, Any]]:
    """Count and cut the same rows on one Dask worker and on two."""
    distributed = dask_module("distributed")
    results = []
    for number in (1, 2):
        options = {"n_workers": number, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
        with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
            before = client.run(_warm)
            seconds, dist = timed(
                partial(fl.discretize, paths(folder, files), CELLS, partition="features", **ROLES, client=client)
            )
            busy = {name: after - before[name] for name, after in client.run(processor_seconds).items()}
        results.append({"seconds": seconds, "busiest": max(busy.values()), "counts": dist.counts})
    return results


def _warm() -> float:
    """Import on a worker what it will need, and return its processor time so far."""
    import_module("fairlimits")
    return processor_seconds()


def bands() -> dict[str, float]:
    """Time the band of a frontier of 41 tolerances."""
    results: dict[str, float] = {}
    for aware in (False, True):
        curve = fl.frontier(adult(CELLS, 0), NOTIONS, aware=aware)
        start = processor_seconds()
        seconds, _ = timed(partial(curve.band, resamples=RESAMPLES))
        name = "seen" if aware else "hidden"
        results |= {f"group {name}, seconds": seconds, f"group {name}, processor": processor_seconds() - start}
    return results


def run() -> dict[str, Any]:
    """Measure everything; needs 60 MB of disk for a while."""
    folder = Path(tempfile.mkdtemp(prefix="fairlimits-scale-"))
    try:
        write_rows(folder, max(ROWS))
        load = os.getloadavg()[0]
        results: dict[str, Any] = {"stream": stream(folder), "load": load}
        results["load before the workers"] = os.getloadavg()[0]
        results["workers"] = workers(folder, WORKER_ROWS)
    finally:
        shutil.rmtree(folder)
    results["bands"] = bands()
    return results


def markdown(results: dict[str, Any]) -> str:
    """Write the results as tables."""
    streamed = results["stream"]
    heads = ("rows", "seconds", "CPU seconds", "of which first cells", "passes", "CPU µs a row and pass", "peak memory")
    lines = [
        (
            f"{row['rows']:,}",
            f"{row['seconds']:.0f}",
            f"{row['processor']:.0f}",
            f"{row['seeding']:.0f}",
            str(row["passes"]),
            f"{row['microseconds']:.2f}",
            f"{row['peak MB']:.0f} MB",
        )
        for row in streamed
    ]
    rates = [row["microseconds"] for row in streamed]
    passing = [1e6 * (row["seconds"] - row["seeding"]) / row["rows"] for row in streamed]
    one, two = results["workers"]
    faster, fewer = one["seconds"] / two["seconds"], one["busiest"] / two["busiest"]
    load = results["load before the workers"]
    same = "equal" if (one["counts"] == two["counts"]).all() else "NOT EQUAL"
    found = results["bands"]
    return "\n\n".join(
        (
            f"Adult-like rows streamed from Parquet into {CELLS} cells (load of the machine: {results['load']:.1f}).",
            table(heads, lines),
            f"The cost of a row and pass varies by {100 * (max(rates) / min(rates) - 1):.0f}%; the seconds of a row, "
            f"without the first cells ({', '.join(f'{each:.1f}' for each in passing)} µs), by "
            f"{100 * (max(passing) / min(passing) - 1):.0f}%.",
            f"{WORKER_ROWS},000,000 rows on Dask workers of one thread (load of the machine: {load:.1f}): "
            f"{one['seconds']:.0f} s on one, {two['seconds']:.0f} s on two, {faster:.2f} times faster; counts {same}. "
            f"CPU seconds of the one: {one['busiest']:.0f}, of the busier of the two: {two['busiest']:.0f}, "
            f"{fewer:.2f} times fewer, which is what two free cores can give.",
            f"Bands of {RESAMPLES} resamples of a frontier of 41 tolerances, {' + '.join(NOTIONS)}, Adult, {CELLS} "
            f"cells: {found['group hidden, seconds']:.1f} s with the group hidden "
            f"({found['group hidden, processor']:.1f} CPU seconds), {found['group seen, seconds']:.1f} s with it seen "
            f"({found['group seen, processor']:.1f} CPU seconds).",
        )
    )


if __name__ == "__main__":
    print(json.dumps(measure(Path(sys.argv[1]), int(sys.argv[2]))) if len(sys.argv) > 1 else markdown(run()))
