"""Pictures of a report, as SVG text that a page holds in itself."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from fairlimits._util.names import in_a_sentence, printable
from fairlimits._util.plotting import COLOURS, INK, MUTED, STYLES, any_script, close, figure_style, plain_text, subplots
from fairlimits.apps.report.hovering import say, say_at, with_titles
from fairlimits.evaluation import (
    PRICED_AT,
    ExplainedRule,
    Findings,
    FromAbove,
    HeldOut,
    HeldOutCurve,
    Individual,
    OnCells,
    Tensions,
)
from fairlimits.limits import draw_changes
from fairlimits.notions import title

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Groups drawn in one picture; of more, the largest.
_MOST_GROUPS = 4

# Accuracy that an axis spans at least.
_LEAST_SPAN = 0.02


def drawn_groups(findings: Findings) -> list[str]:
    """Groups that a picture has room for, the largest, in their usual order; those of unknown size come last."""
    rows = {own.name: -1 if isinstance(own.rows, str) else own.rows for own in findings.groups}
    largest = sorted(rows, key=lambda name: -rows[name])[:_MOST_GROUPS]
    return [name for name in rows if name in largest]


def frontier_figure(findings: Findings) -> Figure:
    """Draw every single notion's frontier, held out with its band, and exact, plug-in; group hidden above."""
    curves = [curve for curve in findings.held_out.curves if len(curve.notions) == 1]
    notions = list(dict.fromkeys(curve.notions[0] for curve in curves))
    low, high = _range(curves)
    with figure_style():
        figure, axes = subplots(2, len(notions), figsize=(11.5, 5.4), sharex=True, sharey=True)
        for row, aware in enumerate((False, True)):
            for ax, notion in zip(axes[row], notions, strict=True):
                curve = next(own for own in curves if own.notions[0] == notion and own.aware == aware)
                exact = next(own for own in findings.on_cells.curves if (own.notion, own.aware) == (notion, aware))
                until = curve.tolerances[-1]
                colour = COLOURS["aware" if aware else "unaware"]
                _draw(ax, curve, colour)
                _draw_plug_in(ax, [*exact.tolerances, until], [*exact.accuracy, exact.accuracy[-1]], colour)
                _few_ticks(ax, until)
                ax.set_ylim(low, high)
                if row == 0:
                    ax.set_title(title(notion).capitalize(), fontsize=10)
                else:
                    ax.set_xlabel("largest gap allowed")
            axes[row, 0].set_ylabel(f"accuracy\ngroup {'seen' if aware else 'hidden'}")
            axes[row, -1].legend(loc="lower right", fontsize=8)
    return figure


def bracket_figure(found: FromAbove) -> Figure:
    """Draw, for each notion with the group hidden, what was found on new people, and what no rule passes."""
    brackets = [own for own in found.brackets if own.notions]
    with figure_style():
        figure, axes = subplots(1, len(brackets), figsize=(11.5, 3.2), sharex=True, sharey=True, squeeze=False)
        for ax, own in zip(axes[0], brackets, strict=True):
            colour = COLOURS["unaware"]
            value, low, high = (
                np.array([getattr(each, end) for each in own.found]) for end in ("value", "low", "high")
            )
            ax.fill_between(own.tolerances, low, high, color=colour, alpha=0.18, linewidth=0)
            ax.plot(own.tolerances, value, color=colour, label="found, on new people")
            ax.plot(
                own.tolerances, own.upper, color=INK, linewidth=1.2, label=f"no rule passes ({found.confidence:.0%})"
            )
            ax.fill_between(
                own.tolerances, own.upper, 1.0, facecolor="none", edgecolor=MUTED, hatch="////", linewidth=0
            )
            say_at(
                ax,
                own.tolerances,
                value,
                [
                    f"{own.notions[0]} at most {at:g}: found {_percent(mid)} ({_percent(least)} to {_percent(most)}), "
                    f"no rule passes {_percent(top)}"
                    for at, mid, least, most, top in zip(own.tolerances, value, low, high, own.upper, strict=True)
                ],
            )
            ax.set_title(title(own.notions[0]).capitalize(), fontsize=10)
            _few_ticks(ax, own.tolerances[-1])
            ax.set_xlabel("largest gap allowed")
        lowest = min(each.low for own in brackets for each in own.found)
        highest = max(max(own.upper) for own in brackets)
        room = 0.08 * (highest - lowest)
        axes[0, 0].set_ylim(lowest - room, min(highest + 2 * room, 1.0))
        axes[0, 0].set_ylabel("accuracy, group hidden")
        axes[0, -1].legend(loc="lower right", fontsize=8)
    return figure


