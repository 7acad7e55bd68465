"""Table 4: seconds for each task."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

import fairlimits as fl
from fairlimits.apps.paper import multipliers, printed
from fairlimits.apps.paper.bench import Bench, cells_unit
from fairlimits.apps.paper.frontiers import PAIRS, SINGLES, grid_of
from fairlimits.apps.paper.section import Claim, Found, Section, Table
from fairlimits.apps.paper.settings import Settings

_RELAXATIONS = np.array([0.0, 0.05, 0.1, 0.15, 0.2])

_TASKS = {
    "cells": "cells: generator, rows, quantizer",
    "solve unaware": "solving (4), unaware",
    "decorrelate unaware": "solving (9): the optimum, unaware",
    "solve aware": "solving (30), aware",
    "decorrelate aware": "solving (32): the optimum, aware",
}


def measure(bench: Bench) -> dict[str, Any]:
    """Time single solves for every pairing of Figures 2 and 5, and the map that moves people least."""
    dist = bench.dist
    seconds: dict[str, list[float]] = {}
    for scenario in printed.SCENARIOS:
        own = []
        for pairing in (*SINGLES, *PAIRS):
            grid = grid_of(pairing, _RELAXATIONS)
            for point in range(len(_RELAXATIONS)):
                start = time.perf_counter()
                fl.solve(dist, {name: float(values[point]) for name, values in grid.items()}, aware=scenario == "aware")
                own.append(time.perf_counter() - start)
        seconds[f"solve {scenario}"] = own
        rule = fl.solve(dist, {"DP": 0.05, "EA": 0.05}, aware=scenario == "aware")
        start = time.perf_counter()
        fl.decorrelate(dist, rule)
        seconds[f"least {scenario}"] = [time.perf_counter() - start]
    return seconds


def section(found: Found, settings: Settings) -> Section:
    """Write the paper's seconds beside ours."""
    names = list(found["table4"])
    ours = {name: _seconds(found, settings, name) for name in names}
    rows, records = [], []
    for task, words in _TASKS.items():
        row = [words]
        for name in names:
            theirs, own = printed.TABLE4[task][name], ours[name].get(task)
            if not own:
                row += [_pair(theirs[0], theirs[1]), "–", "–"]
                continue
            mean = float(np.mean(own))
            row += [
                _pair(theirs[0], theirs[1]),
                _pair(mean, float(np.std(own, ddof=1)) if len(own) > 1 else None),
                _times(theirs[0], mean),
            ]
            records.append(
                {
                    "task": words,
                    "data": name,
                    "paper seconds": theirs[0],
                    "our seconds": mean,
                    "difference": mean - theirs[0],
                    "times as fast": theirs[0] / mean,
                    "longest": max(own),
                }
            )
        rows.append(row)
    for scenario in printed.SCENARIOS:
        rows.append(
            _further(f"the map that moves people least, {scenario}", [ours[n][f"least {scenario}"] for n in names])
        )
        slow = [ours[name].get(f"multipliers {scenario}", []) for name in names]
        if any(slow):
            rows.append(_further(f"the paper’s multipliers, {scenario}", slow))
    over = (("seconds (deviation)", 1), *((printed.TITLES[name], 3) for name in names))
    return Section(
        "table4",
        "Table 4: time",
        tables=[Table("Seconds for each task", ("", *("paper", "ours", "times as fast") * len(names)), rows, over)],
        notes=(
            "The paper: a laptop of four cores at 1.7 GHz; its first row is the quantizer alone, ours also learns the "
            "rows and draws a million. A solve of ours proves the optimum and finds the shadow prices too.",
        ),
        claims=_claims(ours),
        records=records,
    )


def _seconds(found: Found, settings: Settings, name: str) -> dict[str, list[float]]:
    """Everything that was timed on one data set."""
    own: dict[str, list[float]] = {key: list(values) for key, values in found["table4"][name].items()}
    cut = found[cells_unit(settings.n_cells, settings.partition)].get(name)
    if cut is not None:
        own["cells"] = [cut["seconds"] + cut["shared seconds"]]
    for scenario in printed.SCENARIOS:
        rows = found["table2"].get(name, {}).get("rows", ())
        own[f"decorrelate {scenario}"] = [row["seconds"] for row in rows if row["scenario"] == scenario]
        own[f"multipliers {scenario}"] = [row["seconds"] for row in multipliers.rows_of(found, name, scenario)]
    return own


def _further(words: str, values: Sequence[Sequence[float]]) -> list[str]:
    row = [words]
    for own in values:
        row += [
            "",
            _pair(float(np.mean(own)), float(np.std(own, ddof=1)) if len(own) > 1 else None) if own else "–",
            "",
        ]
    return row


def _pair(mean: float, deviation: float | None) -> str:
    def short(value: float) -> str:
        return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 1 else f"{value:.4f}"

    return short(mean) if deviation is None else f"{short(mean)} ({short(deviation)})"


def _times(theirs: float, mean: float) -> str:
    factor = theirs / mean
    return f"{factor:,.0f}" if factor >= 10 else f"{factor:.1f}"


def _claims(ours: Mapping[str, Mapping[str, Sequence[float]]]) -> list[Claim]:
    where = "Appendix I, Table 4"
    solves = [value for own in ours.values() for key in ("solve aware", "solve unaware") for value in own[key]]
    maps = [
        value for own in ours.values() for key in ("decorrelate aware", "decorrelate unaware") for value in own[key]
    ]
    cells = [value for own in ours.values() for value in own.get("cells", ())]
    claims = [
        Claim(
            where,
            "The linear programs are solved in far less than a second.",
            f"longest of {len(solves)}: {max(solves):.3f} s, mean {np.mean(solves):.4f} s",
            max(solves) < 1,
        )
    ]
    if maps:
        claims.append(
            Claim(
                where,
                "Solving (9) and (32) typically takes around 30 minutes.",
                f"mean {np.mean(maps):.4f} s, longest {max(maps):.3f} s for the exact optimum",
                float(np.mean(maps)) > 600,
            )
        )
    if maps and cells:
        claims.append(
            Claim(
                where,
                "Making the 256 cells takes longest of all tasks.",
                f"{min(cells):.1f} to {max(cells):.1f} s, where the longest exact map takes {max(maps):.3f} s",
                min(cells) > max(*maps, *solves),
            )
        )
    return claims
