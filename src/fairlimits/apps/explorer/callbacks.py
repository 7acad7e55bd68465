"""What happens when a person moves, pins, drops or downloads something: stateless, all state is in the tab."""

from __future__ import annotations

import base64
import json
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dash import ALL, ClientsideFunction, Dash, Input, Output, State, ctx, no_update
from dash.exceptions import PreventUpdate

import fairlimits
from fairlimits.apps.explorer import page
from fairlimits.apps.explorer.answer import PARITY, Answer, Choices, Curve, read_choices
from fairlimits.apps.explorer.picture import plotly_figure, svg_figure
from fairlimits.apps.explorer.sentences import Point, asked
from fairlimits.apps.explorer.subject import Subject
from fairlimits.errors import FairlimitsError

_MOST_POINTS = 30
_LONGEST_NAME = 60

# What runs in the browser is in assets/explorer.js.
_IN_BROWSER = "explorer"


def register(app: Dash, subject: Subject) -> None:
    """Tie the page's parts together."""
    _answering(app, subject)
    _comparing(app, subject)
    _downloading(app, subject)


def _answering(app: Dash, subject: Subject) -> None:
    names = subject.notions
    switches = [Input(f"use-{name}", "value") for name in names]
    sliders = [Input(f"tolerance-{name}", "value") for name in names]

    # A slider moves faster than answers come: the browser asks anew when it has the last answer, for what holds then.
    app.clientside_callback(  # type: ignore[no-untyped-call]
        ClientsideFunction(_IN_BROWSER, "ask"),
        Output("asked", "data"),
        *switches,
        *sliders,
        Input("aware", "value"),
        Input("decorrelated", "value"),
        Input("busy", "data"),
        State("asked", "data"),
    )

    @app.callback(
        Output("answer", "data"),
        Output("headline", "children"),
        Output("gaps", "children"),
        Output("rates", "children"),
        Output("decorrelation", "children"),
        Output("plot", "figure"),
        Output("problem", "children"),
        Input("asked", "data"),
        State("answer", "data"),
        State("points", "data"),
        running=[(Output("busy", "data"), True, False)],
    )
    def follow(given: list[Any] | None, before: Answer | None, points: list[Point]) -> tuple[Any, ...]:
        if given is None:
            raise PreventUpdate
        used, moved = given[: len(names)], given[len(names) : 2 * len(names)]
        aware, decorrelated = given[2 * len(names) :]
        asked_for = {name: value for name, value, on in zip(names, moved, used, strict=True) if on}
        moving = _moving(asked_for, before)
        try:
            answer = subject.answer(read_choices(asked_for, aware == "seen", bool(decorrelated), moving))
            figure = _figure(subject, answer, points)
        except FairlimitsError as error:
            return *(no_update,) * 6, str(error)
        independent = answer["decorrelation"]
        return (
            answer,
            page.headline(answer),
            page.gap_table(answer),
            page.rates_table(answer),
            [] if independent is None else page.decorrelation_table(independent, answer["aware"]),
            # Sent together with the figures: if it followed them, the position would wait until the slider rests.
            figure,
            "",
        )

    @app.callback(
        [Output(f"tolerance-{name}", "disabled") for name in names], *switches, Input("decorrelated", "value")
    )
    def enable(*given: Any) -> list[bool]:
        *used, decorrelated = given
        # Independence holds parity at 0, whatever its slider says.
        return [not value or (bool(decorrelated) and name == PARITY) for name, value in zip(names, used, strict=True)]


def _moving(tolerances: Mapping[str, float | None], before: Answer | None) -> str:
    """The notion that the curve is drawn along: the one moved or switched on last, else the one before."""
    past = {} if before is None else before["tolerances"]
    changed = [name for name, value in tolerances.items() if past.get(name) != value]
    last = PARITY if before is None else before["moving"]
    if changed:
        return changed[-1]
    return last if last in tolerances or not tolerances else next(iter(tolerances))


def choices_of(answer: Answer) -> Choices:
    """The choices that an answer was given to."""
    return read_choices(answer["tolerances"], answer["aware"], answer["decorrelated"], answer["moving"])


def _curves(subject: Subject, answer: Answer) -> dict[bool, Curve]:
    choices = choices_of(answer)
    return {aware: subject.curve(choices.moving, choices.others, aware) for aware in (True, False)}


def _figure(subject: Subject, answer: Answer, points: list[Point]) -> dict[str, Any]:
    return plotly_figure(answer, _curves(subject, answer), points, subject.above(choices_of(answer)))


