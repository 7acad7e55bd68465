"""The common style of all figures: colours that survive colour-blindness and print, quiet axes, one font."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from fairlimits._util.names import printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS: dict[str, str] = {
    # Okabe and Ito's palette, told apart with every common kind of colour vision.
    "DP": "#0072B2",
    "EA": "#D55E00",
    "EOp": "#56B4E9",
    "PE": "#CC79A7",
    "EOd": "#009E73",
    "IF": "#7A5195",
    "aware": "#0072B2",
    "unaware": "#D55E00",
}
GROUP_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7A5195", "#999999")
INK, MUTED, GRID = "#1f2933", "#52606d", "#d9dee4"

# Line styles tell curves apart where there is no colour, as in print.
STYLES = ("-", (0, (5, 2)), (0, (1.5, 1.5)), (0, (5, 2, 1.5, 2)), (0, (8, 2)), (0, (3, 1, 1, 1, 1, 1)))

# Characters of a name that a picture has room for.
_LONGEST = 60

_SETTINGS: dict[Any, Any] = {
    "figure.dpi": 110,
    "figure.constrained_layout.use": True,
    "savefig.dpi": 200,
    "font.family": "sans-serif",
    "font.size": 10,
    "axes.titlesize": 11,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.edgecolor": MUTED,
    "axes.labelcolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": GRID,
    "grid.linewidth": 0.7,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "text.color": INK,
    "lines.linewidth": 2.0,
    "legend.frameon": False,
    "svg.fonttype": "none",
    # The same figure gives the same file.
    "svg.hashsalt": "fairlimits",
}


@contextmanager
def figure_style() -> Iterator[None]:
    """Draw everything inside the block in the style of the project, and leave other figures alone."""
    import matplotlib as mpl

    with mpl.rc_context(_SETTINGS):
        yield


def colour_of(name: str) -> str:
    """Colour of a notion, or ink for a mix of several."""
    return COLOURS.get(name, INK)


def nth_colour(number: int) -> str:
    """Colour of the n-th of several things that have no colour of their own, such as groups."""
    colours = [COLOURS[name] for name in ("DP", "EA", "EOd", "PE", "EOp", "IF")]
    return colours[number % len(colours)]


def plain_text(name: str) -> str:
    """Return a name from the data as it is drawn: on one line, not too long, and no formula where it has dollars."""
    shown = printable(name)
    shown = shown if len(shown) <= _LONGEST else f"{shown[: _LONGEST - 1]}\N{HORIZONTAL ELLIPSIS}"
    return shown.replace("$", r"\$")


@contextmanager
def any_script() -> Iterator[None]:
    """Let names be in a script that the font of pictures has no letters for, without a warning per letter."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from", category=UserWarning)
        yield


def subplots(*grid: int, **options: Any) -> tuple[Figure, Any]:
    """Make a figure with axes as pyplot does, which is imported now that a picture is asked for."""
    import matplotlib.pyplot as plt

    return plt.subplots(*grid, **options)


def axes_or_new(ax: Axes | None, figsize: tuple[float, float] = (5.6, 3.6)) -> Axes:
    """Return the axes that were given, or those of a new figure."""
    if ax is not None:
        return ax
    new: Axes = subplots(figsize=figsize)[1]
    return new


def close(figure: Figure) -> None:
    """Let pyplot forget a figure."""
    import matplotlib.pyplot as plt

    plt.close(figure)
