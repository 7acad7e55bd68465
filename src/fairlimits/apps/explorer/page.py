"""The page as Dash components: controls, figures, plot, points; names from the data are text, never markup."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dash import dcc, html

from fairlimits.apps.explorer.answer import PARITY, Answer, Decorrelated
from fairlimits.apps.explorer.sentences import Point, figure, sees
from fairlimits.apps.explorer.subject import Subject
from fairlimits.apps.explorer.upload import MOST_BYTES, TOO_LARGE
from fairlimits.decorrelation import ACCURACY_WEIGHT, CORRELATION_WEIGHT
from fairlimits.notions import CHANCE_WORDS, INDIVIDUAL, NOT_ESTIMABLE_TEXT, title

TITLE = "fairlimits explorer"

# Where a notion's slider stands at first.
_START = {INDIVIDUAL: 0.2}
_START_GROUP = 0.05
_ON_AT_FIRST = PARITY

_RATES = (
    "base rate",
    "selection rate",
    "true positive rate",
    "false positive rate",
    "accuracy",
    "precision",
    "selection ratio",
)


def layout(subject: Subject) -> html.Main:
    """The whole page, as it is before anything was chosen."""
    return html.Main(
        [
            # Everything that a page knows is kept in its own tab.
            dcc.Store(id="asked"),
            dcc.Store(id="busy", data=False),
            dcc.Store(id="answer"),
            dcc.Store(id="points", data=[]),
            dcc.Store(id="accepted"),
            # Base64 takes four characters for three bytes, after a short prefix on the kind of file.
            dcc.Store(id="upload-limit", data={"characters": MOST_BYTES * 4 // 3 + 100, "words": TOO_LARGE}),
            html.Header(
                [html.P("fairlimits", className="brand"), html.H1(subject.name), _facts(subject), *_left_out(subject)]
            ),
            html.Div(
                [
                    html.Section(_controls(subject), className="controls"),
                    html.Section(_results(), className="results"),
                    html.Section(_comparison(subject), className="comparison"),
                ],
                className="columns",
            ),
        ]
    )


def _facts(subject: Subject) -> html.P:
    dist = subject.dist
    schema = dist.schema
    words = [f"{dist.n_cells:,} cells", f"groups {', '.join(dist.groups)}"]
    if schema is not None:
        words = [f"label {schema.label}", f"sensitive {' and '.join(schema.sensitive)}", *words[::-1]]
    if subject.data is not None:
        words.append(f"{subject.data.n_rows:,} rows")
    return html.P("; ".join(words), id="facts", className="note")


def _left_out(subject: Subject) -> list[html.P]:
    shown = {"small-groups": subject.small_groups_note, "too-few-rows": subject.support_note}
    notes = [html.P(note, id=name, className="note") for name, note in shown.items() if note is not None]
    return [*notes, *(html.P(doubt, className="note doubt") for doubt in subject.doubts)]


def _controls(subject: Subject) -> list[Any]:
    without = "Individual fairness needs distances between the cells, and none are known."
    return [
        html.H2("What must hold"),
        *(_tolerance(subject, name) for name in subject.notions),
        *([] if INDIVIDUAL in subject.notions else [html.P(without, className="note")]),
        html.H3("What the rule may use"),
        dcc.RadioItems(
            id="aware",
            options=[{"label": sees(False), "value": "hidden"}, {"label": sees(True), "value": "seen"}],
            value="hidden",
            inline=True,
        ),
        dcc.Checklist(
            id="decorrelated",
            options=[{"label": "features must be independent of the group", "value": "yes"}],
            value=[],
        ),
    ]


def _tolerance(subject: Subject, name: str) -> html.Div:
    end = subject.ends[name]
    few = [] if subject.estimable[name] else [html.Small("too few rows: no two groups to compare", className="note")]
    return html.Div(
        [
            dcc.Checklist(
                id=f"use-{name}",
                options=[{"label": f"{title(name)} ({name})", "value": name}],
                value=[name] if name == _ON_AT_FIRST else [],
            ),
            *few,
            dcc.Slider(
                id=f"tolerance-{name}",
                min=0,
                max=end,
                step=0.005 if name == INDIVIDUAL else 0.001,
                value=min(_START.get(name, _START_GROUP), end),
                marks={0: "0", end: f"{end:g}"},
                updatemode="drag",
                disabled=name != _ON_AT_FIRST,
            ),
        ],
        className="tolerance",
    )


def _results() -> list[Any]:
    return [
        html.Div(id="headline", className="headline"),
        html.P(id="problem", className="problem", role="alert"),
        # Plotly fills what it is put in.
        html.Div(
            dcc.Graph(
                id="plot",
                responsive=True,
                config={
                    "displaylogo": False,
                    "modeBarButtonsToRemove": ["lasso2d", "select2d", "autoScale2d"],
                    "toImageButtonOptions": {"filename": "frontier", "scale": 2},
                },
                style={"height": "100%"},
            ),
            className="frontier",
        ),
        html.P(
            "The lines are the best accuracy as the tolerance that you moved last changes, with all else as it is; the "
            "dot is where you are. Pinned rules and models stand at their own gap. A model above the lines shows that "
            "these cells tell too little apart: fairlimits audit compares without cells.",
            className="note",
        ),
        html.Div(
            [
                html.Button("Pin this point", id="pin", className="main"),
                html.Button("Rule (.npz)", id="get-rule"),
                html.Button("Plot (.svg)", id="get-plot"),
                html.Button("Figures (.json)", id="get-json"),
                dcc.Download(id="rule-file"),
                dcc.Download(id="plot-file"),
                dcc.Download(id="json-file"),
            ],
            className="buttons",
        ),
        _scrolled("rates", "How each group fares"),
        _scrolled("gaps", "Gaps and shadow prices"),
        _scrolled("decorrelation", "Features independent of the group"),
    ]


def _comparison(subject: Subject) -> list[Any]:
    words: list[Any]
    if subject.data is None:
        words = [html.Span("Models can be placed if the explorer is started with one table that is read whole.")]
    else:
        words = [
            html.B("Drop a CSV of predictions here, or click."),
            html.Span(
                f" One column, 0 or 1 or a probability, for each of the {subject.data.n_rows:,} rows in their order; "
                f"at most {MOST_BYTES // 1_000_000} MB. It stays on this machine."
            ),
        ]
    return [
        html.H2("Pinned points and models"),
        _scrolled("table", "Pinned points and models"),
        dcc.Upload(words, id="upload", className="upload", disabled=subject.data is None),
        html.P(id="upload-message", className="problem", role="alert"),
    ]


def headline(answer: Answer) -> list[Any]:
    """The accuracy in large figures, what constraints cost, and the accuracy with the group seen instead, or hidden."""
    loss = answer["best"] - answer["accuracy"]
    return [
        html.Div(
            [
                html.Span(figure(answer["accuracy"]), id="accuracy", className="figure"),
                html.Span(f" accuracy, {sees(answer['aware'])}"),
            ]
        ),
        html.Div(
            [
                html.Span(
                    f"{max(loss, 0):.4f} less than without constraints. {sees(not answer['aware']).capitalize()}: "
                ),
                html.Span(figure(answer["other_accuracy"]), id="other-accuracy"),
                html.Span(". Plug-in: read on the cells that the rule was made on."),
                html.Span(" Everybody gets the same score." if answer["constant"] else "", id="constant"),
            ],
            className="note",
        ),
    ]


def gap_table(answer: Answer) -> list[Any]:
    """Every notion with its tolerance, the gap that is left, and what a little more tolerance is worth."""
    held = {**answer["tolerances"], PARITY: 0.0} if answer["decorrelated"] else answer["tolerances"]
    sides = answer["rates"]["gaps"]
    rows = [
        (
            f"{title(name)} ({name})",
            f"{held[name]:g}" if name in held else "",
            figure(gap),
            *_side(sides.get(name)),
            f"{answer['shadow_prices'][name]:.3f}" if name in held else "",
        )
        for name, gap in answer["gaps"].items()
    ]
    return [
        _table(("notion", "tolerance", "gap", "lowest", "highest", "shadow price"), rows, "gap-table"),
        html.P("Shadow price: 0.01 more tolerance gains about a hundredth of it in accuracy.", className="note"),
    ]


def _side(gap: Mapping[str, Any] | None) -> tuple[str, str]:
    """Who is lowest and who highest, and whether chance may have made them so."""
    if gap is None or gap["lowest"] is None:
        return "", ""
    chance = CHANCE_WORDS[gap["chance may explain"] or ""]
    return gap["lowest"], f"{gap['highest']}, {chance}" if chance else gap["highest"]


def rates_table(answer: Answer) -> list[Any]:
    """How each group fares under the rule."""
    groups = answer["rates"]["groups"]
    rows = [
        (
            group,
            "" if own["rows"] is None else f"{own['rows']:,}",
            *(NOT_ESTIMABLE_TEXT if own[name] is None else f"{own[name]['value']:.3f}" for name in _RATES),
        )
        for group, own in groups.items()
    ]
    return [
        html.H3("How each group fares"),
        _table(("group", "rows", *_RATES), rows, "rates-table"),
        html.P(
            f"{answer['rates']['four-fifths rule']} Plug-in, without intervals: fairlimits audit and scenarios have "
            "them, on new people.",
            className="note",
        ),
    ]


def decorrelation_table(found: Decorrelated, aware: bool) -> list[Any]:
    """What independence costs a rule that may adapt, and one that was fixed before."""
    rows = [
        ("features as they are", figure(found["free_accuracy"]), figure(found["correlation"])),
        ("independent, the rule adapts", figure(found["limit"]), figure(0.0)),
        ("mapped, the rule was fixed before", figure(found["fixed_accuracy"]), figure(found["fixed_correlation"])),
    ]
    return [
        html.H3("Features independent of the group"),
        _table((sees(aware), "accuracy", "correlation"), rows, "decorrelation-table"),
        html.P(
            "Correlation is the distance between the groups' features, from 0 to 2. The last line is the paper's way: "
            f"it trades accuracy for correlation with the weights {ACCURACY_WEIGHT:g} and {CORRELATION_WEIGHT:g}.",
            className="note",
        ),
    ]


def point_table(points: Sequence[Point], notions: Sequence[str]) -> list[Any]:
    """The pinned points and models, each with a button to remove it."""
    if not points:
        return [html.P("None yet. Pin a point to compare it with others.", className="note")]
    heads: tuple[Any, ...] = (
        _unseen("number"),
        "what",
        "accuracy",
        *(f"gap {name}" for name in notions),
        _unseen("remove"),
    )
    body = [
        html.Tr(
            [
                html.Td(str(point["number"])),
                html.Td(point["name"], className="name"),
                html.Td(figure(point["accuracy"])),
                *(html.Td(_gap(point, name)) for name in notions),
                html.Td(
                    html.Button(
                        "remove",
                        id={"type": "remove", "number": point["number"]},
                        className="small",
                        title=f"Remove point {point['number']}",
                    )
                ),
            ]
        )
        for point in points
    ]
    return [html.Table([html.Thead(html.Tr([html.Th(head) for head in heads])), html.Tbody(body)], id="point-table")]


def _scrolled(name: str, words: str) -> html.Div:
    """A place for a table that scrolls sideways where the screen is narrow, by the keyboard too."""
    spoken: dict[str, Any] = {"aria-label": words}
    return html.Div(id=name, className="wide", tabIndex=0, role="region", **spoken)


def _unseen(words: str) -> html.Span:
    """Words for screen readers only."""
    return html.Span(words, className="unseen")


def _gap(point: Point, name: str) -> str:
    if name == INDIVIDUAL and point["kind"] == "model":
        # A model decides people, not cells.
        return ""
    gap = point["gaps"].get(name)
    return NOT_ESTIMABLE_TEXT if gap is None else f"{gap:.4f}"


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]], name: str) -> html.Table:
    return html.Table(
        [
            html.Thead(html.Tr([html.Th(head) for head in heads])),
            html.Tbody([html.Tr([html.Td(cell) for cell in row]) for row in rows]),
        ],
        id=name,
    )
