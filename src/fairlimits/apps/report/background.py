"""The last sections of a report: the map, the limits of the law, the data, what to keep in mind."""

from __future__ import annotations

from html import escape

from fairlimits.apps.report.figures import law_figure, to_svg
from fairlimits.apps.report.page import counted, figure, hundredfold, percent, section, table
from fairlimits.apps.report.sections import plug_in
from fairlimits.evaluation import PRICED_AT, Findings, HeldOutFigure
from fairlimits.notions import NOT_ESTIMABLE_TEXT, title

# AUC of an adversary who knows nothing, and of one who knows hardly anything.
_GUESSING, _HARDLY_BETTER = 0.5, 0.6


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
    return section(
        "Features without the group in them",
        f"{table(('', 'before', 'after'), shown)}{_laws(findings)}<p class=note>{escape(found.words)}</p>",
        "decorrelation",
    )


def _laws(findings: Findings) -> str:
    """Where each group lives among the cells, unless cells of few people would be shown."""
    found = findings.held_out.decorrelated
    if isinstance(found.law_before, str) or isinstance(found.law_after, str):
        return (
            f"<p>Where each group lives among the cells is suppressed: some cells have fewer than {findings.suppress} "
            "people of a group.</p>"
        )
    data = [
        {"group": group, "cell in this order": k, "before": before, "after": after}
        for group, befores, afters in zip(found.groups, found.law_before, found.law_after, strict=True)
        for k, (before, after) in enumerate(zip(befores, afters, strict=True))
    ]
    caption = (
        f"Where the people of each group are among the {found.cells} cells of the law and the features, before and "
        f"after the map that moves people least ({plug_in(findings)}). On the law the groups lie on each other after "
        f"it; on new people, {_told(found.auc_after)}."
    )
    alternative = "Shares of each group over the cells: different before the map, equal after it."
    drawn = law_figure(found.groups, found.law_before, found.law_after)
    return figure("laws", to_svg(drawn), caption, alternative, data, broad=True)


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
            line.append(hundredfold(gap) if isinstance(gap, float) else gap or NOT_ESTIMABLE_TEXT)
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
        f"0.20 means that 0.01 more tolerance gains 0.2 points). All of it {plug_in(findings)}, which were cut into "
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
            counted(own.rows),
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
