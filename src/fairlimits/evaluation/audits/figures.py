"""Pictures of an audit: models as points, with their intervals, on the frontier of the rules we found."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from fairlimits._util.plotting import COLOURS, INK, axes_or_new, figure_style, plain_text, subplots
from fairlimits.evaluation.audits.comparisons import AuditedModel, Curve
from fairlimits.notions import Estimate, title

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Models are told apart by shape as well as by colour.
_MARKERS = "osD^vP*X<>"
_MODEL_COLOURS = (INK, COLOURS["PE"], COLOURS["EOd"], COLOURS["IF"], COLOURS["EOp"])

_COLUMNS = 3

# Most letters of a name of which two fit side by side below a figure.
_SHORT = 36


def draw(curve: Curve, models: Sequence[AuditedModel], aware: bool, ax: Axes | None = None) -> Axes:
    """Draw the models on the frontier of one notion."""
    with figure_style():
        given, ax = ax, axes_or_new(ax, (5.6, 4.2))
        _draw(ax, curve, models, aware)
        ax.set_ylabel("accuracy")
        if given is not None:
            ax.legend(loc="best")
        else:
            # The location "best" does not look at intervals, and could cover one.
            handles, labels = ax.get_legend_handles_labels()
            columns = 2 if max(map(len, labels)) <= _SHORT else 1
            ax.figure.legend(handles, labels, loc="outside lower center", ncols=columns)
    return ax


def draw_all(curves: Mapping[str, Curve], models: Sequence[AuditedModel], aware: bool) -> Figure:
    """Draw the models on every frontier, side by side, on one scale of accuracy."""
    columns = min(len(curves), _COLUMNS)
    rows = math.ceil(len(curves) / columns)
    # A legend of as many columns as the figure has room for, whatever the models' names.
    legend_rows = math.ceil((len(models) + 2) / columns)
    with figure_style():
        figure, axes = subplots(
            rows, columns, figsize=(max(3.5 * columns, 5.0), 2.9 * rows + 0.3 * legend_rows), sharey=True, squeeze=False
        )
        for ax, curve in zip(axes.flat, curves.values(), strict=False):
            _draw(ax, curve, models, aware)
        for ax in axes.flat[len(curves) :]:
            ax.axis("off")
        for ax in axes[:, 0]:
            ax.set_ylabel("accuracy")
        handles, labels = axes.flat[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=columns)
    return figure


def _draw(ax: Axes, curve: Curve, models: Sequence[AuditedModel], aware: bool) -> None:
    from matplotlib.ticker import MaxNLocator, PercentFormatter

    colour = COLOURS["aware" if aware else "unaware"]
    if not np.isnan(curve.low).all():
        ax.fill_between(curve.gap, curve.low, curve.high, color=colour, alpha=0.18, linewidth=0)
    seen = "group seen" if aware else "group hidden"
    ax.plot(curve.gap, curve.accuracy, color=colour, label=f"best rules we found, {seen}")
    for number, model in enumerate(models):
        gap, accuracy = model.gaps[curve.notion], model.accuracy
        own = _MODEL_COLOURS[number % len(_MODEL_COLOURS)]
        standing = next(one for one in model.standings if one.notions == (curve.notion,))
        ax.plot(
            [gap.value] * 2,
            [accuracy.value, standing.rule_accuracy.value],
            color=own,
            linewidth=1,
            linestyle=":",
            label="difference at the same gap" if number == 0 else None,
        )
        ax.errorbar(
            [gap.value],
            [accuracy.value],
            xerr=_reach(gap),
            yerr=_reach(accuracy),
            color=own,
            marker=_MARKERS[number % len(_MARKERS)],
            markersize=6,
            linestyle="none",
            elinewidth=1,
            label=plain_text(model.name),
        )
        if standing.beaten:
            ax.annotate(
                "above the limit found",
                (gap.value, accuracy.value),
                (6, 5),
                textcoords="offset points",
                color=own,
                fontsize="small",
            )
    ax.set_title(title(curve.notion).capitalize())
    ax.set_xlabel(f"gap between groups, {curve.notion}")
    ax.set_xlim(left=0)
    ax.xaxis.set_major_locator(MaxNLocator(5))
    ax.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=None))


def _reach(estimate: Estimate) -> list[list[float]] | None:
    """How far an interval reaches to both sides of its figure."""
    if math.isnan(estimate.low):
        return None
    return [[estimate.value - estimate.low], [estimate.high - estimate.value]]
