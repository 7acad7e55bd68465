"""The first screen of a report in sentences, said once for the page and for plain text."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from html import escape

from fairlimits.apps.report.page import counted, hundredfold, percent, points
from fairlimits.evaluation import Figure, Findings, HeldOut, HeldOutFigure, Tensions
from fairlimits.notions import NOT_ESTIMABLE_TEXT, title

# Groups and features named in a sentence; more are counted.
_GROUPS_NAMED = 6
_FEATURES_NAMED = 16

# Tolerance that the first screen speaks of, among `PRICED_AT`.
_LOOSE = 0.05


@dataclass(frozen=True)
class Markup:
    """How names from the data and what matters most are written."""

    name: Callable[[str], str]
    strong: Callable[[str], str]


PLAIN = Markup(name=str, strong=str)
HTML = Markup(name=escape, strong="<b>{}</b>".format)


@dataclass(frozen=True)
class NotionLine:
    """What one notion comes to, in words: each figure with its interval, in points."""

    title: str
    gap: str
    between: str
    cost: str
    gap_then: str
    at_most: str
    cost_at_zero: str


@dataclass(frozen=True)
class Answer:
    """The first screen in words.

    Parameters
    ----------
    first : tuple of str
        What to know before any figure: whom they leave out, columns that may spoil them.
    question : str
    about : str
        What the data is.
    lead : str
        The best accuracy.
    notions : tuple of NotionLine
        What each notion costs, the dearest first.
    lines : tuple of str
        What else matters.
    note : str
        What the figures are.
    """

    first: tuple[str, ...]
    question: str
    about: str
    lead: str
    notions: tuple[NotionLine, ...]
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
    held = findings.held_out
    who = markup.name(" and ".join(findings.sensitive))
    lead = (
        f"On people that it had never seen, the most accurate rule we could find decides "
        f"{_share(held.best_hidden, markup)} right without seeing {who}, and {_share(held.best_seen, markup)} when it "
        f"may see it. Deciding everybody alike gets {percent(findings.majority_accuracy)} right."
    )
    by_name = {own.name: own.held_out for own in held.situation_costs}
    hiding, apart = by_name["Hiding the group"], by_name["Decorrelating, group hidden"]
    lines = (
        *_asked_for(findings, markup),
        markup.name(held.fares[0].four_fifths),
        f"Hiding {who} {_costs(hiding, markup)} with {asked(findings)}.",
        f"Making the features independent of {who} {_costs(apart, markup, ' more')}, with the rule free to adapt.",
        _clash(findings.on_cells.tensions, markup),
    )
    note = (
        f"Figures on new people come from {held.tested:,} rows that took no part in making the rules; "
        f"intervals, and what gaps are certified to be at most, are at {held.confidence:.0%}. "
        f"{_made_to_hold(held)}Which notions clash is a plug-in figure, of the law that was learned "
        f"from the other {held.learned:,} rows; it expects {percent(findings.on_cells.best_hidden)} and "
        f"{percent(findings.on_cells.best_seen)} of the most accurate rules. All are estimated limits, of the rules we "
        "could find: better ones may exist. Labels are taken as they are, biased or not."
    )
    question = f"How fair and how accurate can a classifier be on {markup.name(findings.name)}?"
    first = tuple(markup.name(own.text) for own in findings.warnings if own.is_first)
    return Answer(first, question, _about(findings, markup), lead, _notions(findings, markup), lines, note)


def _made_to_hold(held: HeldOut) -> str:
    """Say whether rules were made to keep their tolerances among people whom nobody has seen."""
    if held.certified is None:
        return ""
    return (
        f"Rules were to keep their tolerances among all people with confidence {held.certified:g}, and where the rows "
        "could not certify that, come as near to it as can be. "
    )


def _asked_for(findings: Findings, markup: Markup) -> tuple[str, ...]:
    """Say what the rule comes to that was asked for besides, if there was one."""
    found = findings.held_out.asked_for
    if found is None:
        return ()
    own = found.rules[0]
    what = [found.objective, *found.requirements]
    parts = []
    for name, each in ((found.objective, own.value), *own.attained.items()):
        if name.startswith("costs") and isinstance(each, HeldOutFigure):
            parts.append(f"{name}: {each.value:.3f} a person ({each.low:.3f} to {each.high:.3f})")
        else:
            parts.append(f"{markup.name(name)}: {_points(each)}")
    return (
        f"Asked for besides: {markup.strong(markup.name(', '.join(what)))}. The best rule we found for it with "
        f"{asked(findings)} and the group hidden came on new people, in percent, to {'; '.join(parts)}.",
    )


def _about(findings: Findings, markup: Markup) -> str:
    """Say what data it is."""
    # The largest first; those whose number is suppressed, last.
    order = sorted(findings.groups, key=lambda own: 0 if isinstance(own.rows, str) else -own.rows)
    groups = [f"{own.name} ({counted(own.rows)})" for own in order]
    features = [own.name for own in findings.features]
    label = f"{findings.label} = {findings.positive}"
    return (
        f"{findings.rows:,} people. The label is {markup.name(label)}, which {percent(findings.base_rate)} have; "
        f"the groups are by {markup.name(' and '.join(findings.sensitive))}: "
        f"{markup.name(_listed(groups, _GROUPS_NAMED))}. "
        f"{_counted(len(features), 'feature')}: {markup.name(_listed(features, _FEATURES_NAMED))}."
    )


def _listed(names: list[str], most: int) -> str:
    """List names, with a count of those that there is no room for."""
    shown = names if len(names) <= most + 1 else [*names[:most], f"{len(names) - most:,} more"]
    return ", ".join(shown[:-1]) + " and " + shown[-1] if len(shown) > 1 else "".join(shown)


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}" + ("" if number == 1 else "s")


def _notions(findings: Findings, markup: Markup) -> tuple[NotionLine, ...]:
    """Say what each notion comes to without the group seen, the dearest first."""
    held = findings.held_out
    free = {own.notion: own for own in held.fares[0].gaps}
    found = []
    for strict in (own for own in held.costs if not own.aware and own.tolerance == 0):
        loose, before = held.cost(strict.notion, _LOOSE, aware=False), free[strict.notion]
        known = strict.gap is not None
        between = f"{before.lowest} lowest, {before.highest} highest" if before.lowest else ""
        line = NotionLine(
            strict.title,
            _points(before.gap),
            markup.name(between),
            _lost(loose.cost, markup) if known else NOT_ESTIMABLE_TEXT,
            _points(loose.gap),
            "" if loose.at_most is None else f"at most {hundredfold(loose.at_most)}",
            _lost(strict.cost, markup) if known else NOT_ESTIMABLE_TEXT,
        )
        found.append((known, strict.cost.value, line))
    return tuple(line for _, _, line in sorted(found, key=lambda own: (not own[0], -own[1])))


def sentence(line: NotionLine) -> str:
    """Say in plain text what a notion comes to."""
    if line.cost == NOT_ESTIMABLE_TEXT:
        return f"{line.title}: {NOT_ESTIMABLE_TEXT}, for no two groups have rows enough."
    between = f", {line.between}" if line.between else ""
    certified = f" and is certified to be {line.at_most}" if line.at_most else ""
    return (
        f"{line.title}: the best rule's gap is {line.gap}{between}. Accuracy lost within {_LOOSE:g}: {line.cost}, "
        f"where the gap came to {line.gap_then} on new people{certified}; within 0: {line.cost_at_zero}."
    )


def asked(findings: Findings) -> str:
    """Say which tolerances the four situations have."""
    given = findings.held_out.tolerances
    return " and ".join(f"{name} within {value:g}" for name, value in given.items()) or "no constraint"


def _share(figure: HeldOutFigure, markup: Markup) -> str:
    return f"{markup.strong(percent(figure.value))} ({hundredfold(figure.low)} to {hundredfold(figure.high)})"


def _points(figure: Figure) -> str:
    if not isinstance(figure, HeldOutFigure):
        return figure or NOT_ESTIMABLE_TEXT
    return f"{hundredfold(figure.value)} ({_interval(figure)})"


def _lost(figure: HeldOutFigure, markup: Markup) -> str:
    """Accuracy lost, unless the rows do not show that there is any; where both rules decide alike, it is 0."""
    if figure.low <= 0 and figure.low < figure.high:
        return f"{NOT_TOLD} ({_interval(figure)})"
    return f"{markup.strong(hundredfold(figure.value))} ({_interval(figure)})"


NOT_TOLD = "cannot be told from none"
"""Said of a loss whose interval holds 0."""


def _costs(figure: HeldOutFigure, markup: Markup, more: str = "") -> str:
    """Say what a freedom less costs, as far as the rows show it."""
    if figure.low == figure.high == 0:
        return "changes nothing: on these people both rules are equally accurate"
    if figure.low <= 0 <= figure.high:
        return f"has a cost that {NOT_TOLD} ({_interval(figure)} points{more})"
    if figure.high < 0:
        gained = HeldOutFigure(-figure.value, -figure.high, -figure.low)
        return f"gains {markup.strong(points(gained.value))}{more} ({_interval(gained)}): by chance, or the law is off"
    return f"costs {markup.strong(points(figure.value))}{more} ({_interval(figure)})"


def _interval(figure: HeldOutFigure) -> str:
    return f"{hundredfold(figure.low)} to {hundredfold(figure.high)}"


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