def draw_costs(held: HeldOut, ax: Axes) -> Axes:
    """Draw what each notion costs on held-out rows, with intervals; filled markers at tolerance 0, hollow at 0.05."""
    notions = list(dict.fromkeys(own.notion for own in held.costs))
    lines = [(aware, tolerance) for aware in (False, True) for tolerance in PRICED_AT]
    for k, (aware, tolerance) in enumerate(lines):
        found = [held.cost(notion, tolerance, aware).cost for notion in notions]
        value, low, high = (100 * np.array([getattr(own, end) for own in found]) for end in ("value", "low", "high"))
        colour = COLOURS["aware" if aware else "unaware"]
        ax.errorbar(
            value,
            np.arange(len(notions)) + 0.16 * (k - (len(lines) - 1) / 2),
            # A bootstrap interval may miss its own estimate by a rounding error.
            xerr=np.maximum([value - low, high - value], 0),
            fmt="s" if aware else "o",
            color=colour,
            markerfacecolor=colour if tolerance == 0 else "white",
            linewidth=1.2,
            label=f"group {'seen' if aware else 'hidden'}, gap at most {tolerance:g}",
        )
    ax.axvline(0, color=MUTED, linewidth=0.8)
    ax.set_yticks(range(len(notions)), [title(name) for name in notions])
    ax.set_ylim(len(notions) - 0.5, -0.5)
    ax.grid(axis="y", visible=False)
    ax.set_xlabel(f"points of accuracy lost on {held.tested:,} held-out rows, with intervals at {held.confidence:.0%}")
    ax.legend(loc="best", fontsize=8)
    return ax


def pair_figure(findings: Findings) -> Figure:
    """Draw the frontiers of pairs of notions that move together, beside each alone."""
    pairs = [curve for curve in findings.held_out.curves if len(curve.notions) == 2]
    names = list(dict.fromkeys(tuple(curve.notions) for curve in pairs))
    low, high = _range(findings.held_out.curves)
    with figure_style():
        figure, axes = subplots(1, len(names), figsize=(11.5, 3.1), sharey=True)
        for ax, both in zip(np.atleast_1d(axes), names, strict=True):
            for aware in (False, True):
                own = next(c for c in pairs if tuple(c.notions) == both and c.aware == aware)
                colour, name = COLOURS["aware" if aware else "unaware"], f"group {'seen' if aware else 'hidden'}"
                _draw(ax, own, colour, name)
                _draw_plug_in(ax, own.tolerances, own.plug_in, colour, name)
            ax.set_title(" and ".join(both))
            ax.set_xlabel("largest gap allowed in both")
            _few_ticks(ax, own.tolerances[-1])
            ax.set_ylim(low, high)
        np.atleast_1d(axes)[0].set_ylabel("accuracy")
        np.atleast_1d(axes)[-1].legend(loc="lower right", fontsize=8)
    return figure


def _range(curves: Sequence[HeldOutCurve]) -> tuple[float, float]:
    lows = [min((*curve.low, *curve.plug_in)) for curve in curves]
    highs = [max((*curve.high, *curve.plug_in)) for curve in curves]
    room = max(max(highs) - min(lows), 1e-4) * 0.06
    return min(lows) - room, max(highs) + room


def _draw(ax: Axes, curve: HeldOutCurve, colour: str, name: str | None = None) -> None:
    ax.fill_between(curve.tolerances, curve.low, curve.high, color=colour, alpha=0.18, linewidth=0)
    ax.plot(curve.tolerances, curve.accuracy, color=colour, label=f"{name}, held out" if name else "held out")
    say_at(
        ax,
        curve.tolerances,
        curve.accuracy,
        [
            f"{' and '.join(curve.notions)} at most {at:g}, group {'seen' if curve.aware else 'hidden'}: held out "
            f"{_percent(value)} ({_percent(low)} to {_percent(high)}), plug-in {_percent(expected)}"
            for at, value, low, high, expected in zip(
                curve.tolerances, curve.accuracy, curve.low, curve.high, curve.plug_in, strict=True
            )
        ],
    )
    alike = [(x, y) for x, y, same in zip(curve.tolerances, curve.accuracy, curve.constant, strict=True) if same]
    if alike:
        ax.plot(*zip(*alike, strict=True), "o", color=colour, markerfacecolor="white", markersize=5, clip_on=False)


