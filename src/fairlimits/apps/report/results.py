"""`Report`: what was found, as a page, as plain data, as a table, in words and as a picture."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

import fairlimits
from fairlimits._util.frames import ARROW, of_user_kind
from fairlimits._util.names import printable
from fairlimits._util.notebooks import Shown
from fairlimits._util.plotting import axes_or_new, figure_style
from fairlimits._util.storage import write_text
from fairlimits.apps.report.figures import draw_costs
from fairlimits.apps.report.rendering import render
from fairlimits.apps.report.sentences import PLAIN, answer, asked, sentence
from fairlimits.errors import FileError
from fairlimits.evaluation import Caution, Figure, Findings, HeldOutFigure
from fairlimits.limits import CardFigure, Kept, ModelCard, check_since
from fairlimits.notions import ALL_NOTIONS, NOT_ESTIMABLE_TEXT

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SUFFIXES = (".html", ".json")
"""How the name of a saved report may end."""

_SCHEMA = pa.schema(
    [
        ("notion", pa.string()),
        ("tolerance", pa.float64()),
        ("situation", pa.string()),
        *((name, pa.float64()) for name in ("plug-in", "held out", "low", "high")),
    ]
)


@dataclass(frozen=True, eq=False, repr=False)
class Report(Shown):
    """What fairness costs on a table of people; `report` makes it.

    Parameters
    ----------
    findings : Findings
        All figures, as plain data.
    command : str
        What makes the report again: a call, or a command.
    frame_kind : str
        Library that `to_frame` makes a frame of, by default Arrow.

    Examples
    --------
    >>> import fairlimits as fl
    >>> from sklearn.linear_model import LogisticRegression
    >>> data = fl.load_dataset("adult", features=["age", "education-num", "hours-per-week"]).take(range(2_000))
    >>> found = fl.report(data, {"DP": 0.05}, name="Adult, a part", estimator=LogisticRegression())
    >>> found.to_dict()["rows"]
    2000
    >>> found.save("report.html")  # doctest: +SKIP
    """

    findings: Findings
    command: str
    frame_kind: str = ARROW

    @property
    def warnings(self) -> tuple[Caution, ...]:
        """What to know before the figures are used."""
        return self.findings.warnings

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data that JSON can hold; ``docs/report.md`` describes the keys."""
        return {"fairlimits": fairlimits.__version__, "command": self.command, **self.findings.to_dict()}

    def to_html(self) -> str:
        """Everything as one page that needs no network and no script."""
        return render(self.findings, self.command, fairlimits.__version__)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page (``.html``) or the plain data (``.json``), whole or not at all."""
        suffix = Path(path).suffix
        if suffix.lower() not in SUFFIXES:
            ending = suffix or "no suffix"
            raise FileError(f"The report {path} ends in {ending}; it must end in one of {', '.join(SUFFIXES)}.")
        if suffix.lower() == ".html":
            write_text(path, self.to_html())
        else:
            write_text(path, json.dumps(self.to_dict(), indent=1, ensure_ascii=False, allow_nan=False) + "\n")

    def summary(self) -> str:
        """Say the first screen of the page in plain text, between whom it leaves out and what else to know."""
        found = answer(self.findings, PLAIN)
        others = [f"Note: {own.text}" for own in self.warnings if not own.is_first]
        notions = [f"- {sentence(own)}" for own in found.notions]
        lines = (
            *found.first,
            found.question,
            found.about,
            "",
            found.lead,
            "What each notion costs with the group hidden, in points:",
            *notions,
            *found.lines,
            found.note,
            *others,
        )
        # A name may hold anything, and words may go to a terminal.
        return "\n".join(map(printable, lines))

    def card(self, *, since: str | date | None = None) -> ModelCard:
        """Return a model card of the rules within the report's tolerances, on held-out rows.

        Parameters
        ----------
        since : str or date, optional
            The day from which it holds; by default today.
        """
        found, held = self.findings, self.findings.held_out
        figures = []
        for own in held.situations:
            figures.append(_card_figure(f"accuracy, {own.name}", own.accuracy))
            figures += [_card_figure(f"gap {name}, {own.name}", gap) for name, gap in own.gaps.items()]
        return ModelCard(
            kind="report",
            title=f"{found.name}: {asked(found)}",
            since=check_since(since),
            group=None,
            features=tuple(own.name for own in found.features),
            decides="Rules are those of the four situations, by lot where they need it."
            + (
                ""
                if held.certified is None
                else f" They were to keep to their gaps with confidence {held.certified:g}."
            ),
            keeps=tuple(Kept(name, eps, None) for name, eps in held.tolerances.items()),
            confidence=None,
            label=f"{found.label} = {found.positive}",
            sensitive=found.sensitive,
            rows=found.rows,
            groups={own.name: own.rows for own in found.groups},
            figures=tuple(figures),
            beware=tuple(own.text for own in self.warnings),
        )

    @of_user_kind
    def to_frame(self) -> pa.Table:
        """Accuracy as a table, plug-in and held out with its interval: a row per notion, tolerance and situation.

        Notions that hold at once are joined by ``+``. The tolerance is null in situations whose notions have
        different ones, or where none was given; ``to_dict()["held_out"]["tolerances"]`` has them.
        """
        held = self.findings.held_out
        # The first of two rows for the same question stays: a situation may be a point of a frontier already.
        rows: dict[tuple[str, float | None, str], tuple[float, float, float, float]] = {}
        for curve in held.curves:
            sees = "group seen" if curve.aware else "group hidden"
            for k, tolerance in enumerate(curve.tolerances):
                figures = curve.plug_in[k], curve.accuracy[k], curve.low[k], curve.high[k]
                rows[_joined(curve.notions), tolerance, sees] = figures
        several = set(held.tolerances.values())
        common = several.pop() if len(several) == 1 else None
        for own in held.situations:
            found = own.accuracy
            figures = own.plug_in, found.value, found.low, found.high
            rows.setdefault((_joined(held.tolerances), common, own.name), figures)
        records = [dict(zip(_SCHEMA.names, (*question, *figures), strict=True)) for question, figures in rows.items()]
        return pa.Table.from_pylist(records, schema=_SCHEMA)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw what each notion costs on held-out rows, with intervals, the group hidden and seen.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        """
        with figure_style():
            return draw_costs(self.findings.held_out, axes_or_new(ax, (6.4, 4.0)))

    def __repr__(self) -> str:
        return f"Report({self.findings.name}; {self.findings.rows:,} rows; {asked(self.findings)})"


def _card_figure(name: str, figure: Figure) -> CardFigure:
    if isinstance(figure, HeldOutFigure):
        return CardFigure(name, "held out", figure.value, figure.low, figure.high)
    return CardFigure(name, "held out", NOT_ESTIMABLE_TEXT if figure is None else figure)


def _joined(notions: Any) -> str:
    """Name notions that hold at once, in one order, however they were given."""
    return " + ".join(name for name in ALL_NOTIONS if name in notions) or "none"
