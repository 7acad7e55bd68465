"""Pictures of tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fairlimits._util.plotting import COLOURS, GRID, plain_text
from fairlimits.data.schema import value_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from fairlimits.data.dataset import Dataset


def draw_groups(data: Dataset, ax: Axes) -> Axes:
    """Draw the rows of every group, by label (see `Dataset.plot`)."""
    counts = data.counts
    at = np.arange(len(data.groups))
    positive = f"{data.schema.label} {value_text(data.schema.positive)}"
    ax.barh(at, counts[:, 1], color=COLOURS["DP"], label=plain_text(positive))
    ax.barh(at, counts[:, 0], left=counts[:, 1], color=GRID, label="other label")
    for place, (no, yes) in enumerate(counts.tolist()):
        if no + yes:
            ax.annotate(f"{yes / (no + yes):.1%}", (no + yes, place), (4, 0), textcoords="offset points", va="center")
    ax.set_yticks(at, [plain_text(name) for name in data.groups])
    ax.invert_yaxis()
    ax.grid(visible=False, axis="y")
    ax.margins(x=0.12)
    ax.set_xlabel(plain_text(f"rows; the figure is the share with {positive}"))
    ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2)
    return ax
