"""The sections of a report below its first screen, each a piece of HTML."""

from __future__ import annotations

from html import escape
from typing import Any

from fairlimits.apps.report.figures import (
    frontier_figure,
    individual_figure,
    law_figure,
    pair_figure,
    shift_figure,
    tension_figure,
    to_svg,
)
from fairlimits.apps.report.page import download, figure, hundredfold, percent, section, table
from fairlimits.evaluation import PRICED_AT, Findings, HeldOutCurve, HeldOutFigure
from fairlimits.notions import NOT_ESTIMABLE_TEXT, title

# Features of a cell's typical person that a table has room for.
_FEATURES_SHOWN = 6

# Mark of a rule that gives everybody the same score.
_ALIKE = " <b>=</b>"


def _with_interval(own: HeldOutFigure | None, sign: str = "") -> str:
    if own is None:
        return NOT_ESTIMABLE_TEXT
    value, low, high = (hundredfold(end, sign) for end in (own.value, own.low, own.high))
    return f"{value} <small>({low} to {high})</small>"


def situations(findings: Findings) -> str:
    """The four situations, with intervals."""
    held = findings.held_out
    names = [name for name in held.tolerances if name != "IF"]
    rows = []
    for own in held.situations:
        left = "" if own.correlation is None else f"{own.correlation:.2f}"
        gaps = [_with_interval(own.gaps[name]) for name in names]
        name = escape(own.name.capitalize()) + (" <small>same score for all</small>" if own.constant else "")
        rows.append((name, percent(own.plug_in), _with_interval(own.accuracy), *gaps, left))
    costs = [
        (escape(own.name), hundredfold(own.plug_in, "+"), _with_interval(own.held_out, "+"))
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
    heads = ("Situation", "plug-in", "held out, %", *(f"gap {name}, %" for name in names), "correlation left")
    return section(
        "What each situation allows",
        f"<p>Accuracy of the best rule we found with {escape(asked)}. A rule may see the group or not, and its "
        "features may have to be independent of the group: with the rule free to adapt, or with a rule that was fixed "
        f"before, as in the paper.</p>{table(heads, rows)}<p>What less freedom costs, in points of accuracy, on the "
        f"same people:</p>{table(('', 'plug-in', 'held out'), costs)}<p class=note>{download('situations', data)}</p>",
        "situations",
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
            "largest held-out gap": max(
                (g for g in (gaps[k] for gaps in own.gaps.values()) if g is not None), default=""
            ),
        }
        for own in curves
        for k in range(len(own.tolerances))
    ]


def frontiers(findings: Findings) -> str:
    """Frontiers of single notions."""
    curves = [own for own in findings.held_out.curves if len(own.notions) == 1]
    caption = (
        "The accuracy we could reach at each tolerance, on rows that took no part (solid, with its 95% band) and as "
        "the estimate has it (dashed); at a circle everybody gets the same score. A curve that stays flat down to 0 is "
        "a notion that is cheap on this data. The "
        f"dotted line is the exact limit on {findings.on_cells.cells} cells of the features: where it lies lower, "
        "cells lose what they do not tell apart."
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
        "Two notions held to the same tolerance at once. Compare with the single notions above: what is lost beyond "
        "the dearer of the two is their tension, and it fades as the tolerance grows."
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
            cells += [_with_interval(own.cost) + (_ALIKE if own.constant else "") for own in found]
            cells.append(_with_interval(found[-1].gap))
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
        "<p>Points of accuracy lost on held-out rows, against the best rule without constraint on the same rows; and "
        f"the gap that a tolerance of 0.05 came to on them. A cost whose interval holds 0 cannot be told from none.</p>"
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
        f"Points of accuracy lost when two notions must both hold within {found.tolerance:g}, group hidden (plug-in); "
        "on the diagonal one alone. The second number, and the colour, is the tension: what the pair costs beyond the "
        "dearer of the two. Dark pairs are those you would have to choose between. IF is individual fairness."
    )
    alternative = "Heat map of fairness notions: accuracy lost in pairs, and the part beyond the dearer notion."
    picture = figure("tension", to_svg(tension_figure(found)), caption, alternative, data)
    return section("Which notions clash", picture, "tension-between-notions")


