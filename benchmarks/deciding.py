"""How fast rules decide, beside LightGBM's own predict, and the exported file beside ONNX and SQL, in one run.

All times are processor time of one thread, the least of some repeats that take turns. Everybody gets the same people of
Adult, no two alike, and all exports are of one rule.
"""

from __future__ import annotations

import runpy
import tempfile
import time
from collections.abc import Callable
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from threadpoolctl import threadpool_limits

import fairlimits as fl
from benchmarks.cases import table
from benchmarks.exports import onnx_rule, sql_rule
from benchmarks.peers.splits import peer

ROWS, LEARNED, REPEATS = 100_000, 34_189, 5

# Rows that ONNX gets at a time: it was fastest so.
_BATCH = 1_024

SAME = 1e-6
"""Scores nearer than this are the same."""


class Export(NamedTuple):
    """A rule elsewhere.

    Parameters
    ----------
    name : str
        What it is and where it runs.
    size : int
        Bytes.
    decide : callable
        Scores of all people, in its own kind of table.
    one : callable
        The score of one of them.
    lacks : str
        What it cannot do.
    """

    name: str
    size: int
    decide: Callable[[], Any]
    one: Callable[[], Any]
    lacks: str


def fastest(jobs: dict[str, Callable[[], Any]], repeats: int) -> dict[str, float]:
    """Least processor seconds of each of some jobs, which take turns."""
    found: dict[str, list[float]] = {name: [] for name in jobs}
    for _ in range(repeats):
        for name, job in jobs.items():
            start = time.process_time()
            job()
            found[name].append(time.process_time() - start)
    return {name: min(own) for name, own in found.items()}


def people(data: fl.Dataset, rows: int) -> Any:
    """People like those of a table, no two alike, as a pandas frame."""
    rng = np.random.default_rng(0)
    frame = data.to_frame().to_pandas().sample(rows, replace=True, random_state=0).reset_index(drop=True)
    frame["age"] = frame["age"] + rng.normal(0, 1e-3, rows)
    return frame


def lightgbm(data: fl.Dataset) -> Any:
    """LightGBM as scikit-learn users take it, on the same rows."""
    frame = data.to_frame().to_pandas()[[own.name for own in data.schema.features]]
    model = peer("lightgbm").LGBMClassifier(n_estimators=100, num_leaves=31, n_jobs=1, verbose=-1)
    return model.fit(frame, data.label)


def python_file(rule: fl.Rule, frame: Any, folder: Path) -> Export:
    """The export that the package has."""
    path = folder / "rule.py"
    rule.export(path)
    decide = runpy.run_path(str(path))["decide"]
    columns, first = ({name: own[name].to_numpy() for name in own} for own in (frame, frame[:1]))
    lacks = "run where there is no Python with numpy"
    return Export("Python file", path.stat().st_size, partial(decide, columns), partial(decide, first), lacks)


def onnx_model(rule: fl.Rule, frame: Any) -> Export:
    """ONNX in onnxruntime."""
    runtime, model = peer("onnxruntime"), onnx_rule(rule)
    options = runtime.SessionOptions()
    options.intra_op_num_threads = 1
    session = runtime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    columns = {
        own.name: frame[own.name].to_numpy(dtype=np.float64)
        if own.type == "tensor(double)"
        else frame[own.name].astype(object).fillna("").to_numpy()
        for own in session.get_inputs()
    }

    def decide(rows: int) -> Any:
        parts = [
            session.run(None, {name: own[start : min(start + _BATCH, rows)] for name, own in columns.items()})[0]
            for start in range(0, rows, _BATCH)
        ]
        return np.concatenate(parts)

    lacks = (
        "missing values of categories, dates, numbers written as text: whoever calls it must turn them into its input"
    )
    return Export("ONNX in onnxruntime", len(model), partial(decide, len(frame)), partial(decide, 1), lacks)


def sql_query(rule: fl.Rule, frame: Any) -> Export:
    """SQL in DuckDB; its optimizer takes time that grows with the square of the query, so it is off."""
    base, queries = peer("duckdb").connect(), {}
    base.execute("PRAGMA disable_optimizer; SET threads = 1; SET max_expression_depth TO 100000")
    for name, own in {"everybody": frame, "somebody": frame[:1]}.items():
        base.register(name, pa.table(own))
        queries[name] = sql_rule(rule, name)

    def decide(name: str) -> Any:
        return base.execute(queries[name]).fetchnumpy()["score"]

    lacks = "run in other databases as it stands, be read by a person, or decide one at a time"
    size = len(queries["everybody"])
    return Export("SQL in DuckDB", size, partial(decide, "everybody"), partial(decide, "somebody"), lacks)


