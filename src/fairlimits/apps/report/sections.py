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

# Features of a typical person that a table has room for.
_FEATURES_SHOWN = 6

# Groups named among the people who are decided otherwise.
_GROUPS_SHOWN = 3
_FEWEST_SHOWN = 0.005

# AUC of an adversary who knows nothing, and of one who knows hardly anything.
_GUESSING, _HARDLY_BETTER = 0.5, 0.6

# Mark of a rule that gives everybody the same score.
_ALIKE = " <b>=</b>"


def _with_interval(own: HeldOutFigure | None, sign: str = "", below: bool = False) -> str:
    if own is None:
        return NOT_ESTIMABLE_TEXT
    value, low, high = (hundredfold(end, sign) for end in (own.value, own.low, own.high))
    return f"{value}{'<br>' if below else ' '}<small>({low} to {high})</small>"


def _plug_in(findings: Findings) -> str:
    """Say what kind of figure it is, and on how many rows."""
    return f"plug-in, on the {findings.on_cells.rows:,} rows learned from"


def situations(findings: Findings) -> str:
    """The four situations, with intervals."""
    held = findings.held_out
    names = [name for name in held.tolerances if name != "IF"]
    rows = []
    for own in held.situations:
        left = "" if own.correlation is None else f"{own.correlation:.2f}"
        gaps = [_with_interval(own.gaps[name]) for name in names]
        name = escape(own.name.capitalize()) + (" <small>same score for all</small>" if own.constant else "")
        rows.append((name, hundredfold(own.plug_in), _with_interval(own.accuracy), *gaps, left))
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
    parts, data = [], []
    for own in held.fares:
        rows = [
            (escape(line.group), f"{line.rows:,}", *(_with_interval(line.figures[name], below=True) for name in _RATES))
            for line in own.groups
        ]
        gaps = [
            (escape(title(gap.notion)), _with_interval(gap.gap), *map(escape, (gap.rate, gap.lowest, gap.highest)))
            for gap in own.gaps
        ]
        parts.append(
            f"<p>Under {escape(own.rule)}:</p>{table(('Group', 'people', *_RATES.values()), rows)}"
            f"<p>Farthest apart:</p>{table(('Notion', 'gap, %', 'largest in the', 'lowest', 'highest'), gaps)}"
            f"<p>{escape(own.four_fifths)}</p>"
        )
        data += [
            {"rule": own.rule, "group": line.group, "people": line.rows}
            | {name: None if value is None else value.value for name, value in line.figures.items()}
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
        f"The accuracy we could reach at each tolerance: on {findings.held_out.tested:,} new people (solid, with its "
        f"95% band), and the exact limit of the law ({_plug_in(findings)}; dashed). At a circle everybody gets the "
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
        f"{_plug_in(findings)} (dashed). Compare with the single notions above: what is lost beyond the dearer of the "
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
            cells += [_with_interval(own.cost, below=True) + (_ALIKE if own.constant else "") for own in found]
            cells.append(_with_interval(found[-1].gap, below=True))
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
        "same people; and the gap that a tolerance of 0.05 came to on them. A cost whose interval holds 0 cannot be "
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
        f"({_plug_in(findings)}); on the diagonal one alone. The second number, and the colour, is the tension: what "
        "the pair costs beyond the dearer of the two. Dark pairs are those you would have to choose between. IF is "
        "individual fairness, whose cells cut the features too."
    )
    alternative = "Heat map of fairness notions: accuracy lost in pairs, and the part beyond the dearer notion."
    picture = figure("tension", to_svg(tension_figure(found)), caption, alternative, data)
    return section("Which notions clash", picture, "tension-between-notions")


