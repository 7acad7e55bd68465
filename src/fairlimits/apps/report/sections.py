"""The sections of a report below its first screen, each a piece of HTML."""

from __future__ import annotations

from html import escape
from typing import Any

from fairlimits._util.suppression import SUPPRESSED_TEXT
from fairlimits.apps.report.figures import (
    frontier_figure,
    individual_figure,
    pair_figure,
    shift_figure,
    tension_figure,
    to_svg,
)
from fairlimits.apps.report.page import counted, download, figure, hundredfold, percent, section, table
from fairlimits.evaluation import PRICED_AT, Figure, Findings, HeldOutCurve, HeldOutFigure
from fairlimits.notions import NOT_ESTIMABLE_TEXT, title

# Features of a typical person that a table has room for.
_FEATURES_SHOWN = 6

# Groups named among the people who are decided otherwise.
_GROUPS_SHOWN = 3
_FEWEST_SHOWN = 0.005

# Mark of a rule that gives everybody the same score.
_ALIKE = " <b>=</b>"


def with_interval(own: Figure, sign: str = "", below: bool = False) -> str:
    """A held-out figure in percent with its interval, or the words that stand for it."""
    if not isinstance(own, HeldOutFigure):
        return own or NOT_ESTIMABLE_TEXT
    value, low, high = (hundredfold(end, sign) for end in (own.value, own.low, own.high))
    return f"{value}{'<br>' if below else ' '}<small>({low} to {high})</small>"


def plug_in(findings: Findings) -> str:
    """Say what kind of figure it is, and on how many rows."""
    return f"plug-in, on the {findings.on_cells.rows:,} rows learned from"


def situations(findings: Findings) -> str:
    """The four situations, with intervals."""
    held = findings.held_out
    names = [name for name in held.tolerances if name != "IF"]
    rows = []
    for own in held.situations:
        left = "" if own.correlation is None else f"{own.correlation:.2f}"
        gaps = [with_interval(own.gaps[name]) for name in names]
        name = escape(own.name.capitalize()) + (" <small>same score for all</small>" if own.constant else "")
        rows.append((name, hundredfold(own.plug_in), with_interval(own.accuracy), *gaps, left))
    costs = [
        (escape(own.name), hundredfold(own.plug_in, "+"), with_interval(own.held_out, "+"))
        for own in held.situation_costs
    ]
    asked = ", ".join(f"{name} at most {value:g}" for name, value in held.tolerances.items()) or "no constraint"
    data: list[dict[str, Any]] = [
        {
            "situation": own.name,
            "plug-in": own.plug_in,
            "accuracy": own.accuracy.value,
            "low": own.accuracy.low,
            "high": own.accuracy.high,
            "correlation": own.correlation,
        }
        for own in held.situations
    ]
    heads = (
        "Situation",
        "plug-in, %",
        "held out, %",
        *(f"gap {name}, %" for name in names),
        "correlation left",
    )
    return section(
        "What each situation allows",
        f"<p>Accuracy of the best rule we found with {escape(asked)}. A rule may see the group or not, and its "
        "features may have to be independent of the group: with the rule free to adapt, or with a rule that was fixed "
        f"before, as in the paper. Plug-in figures are of the {held.learned:,} rows learned from, held-out figures of "
        f"{held.tested:,} new people.</p>{table(heads, rows)}<p>What less freedom costs, in points of accuracy, on the "
        f"same people:</p>{table(('', 'plug-in', 'held out'), costs)}<p class=note>{download('situations', data)}</p>",
        "situations",
    )


