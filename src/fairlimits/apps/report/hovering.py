"""Values that show when the pointer rests on a part of a picture: titles inside the SVG, so that no script is needed.

matplotlib writes the gid of an artist as the name of its SVG group. Here a gid holds the words until the picture is
written, and `with_titles` makes a title of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

_MARK = "hover: "
_GROUP = re.compile(rf'<g id="{_MARK}([^"]*)">')
# Of what a pointer can hit around a point, in points.
_REACH = 11


def say(artist: Artist, words: str) -> None:
    """Let a part of a picture say something when the pointer rests on it."""
    artist.set_gid(f"{_MARK}{words}")


def say_at(ax: Axes, x: Iterable[float], y: Iterable[float], words: Sequence[str]) -> None:
    """Let the points of a line say something each; the targets that the pointer hits are invisible."""
    for at, (own_x, own_y) in enumerate(zip(x, y, strict=True)):
        (target,) = ax.plot(
            [own_x], [own_y], "o", markersize=_REACH, alpha=0, color="white", label="_nothing", zorder=5, clip_on=False
        )
        say(target, words[at])


def with_titles(svg: str) -> str:
    """Turn the words of a written picture into titles; they are escaped already, as they were an attribute."""
    return _GROUP.sub(r"<g><title>\1</title>", svg)
