"""The first screen of a report in sentences, said once for the page and for plain text."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from html import escape

from fairlimits.apps.report.page import hundredfold, percent, points
from fairlimits.evaluation import SMALL_GROUPS, Findings, HeldOut, HeldOutFigure, Tensions
from fairlimits.notions import NOT_ESTIMABLE_TEXT, title


@dataclass(frozen=True)
class Markup:
    """How names from the data and what matters most are written."""

    name: Callable[[str], str]
    strong: Callable[[str], str]


PLAIN = Markup(name=str, strong=str)
HTML = Markup(name=escape, strong="<b>{}</b>".format)


@dataclass(frozen=True)
class Answer:
    """Whom the answer leaves out, the question, the best accuracy, what fairness costs, and what the figures are."""

    left_out: tuple[str, ...]
    question: str
    lead: str
    lines: tuple[str, ...]
    note: str


def answer(findings: Findings, markup: Markup) -> Answer:
    """Answer in words.

    Parameters
    ----------
    findings : Findings
        What to say.
    markup : Markup
        How to write it.
    """
    held, strong = findings.held_out, markup.strong
    who = markup.name(" and ".join(findings.sensitive))
    lead = (
        f"On people that it had never seen, the most accurate rule we could find decides "
        f"{strong(percent(held.best_hidden.value))} right without seeing {who}, and "
        f"{strong(percent(held.best_seen.value))} when it may see it. Deciding everybody alike gets "
        f"{percent(findings.majority_accuracy)} right."
    )
    by_name = {own.name: own.held_out for own in held.situation_costs}
    hiding, apart = by_name["Hiding the group"], by_name["Decorrelating, group hidden"]
    lines = (
        _prices(held, who, markup),
        _clash(findings.on_cells.tensions, markup),
        f"Hiding {who} costs {strong(points(hiding.value))} ({_interval(hiding)}) with {asked(findings)}.",
        f"Making the features independent of {who} costs {strong(points(apart.value))} more ({_interval(apart)}), "
        "with the rule free to adapt.",
    )
    note = (
        f"Figures on new people come from {held.tested:,} rows that took no part in making the rules; "
        f"intervals are at {held.confidence:.0%}. Which notions clash is a plug-in figure, of the law that was learned "
        f"from the other {held.learned:,} rows; it expects {percent(findings.on_cells.best_hidden)} and "
        f"{percent(findings.on_cells.best_seen)} of the most accurate rules. All are estimated limits, of the rules we "
        "could find: better ones may exist."
    )
    question = f"How fair and how accurate can a classifier be on {markup.name(findings.name)}?"
    left_out = tuple(markup.name(own.text) for own in findings.warnings if own.kind == SMALL_GROUPS)
    return Answer(left_out, question, lead, lines, note)


def _prices(held: HeldOut, who: str, markup: Markup) -> str:
    """Say what each notion costs, and nothing of those that no two groups could be compared in."""
    strict = sorted(
        (own for own in held.costs if not own.aware and own.tolerance == 0), key=lambda own: -own.cost.value
    )
    known, unknown = [own for own in strict if own.gap is not None], [own for own in strict if own.gap is None]
    loose = {own.notion: points(held.cost(own.notion, 0.05, aware=False).cost.value) for own in known}
    costs = ", ".join(f"{own.title} {markup.strong(points(own.cost.value))} ({loose[own.notion]})" for own in known)
    words = []
    if known:
        words.append(
            f"Accuracy lost without seeing {who}, if a gap between groups must be 0 (if it may be 0.05): {costs}."
        )
    if unknown:
        names = ", ".join(own.title for own in unknown)
        words.append(f"What fairness costs is {NOT_ESTIMABLE_TEXT}, for no two groups have rows enough, in {names}.")
    return " ".join(words)


def asked(findings: Findings) -> str:
    """Say which tolerances the four situations have."""
    given = findings.held_out.tolerances
    return " and ".join(f"{name} within {value:g}" for name, value in given.items()) or "no constraint"


def _interval(figure: HeldOutFigure) -> str:
    return f"interval {hundredfold(figure.low)} to {hundredfold(figure.high)}"


def _clash(found: Tensions, markup: Markup) -> str:
    """Name the two notions that clash most."""
    most = found.clash()
    if most is None:
        return (
            "No two notions cost more together than the dearer one alone, at a tolerance of "
            f"{found.tolerance:g} (plug-in)."
        )
    return (
        f"The two notions that clash most are {markup.strong(title(most.first))} and "
        f"{markup.strong(title(most.second))}: at a tolerance of {found.tolerance:g} they cost {points(most.loss)} "
        f"together, {markup.strong(points(most.tension))} more than the dearer one alone (plug-in)."
    )
