"""Draws test accuracy against achieved test gap, a panel per data set, criterion and scenario."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, PercentFormatter

from benchmarks.peers.bases import OURS as OUR_BASE
from benchmarks.peers.compare import OURS, Record
from benchmarks.peers.methods import METHODS
from benchmarks.peers.splits import CRITERIA, DATA
from fairlimits._util.plotting import INK, figure_style

# Okabe and Ito's palette; ours is ink, on top. Markers tell the methods apart where colour is lost.
_LOOKS = {
    OURS: (INK, "o"),
    "threshold-optimizer": ("#E69F00", "s"),
    "error-parity": ("#0072B2", "^"),
    "aif360": ("#CC79A7", "D"),
    "linear": ("#009E73", "v"),
    "exponentiated-gradient": ("#D55E00", "P"),
}


def draw(records: Sequence[Record], path: Path) -> None:
    """Draw all panels into a PNG file."""
    scenarios = [(aware, name) for aware in (True, False) for name in DATA]
    with figure_style():
        figure, axes = plt.subplots(len(scenarios), len(CRITERIA), figsize=(11, 15), squeeze=False)
        for row, (aware, name) in zip(axes, scenarios, strict=True):
            for panel, criterion in zip(row, CRITERIA, strict=True):
                chosen = [r for r in records if (r["data"], r["criterion"], r["aware"]) == (name, criterion, aware)]
                _panel(panel, chosen, criterion)
                panel.set_title(f"{name.capitalize()}, {criterion}, {'aware' if aware else 'unaware'}")
            row[0].set_ylabel("test accuracy")
        for panel in axes[-1]:
            panel.set_xlabel("achieved test gap")
        _legend(figure, axes.ravel().tolist())
        figure.savefig(path)
        plt.close(figure)


def _panel(panel: Axes, records: Sequence[Record], criterion: str) -> None:
    curves: dict[tuple[str, str], dict[int, list[Record]]] = {}
    for record in records:
        curves.setdefault((record["method"], record["base"]), {}).setdefault(record["seed"], []).append(record)
    # Methods are measured on different numbers of splits: only those that all have can be drawn together.
    seeds = set.intersection(*(set(by_seed) for by_seed in curves.values())) if curves else set()
    for (method, base), by_seed in curves.items():
        rows = [record for seed in seeds for record in by_seed[seed]]
        _curve(panel, rows, method, base, criterion)
    panel.set_xlim(left=0)
    panel.xaxis.set_major_locator(MaxNLocator(5))
    panel.yaxis.set_major_formatter(PercentFormatter(1, decimals=1))


def _curve(panel: Axes, rows: Sequence[Record], method: str, base: str, criterion: str) -> None:
    points = []
    for eps in sorted({row["eps"] for row in rows}):
        at = [row for row in rows if row["eps"] == eps]
        points.append((np.mean([row["gaps"][criterion] for row in at]), np.mean([row["accuracy"] for row in at])))
    if not points:
        return
    colour, marker = _LOOKS[method]
    own = base != OUR_BASE
    gaps, accuracies = np.array(points).T
    panel.plot(
        gaps,
        accuracies,
        color=colour,
        marker=marker,
        markersize=5,
        markerfacecolor="white" if own else colour,
        linestyle=(0, (2, 1.5)) if own else "-",
        linewidth=2.2 if method == OURS else 1.2,
        zorder=3 if method == OURS else 2,
        label=label(method, base),
    )


def label(method: str, base: str) -> str:
    """Name of a method on a base, for people."""
    title = METHODS[method].title
    if len(METHODS[method].bases) == 1:
        return title
    return f"{title}, given our estimates" if base == OUR_BASE else f"{title}, own booster"


def _legend(figure: Figure, panels: Sequence[Axes]) -> None:
    entries: dict[str, Any] = {}
    for panel in panels:
        for handle, text in zip(*panel.get_legend_handles_labels(), strict=True):
            entries.setdefault(text, handle)
    order = sorted(entries, key=lambda text: [label(m, b) for m in METHODS for b in METHODS[m].bases].index(text))
    handles = [entries[text] for text in order]
    figure.legend(handles, order, loc="outside lower center", ncols=3, fontsize=9)
