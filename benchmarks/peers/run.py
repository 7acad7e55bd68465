"""Fits and judges the methods, one line of JSON per result; what is there already is not done again."""

from __future__ import annotations

import gzip
import json
import time
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.peers.bases import Base
from benchmarks.peers.methods import METHODS, Method
from benchmarks.peers.ours import estimate
from benchmarks.peers.splits import Setting, Split, correct, gaps, split

RESULTS = "results.jsonl"
KEPT = Path(__file__).parent / "results.jsonl.gz"
"""The results that docs/benchmark.md was made from."""

Key = tuple[Any, ...]


def key(record: dict[str, Any]) -> Key:
    """What identifies a result."""
    return tuple(record[name] for name in ("data", "seed", "method", "base", "criterion", "eps", "aware"))


def read(folder: Path | None) -> list[dict[str, Any]]:
    """Every result of a folder, or else of those that are kept; where one was measured twice, the last."""
    if folder is None:
        text = gzip.decompress(KEPT.read_bytes()).decode()
    else:
        path = folder / RESULTS
        text = path.read_text(encoding="utf-8") if path.exists() else ""
    return list({key(record): record for record in map(json.loads, text.splitlines())}.values())


def keep(records: Iterable[dict[str, Any]]) -> None:
    """Keep results, in one order and with the digits that matter, so that the same ones are the same file."""
    lines = sorted(json.dumps(rounded(record)) for record in records)
    KEPT.write_bytes(gzip.compress(("\n".join(lines) + "\n").encode(), mtime=0))


def rounded(value: Any) -> Any:
    """A result with the digits that matter."""
    if isinstance(value, dict):
        return {name: rounded(each) for name, each in value.items()}
    return round(value, 7) if isinstance(value, float) else value


def run(
    folder: Path,
    names: Iterable[str],
    data: Iterable[str],
    seeds: Iterable[int] | None,
    aware: Iterable[bool],
) -> Iterator[str]:
    """Measure what is missing, seed by seed, so that a run cut short has seen all data sets; yields its progress.

    Parameters
    ----------
    folder : Path
        Where the results are, and our estimates in ``cache``.
    names, data : iterable of str
        Methods and data sets.
    seeds : iterable of int, optional
        The splits; without it, those of each method.
    aware : iterable of bool
        Whether the rules see the group.
    """
    folder.mkdir(parents=True, exist_ok=True)
    done = {key(record) for record in read(folder)}
    methods = [METHODS[name] for name in names]
    data, aware = list(data), set(aware)
    asked = None if seeds is None else list(seeds)
    for seed in sorted({seed for method in methods for seed in method.seeds}) if asked is None else asked:
        for name in data:
            for method in methods:
                if asked is None and seed not in method.seeds:
                    continue
                for base in (Base(each, folder / "cache") for each in method.bases):
                    settings = [setting for setting in method.settings() if setting.aware in aware]
                    missing = [s for s in settings if key(_head(name, seed, method, base, s)) not in done]
                    if missing and not base.ready(name, seed):
                        yield f"{name} {seed}: estimating P(A, Y | x)"
                        estimate(split(name, seed), base.file(name, seed))
                    for setting in missing:
                        record = measure(split(name, seed), method, base, setting)
                        with (folder / RESULTS).open("a", encoding="utf-8") as file:
                            file.write(json.dumps(record) + "\n")
                        yield _line(record)


def measure(cut: Split, method: Method, base: Base, setting: Setting) -> dict[str, Any]:
    """Fit a method and judge it on the test rows; seconds are those of one core, so that a busy machine adds none."""
    learn, test = cut.learn, cut.test
    # Estimates are shared between settings, so what they cost is kept apart.
    estimates = method.estimates(base, cut, setting.aware)
    start = time.process_time()
    decide = method.fit(cut, setting, estimates)
    fitted = time.process_time()
    decided = decide()
    stop = time.process_time()
    constant = np.full(len(test.label), float(learn.label.mean() > 0.5))
    return _head(cut.name, cut.seed, method, base, setting) | {
        "accuracy": float(correct(decided, test).mean()),
        "gaps": gaps(decided, test),
        "constant": float(correct(constant, test).mean()),
        "base_seconds": estimates.seconds if estimates else 0.0,
        "fit_seconds": fitted - start,
        "predict_seconds": stop - fitted,
        "n_learn": len(learn.label),
        "n_test": len(test.label),
    }


def _head(name: str, seed: int, method: Method, base: Base, setting: Setting) -> dict[str, Any]:
    return {"data": name, "seed": seed, "method": method.name, "base": base.name} | asdict(setting)


def _line(record: dict[str, Any]) -> str:
    asked = f"{record['criterion']} <= {record['eps']}, {'aware' if record['aware'] else 'unaware'}"
    return (
        f"{record['data']} {record['seed']} {record['method']} on {record['base']}: {asked}: accuracy "
        f"{record['accuracy']:.4f}, gap {record['gaps'][record['criterion']]:.4f}, {record['fit_seconds']:.1f} s"
    )