def affected(findings: Findings) -> str:
    """Who is decided otherwise because of each notion, if anybody is."""
    cells = findings.on_cells
    if not any(max(own.more_yes, own.more_no) >= _FEWEST_SHOWN for own in cells.shifts):
        return section(
            "Who is affected",
            f"<p>Hardly anybody: no group notion held within 0.05 changes the decision of one in "
            f"{round(1 / _FEWEST_SHOWN)} people of any group ({_plug_in(findings)}).</p>",
            "who-is-affected",
        )
    caption = (
        "Shares of each group who get another decision than from the most accurate rule, once a notion must hold "
        f"within 0.05 (group hidden; {_plug_in(findings)}). To the right a yes instead of a no, to the left the "
        "reverse: a notion can be met by lifting one group, by lowering the other, or by both."
    )
    alternative = "Bars for each notion and group: shares decided yes instead of no, and no instead of yes."
    data = [vars(own) for own in cells.shifts]
    picture = figure("affected", to_svg(shift_figure(cells)), caption, alternative, data)
    rows = []
    for own in cells.affected:
        person = ", ".join(f"{escape(k)} {escape(v)}" for k, v in list(own.person.items())[:_FEATURES_SHOWN])
        largest = sorted(own.groups.items(), key=lambda item: -item[1])[:_GROUPS_SHOWN]
        groups = [f"{escape(name)} {100 * share:.0f}%" for name, share in largest if share >= _FEWEST_SHOWN]
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
        f"P(Y=1 | x), lies for nine in ten of them ({_plug_in(findings)}):</p>{table(heads, rows, text=2)}"
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
        f"({_plug_in(findings)}). The {found.cells} cells cut the same law and the features together, for people who "
        f"are alike are compared. Without the notion, scores of neighbours differ by {found.difference_free:.2f} on "
        f"average and by up to {found.gap_hidden:.2f}, weighted by nearness; at a tolerance of 0.1, by "
        f"{found.difference_strict:.2f} on average."
    )
    alternative = "Accuracy rising with the largest difference of scores allowed between neighbouring cells."
    picture = figure("individual", to_svg(individual_figure(found)), caption, alternative, data)
    return section("People who are alike, treated alike", picture, "individual-fairness")


def decorrelation(findings: Findings) -> str:
    """Decorrelation, before and after."""
    found = findings.held_out.decorrelated
    new = f"on {found.tested:,} new people"
    kept = None if found.categories_kept is None else percent(found.categories_kept)
    moved = None if found.numbers_moved is None else f"{found.numbers_moved:.2f}"
    before, after = found.correlation_before, found.correlation_after
    rows = [
        ("largest distance between groups' laws (0 to 2), plug-in", f"{before:.2f}", f"{after:.2f}"),
        ("accuracy of the rule, plug-in", percent(found.accuracy_before), percent(found.accuracy_after)),
        (f"categories that a person keeps, {new}", "", kept),
        (f"how far a person's numbers move, in standard deviations, {new}", "", moved),
        (
            f"AUC of an adversary, features alone (0.5 is guessing), {new}",
            f"{found.auc_before:.3f}",
            _auc(found.auc_after),
        ),
        (f"AUC of an adversary who knows the label too, {new}", "", _auc(found.auc_with_label)),
    ]
    shown = [(name, one, two) for name, one, two in rows if two is not None]
    data = [
        {"group": group, "cell in this order": k, "before": before, "after": after}
        for group, befores, afters in zip(found.groups, found.law_before, found.law_after, strict=True)
        for k, (before, after) in enumerate(zip(befores, afters, strict=True))
    ]
    caption = (
        f"Where the people of each group are among the {found.cells} cells of the law and the features, before and "
        f"after the map that moves people least ({_plug_in(findings)}). On the law the groups lie on each other after "
        f"it; on new people, {_told(found.auc_after)}."
    )
    alternative = "Shares of each group over the cells: different before the map, equal after it."
    picture = figure("laws", to_svg(law_figure(found)), caption, alternative, data, broad=True)
    return section(
        "Features without the group in them",
        f"{table(('', 'before', 'after'), shown)}{picture}<p class=note>{escape(found.words)}</p>",
        "decorrelation",
    )


def _told(auc: HeldOutFigure) -> str:
    """Say whether an adversary finds the group, as far as the rows show it."""
    if auc.low > _GUESSING:
        return "an adversary still finds a trace of it"
    if auc.high < _HARDLY_BETTER:
        return "an adversary does hardly better than by guessing"
    return f"these rows cannot tell: an AUC of up to {auc.high:.2f} is not ruled out"


def _auc(own: HeldOutFigure) -> str:
    return f"{own.value:.3f} <small>({own.low:.3f} to {own.high:.3f})</small>"