def affected(findings: Findings) -> str:
    """Who is decided otherwise because of each notion."""
    cells = findings.on_cells
    caption = (
        "Shares of each group who get another decision than from the most accurate rule, once a notion must hold "
        "within 0.05 (group hidden, plug-in). To the right a yes instead of a no, to the left the reverse: a notion "
        "can be met by lifting one group, by lowering the other, or by both."
    )
    alternative = "Bars for each notion and group: shares decided yes instead of no, and no instead of yes."
    data = [vars(own) for own in cells.shifts]
    picture = figure("affected", to_svg(shift_figure(cells)), caption, alternative, data)
    rows = []
    for own in cells.changed:
        person = ", ".join(f"{escape(k)} {escape(v)}" for k, v in list(own.person.items())[:_FEATURES_SHOWN])
        rows.append(
            (
                f"{escape(title(own.notion))}",
                f"<small>{person}</small>",
                percent(own.share),
                percent(own.label_rate),
                f"{own.before:.2f}",
                f"{own.after:.2f}",
            )
        )
    heads = ("notion", "typical person of the cell", "share of people", "with the label", "yes before", "yes after")
    listing = (
        "<p>The cells in which it matters most, by their typical person (means and most frequent values, nobody's own "
        f"row):</p>{table(heads, rows, text=2)}"
        if rows
        else ""
    )
    return section("Who is affected", picture + listing, "who-is-affected")


def individual(findings: Findings) -> str:
    """Individual fairness on the cells."""
    found = findings.on_cells.individual
    if found is None:
        return ""
    data = [
        {"tolerance": t, "accuracy, group hidden": h, "accuracy, group seen": s}
        for t, h, s in zip(found.tolerances, found.accuracy_hidden, found.accuracy_seen, strict=True)
    ]
    caption = (
        f"Accuracy on the cells when {found.neighbours:,} pairs of neighbouring cells must get similar scores "
        f"(plug-in). Without it, scores of neighbours differ by {found.difference_free:.2f} on average and by up to "
        f"{found.gap_hidden:.2f}, weighted by nearness; at a tolerance of 0.1, by {found.difference_strict:.2f} "
        f"on average."
    )
    alternative = "Accuracy rising with the largest difference of scores allowed between neighbouring cells."
    picture = figure("individual", to_svg(individual_figure(found)), caption, alternative, data)
    return section("People who are alike, treated alike", picture, "individual-fairness")


def decorrelation(findings: Findings) -> str:
    """Decorrelation, before and after."""
    found = findings.held_out.decorrelated
    rows = (
        (
            "largest distance between groups' laws (0 to 2)",
            f"{found.correlation_before:.2f}",
            f"{found.correlation_after:.2f}",
        ),
        ("accuracy of the rule on the cells", percent(found.accuracy_before), percent(found.accuracy_after)),
        ("people who keep their cell", "", percent(found.kept_in_place)),
        ("AUC of an adversary, features alone (0.5 is guessing)", f"{found.auc_before:.3f}", _auc(found.auc_after)),
        ("AUC of an adversary who knows the label too", "", _auc(found.auc_with_label)),
    )
    data = [
        {"group": group, "cell in this order": k, "before": before, "after": after}
        for group, befores, afters in zip(found.groups, found.law_before, found.law_after, strict=True)
        for k, (before, after) in enumerate(zip(befores, afters, strict=True))
    ]
    caption = (
        "Where the people of each group are among the cells, before and after the map that moves people least. After "
        "it the groups lie on each other: the group cannot be told from the mapped features."
    )
    alternative = "Shares of each group over the cells: different before the map, equal after it."
    picture = figure("laws", to_svg(law_figure(found)), caption, alternative, data, broad=True)
    return section(
        "Features without the group in them",
        f"{table(('', 'before', 'after'), rows)}{picture}<p class=note>{escape(found.words)}</p>",
        "decorrelation",
    )


def _auc(own: HeldOutFigure) -> str:
    return f"{own.value:.3f} <small>({own.low:.3f} to {own.high:.3f})</small>"