def run(rows: int = ROWS, learned: int = LEARNED, repeats: int = REPEATS) -> dict[str, Any]:
    """Measure everything."""
    whole = fl.load_dataset("adult")
    data = whole.take(np.arange(learned))
    rule = fl.solve(fl.estimate_outcome(data), {"DP": 0.05})
    frame, model = people(whole, rows), lightgbm(data)
    given = frame[[own.name for own in data.schema.features]]
    frames: dict[str, Any] = {"pandas": frame, "polars": peer("polars").from_pandas(frame), "Arrow": pa.table(frame)}
    one_row: dict[str, Callable[[], Any]] = {kind: partial(rule.decide, own[:1]) for kind, own in frames.items()}
    one_row["LightGBM"] = lambda: model.predict_proba(given[:1])
    with tempfile.TemporaryDirectory() as folder, threadpool_limits(1):
        exports = [python_file(rule, frame, Path(folder)), onnx_model(rule, frame), sql_query(rule, frame)]
        jobs: dict[str, Callable[[], Any]] = {kind: partial(rule.decide, own) for kind, own in frames.items()}
        jobs["LightGBM"] = lambda: model.predict_proba(given)
        seconds = fastest(jobs | {own.name: own.decide for own in exports[:2]}, repeats)
        seconds |= fastest({own.name: own.decide for own in exports[2:]}, 1)
        one = fastest(one_row | {own.name: own.one for own in exports[:2]}, 10 * repeats)
        one |= fastest({own.name: own.one for own in exports[2:]}, 1)
        scores = rule.decide(frame)
        off = {own.name: np.abs(own.decide() - scores) for own in exports}
    return {
        "rows": rows,
        "learned": learned,
        "seconds": seconds,
        "one": one,
        "exports": {
            own.name: (own.size, float(off[own.name].max()), int((off[own.name] > SAME).sum()), own.lacks)
            for own in exports
        },
    }


def markdown(results: dict[str, Any]) -> str:
    """Tables of both comparisons."""
    rows, seconds, one = results["rows"], results["seconds"], results["one"]

    def speed(name: str) -> tuple[str, str]:
        milliseconds = 1e3 * one[name]
        shown = f"{milliseconds:.2g}" if milliseconds < 100 else f"{milliseconds:,.0f}"
        return f"{float(f'{rows / seconds[name]:.2g}'):,.0f}", shown

    ours = [kind for kind in seconds if kind in ("pandas", "polars", "Arrow")]
    beside = [(f"`rule.decide`, {kind}", *speed(kind), f"{seconds['LightGBM'] / seconds[kind]:.2f}") for kind in ours]
    beside.append(("LightGBM, `predict_proba` of 100 trees, pandas", *speed("LightGBM"), "1"))
    exports = [
        (name, *speed(name), f"{size / 1e3:,.0f}", f"{off:.1g}", f"{others:,}", lacks)
        for name, (size, off, others, lacks) in results["exports"].items()
    ]
    packages = ("lightgbm", "onnxruntime", "duckdb", "pandas", "polars")
    return (
        f"{rows:,} people of Adult, no two alike; the rule (DP within 0.05, group hidden, 256 outcome cells) and "
        f"LightGBM learned from {results['learned']:,}. Processor time of one thread, the least of some runs that took "
        f"turns (of SQL one run). {', '.join(f'{name} {version(name)}' for name in packages)}.\n\n"
        "## Beside LightGBM\n\n"
        + table(("what", "rows/s", "one row, ms", "speed, LightGBM's as 1"), beside)
        + "\n\n## Exports\n\nEach holds the whole rule, from columns to scores, and is compared with `rule.decide`: "
        f"the largest difference of a score, and how many of the {rows:,} people differ by more than {SAME:g}.\n\n"
        + table(("export", "rows/s", "one row, ms", "kB", "difference", "people", "cannot"), exports)
    )