def exact_limits(findings: Findings) -> str:
    """Plug-in limits and shadow prices."""
    cells = findings.on_cells
    rows = []
    for notion in dict.fromkeys(own.notion for own in cells.prices):
        line = [f"{escape(title(notion).capitalize())} <small>{notion}</small>"]
        for aware in (False, True):
            gap = (cells.gaps_seen if aware else cells.gaps_hidden)[notion]
            found = [cells.price(notion, tolerance, aware) for tolerance in PRICED_AT]
            known = found[0].estimable
            line.append(NOT_ESTIMABLE_TEXT if gap is None else hundredfold(gap))
            line += [hundredfold(own.accuracy) if known else NOT_ESTIMABLE_TEXT for own in found]
            line.append(f"{found[-1].shadow_price:.2f}" if known else NOT_ESTIMABLE_TEXT)
        rows.append(line)
    heads = ("Notion", *("its gap", "at 0", "at 0.05", "price") * 2)
    over = (
        ("", 1),
        (f"group hidden, best {percent(cells.best_hidden)}", 4),
        (f"group seen, best {percent(cells.best_seen)}", 4),
    )
    return section(
        "Exact limits of the law, and shadow prices",
        "<p>The gap of the best rule without constraints; the best accuracy once the gap must be 0, or at most 0.05; "
        "in percent, and the shadow price at 0.05: points of accuracy gained for each point of tolerance (a price of "
        f"0.20 means that 0.01 more tolerance gains 0.2 points). All of it {_plug_in(findings)}, which were cut into "
        f"{cells.cells} cells of people with alike chances of group and label; proven optima there. What these rules "
        "are worth on new people "
        f"is above.</p>{table(heads, rows, over)}",
        "exact-limits",
    )


def people(findings: Findings) -> str:
    """Data and groups."""
    rows = [
        (
            escape(own.name),
            f"{own.rows:,}",
            percent(own.share),
            "" if own.base_rate is None else percent(own.base_rate),
        )
        for own in findings.groups
    ]
    features = [
        (
            escape(own.name),
            "number" if own.categories is None else f"{own.categories:,} categories",
            percent(own.missing) if own.missing else "none",
        )
        for own in findings.features
    ]
    words = (
        f"<p>{findings.rows:,} rows. The label is {escape(findings.label)} = {escape(findings.positive)}; the groups "
        f"are by {escape(' and '.join(findings.sensitive))}.</p>"
        f"{table(('Group', 'rows', 'share', 'with the label'), rows)}"
        f"<p>What rules see, besides the group where they may:</p>{table(('Feature', 'kind', 'missing'), features)}"
    )
    return section("The data", words, "data")


def to_keep_in_mind(findings: Findings) -> str:
    """Assumptions and limits."""
    held = findings.held_out
    cautions = (escape(own.text) for own in findings.warnings if not own.is_first)
    learners = "; ".join(f"{part}: {' and '.join(members)}" for part, members in held.learners.items())
    items = (
        *cautions,
        "Held-out figures are of rules we found: they bound the limit from below at the gaps the rules came to. No "
        "figure here says that no rule can do better.",
        f"The estimate of P(group, label | features) is off by {held.calibration_error:.3f} on average over bins, out "
        f"of fold. It was learned by {escape(learners)}.",
        f"There is one law on this page, learned once from {held.learned:,} rows. Plug-in figures are what it expects "
        f"of the rules that are best on it; held-out figures are what the same rules came to on {held.tested:,} people "
        "who had no part in it. Where the two differ, go by the second.",
        "Gaps are differences between groups' rates; a tolerance of 0.05 lets the rates differ by five points. No "
        "figure says that a rule is fair, only how far apart its rates are. A rate with fewer than 30 rows behind it "
        "is not compared; where no two groups are left, the gap reads not estimable.",
        "All of it is about this table. Where labels record past decisions, or some people never got into the table, "
        "the figures inherit that.",
    )
    return section("What to keep in mind", "<ul>" + "".join(f"<li>{item}</li>" for item in items) + "</ul>", "limits")


def again(findings: Findings, command: str, version: str) -> str:
    """How to make the page again."""
    versions = ", ".join(f"{name} {number}" for name, number in findings.versions.items())
    return section(
        "Make it again",
        f"<pre>{escape(command)}</pre><p class=note>fairlimits {escape(version)}; {escape(versions)}.</p>",
        "again",
    )
