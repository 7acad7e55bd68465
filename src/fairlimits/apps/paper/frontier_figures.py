"""The pictures of Figures 2, 5 and 6: small multiples, a row per data set, a column per kind of pairing."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D

from fairlimits._util.plotting import COLOURS, INK, MUTED, STYLES, figure_style, subplots
from fairlimits.apps.paper import frontier_claims, printed
from fairlimits.apps.paper.frontiers import GROUP_NOTIONS, PANELS, Curves, Panel
from fairlimits.apps.paper.section import Found, Section
from fairlimits.apps.paper.settings import INDIVIDUAL_SCALE, Settings

_TITLES = {
    "figure2": "Figure 2: accuracy against relaxation",
    "figure5": "Figure 5: the further pairings",
    "figure6": "Figure 6: three and four group notions, without and with Ind",
}

_CLAIMS = {
    "figure2": frontier_claims.figure2,
    "figure5": frontier_claims.figure5,
    "figure6": frontier_claims.figure6,
}


def section(target: str, found: Found, settings: Settings) -> Section:
    """Draw one of the three figures and check what the paper says about it."""
    own = {name: Curves(result) for name, result in found["frontiers"].items()}
    cells = f"{settings.n_cells} cells ({settings.partition})"
    notes = [
        f"Every point is a proven optimum on {cells}. Lower axis: relaxation of the group notions of a curve, all "
        f"alike. Upper axis: that of Ind, {INDIVIDUAL_SCALE:g} times as wide, for curves with Ind. The dotted line is "
        "the best accuracy without constraints. The paper does not say where its axes end.",
        "Aware, Ind compares the average score of a cell's people; the paper's literal weighting is compared below, "
        "under Sensitivity.",
    ]
    if target == "figure6":
        notes.append(
            "EOd contains PE, so DP+PE+EOd is DP+EOd, EA+PE+EOd is EA+EOd, and all four are DP+EA+EOd (the broad "
            "line): only triples with both DP and EA are new."
        )
    return Section(
        target,
        _TITLES[target],
        figure=partial(draw, PANELS[target], own),
        alternative=f"Accuracy rising with the relaxation allowed: {', '.join(p.title for p in PANELS[target])}.",
        notes=notes,
        claims=_CLAIMS[target](own),
        records=_records(target, own),
    )


def draw(panels: tuple[Panel, ...], own: Mapping[str, Curves]) -> Figure:
    """Draw a row for each data set and a column for each panel; aware panels of a row share a scale, so do unaware."""
    rows = len(own)
    with figure_style():
        figure, axes = subplots(
            rows,
            len(panels),
            figsize=(11.5, 0.9 + 2.75 * rows),
            sharex=True,
            squeeze=False,
            layout=ConstrainedLayoutEngine(h_pad=0.08, w_pad=0.06),
        )
        for row, (name, curves) in enumerate(own.items()):
            for column, panel in enumerate(panels):
                ax: Axes = axes[row, column]
                _draw_panel(ax, panel, curves)
                ax.set_ylim(*_range(panels, panel.aware, curves))
                if column and panels[column - 1].aware == panel.aware:
                    ax.tick_params(labelleft=False)
                if row == 0:
                    ax.set_title(panel.title, pad=30)
                if row == rows - 1:
                    ax.set_xlabel("relaxation of group notions")
                    _legend(ax, panel)
            axes[row, 0].set_ylabel(f"{printed.TITLES[name]}\naccuracy", fontweight="bold")
    return figure


def _range(panels: tuple[Panel, ...], aware: bool, curves: Curves) -> tuple[float, float]:
    """Lowest and highest accuracy to be shown in the panels of a scenario."""
    lowest = min(curves.accuracy(p, aware).min() for panel in panels if panel.aware == aware for p in panel.pairings)
    highest = curves.best["aware" if aware else "unaware"]
    room = max(0.05 * (highest - lowest), 0.002)
    return lowest - room, highest + room


def _draw_panel(ax: Axes, panel: Panel, curves: Curves) -> None:
    best = curves.best["aware" if panel.aware else "unaware"]
    ax.axhline(best, color=MUTED, linewidth=0.9, linestyle=":")
    for number, pairing in enumerate(panel.pairings):
        style = _style(pairing, number)
        ax.plot(curves.grid, curves.accuracy(pairing, panel.aware), **style)
    ax.set_xlim(0, curves.grid[-1])
    if any("Ind" in pairing for pairing in panel.pairings):
        upper = ax.secondary_xaxis("top", functions=(_to_individual, _to_group))
        upper.set_xlabel("relaxation of Ind", fontsize=8, color=COLOURS["IF"], labelpad=2)
        upper.tick_params(labelsize=8, colors=COLOURS["IF"], length=2, pad=1)


def _to_individual(group: Any) -> Any:
    return np.asarray(group) * INDIVIDUAL_SCALE


def _to_group(individual: Any) -> Any:
    return np.asarray(individual) / INDIVIDUAL_SCALE


def _style(pairing: str, number: int) -> dict[str, Any]:
    """Colour by what tells a curve apart from its neighbours; the line style does so again, without colour."""
    names = pairing.removesuffix("+Ind").split("+") if pairing.count("+") > 1 else pairing.split("+")
    if len(names) == 1:
        key = "IF" if names[0] == "Ind" else names[0]
    elif pairing in ("DP+EA", "PE+EOd"):
        key = ""
    elif len(names) > 2:
        # Of three out of four, the one that is missing.
        key = next((name for name in GROUP_NOTIONS if name not in names), "")
    else:
        key = names[0] if names[0] not in ("DP", "EA") else "IF" if names[1] == "Ind" else names[1]
    if len(names) == 4:
        # It lies under the triple that it equals.
        return {"color": "#b8c2cc", "linestyle": "-", "linewidth": 4.5, "zorder": 1.5}
    return {"color": COLOURS.get(key, INK), "linestyle": STYLES[number % len(STYLES)], "linewidth": 1.7}


def _legend(ax: Axes, panel: Panel) -> None:
    handles = [Line2D([], [], label=pairing, **_style(pairing, k)) for k, pairing in enumerate(panel.pairings)]
    ax.legend(
        handles=handles,
        loc="upper center",
        bbox_to_anchor=(0.5, -0.24),
        ncols=1 if panel.pairings[0].count("+") > 1 else 2,
        fontsize=8.5,
        handlelength=2.6,
        columnspacing=1.2,
    )


def _records(target: str, own: Mapping[str, Curves]) -> list[dict[str, Any]]:
    records = []
    for name, curves in own.items():
        for panel in PANELS[target]:
            for pairing in panel.pairings:
                accuracy = curves.accuracy(pairing, panel.aware)
                for at, value in zip(curves.grid.tolist(), accuracy.tolist(), strict=True):
                    records.append(
                        {
                            "data": name,
                            "panel": panel.title,
                            "pairing": pairing,
                            "aware": panel.aware,
                            "group relaxation": at,
                            "Ind relaxation": at * INDIVIDUAL_SCALE if "Ind" in pairing else None,
                            "accuracy": value,
                        }
                    )
    return records
