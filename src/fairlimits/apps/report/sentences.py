"""The first screen of a report in sentences, said once for the page and for plain text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from markupsafe import Markup

from fairlimits._util.names import in_a_sentence
from fairlimits._util.percentages import hundredfold
from fairlimits.apps.report.formats import counted, percent, points
from fairlimits.evaluation import Figure, Findings, GroupGap, HeldOut, HeldOutFigure, Tensions
from fairlimits.notions import CHANCE_WORDS, NOT_ESTIMABLE_TEXT, title

# Groups and features named in a sentence; more are counted.
_GROUPS_NAMED = 6
_FEATURES_NAMED = 16

# Tolerance that the first screen speaks of, among `PRICED_AT`.
_LOOSE = 0.05


@dataclass(frozen=True)
class Writer:
    """Writes sentences as plain text or as HTML; names from the data are put into them, and escaped where need be.

    Parameters
    ----------
    kind : type
        `str`, or `markupsafe.Markup`, which escapes all that is put in and is not markup already.
    bold : str
        What stands around what matters most.
    """

    kind: type[str]
    bold: str

    def __call__(self, words: str, **parts: str) -> str:
        """Put parts into a sentence where their names stand in braces."""
        return self.kind(words).format(**parts)

    def strong(self, words: str) -> str:
        """Write what matters most."""
        return self.kind(self.bold).format(words)


PLAIN = Writer(str, "{}")
HTML = Writer(Markup, "<b>{}</b>")


@dataclass(frozen=True)
class Said:
    """A figure and its interval in words; without interval, the words that stand for a figure that is not known."""

    figure: str
    interval: str = ""

    def __str__(self) -> str:
        return f"{self.figure} ({self.interval})" if self.interval else self.figure


@dataclass(frozen=True)
class NotionLine:
    """What one notion comes to, in words: each figure with its interval, in points; whether it is `known` at all."""

    title: str
    known: bool
    gap: Said
    between: str
    chance: str
    cost: Said
    gap_then: Said
    at_most: str
    cost_at_zero: Said


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


def answer(findings: Findings, write: Writer) -> Answer:
    """Answer in words.

    Parameters
    ----------
    findings : Findings
        What to say.
    write : Writer
        How to write it.
    """
    held = findings.held_out
    who = " and ".join(findings.sensitive)
    costs = {own.key: own.held_out for own in held.situation_costs}
    lines = (
        *_asked_for(findings, write),
        *_from_above(findings, write),
        f"{held.fares[0].four_fifths} To be selected is to be decided {_label(findings)}.",
        write(
            "Hiding {who} {costs} with {asked}.", who=who, costs=_costs(costs["hiding"], write), asked=asked(findings)
        ),
        write(
            "Making the features independent of {who} {costs}, with the rule free to adapt.",
            who=who,
            costs=_costs(costs["decorrelating_hidden"], write, " more"),
        ),
        _clash(findings.on_cells.tensions, write),
    )
    return Answer(
        first=tuple(own.text for own in findings.warnings if own.is_first),
        question=f"How fair and how accurate can a classifier be on {findings.name}?",
        about=_about(findings),
        lead=write(
            "On people that it had never seen, the most accurate rule we could find decides {hidden} right without "
            "seeing {who}, and {seen} when it may see {them}. Deciding everybody alike gets {majority} right{within}.",
            hidden=_share(held.best_hidden, write),
            who=who,
            seen=_share(held.best_seen, write),
            them="it" if len(findings.sensitive) == 1 else "them",
            majority=percent(findings.majority_accuracy),
            within=_within(held.best_hidden, findings.majority_accuracy),
        ),
        notions=_notions(findings, write),
        lines=lines,
        note=_note(findings),
    )


def _note(findings: Findings) -> str:
    """Say what the figures are."""
    held = findings.held_out
    return (
        f"Figures on new people come from {held.tested:,} rows that took no part in making the rules; "
        f"{_certified(held)} Which notions clash is a plug-in figure, of the law that was learned "
        f"from the other {held.learned:,} rows; it expects {percent(findings.on_cells.best_hidden)} and "
        f"{percent(findings.on_cells.best_seen)} of the most accurate rules. All are estimated limits, of the rules we "
        "could find: better ones may exist. Labels are taken as they are, biased or not."
    )


def _certified(held: HeldOut) -> str:
    """Say at what confidence intervals are, and how gaps are certified."""
    if held.certified is None:
        return f"intervals, and what gaps are certified to be at most, are at {held.confidence:.0%}."
    return (
        f"intervals are at {held.confidence:.0%}. Rules were made to keep their tolerances among all people with "
        f"{held.certified:.0%} confidence: that is what certifies gaps, on the rows that were learned from, and where "
        "those cannot certify a tolerance, rules come as near to it as can be."
    )


def _asked_for(findings: Findings, write: Writer) -> tuple[str, ...]:
    """Say what the rule comes to that was asked for besides, if there was one."""
    found = findings.held_out.asked_for
    if found is None:
        return ()
    own = found.rules[0]
    percents = [f"{name}: {_points(each)}" for name, each in own.attained.items()]
    reached = []
    if not found.is_cost:
        percents = [f"{found.objective}: {_points(own.value)}", *percents]
    elif isinstance(own.value, HeldOutFigure):
        reached = [f"to a cost of {own.value.value:.3f} per person ({own.value.low:.3f} to {own.value.high:.3f})"]
    else:
        reached = [f"to a cost that is {_points(own.value)}"]
    if percents:
        reached.append(f"in percent, to {'; '.join(percents)}")
    return (
        write(
            "Asked for besides: {what}. The best rule we found for it with {asked} and the group hidden came on new "
            "people{figures}.",
            what=write.strong(", ".join((found.objective, *found.requirements))),
            asked=asked(findings),
            figures=f"{' ' if found.is_cost else ', '}{', and '.join(reached)}",
        ),
    )


def _within(best: HeldOutFigure, majority: float) -> str:
    """Say so where deciding everybody alike is within the interval of the best rule."""
    return ", which lies within the first interval" if best.low <= majority <= best.high else ""


def _from_above(findings: Findings, write: Writer) -> tuple[str, ...]:
    """Say what no rule passes, if it was asked for."""
    found = findings.from_above
    if found is None:
        return ()
    free = found.at(None)
    if found.says_little:
        return (
            write(
                "What is out of reach the data cannot say: only {twins} of the people have a twin, somebody alike in "
                "all features.",
                twins=percent(found.twins),
            ),
        )
    steps = ", ".join(f"{name} in steps of {step:g}" for name, step in found.resolution.items())
    twins = free.upper_on_twins[0]
    on_twins = ""
    if twins is not None:
        on_twins = write(
            "; for the {share} of the people who have a twin, somebody alike in all of them, {twins}",
            share=percent(found.twins),
            twins=percent(twins),
        )
    return (
        write(
            "With {confidence} confidence, and whatever the law, no rule at all that sees these features{steps} "
            "decides more than {upper} right without seeing the group{on_twins}.",
            confidence=f"{found.confidence:.0%}",
            steps=f" ({steps})" if steps else "",
            upper=write.strong(percent(free.upper[0])),
            on_twins=on_twins,
        ),
    )


def _about(findings: Findings) -> str:
    """Say what data it is."""
    # The largest first; those whose number is suppressed, last.
    order = sorted(findings.groups, key=lambda own: 0 if isinstance(own.rows, str) else -own.rows)
    groups = [f"{in_a_sentence(own.name)} ({counted(own.rows)})" for own in order]
    features = [own.name for own in findings.features]
    return (
        f"{findings.rows:,} people. The label is {_label(findings)}, which "
        f"{percent(findings.base_rate)} have; the groups are by {' and '.join(findings.sensitive)}: "
        f"{_listed(groups, _GROUPS_NAMED)}. "
        f"{_counted(len(features), 'feature')}: {_listed(features, _FEATURES_NAMED)}.{_not_seen(findings)}"
    )


def _label(findings: Findings) -> str:
    return f"{findings.label} = {findings.positive}"


def _not_seen(findings: Findings) -> str:
    """Say which other columns there are."""
    weighed = f" Rows weigh what {findings.weight} says." if findings.weight is not None else ""
    left = _listed(list(findings.left_out), _FEATURES_NAMED)
    return f"{weighed} Left out by choice: {left}." if left else weighed


def _listed(names: list[str], most: int) -> str:
    """List names, with a count of those that there is no room for."""
    shown = names if len(names) <= most + 1 else [*names[:most], f"{len(names) - most:,} more"]
    return ", ".join(shown[:-1]) + " and " + shown[-1] if len(shown) > 1 else "".join(shown)


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}" + ("" if number == 1 else "s")


def _notions(findings: Findings, write: Writer) -> tuple[NotionLine, ...]:
    """Say what each notion comes to without the group seen, the dearest first."""
    held = findings.held_out
    free = {own.notion: own for own in held.fares[0].gaps}
    found = []
    for strict in (own for own in held.costs if not own.aware and own.tolerance == 0):
        loose, before = held.cost(strict.notion, _LOOSE, aware=False), free[strict.notion]
        known = strict.gap is not None
        line = NotionLine(
            title=strict.title,
            known=known,
            gap=_points(before.gap),
            between=_between(before, free),
            chance=CHANCE_WORDS[before.chance],
            cost=_lost(loose.cost, write) if known else Said(NOT_ESTIMABLE_TEXT),
            gap_then=_points(loose.gap),
            at_most="" if loose.at_most is None else f"at most {hundredfold(loose.at_most)}",
            cost_at_zero=_lost(strict.cost, write) if known else Said(NOT_ESTIMABLE_TEXT),
        )
        found.append((strict.cost.value, line))
    return tuple(line for _, line in sorted(found, key=lambda own: (not own[1].known, -own[0])))


def _between(own: GroupGap, free: Mapping[str, GroupGap]) -> str:
    """Say who is lowest and highest, and where a notion of two rates is read in one of them alone."""
    if not own.lowest:
        return ""
    words = f"{in_a_sentence(own.lowest)} lowest, {in_a_sentence(own.highest)} highest"
    if own.notion == "EOd" and (free["EOp"].gap is None or free["PE"].gap is None):
        return f"{words}; {own.rate}s alone"
    return words


def sentence(line: NotionLine) -> str:
    """Say in plain text what a notion comes to."""
    if not line.known:
        return f"{line.title}: {NOT_ESTIMABLE_TEXT}, for no two groups have rows enough."
    between = "".join(f", {words}" for words in (line.between, line.chance) if words)
    certified = f" and is certified to be {line.at_most}" if line.at_most else ""
    came = f"came to {line.gap_then} on new people" if line.gap_then.interval else f"is {line.gap_then}"
    return (
        f"{line.title}: the best rule's gap is {line.gap}{between}. Accuracy lost within {100 * _LOOSE:g}: "
        f"{line.cost}, where the gap {came}{certified}; within 0: {line.cost_at_zero}."
    )


def asked(findings: Findings) -> str:
    """Say which tolerances the four situations have."""
    given = findings.held_out.tolerances
    return " and ".join(f"{name} within {value:g}" for name, value in given.items()) or "no constraint"


def _share(figure: HeldOutFigure, write: Writer) -> str:
    return write("{share} ({interval})", share=write.strong(percent(figure.value)), interval=_interval(figure))


def _points(figure: Figure) -> Said:
    if not isinstance(figure, HeldOutFigure):
        return Said(figure or NOT_ESTIMABLE_TEXT)
    return Said(hundredfold(figure.value), _interval(figure))


def _lost(figure: HeldOutFigure, write: Writer) -> Said:
    """Accuracy lost, unless the rows do not show that there is any; where both rules decide alike, it is 0."""
    if figure.low <= 0 and not _is_nothing(figure):
        return Said(NOT_TOLD, _interval(figure))
    return Said(write.strong(hundredfold(figure.value)), _interval(figure))


NOT_TOLD = "cannot be told from none"
"""Said of a loss whose interval holds 0."""


def _costs(figure: HeldOutFigure, write: Writer, more: str = "") -> str:
    """Say what less freedom costs, as far as the rows show it."""
    if _is_nothing(figure):
        return "changes nothing: on these people both rules are equally accurate"
    if figure.low <= 0 <= figure.high:
        return f"has a cost that {NOT_TOLD} ({_interval(figure)} points{more})"
    words = "costs {points}{more} ({interval})"
    if figure.high < 0:
        figure = HeldOutFigure(-figure.value, -figure.high, -figure.low)
        words = "gains {points}{more} ({interval}): by chance, or the law is off"
    return write(words, points=write.strong(points(figure.value)), more=more, interval=_interval(figure))


def _is_nothing(figure: HeldOutFigure) -> bool:
    """Whether both ends round to nothing: on these people two rules decide alike, or as good as alike."""
    return hundredfold(figure.low) == hundredfold(figure.high) == hundredfold(0)


def _interval(figure: HeldOutFigure) -> str:
    return f"{hundredfold(figure.low)} to {hundredfold(figure.high)}"


def _clash(found: Tensions, write: Writer) -> str:
    """Name the two notions that clash most."""
    most = found.clash()
    if most is None:
        return (
            "No two notions cost more together than the dearer one alone, at a tolerance of "
            f"{found.tolerance:g} (plug-in)."
        )
    return write(
        "The two notions that clash most are {first} and {second}: at a tolerance of {tolerance} they cost {loss} "
        "together, {tension} more than the dearer one alone (plug-in).",
        first=write.strong(title(most.first)),
        second=write.strong(title(most.second)),
        tolerance=f"{found.tolerance:g}",
        loss=points(most.loss),
        tension=write.strong(points(most.tension)),
    )
