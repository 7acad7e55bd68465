"""Pictures of a report, as SVG text that a page holds in itself."""

from __future__ import annotations

import io
from collections.abc import Iterable

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fairlimits.look import COLOURS, INK, MUTED, figure_style
from fairlimits.report.summary import Clash, Curve, Summary


def frontier_figure(summary: Summary) -> Figure:
    """Draw the exact frontier of every notion, with the group seen and not seen."""
    notions = list(dict.fromkeys(curve.notion for curve in summary.curves))
    lowest = min(min(curve.accuracy) for curve in summary.curves)
    highest = max(summary.best_aware, summary.best_unaware)
    room = max(highest - lowest, 1e-4) * 0.08
    widest = max(max(curve.tolerances) for curve in summary.curves)
    with figure_style():
        figure, axes = plt.subplots(1, len(notions), figsize=(11, 2.9), sharey=True)
        for ax, notion in zip(np.atleast_1d(axes), notions, strict=True):
            for curve in (curve for curve in summary.curves if curve.notion == notion):
                _draw(ax, curve, widest * 1.05)
            ax.set_title(curve.title.capitalize())
            ax.set_xlim(0, max(widest * 1.05, 1e-3))
            ax.set_ylim(lowest - room, highest + room)
            ax.set_xlabel("largest gap allowed")
        first = np.atleast_1d(axes)[0]
        first.set_ylabel("accuracy (plug-in)")
        first.legend(loc="lower right")
    return figure


def _draw(ax: Axes, curve: Curve, until: float) -> None:
    name = "aware" if curve.aware else "unaware"
    label = "group seen" if curve.aware else "group hidden"
    x, y = [*curve.tolerances, until], [*curve.accuracy, curve.accuracy[-1]]
    ax.plot(x, y, color=COLOURS[name], linestyle="-" if curve.aware else (0, (5, 2)), label=label)


def tension_figure(clashes: Iterable[Clash]) -> Figure:
    """Draw what each pair of notions costs beyond the dearer one, the tensest on top."""
    rows = list(clashes)
    with figure_style():
        figure, ax = plt.subplots(figsize=(10, 0.8 + 0.3 * len(rows)))
        places = np.arange(len(rows))[::-1]
        dearer = np.array([max(row.loss_first, row.loss_second) for row in rows]) * 100
        beyond = np.array([row.tension for row in rows]) * 100
        ax.barh(places, dearer, color="#c9d2dc", label="the dearer one alone")
        ax.barh(places, beyond, left=dearer, color=COLOURS["EA"], label="on top: the tension")
        for place, total in zip(places, dearer + beyond, strict=True):
            ax.annotate(f"{total:.1f}", (total, place), (4, 0), textcoords="offset points", va="center", color=INK)
        ax.set_yticks(places, [f"{row.first} + {row.second}" for row in rows])
        ax.tick_params(axis="y", length=0, colors=MUTED)
        ax.grid(axis="y", visible=False)
        ax.set_xlabel("accuracy lost, percentage points (plug-in, group hidden)")
        ax.legend(loc="lower right")
    return figure


def to_svg(figure: Figure) -> str:
    """Turn a figure into SVG text without the XML prologue, and close it."""
    stream = io.StringIO()
    with figure_style():
        # No date, so that the same report gives the same file.
        figure.savefig(stream, format="svg", metadata={"Date": None})
    plt.close(figure)
    text = stream.getvalue()
    return text[text.index("<svg") :]