def asked_for(findings: Findings) -> str:
    """The rule that was asked for besides, if there was one."""
    held = findings.held_out
    found = held.asked_for
    if found is None:
        return ""
    is_cost = found.objective.startswith("costs")
    goal = "cost of a person" if is_cost else f"{found.objective}, %"
    heads = ("Group", goal, *(() if found.objective == "accuracy" else ("accuracy, %",)))
    rows = []
    for own in found.rules:
        mark = " <small>same score for all</small>" if own.constant else ""
        value = _cost(own.value) if is_cost else with_interval(own.value)
        others = () if found.objective == "accuracy" else (with_interval(own.accuracy),)
        gaps = (with_interval(own.gaps[name]) for name in held.tolerances if name in own.gaps)
        kept = (with_interval(each) for each in own.attained.values())
        rows.append((f"{'seen' if own.aware else 'hidden'}{mark}", value, *others, *gaps, *kept))
    heads += tuple(f"gap {name}, %" for name in held.tolerances if name in found.rules[0].gaps)
    heads += tuple(f"{escape(text)}, %" for text in found.rules[0].attained)
    words = [f"{name} at most {value:g}" for name, value in held.tolerances.items()] + list(found.requirements)
    data = [
        {"group": "seen" if own.aware else "hidden", "what": name, "value": each.value, "low": each.low}
        | {"high": each.high}
        for own in found.rules
        for name, each in {found.objective: own.value, "accuracy": own.accuracy, **own.gaps, **own.attained}.items()
        if isinstance(each, HeldOutFigure)
    ]
    return section(
        "The rule you asked for",
        f"<p>The best rule we found for <b>{escape(found.objective)}</b> with "
        f"{escape(', '.join(words)) or 'no constraint'}, on {held.tested:,} new people. All other figures of "
        "this page are about accuracy, without the requirements."
        f"</p>{table(heads, rows)}<p class=note>{download('asked-for', data)}</p>",
        "asked-for",
    )


def _cost(own: Figure) -> str:
    if not isinstance(own, HeldOutFigure):
        return own or NOT_ESTIMABLE_TEXT
    return f"{own.value:.3f} <small>({own.low:.3f} to {own.high:.3f})</small>"


# Heads of the rates of groups, short enough for all of them to stand side by side.
_RATES = {
    "base rate": "label 1",
    "selection rate": "selected",
    "true positive rate": "TPR",
    "false positive rate": "FPR",
    "accuracy": "accuracy",
    "precision": "precision",
    "selection ratio": "ratio",
}


def fares(findings: Findings) -> str:
    """How each group fares, rule by rule."""
    held = findings.held_out
    parts: list[str] = []
    data: list[dict[str, Any]] = []
    for own in held.fares:
        rows = [
            (
                escape(line.group),
                counted(line.rows),
                *(with_interval(line.figures[name], below=True) for name in _RATES),
            )
            for line in own.groups
        ]
        gaps = [
            (escape(title(gap.notion)), with_interval(gap.gap), *map(escape, (gap.rate, gap.lowest, gap.highest)))
            for gap in own.gaps
        ]
        parts.append(
            f"<p>Under {escape(own.rule)}:</p>{table(('Group', 'people', *_RATES.values()), rows)}"
            f"<p>Farthest apart:</p>{table(('Notion', 'gap, %', 'largest in the', 'lowest', 'highest'), gaps)}"
            f"<p>{escape(own.four_fifths)}</p>"
        )
        data += [
            {"rule": own.rule, "group": line.group, "people": line.rows}
            | {name: value.value if isinstance(value, HeldOutFigure) else value for name, value in line.figures.items()}
            for line in own.groups
        ]
    return section(
        "How each group fares",
        f"<p>On {held.tested:,} new people, with the group hidden, in percent, with {held.confidence:.0%} intervals: "
        "how many have label 1; how many are selected, of all, of those with label 1 (TPR), of the others (FPR); how "
        "many are decided as their label says; how many of those selected have label 1; and the selection rate as a "
        f"share of the highest.</p>{''.join(parts)}<p class=note>{download('groups', data)}</p>",
        "groups",
    )


def _curve_rows(curves: list[HeldOutCurve]) -> list[dict[str, Any]]:
    return [
        {
            "notions": " + ".join(own.notions),
            "group": "seen" if own.aware else "hidden",
            "tolerance": own.tolerances[k],
            "plug-in accuracy": own.plug_in[k],
            "held-out accuracy": own.accuracy[k],
            "low": own.low[k],
            "high": own.high[k],
            "largest held-out gap": _largest([gaps[k] for gaps in own.gaps.values()]),
        }
        for own in curves
        for k in range(len(own.tolerances))
    ]


