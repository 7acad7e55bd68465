"""Beside the good law at any size: rows in memory, one worker and two, rows of the CART generator, a billion rows.

Rows are those of `benchmarks.any_size`, and for the learning curve alone, of which the limit is not known, rows that
the CART generator draws after Adult.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

import fairlimits as fl
from benchmarks import any_size, scale
from benchmarks.any_size import ROLES, TOLERANCE, further
from benchmarks.cases import table
from benchmarks.passes import watched
from fairlimits._util.dask import dask_module

# Files of a million rows each.
_WORKER_FILES, _CURVE_FILES = 4, 2

# Rows to learn from where passes are what is measured.
_LEARNED_ROWS = 60_000

# Rows of ceilings, and steps in which their features are seen: as they are, hardly anybody has a twin.
_CEILING_ROWS = 200_000
_STEPS = dict.fromkeys((f"x{at}" for at in range(5)), 1.0)

# An assumed cluster: cores, rows of a part, and seconds that Dask's scheduler needs for a task.
_CORES, _PART_ROWS, _TASK = 64, 250_000, 1e-3


@contextmanager
def rows(files: int, write: Callable[[Path, int], None] = any_size.write_rows) -> Iterator[Path]:
    """Write some files for a while."""
    folder = Path(tempfile.mkdtemp(prefix="fairlimits-beside-"))
    try:
        write(folder, files)
        yield folder
    finally:
        shutil.rmtree(folder)


def memory() -> dict[str, Any]:
    """The figures of a million rows in memory and streamed; and those of one rule on all of them, both ways."""
    found: dict[str, Any] = {}
    with rows(1) as folder:
        stream = fl.open_data(folder, stream=True, **ROLES)
        whole = fl.Dataset.from_frame(pq.read_table(folder), **ROLES)
        for name, people in (("in memory", whole), ("streamed", stream)):
            learn, test = people.split(0.3)
            rule = fl.solve(fl.estimate_outcome(learn), {"DP": TOLERANCE})
            held = fl.evaluate(rule, test)
            found[name] = {"plug-in": rule.accuracy, "accuracy": list(held.accuracy), "gap": list(held.gaps["DP"])}
        one, other = (fl.evaluate(rule, own) for own in (whole, stream))
        figures = [[*own.accuracy, *own.gaps["DP"], *own.gaps["EOd"]] for own in (one, other)]
        found["apart"] = float(np.ptp(figures, axis=0).max())
        found["counts equal"] = np.array_equal(np.asarray(one.counts), np.asarray(other.counts))
    return found


def ceilings() -> dict[str, Any]:
    """Ceilings of the same rows in memory and streamed: others are set apart, and learned from."""
    found: dict[str, Any] = {}
    with rows(1) as folder:
        few = pq.read_table(folder).slice(0, _CEILING_ROWS)
        (path,) = folder.glob("*.parquet")
        pq.write_table(few, path, row_group_size=50_000)
        for name, people, options in (
            ("in memory", fl.Dataset.from_frame(few, **ROLES), {}),
            ("streamed", path, ROLES),
        ):
            begin = time.process_time()
            with watched() as passes:
                top = fl.ceiling(people, {"DP": TOLERANCE}, resolution=_STEPS, **options)
            spent = {own.name: 1e6 * own.rows / _CEILING_ROWS for own in passes}
            found[name] = {"value": top.value, "upper": top.upper, "error": float(top.curve.standard_error[0])}
            found[name] |= {"twins": top.twins, "kinds": top.kinds, "processor": time.process_time() - begin}
            found[name]["passes"] = spent
    return found


def workers(files: int = _WORKER_FILES) -> dict[str, Any]:
    """Passes over the same rows on one Dask worker and on two, with what was learned from some of them."""
    distributed = dask_module("distributed")
    results: dict[str, Any] = {"rows": files * any_size.FILE_ROWS}
    with rows(files) as folder:
        few = folder / "few"
        few.mkdir()
        for path in sorted(folder.glob("*.parquet")):  # the last ones too, whose people are others
            pq.write_table(pq.read_table(path).slice(0, _LEARNED_ROWS // files), few / path.name)
        learned = fl.estimate_outcome(few, **ROLES)
        shutil.rmtree(few)
        results |= {"learned": _LEARNED_ROWS, "load": os.getloadavg()[0]}
        for number in (1, 2):
            options = {"n_workers": number, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
            with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
                client.run(_warm)
                results[str(number)] = on_cluster(folder, client, learned)
    return results


def on_cluster(folder: Path, client: Any, learned: Any) -> dict[str, Any]:
    """Go through all rows on a cluster: seconds that pass, and those of the busiest worker's processor."""
    begin, before = time.perf_counter(), client.run(_processor)
    learn, test = fl.open_data(folder, stream=True, client=client, **ROLES).split(0.3)
    rule = fl.solve(replace(learned, stream=learn, learned=learn.learn()), {"DP": TOLERANCE})
    held = fl.evaluate(rule, test)
    seconds = time.perf_counter() - begin
    busy = [after - before[name] for name, after in client.run(_processor).items()]
    figures = [rule.accuracy, *held.accuracy, *held.gaps["DP"]]
    return {"seconds": seconds, "busiest": max(busy), "figures": figures}


def _warm() -> None:
    """Import on a worker what it will need."""
    for name in ("fairlimits", "sklearn.ensemble"):
        import_module(name)


def _processor() -> float:
    own = resource.getrusage(resource.RUSAGE_SELF)
    return own.ru_utime + own.ru_stime