def on_the_cells(findings: Findings) -> str:
    """Plug-in limits and shadow prices."""
    cells = findings.on_cells
    rows = []
    for notion in dict.fromkeys(own.notion for own in cells.prices):
        line = [f"{escape(title(notion).capitalize())} <small>{notion}</small>"]
        for aware in (False, True):
            gap = (cells.gaps_seen if aware else cells.gaps_hidden)[notion]
            found = [cells.price(notion, tolerance, aware) for tolerance in PRICED_AT]
            known = found[0].estimable
            line.append(NOT_ESTIMABLE_TEXT if gap is None else f"{gap:.3f}")
            line += [percent(own.accuracy) if known else NOT_ESTIMABLE_TEXT for own in found]
            line.append(f"{found[-1].shadow_price:.2f}" if known else NOT_ESTIMABLE_TEXT)
        rows.append(line)
    heads = ("Notion", *("its gap", "at 0", "at 0.05", "price") * 2)
    over = (
        ("", 1),
        (f"group hidden, best {percent(cells.best_hidden)}", 4),
        (f"group seen, best {percent(cells.best_seen)}", 4),
    )
    return section(
        f"Exact limits on {cells.cells} cells, and shadow prices",
        "<p>The gap of the best rule without constraints; the best accuracy once the gap must be 0, or at most 0.05; "
        "and the shadow price at 0.05: accuracy gained for each unit of tolerance (a price of 0.20 means that 0.01 "
        f"more tolerance gains 0.2 points). Proven optima on the cells, plug-in.</p>{table(heads, rows, over)}",
        "on-the-cells",
    )


def people(findings: Findings) -> str:
    """Data, groups and generator."""
    rows = [
        (
            escape(own.name),
            f"{own.rows:,}",
            percent(own.share),
            "" if own.base_rate is None else percent(own.base_rate),
        )
        for own in findings.groups
    ]
    words = (
        f"<p>{findings.rows:,} rows. The label is {escape(findings.label)} = {escape(findings.positive)}; the groups "
        f"are by {escape(' and '.join(findings.sensitive))}.</p>"
        f"{table(('Group', 'rows', 'share', 'with the label'), rows)}"
    )
    found = findings.generator
    if found is not None:
        verdict = "it is as near as real rows are" if found.as_near_as_real else "it adds an error of its own"
        words += (
            f"<p>The cells were counted on rows of the generator {escape(found.name)}. Over {found.cells} cells its "
            f"rows are {found.distance:.3f} away from the real ones (total variation). Having learned one half of the "
            f"rows, it is {found.held_out_distance:.3f} away from the other half; the first half itself is "
            f"{found.noise_floor:.3f} away, so {verdict}. "
            f"{percent(found.copies)} of its rows equal a row it learned; {percent(found.copies_natural)} of real "
            "held-out rows do.</p>"
        )
    return section("The data", words, "data")


def to_keep_in_mind(findings: Findings) -> str:
    """Assumptions and limits."""
    held = findings.held_out
    own = (
        ""
        if findings.share_error is None
        else f" The median cell's own count guarantees its shares within {findings.share_error:.2f}."
    )
    learners = "; ".join(f"{part}: {' and '.join(members)}" for part, members in held.learners.items())
    items = (
        "Held-out figures are of rules we found: they bound the limit from below at the gaps the rules came to. No "
        "figure here says that no rule can do better.",
        f"The estimate of P(group, label | features) is off by {held.calibration_error:.3f} on average over bins, out "
        f"of fold. It was learned by {escape(learners)}.",
        "Plug-in figures are read on the rows they were made from, which flatters them; cells decide two people in one "
        "cell alike, which does the opposite.",
        f"{escape(findings.sampling)}{own}",
        "Gaps are differences between groups' rates; a tolerance of 0.05 lets the rates differ by five points. No "
        "figure says that a rule is fair, only how far apart its rates are. A rate with fewer than 30 rows behind it "
        "is not compared; where no two groups are left, the gap reads not estimable.",
        "All of it is about this table. Where labels record past decisions, or some people never got into the table, "
        "the figures inherit that.",
    )
    return section("What to keep in mind", "<ul>" + "".join(f"<li>{item}</li>" for item in items) + "</ul>", "limits")


def again(findings: Findings, command: str, version: str) -> str:
    """How to make the page again."""
    facts = ", ".join(f"{key} {value}" for key, value in findings.info.items() if value is not None)
    versions = ", ".join(f"{name} {number}" for name, number in findings.versions.items())
    return section(
        "Make it again",
        f"<pre>{escape(command)}</pre><p class=note>fairlimits {escape(version)}; {escape(versions)}. Cells: "
        f"{escape(facts)}.</p>",
        "again",
    )
