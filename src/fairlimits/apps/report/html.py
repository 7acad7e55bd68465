"""A summary as one HTML page that needs nothing else: no network, no script, every name escaped."""

from __future__ import annotations

from html import escape
from importlib.resources import files

from fairlimits.apps.report import sections
from fairlimits.apps.report.page import hundredfold, percent, points
from fairlimits.apps.report.plain import Figure, Tensions
from fairlimits.apps.report.summary import Summary
from fairlimits.notions import title

# A notion that is part of another cannot clash with it.
_NESTED = ({"EOp", "EOd"}, {"PE", "EOd"})


def render(summary: Summary, command: str, version: str) -> str:
    """Write the page.

    Parameters
    ----------
    summary : Summary
        What to say.
    command : str
        The command that makes the page again.
    version : str
        The version of fairlimits that made it.
    """
    style = files("fairlimits.apps.report").joinpath("style.css").read_text(encoding="utf-8")
    parts = (
        _answer(summary),
        sections.situations(summary),
        sections.frontiers(summary),
        sections.costs(summary),
        sections.clashes(summary),
        sections.pairs(summary),
        sections.affected(summary),
        sections.individual(summary),
        sections.decorrelation(summary),
        sections.on_the_cells(summary),
        sections.people(summary),
        sections.to_keep_in_mind(summary),
        sections.again(summary, command, version),
    )
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>fairlimits: {escape(summary.name)}</title>\n<style>\n{style}</style>\n</head>\n<body>\n<main>\n"
        + "\n".join(part for part in parts if part)
        + "\n</main>\n</body>\n</html>\n"
    )


def _answer(summary: Summary) -> str:
    """Answer in words: the first screen."""
    held = summary.held_out
    who = escape(" and ".join(summary.sensitive))
    best = (
        f"On people that it had never seen, the most accurate rule we could find decides "
        f"<b>{percent(held.best_hidden.value)}</b> right without seeing {who}, and "
        f"<b>{percent(held.best_seen.value)}</b> when it may see it. Deciding everybody alike gets "
        f"{percent(summary.majority_accuracy)} right."
    )
    strict = sorted(
        (own for own in held.costs if not own.aware and own.tolerance == 0), key=lambda own: -own.cost.value
    )
    costs = ", ".join(
        f"{own.title} <b>{points(own.cost.value)}</b> ({points(held.cost(own.notion, 0.05, aware=False).cost.value)})"
        for own in strict
    )
    asked = " and ".join(f"{name} within {value:g}" for name, value in held.tolerances.items()) or "no constraint"
    by_name = {own.name: own.held_out for own in held.situation_costs}
    hiding, apart = by_name["Hiding the group"], by_name["Decorrelating, group hidden"]
    lines = (
        f"Accuracy lost without seeing {who}, if a gap between groups must be 0 (if it may be 0.05): {costs}.",
        _clash(summary.on_cells.tensions),
        f"Hiding {who} costs <b>{points(hiding.value)}</b> ({_interval(hiding)}) with {asked}.",
        f"Making the features independent of {who} costs <b>{points(apart.value)}</b> more ({_interval(apart)}), "
        "with the rule free to adapt.",
    )
    items = "".join(f"<li>{line}</li>\n" for line in lines)
    return (
        f"<header><p class=brand>fairlimits</p><h1>How fair and how accurate can a classifier be on "
        f"{escape(summary.name)}?</h1></header>\n<section class=answer>\n<p class=lead>{best}</p>\n<ul>\n{items}</ul>\n"
        f"<p class=note>Figures on new people come from {held.tested:,} rows that took no part in making the rules; "
        f"intervals are at {held.confidence:.0%}. Which notions clash is a plug-in figure. All are estimated limits, "
        "of the rules we could find: better ones may exist.</p>\n</section>"
    )


def _interval(figure: Figure) -> str:
    return f"interval {hundredfold(figure.low)} to {hundredfold(figure.high)}"


def _clash(found: Tensions) -> str:
    """Name the two notions that clash most."""
    pairs = [
        (found.tension[i][j], found.pair_loss[i][j], first, second)
        for i, first in enumerate(found.notions)
        for j, second in enumerate(found.notions[:i])
        if {first, second} not in _NESTED
    ]
    tension, together, first, second = max(pairs, default=(0.0, 0.0, "", ""))
    if round(100 * tension, 1) <= 0:
        return "No two notions cost more together than the dearer one alone, at a tolerance of 0.05."
    return (
        f"The two notions that clash most are <b>{title(second)}</b> and <b>{title(first)}</b>: at a tolerance of "
        f"{found.tolerance:g} they cost {points(together)} together, <b>{points(tension)}</b> more than the dearer one "
        "alone."
    )
