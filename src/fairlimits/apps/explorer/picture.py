"""The frontier with where a person stands on it, for the screen (plotly) and for a file (matplotlib)."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from fairlimits._util.plotting import COLOURS, GRID, INK, MUTED, figure_style, plain_text
from fairlimits.apps.explorer.answer import Answer, Curve
from fairlimits.apps.explorer.sentences import Point, sees
from fairlimits.notions import title

_FONT = 'system-ui, "Segoe UI", Roboto, sans-serif'
# A grey that shows on a light page and on a dark one.
_POINT_COLOURS = {"pin": "#7b8794", "model": COLOURS["EOd"]}


def axis_title(moving: str) -> str:
    """What the plot runs along."""
    return f"largest gap, {title(moving)}"


def with_position(curve: Curve, answer: Answer) -> tuple[list[float], list[float]]:
    """The curve with the present position among its points: a sampled one would pass just below it."""
    pairs = list(zip(curve["tolerance"], curve["accuracy"], strict=True))
    if answer["at"] is not None and not curve["exact"]:
        pairs = sorted([*pairs, (answer["at"], answer["accuracy"])])
    return [x for x, _ in pairs], [y for _, y in pairs]


def plotly_figure(
    answer: Answer, curves: Mapping[bool, Curve], points: Sequence[Point], above: Curve | None = None
) -> dict[str, Any]:
    """Draw for the screen, as the plain data that plotly reads; `above` is what no rule passes, if it is known.

    Plotly takes some HTML in labels for markup, so every name that is not ours is escaped.
    """
    traces = [_curve_trace(aware, curve, answer) for aware, curve in curves.items()]
    if above is not None:
        traces.append(_above_trace(above))
    for kind, symbol in (("pin", "diamond"), ("model", "x")):
        shown = placed(points, kind, answer["moving"])
        if shown:
            traces.append(_points_trace(kind, symbol, shown))
    if answer["at"] is not None:
        traces.append(_position_trace(answer))
    axis = {"gridcolor": GRID, "linecolor": MUTED, "zeroline": False, "ticks": "outside", "tickcolor": GRID}
    return {
        "data": traces,
        "layout": {
            "template": None,
            "font": {"family": _FONT, "color": INK, "size": 13},
            # The page shows through, light or dark.
            "paper_bgcolor": "rgba(0,0,0,0)",
            "plot_bgcolor": "rgba(0,0,0,0)",
            "margin": {"l": 64, "r": 12, "t": 8, "b": 56},
            "xaxis": {**axis, "title": _named(axis_title(answer["moving"])), "rangemode": "tozero"},
            "yaxis": {**axis, "title": _named("accuracy (plug-in)"), "tickformat": ".3f", "automargin": True},
            "legend": {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0},
            "hovermode": "closest",
            # A zoom lasts as long as the plot is about the same notion.
            "uirevision": answer["moving"],
        },
    }


def _named(words: str) -> dict[str, Any]:
    """The title of an axis, no larger than what else is written."""
    return {"text": words, "font": {"size": 13}}


def _curve_trace(aware: bool, curve: Curve, answer: Answer) -> dict[str, Any]:
    mine = aware == answer["aware"]
    x, y = with_position(curve, answer) if mine else (curve["tolerance"], curve["accuracy"])
    return {
        "type": "scatter",
        "mode": "lines",
        "name": sees(aware),
        "x": x,
        "y": y,
        "line": {
            "color": COLOURS["aware" if aware else "unaware"],
            "width": 3 if mine else 1.5,
            "dash": "solid" if aware else "dash",
        },
        "hovertemplate": "%{y:.4f} at %{x:.3f}",
    }


def _above_trace(above: Curve) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "lines",
        "name": "no rule passes (95%)",
        "x": above["tolerance"],
        "y": above["accuracy"],
        "line": {"color": MUTED, "width": 2, "dash": "dot"},
        "hovertemplate": "no rule passes %{y:.4f} at %{x:.3f}<extra></extra>",
    }


def _points_trace(kind: str, symbol: str, shown: Sequence[tuple[float, float, Point]]) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "markers+text",
        "name": "pinned" if kind == "pin" else "model",
        "x": [x for x, _, _ in shown],
        "y": [y for _, y, _ in shown],
        "text": [str(point["number"]) for _, _, point in shown],
        "customdata": [escape(point["name"]) for _, _, point in shown],
        "textposition": "top center",
        "marker": {"size": 10, "symbol": symbol, "color": _POINT_COLOURS[kind]},
        "hovertemplate": "%{customdata}<br>%{y:.4f} at %{x:.3f}<extra></extra>",
    }


def _position_trace(answer: Answer) -> dict[str, Any]:
    colour = COLOURS["aware" if answer["aware"] else "unaware"]
    return {
        "type": "scatter",
        "mode": "markers",
        "name": "here",
        "x": [answer["at"]],
        "y": [answer["accuracy"]],
        "marker": {"size": 14, "color": colour, "line": {"color": "white", "width": 2}},
        "hovertemplate": "here: %{y:.4f} at %{x:.3f}<extra></extra>",
    }


def placed(points: Sequence[Point], kind: str, moving: str) -> list[tuple[float, float, Point]]:
    """Where the points of a kind stand: at their own gap. Those without one are left out."""
    own = ((point["gaps"].get(moving), point) for point in points if point["kind"] == kind)
    return [(gap, point["accuracy"], point) for gap, point in own if gap is not None]


def svg_figure(answer: Answer, curves: Mapping[bool, Curve], points: Sequence[Point], heading: str) -> str:
    """Draw for a file: SVG text, the same for the same choices."""
    from matplotlib.figure import Figure

    with figure_style():
        # Not through pyplot, which may want a screen, and the main thread.
        figure = Figure(figsize=(7, 4.2))
        ax = figure.subplots()
        for aware, curve in curves.items():
            x, y = with_position(curve, answer) if aware == answer["aware"] else (curve["tolerance"], curve["accuracy"])
            colour = COLOURS["aware" if aware else "unaware"]
            ax.plot(x, y, color=colour, linestyle="-" if aware else (0, (5, 2)), label=sees(aware))
        if answer["at"] is not None:
            colour = COLOURS["aware" if answer["aware"] else "unaware"]
            ax.plot(answer["at"], answer["accuracy"], "o", color=colour, markersize=9, label="here")
        for kind, symbol in (("pin", "D"), ("model", "X")):
            for x_at, y_at, point in placed(points, kind, answer["moving"]):
                label = f"{point['number']}: {plain_text(point['name'])}"
                ax.plot(x_at, y_at, symbol, color=_POINT_COLOURS[kind], markersize=7, label=label)
                ax.annotate(str(point["number"]), (x_at, y_at), (0, 6), textcoords="offset points", ha="center")
        ax.set_title(plain_text(heading))
        ax.set_xlabel(axis_title(answer["moving"]))
        ax.set_ylabel("accuracy (plug-in)")
        ax.legend(loc="lower right", fontsize=8)
        stream = io.StringIO()
        # No date, so that the same choices give the same file.
        figure.savefig(stream, format="svg", metadata={"Date": None})
    return stream.getvalue()
