"""`Audit`: the figures of all models, as plain data, as a table, in words and as pictures."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from datetime import date
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from fairlimits._util.frames import of_user_kind
from fairlimits._util.notebooks import Shown
from fairlimits._util.plotting import axes_or_new, figure_style, plain_text
from fairlimits._util.suggestions import did_you_mean
from fairlimits._util.suppression import check_suppress
from fairlimits._util.text_tables import text_table
from fairlimits._util.types import Ints
from fairlimits.errors import InputError
from fairlimits.evaluation.audits.comparisons import AuditedModel, Curve, Standing
from fairlimits.evaluation.audits.figures import draw, draw_all
from fairlimits.evaluation.audits.sentences import model_words, notes, rates_heading
from fairlimits.limits import CardFigure, ModelCard, check_since
from fairlimits.notions import NOT_ESTIMABLE, Estimate, draw_rates, rates_table, with_suppressed

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@dataclass(frozen=True, eq=False, repr=False)
class Audit(Shown):
    """Where models stand beside the best rules we found.

    Parameters
    ----------
    models : tuple of AuditedModel
        The models.
    notions : tuple of str
        The notions they are compared at.
    aware : bool
        Whether the rules see the group.
    best : Estimate
        Accuracy of the most accurate rule we found, whatever its gaps.
    curves : mapping of str to Curve
        The frontier of each notion that can be estimated, on the rows that the models are judged on.
    groups : tuple of str
        Names of the G groups.
    counts : ndarray of int of shape (G, 2) or None
        Rows that models and rules are judged on, by group and label.
    learned : int or None
        Rows that the rules were made from; None if all figures are plug-in figures of a distribution.
    confidence : float or None
        Of the intervals; None if there are none.
    alone : bool
        Whether the rules were made from the predictions, for want of other features.
    suppress : int, optional
        Fewest people that a figure may rest on, where others are suppressed.
    doubts : tuple of str
        Features that may give the label away, or the group where it is hidden, or that are ids: a sentence each.

    Examples
    --------
    >>> import fairlimits as fl
    >>> dist = fl.CellDistribution.from_mass([[[4, 1], [2, 0]], [[2, 2], [1, 2]], [[0, 1], [1, 4]]])
    >>> found = fl.audit(dist, {"model": [0.0, 0.0, 1.0]}, notions=["DP"])  # on cells: exact, without intervals
    >>> line = found.to_frame().to_pylist()[0]
    >>> round(line["accuracy"], 3), round(line["gap"], 3)
    (0.7, 0.4)
    """

    models: tuple[AuditedModel, ...]
    notions: tuple[str, ...]
    aware: bool
    best: Estimate
    curves: Mapping[str, Curve]
    groups: tuple[str, ...]
    counts: Ints | None
    learned: int | None
    confidence: float | None
    alone: bool
    suppress: int | None = None
    doubts: tuple[str, ...] = ()

    def suppressed(self, least: int | None, hidden: Collection[str] = ()) -> Audit:
        """Leave out counts and rates that rest on fewer people; None leaves nothing out.

        Parameters
        ----------
        least : int or None
            Fewest people that a figure may rest on.
        hidden : collection of str
            Groups to be left out anyway.
        """
        if check_suppress(least) is None:
            return self
        return replace(self, models=tuple(own.suppressed(least, hidden) for own in self.models), suppress=least)

    @property
    def tested(self) -> int | None:
        """Rows that models and rules are judged on; None for plug-in figures."""
        return None if self.learned is None or self.counts is None else int(self.counts.sum())

    def __getitem__(self, name: str) -> AuditedModel:
        for model in self.models:
            if model.name == name:
                return model
        known = [own.name for own in self.models]
        raise InputError(f"There is no model {name!r}; the models are {', '.join(known)}.{did_you_mean(name, known)}")

    @property
    def frame_kind(self) -> str:
        """Library that `to_frame` makes a frame of: the one whose frame the people came in."""
        return self.models[0].by_group.frame_kind

    @of_user_kind
    def to_frame(self) -> pa.Table:
        """All figures as a table, a row for each model and notion, and one for all notions at once."""
        records = []
        for model in self.models:
            for own in model.lines:
                gap = model.gaps[own.notions[0]] if len(own.notions) == 1 else NOT_ESTIMABLE
                side = model.by_group.gaps[own.notions[0]] if len(own.notions) == 1 else None
                record: dict[str, Any] = {
                    "model": model.name,
                    "notion": own.name,
                    "rate of the gap": None if side is None else side.rate or None,
                    "lowest": None if side is None else side.lowest or None,
                    "highest": None if side is None else side.highest or None,
                }
                figures = {
                    "accuracy": model.accuracy,
                    "gap": gap,
                    "gap of the rule as fair": own.rule_gaps[own.notions[0]] if len(own.notions) == 1 else gap,
                    "accuracy of the rule as fair": own.rule_accuracy,
                    "avoidable loss": own.avoidable,
                    "unavoidable loss": own.unavoidable,
                    "accuracy of the best rule": self.best,
                    "loss against the best rule": model.loss,
                }
                record = with_suppressed(record, figures, self.suppress)
                records.append(record | {"limit beaten": own.beaten, "verdict": own.verdict} | _reach(model, own))
        return pa.Table.from_pylist(records)

    def card(self, *, since: str | date | None = None) -> ModelCard:
        """Return a model card of the models that were audited, on the rows they were judged on.

        Parameters
        ----------
        since : str or date, optional
            The day from which it holds; by default today.
        """
        figures = [CardFigure.of("accuracy of the most accurate rule found", self.best)]
        for model in self.models:
            figures.append(CardFigure.of(f"accuracy of {model.name}", model.accuracy))
            figures += [CardFigure.of(f"gap {name} of {model.name}", model.gaps[name]) for name in self.notions]
            figures += [
                CardFigure.of(f"avoidable loss of {model.name}, as fair in {own.name}", own.avoidable)
                for own in model.lines
            ]
        rows = self.models[0].by_group.rows
        return ModelCard(
            kind="audit",
            title=f"audit of {', '.join(own.name for own in self.models)}",
            since=check_since(since),
            group=None,
            features=None,
            decides="Decisions are those of the models; rules beside them "
            f"{'see' if self.aware else 'do not see'} the group.",
            keeps=(),
            confidence=None,
            label=None,
            sensitive=(),
            rows=None if self.counts is None else int(self.counts.sum()),
            groups=dict(zip(self.groups, rows, strict=True)),
            figures=tuple(figures),
            beware=self.notes,
        )

    @of_user_kind
    def rates_to_frame(self) -> pa.Table:
        """How each group fares, a row for each group under each model and under the rule that is as fair as it."""
        records = []
        for model in self.models:
            for who, rates in model.deciders.items():
                asked = None if rates is model.by_group or model.headline is None else model.headline.name
                start = {"model": model.name, "decided by": who, "as fair as the model in": asked}
                records += [start | record for record in rates.records()]
        return pa.Table.from_pylist(records)

    def rates_to_dict(self) -> dict[str, Any]:
        """How each group fares under each model and under the rule that is as fair as it, as plain data."""
        return {
            model.name: {who: rates.to_dict() for who, rates in model.deciders.items()}
            | {"as fair in": None if model.headline is None else list(model.headline.notions)}
            for model in self.models
        }

    def summary(self) -> str:
        """Say two sentences on each model: where it stands, and what could be gained at the same fairness."""
        return "\n".join(model_words(model, self.tested) for model in self.models)

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader must know about these figures."""
        found = notes(
            self.models,
            self.notions,
            self.aware,
            self.groups,
            self.counts,
            self.alone,
            plug_in=self.learned is None,
            suppress=self.suppress,
        )
        return (*self.doubts, *found)

    def __str__(self) -> str:
        parts = []
        for model in self.models:
            heading = f"{model.name}: how each group fares{rates_heading(model)}"
            parts.append(f"{heading}\n{text_table(*rates_table(model.deciders))}\n{model.by_group.words(self.notions)}")
        return "\n\n".join([*parts, self.summary(), "\n".join(f"Note: {note}" for note in self.notes)])

    def plot_rates(self, model: str | None = None, ax: Axes | None = None) -> Axes:
        """Draw the rates of each group under a model, and with open marks under the rule that is as fair as it.

        Parameters
        ----------
        model : str, optional
            Name of the model, by default the first.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        """
        own = self.models[0] if model is None else self[model]
        with figure_style():
            ax = axes_or_new(ax, (6.4, 4.2))
            draw_rates(ax, own.deciders)
            ax.set_title(plain_text(own.name))
        return ax

    def plot(self, notion: str | None = None, ax: Axes | None = None) -> Axes:
        """Draw the models on the frontier of one notion, by default the first that can be estimated.

        Parameters
        ----------
        notion : str, optional
            One of the audit's notions.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        """
        self._check_drawable()
        chosen = next(iter(self.curves)) if notion is None else notion
        if chosen not in self.curves:
            known = ", ".join(self.curves)
            raise InputError(f"There is no frontier of {chosen!r}; those that could be estimated are {known}.")
        return draw(self.curves[chosen], self.models, self.aware, ax)

    def figure(self) -> Figure:
        """Draw the models on the frontier of every notion that can be estimated, side by side."""
        self._check_drawable()
        return draw_all(self.curves, self.models, self.aware)

    def _check_drawable(self) -> None:
        if not self.curves:
            raise InputError("No frontier could be estimated, so there is nothing to draw; give more rows.")

    def __repr__(self) -> str:
        sees = "aware" if self.aware else "unaware"
        return f"Audit({', '.join(model.name for model in self.models)}; {', '.join(self.notions)}; {sees})"


def _reach(model: AuditedModel, standing: Standing) -> dict[str, Any]:
    """What is out of reach, for the line that it was found for."""
    if model.reach is None:
        return {}
    known = model.reach.to_dict() if standing is model.headline else {}
    return {name: known.get(name) for name in ("no rule passes", "out of reach", "found reachable", "unknown")}
