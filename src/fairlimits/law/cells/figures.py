"""Pictures of cells."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fairlimits._util.plotting import COLOURS, MUTED, plain_text
from fairlimits._util.suggestions import did_you_mean
from fairlimits._util.types import Floats
from fairlimits.errors import InputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw_cells(mass: Floats, groups: tuple[str, ...], ax: Axes, group: str | None) -> Axes:
    """Draw the share of label 1 in each cell against the share of one group (see `CellDistribution.plot`)."""
    people = mass.sum(axis=(0, 2))
    smallest = groups[int(np.where(people > 0, people, np.inf).argmin())]
    chosen = smallest if group is None else group
    if chosen not in groups:
        raise InputError(
            f"There is no group {chosen!r}; the groups are {', '.join(groups)}.{did_you_mean(chosen, groups)}"
        )
    place = groups.index(chosen)
    size = mass.sum(axis=(1, 2))
    filled = size > 0
    size, inside = size[filled], mass[filled]
    # The area of a point is in proportion to the people in the cell; the largest is 12 points wide.
    ax.scatter(
        inside[:, place].sum(axis=1) / size,
        inside[:, :, 1].sum(axis=1) / size,
        s=144 * size / size.max(),
        color=COLOURS["DP"],
        alpha=0.6,
        linewidths=0,
    )
    ax.axvline(people[place], color=MUTED, linewidth=1, linestyle="--")
    ax.axhline(mass[:, :, 1].sum(), color=MUTED, linewidth=1, linestyle="--")
    ax.set_xlim(-0.03, 1.03)
    ax.set_ylim(-0.03, 1.03)
    ax.set_xlabel(plain_text(f"share of {chosen} in the cell (area: its people); dashed: overall"))
    ax.set_ylabel("share of label 1 in the cell (plug-in)")
    return ax