def _largest(gaps: list[float | str | None]) -> float | str:
    """The largest of some gaps; a word if one of them is suppressed, nothing if none is estimable."""
    if any(isinstance(own, str) for own in gaps):
        return SUPPRESSED_TEXT
    return max((own for own in gaps if isinstance(own, float)), default="")


def frontiers(findings: Findings) -> str:
    """Frontiers of single notions."""
    curves = [own for own in findings.held_out.curves if len(own.notions) == 1]
    caption = (
        f"The accuracy we could reach at each tolerance: on {findings.held_out.tested:,} new people (solid, with its "
        f"95% band), and the exact limit of the law ({plug_in(findings)}; dashed). At a circle everybody gets the "
        "same score. A curve that stays flat down to 0 is a notion that is cheap on this data."
    )
    alternative = "For each group notion, accuracy rising with the largest gap allowed; group hidden above, seen below."
    picture = figure(
        "frontiers", to_svg(frontier_figure(findings)), caption, alternative, _curve_rows(curves), broad=True
    )
    return section("Accuracy against fairness", picture, "accuracy-against-fairness")


def pairs(findings: Findings) -> str:
    """Frontiers of pairs of notions."""
    curves = [own for own in findings.held_out.curves if len(own.notions) == 2]
    caption = (
        f"Two notions held to the same tolerance at once, on {findings.held_out.tested:,} new people (solid) and "
        f"{plug_in(findings)} (dashed). Compare with the single notions above: what is lost beyond the dearer of the "
        "two is their tension, and it fades as the tolerance grows."
    )
    alternative = "For three pairs of notions, accuracy rising with the largest gap allowed in both."
    picture = figure("pairs", to_svg(pair_figure(findings)), caption, alternative, _curve_rows(curves), broad=True)
    return section("Two notions at once", picture, "two-notions")


def costs(findings: Findings) -> str:
    """What each notion costs on new people."""
    held = findings.held_out
    rows = []
    for notion in dict.fromkeys(own.notion for own in held.costs):
        cells = [f"{escape(title(notion).capitalize())} <small>{notion}</small>"]
        for aware in (False, True):
            found = [held.cost(notion, tolerance, aware) for tolerance in PRICED_AT]
            cells += [with_interval(own.cost, below=True) + (_ALIKE if own.constant else "") for own in found]
            most = found[-1].at_most
            certified = "" if most is None else f"<br><small>at most {hundredfold(most)}</small>"
            cells.append(with_interval(found[-1].gap, below=True) + certified)
        rows.append(cells)
    heads = ("Notion", *("at 0", "at 0.05", "its gap then, %") * 2)
    over = (
        ("", 1),
        (f"group hidden, best {percent(held.best_hidden.value)}", 3),
        (f"group seen, best {percent(held.best_seen.value)}", 3),
    )
    marked = [f"{_ALIKE.strip()} Everybody gets the same score."] if any(own.constant for own in held.costs) else []
    notes = "".join(f"<p class=note>{note}</p>" for note in [*marked, *map(escape, held.notes)])
    return section(
        "What each notion costs on new people",
        f"<p>Points of accuracy lost on {held.tested:,} new people, against the best rule without constraint on the "
        "same people; and the gap that a tolerance of 0.05 came to on them, with what it is certified to be at most "
        f"among all people, at {held.confidence:.0%}. A cost whose interval holds 0 cannot be "
        "told from none.</p>"
        f"{table(heads, rows, over)}{notes}",
        "costs",
    )


def clashes(findings: Findings) -> str:
    """The tension heat map."""
    found = findings.on_cells.tensions
    data = [
        {"first": first, "second": second, "loss together": found.pair_loss[i][j], "tension": found.tension[i][j]}
        for i, first in enumerate(found.notions)
        for j, second in enumerate(found.notions[: i + 1])
    ]
    caption = (
        f"Points of accuracy lost when two notions must both hold within {found.tolerance:g}, group hidden "
        f"({plug_in(findings)}); on the diagonal one alone. The second number, and the colour, is the tension: what "
        "the pair costs beyond the dearer of the two. Dark pairs are those you would have to choose between. IF is "
        "individual fairness, whose cells cut the features too."
    )
    alternative = "Heat map of fairness notions: accuracy lost in pairs, and the part beyond the dearer notion."
    picture = figure("tension", to_svg(tension_figure(found)), caption, alternative, data)
    return section("Which notions clash", picture, "tension-between-notions")


