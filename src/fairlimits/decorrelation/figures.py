"""Pictures of maps: figures before and after one, and how well adversaries tell groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fairlimits._util.plotting import MUTED, colour_of, plain_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw_before_and_after(figures: Sequence[Mapping[str, Any]], ax: Axes) -> Axes:
    """Draw correlation, accuracy and the gap of every notion (see `Decorrelation.plot`)."""
    shown = [
        row
        for row in figures
        if (row["measure"] in ("correlation", "accuracy") or row["measure"].startswith("gap "))
        and not np.isnan([row["before"], row["after"]]).any()
    ]
    for at, row in enumerate(shown):
        colour = colour_of(row["measure"].removeprefix("gap "))
        ax.plot([row["before"], row["after"]], [at, at], color=colour, linewidth=1, alpha=0.5)
        ax.plot(row["before"], at, "o", color=colour, markerfacecolor="white")
        ax.plot(row["after"], at, "o", color=colour)
    for words, filling in (("before the map", "white"), ("after", MUTED)):
        ax.plot([], [], "o", color=MUTED, markerfacecolor=filling, label=words)
    ax.set_yticks(range(len(shown)), [row["measure"] for row in shown])
    ax.set_ylim(len(shown) - 0.5, -0.5)
    ax.set_xlim(left=-0.02)
    ax.set_xlabel("plug-in; correlation lies between 0 and 2")
    ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2)
    return ax


def draw_attacks(attacks: Sequence[Mapping[str, Any]], confidence: float, ax: Axes) -> Axes:
    """Draw the AUC of adversaries for each group, before and after the map (see `Certificate.plot`)."""
    colour = colour_of("aware")
    ax.axvline(0.5, color=MUTED, linewidth=1)
    for at, row in enumerate(attacks):
        reach = [[row["after"] - row["low"]], [row["high"] - row["after"]]]
        before, after = (None, None) if at else ("before", "after the map")
        ax.plot(row["before"], at, "o", color=colour, markerfacecolor="white", label=before)
        ax.errorbar([row["after"]], [at], xerr=reach, fmt="o", capsize=3, color=colour, label=after)
    ax.set_yticks(range(len(attacks)), [plain_text(row["measure"].removeprefix("AUC of ")) for row in attacks])
    ax.set_ylim(len(attacks) - 0.5, -0.5)
    ax.set_xlabel(f"held-out AUC, {confidence:.0%} interval; 0.5 is guessing")
    ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2)
    return ax
