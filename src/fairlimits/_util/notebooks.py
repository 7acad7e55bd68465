"""`Shown`: how a result shows itself in a notebook, with the same words, table and picture that it has elsewhere."""

from __future__ import annotations

import base64
import io
from typing import TYPE_CHECKING, Any, Protocol

import narwhals.stable.v1 as nw

from fairlimits._util.plotting import any_script, close

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Rows of a table that a notebook has room for, and characters of a value.
_ROWS_SHOWN = 12
_LONGEST = 60


class _Result(Protocol):
    """What a result can do anywhere."""

    def summary(self) -> str: ...

    def to_frame(self) -> Any: ...

    def plot(self) -> Axes: ...


class Shown:
    """A result with `summary`, `to_frame` and `plot`, which a notebook shows below each other."""

    def _repr_html_(self: _Result) -> str:
        # Not at the top: only notebooks need it.
        from jinja2 import Environment, PackageLoader, StrictUndefined

        # What makes findings false has to stand beside them.
        doubts: tuple[str, ...] = getattr(self, "doubts", ())
        table = nw.from_native(self.to_frame(), eager_only=True).to_arrow()
        rows = table.slice(0, _ROWS_SHOWN).to_pylist()
        rest = table.num_rows - len(rows)
        pages = Environment(loader=PackageLoader("fairlimits._util"), autoescape=True, undefined=StrictUndefined)
        return pages.get_template("result.html").render(
            lines=[line for line in [*self.summary().splitlines(), *doubts] if line.strip()],
            picture=_picture(self.plot()),
            heads=list(_shown_columns(table.column_names)),
            rows=[_cells(row, table.column_names) for row in rows],
            rest=f"{rest:,}" if rest else "",
        )


def _shown_columns(names: list[str]) -> dict[str, tuple[str, str] | None]:
    """Columns that a notebook shows, each with those that hold the ends of its interval, which stand beside it."""
    ends = {name: (f"{name}, low", f"{name}, high") for name in names}
    if "low" in names and names.index("low"):
        # A table of one figure per row.
        ends[names[names.index("low") - 1]] = ("low", "high")
    known = {name: pair for name, pair in ends.items() if set(pair) <= set(names)}
    inside = {end for pair in known.values() for end in pair}
    return {name: known.get(name) for name in names if name not in inside}


def _cells(row: dict[str, Any], names: list[str]) -> list[str]:
    """Values of a row as a notebook shows them."""
    cells = []
    for name, ends in _shown_columns(names).items():
        text = _text(row[name])
        low, high = ("", "") if ends is None else (_text(row[end]) for end in ends)
        cells.append(f"{text} ({low} to {high})" if low and high else text)
    return cells


def _picture(axes: Axes) -> str:
    """A picture as a file of PNG in base64."""
    figure = axes.figure.get_figure(root=True)
    stream = io.BytesIO()
    with any_script():
        figure.savefig(stream, format="png", dpi=110)
    # Else the notebook would show it a second time.
    close(figure)
    return base64.b64encode(stream.getvalue()).decode()


def _text(value: Any) -> str:
    if value is None or value != value:
        return ""
    text = f"{value:.4g}" if isinstance(value, float) else str(value)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."