def _few_ticks(ax: Axes, until: float) -> None:
    """Ticks so few and short that those of neighbouring panels do not meet."""
    at = np.linspace(0, until, 3)
    ax.set_xticks(at, [f"{own:g}" for own in at])
    ax.set_xlim(0, until)


def _percent(share: float) -> str:
    return f"{100 * share:.1f}%"


def _draw_plug_in(ax: Axes, x: Sequence[float], y: Sequence[float], colour: str, name: str | None = None) -> None:
    dashed = f"{name}, plug-in" if name else "plug-in"
    ax.plot(x, y, color=colour, linestyle=STYLES[1], linewidth=1.3, label=dashed)


def tension_figure(found: Tensions) -> Figure:
    """Draw a heat map: what each pair of notions costs, and how much of it is beyond the dearer one."""
    # Adding 0 takes the sign from -0.
    loss, tension = (np.round(100 * np.array(own), 1) + 0.0 for own in (found.pair_loss, found.tension))
    size = len(found.notions)
    with figure_style():
        figure, ax = subplots(figsize=(6.4, 5.0))
        below = np.ma.masked_array(tension, mask=np.triu(np.ones((size, size), dtype=bool)))
        edges = np.arange(size + 1) - 0.5
        most = max(float(tension.max()), 0.1)
        shown = ax.pcolormesh(edges, edges, below, cmap="Oranges", vmin=0, vmax=most)
        ax.invert_yaxis()
        ax.set_aspect("equal")
        for i in range(size):
            for j in range(i + 1):
                dark = i != j and tension[i, j] > 0.6 * most
                words = f"{loss[i, j]:.1f}" if i == j else f"{loss[i, j]:.1f}\n+{max(tension[i, j], 0):.1f}"
                weight = "bold" if i == j else "normal"
                shown_words = ax.text(
                    j, i, words, ha="center", va="center", color="white" if dark else INK, fontweight=weight
                )
                one, other = (title(found.notions[at]) for at in (j, i))
                pair = one if i == j else f"{one} and {other}, of which {max(tension[i, j], 0):.1f} beyond the dearer"
                say(shown_words, f"{loss[i, j]:.1f} points of accuracy for {pair}")
        ax.set_xticks(range(size), found.notions)
        ax.set_yticks(range(size), found.notions)
        ax.grid(visible=False)
        ax.tick_params(length=0)
        for side in ax.spines.values():
            side.set_visible(False)
        bar = figure.colorbar(shown, ax=ax, label="tension, percentage points", shrink=0.8)
        # A page of lines and letters stays sharp in print.
        if bar.solids is not None:
            bar.solids.set_rasterized(False)
            bar.solids.set_edgecolor("face")
    return figure


def individual_figure(found: Individual) -> Figure:
    """Draw accuracy against the tolerance of individual fairness."""
    with figure_style():
        figure, ax = subplots(figsize=(6.4, 3.2))
        for aware, values in ((False, found.accuracy_hidden), (True, found.accuracy_seen)):
            name = "group seen" if aware else "group hidden"
            style = STYLES[0] if aware else STYLES[1]
            ax.plot(
                found.tolerances, values, color=COLOURS["aware" if aware else "unaware"], linestyle=style, label=name
            )
            said = [
                f"{name}, at most {at:g}: {_percent(own)} (plug-in)"
                for at, own in zip(found.tolerances, values, strict=True)
            ]
            say_at(ax, found.tolerances, values, said)
        ax.set_xlabel("largest difference of scores between neighbours")
        ax.set_ylabel("accuracy (plug-in)")
        ax.set_xlim(0, found.tolerances[-1])
        ax.set_ylim(*_at_least(ax.get_ylim(), _LEAST_SPAN))
        ax.legend(loc="lower right")
    return figure


def _at_least(ends: tuple[float, float], span: float) -> tuple[float, float]:
    """Ends of an axis that is no shorter than a span: hundredths of a point are not drawn as if they were a slope."""
    low, high = ends
    room = max(0.0, span - (high - low)) / 2
    return low - room, high + room


