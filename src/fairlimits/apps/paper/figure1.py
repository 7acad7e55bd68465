"""Figure 1, as the project's own diagram: from people to cells, and the four situations."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch

from fairlimits._util.plotting import COLOURS, INK, MUTED, figure_style, subplots
from fairlimits.apps.paper.section import Found, Section
from fairlimits.apps.paper.settings import Settings

_STEPS = (
    ("people", "features X,\ngroup A, label Y"),
    ("generator", "learns the law\nof the rows"),
    ("a million rows", "drawn from it"),
    ("N cells", "of the features,\nor of P(A, Y | x)"),
    ("P(cell, A, Y)", "the joint law,\ncounted"),
)

_SITUATIONS = (
    ("A seen, X as it is", "solve(aware=True): problem (30)"),
    ("A hidden, X as it is", "solve(): problem (4)"),
    ("A seen, X decorrelated", "decorrelate(): problem (31)"),
    ("A hidden, X decorrelated", "decorrelate(): problem (5)"),
)


def section(found: Found, settings: Settings) -> Section:
    """Draw the diagram; it needs no results."""
    return Section(
        "figure1",
        "Figure 1: the framework",
        figure=draw,
        alternative="People, generator, rows, cells and their joint law in a line; below it four boxes, one for each "
        "situation: the group seen or hidden, the features as they are or decorrelated from it.",
        notes=("Drawn anew. Each situation gives the best accuracy of any rule on the cells at each tolerance.",),
    )


def draw() -> Figure:
    """Draw the steps in a row, and the four situations as a square below."""
    with figure_style():
        figure, ax = subplots(figsize=(10, 4.6))
        ax.set_axis_off()
        ax.grid(visible=False)
        ax.set_xlim(0, 10)
        ax.set_ylim(0, 4.6)
        ax.text(0.05, 4.4, "(a) a discrete law of the population", fontweight="bold")
        ax.text(0.05, 2.55, "(b) the most accurate fair rule, in four situations", fontweight="bold")
        width, step = 1.62, 2.06
        for number, (head, words) in enumerate(_STEPS):
            left = 0.05 + number * step
            _box(ax, left, 3.05, width, 1.1, head, words, COLOURS["aware"])
            if number:
                arrow = {"arrowstyle": "-|>", "color": MUTED, "linewidth": 1.2}
                ax.annotate("", (left - 0.04, 3.6), (left - step + width + 0.04, 3.6), arrowprops=arrow)
        for number, (head, words) in enumerate(_SITUATIONS):
            colour = COLOURS["aware"] if number % 2 == 0 else COLOURS["unaware"]
            _box(ax, 0.05 + 3.9 * (number % 2), 1.35 - 1.15 * (number // 2), 3.6, 0.95, head, words, colour)
        ax.text(7.85, 1.83, "what a rule may see", color=MUTED)
        ax.text(7.85, 0.68, "what it sees must not\ntell the group", color=MUTED, va="center")
    return figure


def _box(ax: Axes, left: float, bottom: float, width: float, height: float, head: str, words: str, colour: str) -> None:
    shape = FancyBboxPatch(
        (left, bottom), width, height, boxstyle="round,pad=0,rounding_size=0.08", facecolor="white", edgecolor=colour
    )
    shape.set_linewidth(1.4)
    ax.add_patch(shape)
    middle = left + width / 2
    ax.text(middle, bottom + height - 0.2, head, ha="center", va="center", fontweight="bold", color=INK)
    ax.text(middle, bottom + (height - 0.35) / 2, words, ha="center", va="center", fontsize=8.5, color=MUTED)