def curve() -> dict[str, Any]:
    """The learning curve on rows of the CART generator."""
    with rows(_CURVE_FILES, scale.write_rows) as folder:
        outcome = fl.estimate_outcome(folder, **scale.ROLES)
        return {"rows": outcome.n_rows, "curve": [list(point) for point in getattr(outcome, "learning_curve", ())]}


def _of_memory(measured: dict[str, Any]) -> str:
    found = measured["memory"]
    heads = ("1,000,000 rows", "plug-in", "held out", "its DP gap")
    lines = [
        (
            name,
            f"{own['plug-in']:.4f}",
            "{:.4f} ({:.4f} to {:.4f})".format(*own["accuracy"]),
            "{:.4f} ({:.4f} to {:.4f})".format(*own["gap"]),
        )
        for name, own in ((name, found[name]) for name in ("in memory", "streamed"))
    ]
    same = "are equal" if found["counts equal"] else "DIFFER"
    return (
        f"## Streamed against in memory\n\n{table(heads, lines)}\n\nOther people are held out. One rule on all rows, "
        f"where nothing is drawn: counts {same}; accuracy, gaps and their intervals differ by {found['apart']:.0e} at "
        f"most."
    )


def _of_ceilings(measured: dict[str, Any]) -> str:
    found = measured["ceilings"]
    heads = (f"{_CEILING_ROWS:,} rows, DP <= {TOLERANCE:g}", "ceiling", "no rule passes", "have a twin", "CPU seconds")
    lines = [
        (name, f"{own['value']:.4f}", f"{own['upper']:.4f}", f"{own['twins']:.1%}", f"{own['processor']:.0f}")
        for name, own in ((name, found[name]) for name in ("in memory", "streamed"))
    ]
    spent = ", ".join(f"{name} {each:.2f}" for name, each in found["streamed"]["passes"].items())
    return (
        f"## Ceilings\n\nFeatures in steps of 1; others are set apart. CPU seconds are those of the process that asks, "
        f"without those that learn for it.\n\n{table(heads, lines)}\n\nCPU µs a row: {spent}."
    )


def _of_workers(measured: dict[str, Any]) -> str:
    found = measured["workers"]
    one, two = found["1"], found["2"]
    heads = (f"{found['rows']:,} rows", "seconds", "CPU seconds of the busiest worker")
    lines = [
        (name, f"{own['seconds']:.0f}", f"{own['busiest']:.0f}")
        for name, own in (("one worker", one), ("two workers", two))
    ]
    same = "equal" if one["figures"] == two["figures"] else "NOT EQUAL"
    faster, fewer = (one[name] / two[name] for name in ("seconds", "busiest"))
    rate = 1e6 * one["busiest"] / found["rows"]
    return (
        f"## One worker and two\n\nAll passes of solving and judging, on Dask workers of one thread (load of the "
        f"machine before: {found['load']:.1f}); learning, here on a sample of "
        f"{found['learned']:,} rows, is one worker's, and left out.\n\n"
        f"{table(heads, lines)}\n\nTwo are {faster:.2f} times faster; the busier of them takes {fewer:.2f} times less "
        f"of its processor, which is what two free cores can give. Figures: {same}.\n\nBy calculation, which nobody "
        f"has run: a billion rows at {rate:.1f} µs of the one worker's processor each, all passes together, are "
        f"{rate * 1e9 / 1e6 / _CORES / 60:.0f} minutes of {_CORES} workers; the sample's part comes on top."
    )


def _of_curve(measured: dict[str, Any]) -> str:
    found = measured["curve"]
    points = ", ".join(f"{int(size):,} {loss:.5f}" for size, loss, *_ in found["curve"])
    rows_of = f"{found['rows']:,} rows of the CART generator"
    return f"## Rows like Adult\n\nLearning curve on {rows_of} (rows, log-loss): {points}."


def a_billion_rows(results: list[dict[str, Any]]) -> str:
    """What the measured rates come to for a billion rows, which were not run."""
    last, passes = results[-1], further(results)
    work = sum(passes.values()) * 1e9 / 1e6
    tasks = len(passes) * 1e9 / _PART_ROWS * _TASK
    sample = last["on the sample"]
    together = work / _CORES + sample + tasks
    rate, parts, on_all = sum(passes.values()), 1e9 / _PART_ROWS, f"{last['rows']:,} rows"
    sampled, every = (100 * (last[name] - last["truth"]) for name in ("sample", "plug-in"))
    return (
        f"## A billion rows\n\nBy calculation from these rates; nobody has run it. {rate:.1f} µs a row in "
        f"{len(passes)} passes make {work / 3600:.1f} hours of one core, {work / _CORES:.0f} s of {_CORES}; "
        f"learning on the sample takes one worker as long as at {on_all}, {sample:.0f} s; {parts:,.0f} "
        f"parts in {len(passes)} passes keep Dask's scheduler for {tasks:.0f} s, at an assumed millisecond a task. "
        f"Together {together / 60:.1f} minutes.\n\nA sample of {any_size.SAMPLE:,} rows, in memory, said a limit "
        f"{sampled:+.2f} points off where all {on_all} said one {every:+.2f} points off: if that is near enough, no "
        f"cluster is needed."
    )


MEASURES: dict[str, Callable[[], dict[str, Any]]] = {
    "memory": memory,
    "ceilings": ceilings,
    "workers": workers,
    "curve": curve,
}

WORDS: dict[str, Callable[[dict[str, Any]], str]] = {
    "memory": _of_memory,
    "ceilings": _of_ceilings,
    "workers": _of_workers,
    "curve": _of_curve,
}

if __name__ == "__main__":
    print(json.dumps(MEASURES[sys.argv[1]]()))
