"""Brackets of the benchmark data sets, found from below and certified from above; and how slack falls with rows.

``python -m benchmarks.ceilings brackets --folder DIR`` and ``growth --folder DIR``; what is there is not measured
again.
"""

from __future__ import annotations

import json
import time
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import fairlimits as fl
from benchmarks.ceilings.coverage import one_draw
from benchmarks.ceilings.laws import law
from fairlimits.evaluation import Study

TOLERANCES = (0.0, 0.02, 0.05, 0.1)
NOTIONS = ("DP", "EA", "EOp", "PE", "EOd")
STEPS: dict[str, dict[str, float]] = {"adult": {"age": 5, "hours-per-week": 10}}
"""Steps in which rules see features in a second line; that they lose nothing was found by ``resolution="auto"``."""
ROWS = (2_000, 5_000, 10_000, 20_000, 40_000, 80_000)
DRAWS = 6


def brackets(folder: Path) -> None:
    """Measure the three data sets."""
    warnings.simplefilter("ignore")
    path = folder / "brackets.jsonl"
    known = [json.loads(line)["data"] for line in path.read_text().splitlines()] if path.exists() else []
    for name in ("dutch", "adult", "law"):
        for steps in ({}, STEPS.get(name)):
            title = name if not steps else f"{name}, {', '.join(f'{own} by {step:g}' for own, step in steps.items())}"
            if steps is not None and title not in known:
                with path.open("a") as file:
                    file.write(json.dumps(_bracket(name, title, steps)) + "\n")


def _bracket(name: str, title: str, steps: dict[str, float]) -> dict[str, Any]:
    data = fl.load_dataset(name)
    start = time.perf_counter()
    study = Study.of(data, steps or None)
    seconds = time.perf_counter() - start
    learn, test = data.split(0.3, random_state=100)
    outcome = fl.estimate_outcome(learn)
    record: dict[str, Any] = {"data": title, "seconds": seconds, "lines": []}
    for aware in (False, True):
        free = study.ceiling({}, aware=aware)
        record[f"twins, {'seen' if aware else 'hidden'}"] = free.twins
        found = fl.evaluate(fl.solve(outcome, {}, aware=aware), test)
        record["lines"].append(_line("none", 0.0, aware, found, free, 0))
        for notion in NOTIONS:
            top = study.ceiling({notion: np.array(TOLERANCES)}, aware=aware)
            curve = fl.evaluate(fl.frontier(outcome, [notion], TOLERANCES, aware=aware), test)
            for at, tolerance in enumerate(TOLERANCES):
                record["lines"].append(_line(notion, tolerance, aware, curve.held_out[at], top, at))
    return record


def _line(notion: str, tolerance: float, aware: bool, found: fl.Evaluation, top: fl.Ceiling, at: int) -> dict[str, Any]:
    twins = top.twins_curve
    return {
        "notion": notion,
        "tolerance": tolerance,
        "aware": aware,
        "found": list(found.accuracy),
        "gap": None if notion == "none" else found.gaps[notion].value,
        "ceiling": float(top.curve.value[at]),
        "upper": float(top.curve.upper[at]),
        "twins upper": None if twins is None else float(twins.upper[at]),
    }


def growth(folder: Path) -> None:
    """Measure how far the limit is above the truth with more and more rows, of a law made from Dutch."""
    warnings.simplefilter("ignore")
    path = folder / "growth.jsonl"
    done = {json.loads(line)["rows"] for line in path.read_text().splitlines()} if path.exists() else set()
    known = law("dutch 50")
    asked: dict[str, dict[str, float]] = {"none": {}, "DP 0.05": {"DP": 0.05}}
    truth = {name: known.limit(at, False) for name, at in asked.items()}
    for rows in ROWS:
        if rows in done:
            continue
        draws = [one_draw(replace(known, rows=rows), 500 + draw, "linear", asked=asked) for draw in range(DRAWS)]
        lines = {
            name: [[own["lines"][f"{name}, hidden"][key] for key in ("value", "upper")] for own in draws]
            for name in asked
        }
        twins = float(np.mean([own["twins, hidden"] for own in draws]))
        with path.open("a") as file:
            file.write(json.dumps({"rows": rows, "twins": twins, "truth": truth, "lines": lines}) + "\n")
