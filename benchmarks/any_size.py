"""The good law at any size: outcome cells of rows that are streamed, on a simulated law whose limits are known.

Rows have five numbers and a category. P(Y | x) and P(A | x, Y) are logistic in smooth functions of them, written in
`true_q`. In the last tenth of the files people differ from those in the first: one number is shifted, and the category
takes a value that no file before has, with another chance of the label: what is learned from the first files alone is
wrong.

The true limit at DP within 0.05, group hidden, is that of a program on 65,536 cells of the true P(Y | x) and P(A | x),
on rows of all files alike. The bar, fixed before anything was measured: the limit that is estimated on fifty million
rows lies within 0.2 points of it, in less than 2 GB, and a row costs the same in each pass at every size, within 15%.
A sample that is all there is of fewer rows is learned by fewer trees, which cost less; so sizes with samples of the
same size are compared. A further row costs what the difference between two sizes says. Beside it stand the seconds of
feature cells on the same rows, and what a sample of 50,000 rows alone would have said.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray
from scipy.special import expit

import fairlimits as fl
from benchmarks.cases import peak_megabytes, table
from benchmarks.passes import memory, watched

FILE_ROWS = 1_000_000
ROLES: dict[str, Any] = {"label": "y", "sensitive": "a"}
TOLERANCE = 0.05
SAMPLE = 50_000

# Rows that the true limit is found on, and cells of each of its two chances.
_TRUTH_ROWS, _TRUTH_CELLS = 4_000_000, 256

_PLACES = np.array(["north", "south", "east", "late"])

Floats = NDArray[np.float64]


def draw_x(rows: int, late: bool, seed: int) -> tuple[Floats, NDArray[np.int64]]:
    """Features of people, of the last files or of those before."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rows, 5))
    x[:, 0] += 1.0 if late else 0.0
    place = rng.choice(4, rows, p=[0.3, 0.2, 0.1, 0.4] if late else [0.5, 0.3, 0.2, 0.0])
    return x, place


def true_q(x: Floats, place: NDArray[np.int64]) -> Floats:
    """P(A, Y | x), of shape (n, 2, 2): smooth in the numbers."""
    score = 1.2 * x[:, 0] + 0.8 * np.sin(2 * x[:, 1]) + 0.5 * x[:, 2] * x[:, 3] - 0.4
    label = expit(score + np.array([0.3, -0.3, 0.0, -1.5])[place])
    q = np.empty((len(x), 2, 2))
    for y in (0, 1):
        second = expit(0.9 * x[:, 0] - 0.6 * x[:, 4] + 0.5 * y + np.array([-0.2, 0.4, 0.0, 0.6])[place])
        chance = label if y else 1 - label
        q[:, 0, y], q[:, 1, y] = chance * (1 - second), chance * second
    return q


