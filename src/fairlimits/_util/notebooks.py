"""`Shown`: how a result shows itself in a notebook, with the same words, table and picture that it has elsewhere."""

from __future__ import annotations

import base64
import io
from html import escape
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
        words = "".join(f"<p>{escape(line)}</p>" for line in self.summary().splitlines() if line.strip())
        return f"<div>{words}{_picture(self.plot())}{_table(self.to_frame())}</div>"


def _picture(axes: Axes) -> str:
    figure = axes.figure.get_figure(root=True)
    stream = io.BytesIO()
    with any_script():
        figure.savefig(stream, format="png", dpi=110)
    # Else the notebook would show it a second time.
    close(figure)
    content = base64.b64encode(stream.getvalue()).decode()
    return f'<img alt="" src="data:image/png;base64,{content}">'


def _table(frame: Any) -> str:
    table = nw.from_native(frame, eager_only=True).to_arrow()
    head = "".join(f"<th>{escape(name)}</th>" for name in table.column_names)
    rows = [tuple(row.values()) for row in table.slice(0, _ROWS_SHOWN).to_pylist()]
    body = "".join("<tr>" + "".join(f"<td>{escape(_text(value))}</td>" for value in row) + "</tr>" for row in rows)
    rest = table.num_rows - len(rows)
    more = f"<p>{rest:,} more rows: <code>to_frame()</code> has them.</p>" if rest > 0 else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


def _text(value: Any) -> str:
    if value is None:
        return ""
    text = f"{value:.4g}" if isinstance(value, float) else str(value)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."