def affected(findings: Findings) -> str:
    """Who is decided otherwise because of each notion, if anybody is."""
    cells = findings.on_cells
    shares = [own for shift in cells.shifts for own in (shift.more_yes, shift.more_no)]
    if not any(isinstance(own, str) or own >= _FEWEST_SHOWN for own in shares):
        return section(
            "Who is affected",
            f"<p>Hardly anybody: no group notion held within 0.05 changes the decision of one in "
            f"{round(1 / _FEWEST_SHOWN)} people of any group ({plug_in(findings)}).</p>",
            "who-is-affected",
        )
    caption = (
        "Shares of each group who get another decision than from the most accurate rule, once a notion must hold "
        f"within 0.05 (group hidden; {plug_in(findings)}). To the right a yes instead of a no, to the left the "
        "reverse: a notion can be met by lifting one group, by lowering the other, or by both."
    )
    alternative = "Bars for each notion and group: shares decided yes instead of no, and no instead of yes."
    data = [vars(own) for own in cells.shifts]
    picture = figure("affected", to_svg(shift_figure(cells)), caption, alternative, data)
    rows = []
    for own in cells.affected:
        person = ", ".join(f"{escape(k)} {escape(v)}" for k, v in list(own.person.items())[:_FEATURES_SHOWN])
        known = {name: share for name, share in own.groups.items() if not isinstance(share, str)}
        largest = sorted(known.items(), key=lambda item: -item[1])[:_GROUPS_SHOWN]
        groups = [f"{escape(name)} {100 * share:.0f}%" for name, share in largest if share >= _FEWEST_SHOWN]
        groups += [SUPPRESSED_TEXT] if len(known) < len(own.groups) else []
        low, high = (f"{100 * end:.0f}" for end in (own.label_low, own.label_high))
        rows.append(
            (
                f"{escape(title(own.notion))}: {'yes' if own.more_yes else 'no'}",
                f"{', '.join(groups)} <small>{person}</small>",
                percent(own.share),
                f"{high}%" if low == high else f"{low} to {high}%",
            )
        )
    heads = ("notion and new decision", "who they are", "share of people", "chance of the label")
    listing = (
        "<p>What the people are like who are decided otherwise: their groups; means and most frequent values, nobody's "
        "own row, in the features in which they differ most from everybody; and where the chance of the label, "
        f"P(Y=1 | x), lies for nine in ten of them ({plug_in(findings)}):</p>{table(heads, rows, text=2)}"
        if rows
        else ""
    )
    return section("Who is affected", picture + listing, "who-is-affected")


def individual(findings: Findings) -> str:
    """Individual fairness."""
    found = findings.on_cells.individual
    data = [
        {"tolerance": t, "accuracy, group hidden": h, "accuracy, group seen": s}
        for t, h, s in zip(found.tolerances, found.accuracy_hidden, found.accuracy_seen, strict=True)
    ]
    caption = (
        f"Accuracy when {found.neighbours:,} pairs of neighbouring cells must get similar scores "
        f"({plug_in(findings)}). The {found.cells} cells cut the same law and the features together, for people who "
        f"are alike are compared. Without the notion, scores of neighbours differ by {found.difference_free:.2f} on "
        f"average and by up to {found.gap_hidden:.2f}, weighted by nearness; at a tolerance of 0.1, by "
        f"{found.difference_strict:.2f} on average."
    )
    alternative = "Accuracy rising with the largest difference of scores allowed between neighbouring cells."
    picture = figure("individual", to_svg(individual_figure(found)), caption, alternative, data)
    return section("People who are alike, treated alike", picture, "individual-fairness")