def write_rows(folder: Path, files: int) -> None:
    """Write files; the last tenth of them, one at least, differ."""
    first_late = files - max(1, files // 10)
    for number in range(files):
        x, place = draw_x(FILE_ROWS, number >= first_late, number)
        q = true_q(x, place).reshape(len(x), 4)
        drawn = (np.random.default_rng(10_000 + number).random(len(x))[:, None] > q.cumsum(axis=1)[:, :3]).sum(axis=1)
        columns = {f"x{at}": own.astype(np.float32) for at, own in enumerate(x.T)}
        rows = pa.table(
            {
                **columns,
                "place": pa.DictionaryArray.from_arrays(pa.array(place), pa.array(_PLACES)),
                "a": pa.array(np.where(drawn >= 2, "second", "first")),
                "y": pa.array((drawn % 2).astype(np.int64)),
            }
        )
        pq.write_table(rows, folder / f"part{number:03}.parquet", row_group_size=250_000)


def true_limit(files: int) -> float:
    """Best accuracy at DP within the tolerance, group hidden, on the true law of so many files."""
    late = max(1, files // 10) / files
    parts = [draw_x(round(_TRUTH_ROWS * share), own, 99 + own) for own, share in ((False, 1 - late), (True, late))]
    q = np.concatenate([true_q(*own) for own in parts if len(own[0])])
    place = np.zeros(len(q), dtype=np.int64)
    for chance in (q[:, :, 1].sum(axis=1), q[:, 1].sum(axis=1)):
        cuts = np.quantile(chance, np.arange(1, _TRUTH_CELLS) / _TRUTH_CELLS)
        place = place * _TRUTH_CELLS + np.searchsorted(cuts, chance)
    mass = np.stack([np.bincount(place, own, _TRUTH_CELLS**2) for own in q.reshape(len(q), 4).T], axis=1)
    mass = mass[mass.sum(axis=1) > 0].reshape(-1, 2, 2)
    return fl.solve(fl.CellDistribution.from_mass(mass), {"DP": TOLERANCE}).accuracy


def measure(folder: Path, files: int) -> dict[str, Any]:
    """Learn, solve and judge on some files in this process."""
    begin = time.perf_counter()
    with watched() as passes, memory() as most:
        learn, test = fl.open_data(folder, stream=True, **ROLES).split(0.3)
        outcome = fl.estimate_outcome(learn)
        learned = time.perf_counter()
        rule = fl.solve(outcome, {"DP": TOLERANCE})
        held = fl.evaluate(rule, test)
        end = time.perf_counter()
        together = most()
    rows = files * FILE_ROWS
    spent: dict[str, float] = {}
    for own in passes:
        spent[own.name] = spent.get(own.name, 0.0) + 1e6 * own.rows / rows
    return {
        "on the sample": sum(own.waited for own in passes if own.name == "sample"),
        "rows": rows,
        "plug-in": rule.accuracy,
        "held out": list(held.accuracy),
        "gap": list(held.gaps["DP"]),
        "curve": [list(point) for point in getattr(outcome, "learning_curve", ())],
        "seconds": end - begin,
        "learning": learned - begin,
        "passes": spent,
        "peak MB": peak_megabytes(),
        "together MB": together,
    }


def measure_features(folder: Path) -> float:
    """Seconds that feature cells take on the same rows."""
    begin = time.perf_counter()
    fl.discretize(folder, 256, partition="features", **ROLES)
    return time.perf_counter() - begin


def of_a_sample(folder: Path) -> float:
    """The limit that a sample of all files says, read in memory."""
    files = sorted(folder.glob("*.parquet"))
    some = pa.concat_tables([pq.read_table(own).slice(0, SAMPLE // len(files)) for own in files])
    return fl.solve(fl.Dataset.from_frame(some, **ROLES), {"DP": TOLERANCE}).accuracy


def of_size(files: int) -> dict[str, Any]:
    """Measure so many millions of rows, which take 30 MB of disk each for a while."""
    folder = Path(tempfile.mkdtemp(prefix="fairlimits-any-size-"))
    try:
        write_rows(folder, files)
        return of_files(folder, files)
    finally:
        shutil.rmtree(folder)


def of_files(folder: Path, files: int) -> dict[str, Any]:
    """Measure files that are there already, and what they are compared with."""
    load = os.getloadavg()[0]
    found = in_fresh_process("benchmarks.any_size", str(folder), str(files))
    found |= {"truth": true_limit(files), "features": measure_features(folder), "sample": of_a_sample(folder)}
    return found | {"load": load}


def in_fresh_process(*module: str) -> dict[str, Any]:
    """What a module prints that is run in a process of its own."""
    answer = subprocess.run([sys.executable, "-m", *module], stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, Any] = json.loads(answer.stdout)
    return found


def further(results: list[dict[str, Any]]) -> dict[str, float]:
    """What a further row costs in each pass, between the two largest sizes; of one size, what each of its rows cost."""
    if len(results) == 1:
        return dict(results[0]["passes"])
    less, more = results[-2:]
    rows = more["rows"] - less["rows"]
    names = more["passes"]
    return {name: (names[name] * more["rows"] - less["passes"][name] * less["rows"]) / rows for name in names}


def tables(results: list[dict[str, Any]]) -> str:
    """Write what was measured at some sizes as tables."""
    heads = ("rows", "true limit", "plug-in", "off by (points)", "held out", "its DP gap", "sample of 50,000 off by")
    lines = [
        (
            f"{own['rows']:,}",
            f"{own['truth']:.4f}",
            f"{own['plug-in']:.4f}",
            f"{100 * (own['plug-in'] - own['truth']):+.2f}",
            "{:.4f} ({:.4f} to {:.4f})".format(*own["held out"]),
            "{:.4f} ({:.4f} to {:.4f})".format(*own["gap"]),
            f"{100 * (own['sample'] - own['truth']):+.2f}",
        )
        for own in results
    ]
    costs = ("rows", "seconds", "of which learning", "peak memory", "with what it started", "feature cells", "load")
    spent = [
        (
            f"{own['rows']:,}",
            f"{own['seconds']:.0f}",
            f"{own['learning']:.0f}",
            f"{own['peak MB']:.0f} MB",
            f"{own['together MB']:.0f} MB",
            "not run" if own["features"] is None else f"{own['features']:.0f} s",
            f"{own['load']:.1f}",
        )
        for own in results
    ]
    curves = [
        f"Learning curve at {own['rows']:,} rows (rows, log-loss): "
        + ", ".join(f"{int(rows):,} {loss:.5f}" for rows, loss, *_ in own["curve"])
        + "."
        for own in results
    ]
    return "\n\n".join((table(heads, lines), table(costs, spent), _passes(results), *curves))


def _passes(results: list[dict[str, Any]]) -> str:
    """What a row costs in each pass, at every size and between two sizes."""
    names = list(results[0]["passes"])
    heads = ["CPU µs a row of the table", *names, "together"]
    lines = [
        [f"{own['rows']:,} rows", *(f"{each:.2f}" for each in (*own["passes"].values(), sum(own["passes"].values())))]
        for own in results
    ]
    steps = [further([less, more]) for less, more in pairwise(results)]
    for (less, more), step in zip(pairwise(results), steps, strict=True):
        spent = [*step.values(), sum(step.values())]
        lines.append([f"a further row, {less['rows']:,} to {more['rows']:,}", *(f"{each:.2f}" for each in spent)])
    text = table(heads, lines)
    alike = [own for own in results if _sampled(own) > 0.99 * max(map(_sampled, results))]
    for what, compared in (
        (f"A row costs as much in each pass at {_listed(alike)}, whose samples are as large, but for", _costs(alike)),
        ("A further row costs as much between any two sizes, but for", [[*own.values()] for own in steps]),
    ):
        if len(compared) > 1:
            apart = [max(own) / min(own) - 1 if min(own) > 0 else np.inf for own in zip(*compared, strict=True)]
            each = ", ".join(f"{name} {100 * own:.0f}%" for name, own in zip(names, apart, strict=True))
            text += f"\n\n{what}: {each}."
    return text


def _sampled(own: dict[str, Any]) -> float:
    """Rows of the sample that was learned from last."""
    return float(own["curve"][-1][0])


def _costs(results: list[dict[str, Any]]) -> list[list[float]]:
    return [[*own["passes"].values()] for own in results]


def _listed(results: list[dict[str, Any]]) -> str:
    return " and ".join(f"{own['rows']:,}" for own in results) + " rows"


if __name__ == "__main__":
    print(json.dumps(measure(Path(sys.argv[1]), int(sys.argv[2]))))