def law_figure(
    groups: Sequence[str], before: list[list[float]], after: list[list[float]], drawn: Sequence[str]
) -> Figure:
    """Draw where people of some groups live among the cells, before and after the map."""
    shown = [g for g, name in enumerate(groups) if name in drawn]
    palette = [COLOURS[name] for name in ("DP", "EA", "EOd", "PE")]
    with figure_style():
        figure, axes = subplots(1, 2, figsize=(11.5, 3.1), sharey=True)
        for ax, laws, name in zip(axes, (before, after), ("before", "after"), strict=True):
            for k, g in enumerate(shown):
                place = np.arange(len(laws[g])) + 0.5
                ax.step(
                    place,
                    100 * np.array(laws[g]),
                    where="mid",
                    color=palette[k],
                    linestyle=STYLES[k],
                    linewidth=1.3,
                    label=plain_text(in_a_sentence(groups[g])),
                )
            ax.set_title(f"{name} the map")
            ax.set_xlabel("cells, by who lives in them")
        axes[0].set_ylabel("share of the group, %")
        axes[0].legend(loc="upper center")
    return figure


def rule_figure(rule: ExplainedRule) -> Figure:
    """Draw who of each group is decided otherwise by a rule."""
    with figure_style():
        figure, ax = subplots(figsize=(8.6, 1.3 + 0.45 * len(rule.groups)))
        draw_changes(ax, rule.groups, {name: np.array(share) for name, share in rule.changed.items()})
        for bars in ax.containers:
            name = str(bars.get_label())
            for bar, group, share in zip(bars, rule.groups, rule.changed[name], strict=True):
                say(bar, f"{printable(group)}, {name}: {_percent(share)} (plug-in)")
    return figure


def shift_figure(cells: OnCells, drawn: Sequence[str]) -> Figure:
    """Draw which shares of some groups are decided otherwise because of each notion."""
    notions = list(dict.fromkeys(own.notion for own in cells.shifts))
    groups = [name for name in dict.fromkeys(own.group for own in cells.shifts) if name in drawn]
    palette = [COLOURS[name] for name in ("DP", "EA", "EOd", "PE")]
    height = 0.8 / len(groups)
    with figure_style():
        figure, ax = subplots(figsize=(8.6, 0.9 + 0.55 * len(notions) * max(len(groups), 2) / 2))
        for k, group in enumerate(groups):
            own = [next(s for s in cells.shifts if (s.notion, s.group) == (name, group)) for name in notions]
            place = np.arange(len(notions))[::-1] + 0.4 - height * (k + 0.5)
            yes, no = (
                [_drawn(one) for one in way] for way in zip(*((s.more_yes, s.more_no) for s in own), strict=True)
            )
            right = ax.barh(place, yes, height * 0.9, color=palette[k], label=plain_text(in_a_sentence(group)))
            left = ax.barh(place, [-one for one in no], height * 0.9, color=palette[k])
            for bars, shares, more in ((right, yes, "yes"), (left, no, "no")):
                for bar, name, share in zip(bars, notions, shares, strict=True):
                    say(bar, f"{printable(group)}, {title(name)}: {share:.1f}% more often {more} (plug-in)")
        ax.axvline(0, color=MUTED, linewidth=0.8)
        ax.set_yticks(np.arange(len(notions))[::-1], [title(name) for name in notions])
        ax.grid(axis="y", visible=False)
        ax.tick_params(axis="y", length=0)
        ax.set_xlabel(
            "more often no   \N{LEFTWARDS ARROW}   share of the group, %   \N{RIGHTWARDS ARROW}   more often yes"
        )
        ax.legend(loc="best")
    return figure


def _drawn(share: float | str) -> float:
    """A share in percent; what is suppressed has no bar."""
    return 0.0 if isinstance(share, str) else 100 * share


def to_svg(figure: Figure) -> str:
    """Turn a figure into SVG text, with what its parts say, without the XML prologue, and close it."""
    stream = io.StringIO()
    with figure_style(), any_script():
        # No date, so that the same report gives the same file.
        figure.savefig(stream, format="svg", metadata={"Date": None})
    close(figure)
    text = stream.getvalue()
    return with_titles(text[text.index("<svg") :])
