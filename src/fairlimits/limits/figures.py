"""Pictures of frontiers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from fairlimits._util.plotting import STYLES, colour_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from fairlimits.limits.frontiers import Frontier


def draw_frontier(curve: Frontier, ax: Axes, options: Mapping[str, Any]) -> Axes:
    """Draw accuracy, or another objective, against the tolerance or ratio that moves (see `Frontier.plot`)."""
    moving = [name for name, values in curve.grid.items() if np.ptp(values) > 0] or list(curve.grid)
    fixed = [f"{name} = {curve.grid[name][0]:g}" for name in curve.grid if name not in moving]
    label = " + ".join(moving) + (f" ({', '.join(fixed)})" if fixed else "")
    named = f"{label}, group {'seen' if curve.aware else 'hidden'}"
    given = {"label": named, "color": colour_of(label), **options}
    if curve.held_out:
        low, high = ([getattr(each.accuracy, end) for each in curve.held_out] for end in ("low", "high"))
        ax.fill_between(curve.at, low, high, color=given["color"], alpha=0.2, linewidth=0)
        ax.plot(curve.at, curve.accuracy, **{**given, "label": f"{given['label']}, held out"})
        ax.plot(curve.at, curve.plug_in, **{**given, "label": f"{given['label']}, plug-in", "linestyle": "--"})
    else:
        # Curves of one notion have one colour, with the group seen or hidden.
        style = {} if "ls" in options else {"linestyle": STYLES[0] if curve.aware else STYLES[1]}
        ax.plot(curve.at, curve.value, **{**style, **given})
    if curve.is_constant.any():
        # Hollow marks on top of the line, where the best rule gives everybody the same score.
        shown = curve.accuracy if curve.held_out else curve.value
        hollow = {"markerfacecolor": "white", "color": given["color"], "linestyle": "none", "clip_on": False}
        ax.plot(curve.at[curve.is_constant], shown[curve.is_constant], "o", label="same score for all", **hollow)
    ax.legend()
    if curve._ratios:
        ax.set_xlabel(f"smallest ratio allowed, {moving[0].removesuffix(' ratio')}")
    else:
        ax.set_xlabel(f"tolerance: largest gap allowed, {' and '.join(moving)}")
    certified = "certified, " if curve.rules[0].guarantee is not None else ""
    ax.set_ylabel("accuracy" if curve.held_out else f"{curve.objective.title} ({certified}plug-in)")
    return ax