def _comparing(app: Dash, subject: Subject) -> None:
    app.clientside_callback(  # type: ignore[no-untyped-call]
        ClientsideFunction(_IN_BROWSER, "accept"),
        Output("accepted", "data"),
        Output("upload-message", "children", allow_duplicate=True),
        Output("upload", "contents"),
        Input("upload", "contents"),
        State("upload", "filename"),
        State("upload-limit", "data"),
        prevent_initial_call=True,
    )

    @app.callback(
        Output("points", "data"),
        Output("upload-message", "children"),
        Input("pin", "n_clicks"),
        Input("accepted", "data"),
        Input({"type": "remove", "number": ALL}, "n_clicks"),
        State("answer", "data"),
        State("points", "data"),
        prevent_initial_call=True,
    )
    def compare(
        _pin: int | None,
        accepted: dict[str, Any] | None,
        _remove: list[int | None],
        answer: Answer,
        points: list[Point],
    ) -> tuple[Any, Any]:
        trigger = ctx.triggered_id
        # A button that has just been made reports that nobody has pressed it.
        if not ctx.triggered[0]["value"]:
            raise PreventUpdate
        if isinstance(trigger, dict):
            return [point for point in points if point["number"] != trigger["number"]], ""
        if len(points) >= _MOST_POINTS:
            return no_update, f"There are {_MOST_POINTS} points already; remove one first."
        number = max((point["number"] for point in points), default=0) + 1
        if trigger == "pin":
            return [*points, _pinned(number, answer)], no_update
        try:
            return [*points, _model(number, subject, accepted or {})], ""
        except FairlimitsError as error:
            return no_update, str(error)

    @app.callback(
        Output("table", "children"),
        Output("plot", "figure", allow_duplicate=True),
        Input("points", "data"),
        State("answer", "data"),
        prevent_initial_call="initial_duplicate",
    )
    def show_points(points: list[Point], answer: Answer | None) -> tuple[Any, Any]:
        figure = no_update if answer is None else _figure(subject, answer, points)
        return page.point_table(points, subject.notions), figure


def _pinned(number: int, answer: Answer) -> Point:
    """The present position as a point that stays."""
    name = asked(answer["tolerances"], answer["aware"], answer["decorrelated"])
    return {"number": number, "kind": "pin", "name": name, "accuracy": answer["accuracy"], "gaps": answer["gaps"]}


def _model(number: int, subject: Subject, accepted: Mapping[str, Any]) -> Point:
    """A model whose predictions a person dropped on the page, as a point."""
    found = subject.place(str(accepted.get("contents")))
    return {"number": number, "kind": "model", "name": str(accepted.get("name"))[:_LONGEST_NAME], **found}


def _downloading(app: Dash, subject: Subject) -> None:
    @app.callback(
        Output("rule-file", "data"), Input("get-rule", "n_clicks"), State("answer", "data"), prevent_initial_call=True
    )
    def get_rule(_clicks: int, answer: Answer) -> dict[str, Any]:
        rule = subject.rule(choices_of(answer))
        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory) / "rule.npz"
            rule.save(path)
            content = base64.b64encode(path.read_bytes()).decode("ascii")
            return {"content": content, "base64": True, "filename": path.name}

    @app.callback(
        Output("plot-file", "data"),
        Input("get-plot", "n_clicks"),
        State("answer", "data"),
        State("points", "data"),
        prevent_initial_call=True,
    )
    def get_plot(_clicks: int, answer: Answer, points: list[Point]) -> dict[str, Any]:
        curves = _curves(subject, answer)
        heading = f"{subject.name}: {asked(answer['tolerances'], answer['aware'], answer['decorrelated'])}"
        # The look of figures is a setting of the whole process.
        with subject.lock:
            return {"content": svg_figure(answer, curves, points, heading), "filename": "frontier.svg"}

    @app.callback(
        Output("json-file", "data"),
        Input("get-json", "n_clicks"),
        State("answer", "data"),
        State("points", "data"),
        prevent_initial_call=True,
    )
    def get_json(_clicks: int, answer: Answer, points: list[Point]) -> dict[str, Any]:
        content = {
            "fairlimits": fairlimits.__version__,
            "figures": "plug-in: on the cells that the rules were made on; of models: on all rows of the data",
            "data": {"name": subject.name, "cells": subject.dist.n_cells, "groups": list(subject.dist.groups)},
            "notes": [
                *(note for note in (subject.small_groups_note, subject.support_note) if note is not None),
                *subject.doubts,
            ],
            "answer": answer,
            "curve": {
                "group seen" if aware else "group hidden": own for aware, own in _curves(subject, answer).items()
            },
            "no rule passes": subject.above(choices_of(answer)),
            "points": points,
        }
        text = json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
        return {"content": text, "filename": "figures.json"}
