"""A summary as one HTML page that needs nothing else: no network, no script, every name escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from importlib.resources import files

from fairlimits.criteria import title
from fairlimits.report.figures import frontier_figure, tension_figure, to_svg
from fairlimits.report.summary import Clash, Price, Summary

NOT_ESTIMABLE = "not estimable"


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
    style = files("fairlimits.report").joinpath("style.css").read_text(encoding="utf-8")
    name = escape(summary.name)
    sections = (
        _answer(summary),
        _frontiers(summary),
        _prices(summary),
        _clashes(summary),
        _data(summary),
        _limits(summary),
        _again(summary, command, version),
    )
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>fairlimits: {name}</title>\n<style>\n{style}</style>\n</head>\n<body>\n<main>\n"
        + "\n".join(sections)
        + "\n</main>\n</body>\n</html>\n"
    )


def _percent(value: float) -> str:
    return f"{100 * value:.1f}%"


def _points(value: float) -> str:
    """Accuracy lost, in percentage points; a loss that rounds to nothing is called nothing."""
    return "nothing" if round(100 * value, 1) <= 0 else f"{100 * value:.1f} points"


def _answer(summary: Summary) -> str:
    """Answer in words: the first screen."""
    best = (
        f"Among rules on {summary.cells} cells of the features, the most accurate one we could find decides "
        f"<b>{_percent(summary.best_unaware)}</b> of the people right without seeing "
        f"{escape(' and '.join(summary.sensitive))}, and <b>{_percent(summary.best_aware)}</b> when it may see it. "
        f"Deciding everybody alike gets {_percent(summary.majority_accuracy)} right."
    )
    hidden = [price for price in summary.prices if not price.aware]
    strict = sorted((price for price in hidden if price.tolerance == 0), key=lambda price: -price.loss)
    costs = ", ".join(
        f"{price.title} <b>{_points(price.loss)}</b> ({_points(summary.price(price.notion, 0.05, aware=False).loss)})"
        for price in strict
    )
    dearest = max(summary.prices, key=lambda price: (price.tolerance == 0) * _hiding(summary, price))
    hiding = (
        f"Hiding {escape(' and '.join(summary.sensitive))} costs "
        f"<b>{_points(summary.best_aware - summary.best_unaware)}</b> without any fairness constraint, and at most "
        f"<b>{_points(_hiding(summary, dearest))}</b> under one of them ({dearest.title}, met exactly)."
    )
    clash = summary.clashes[0] if summary.clashes else None
    words = (
        "No two notions cost more together than the dearer one alone."
        if clash is None or round(100 * clash.tension, 1) <= 0
        else f"The two notions that clash most are <b>{title(clash.first)}</b> and <b>{title(clash.second)}</b>: at a "
        f"tolerance of 0.05 they cost {_points(clash.loss_together)} together, "
        f"<b>{_points(clash.tension)}</b> more than the dearer one alone."
    )
    return (
        f"<header><p class=brand>fairlimits</p><h1>How fair and how accurate can a classifier be on "
        f"{escape(summary.name)}?</h1></header>\n<section class=answer>\n<p class=lead>{best}</p>\n<ul>\n"
        f"<li>Accuracy lost without seeing the group, if a gap must be 0 (if it may be 0.05): "
        f"{costs}.</li>\n<li>{hiding}</li>\n<li>{words}</li>\n</ul>\n"
        "<p class=note>These are <b>plug-in estimates</b>: read on the same rows that the cells were counted on, "
        "so they lean to the optimistic side, while coarse cells lean to the pessimistic one. "
        "They are limits of the rules we could find, not of all that exist.</p>\n</section>"
    )


def _hiding(summary: Summary, price: Price) -> float:
    seen = summary.price(price.notion, price.tolerance, aware=True)
    hidden = summary.price(price.notion, price.tolerance, aware=False)
    return seen.accuracy - hidden.accuracy


def _frontiers(summary: Summary) -> str:
    caption = (
        "The highest accuracy at each tolerance, exact on the cells. A curve that falls late and little is a "
        "notion that is cheap on this data; the distance between the two curves is the price of hiding the group."
    )
    return _figure(
        "Accuracy against fairness",
        to_svg(frontier_figure(summary)),
        caption,
        "Five panels, one for each group notion, with accuracy rising with the largest gap allowed.",
    )


def _figure(heading: str, svg: str, caption: str, alternative: str) -> str:
    picture = svg.replace("<svg", f'<svg role="img" aria-label="{escape(alternative)}"', 1)
    return (
        f"<section><h2>{escape(heading)}</h2><figure>{picture}"
        f"<figcaption>{escape(caption)}</figcaption></figure></section>"
    )


def _prices(summary: Summary) -> str:
    notions = list(dict.fromkeys(price.notion for price in summary.prices))
    rows = []
    for notion in notions:
        cells = [escape(title(notion).capitalize()) + f" <small>{notion}</small>"]
        for aware in (True, False):
            gap = (summary.gaps_aware if aware else summary.gaps_unaware)[notion]
            cells.append(NOT_ESTIMABLE if gap is None else f"{gap:.3f}")
            cells += [_accuracy(summary.price(notion, tolerance, aware)) for tolerance in (0.0, 0.05)]
        rows.append(cells)
    table = _table(
        ("Notion", "its gap", "at 0", "at 0.05", "its gap", "at 0", "at 0.05"),
        rows,
        groups=(
            ("", 1),
            (f"group seen, best {_percent(summary.best_aware)}", 3),
            (f"group hidden, best {_percent(summary.best_unaware)}", 3),
        ),
    )
    return (
        "<section><h2>What each notion costs</h2><p>The gap of the best rule without constraints, and the best "
        f"accuracy once the gap must be 0, or at most 0.05 (plug-in).</p>{table}</section>"
    )


def _accuracy(price: Price) -> str:
    return _percent(price.accuracy) if price.estimable else NOT_ESTIMABLE


def _clashes(summary: Summary) -> str:
    def shown(clash: Clash) -> bool:
        return clash.loss_together > 5e-5

    clashes = [clash for clash in summary.clashes if shown(clash)][:10]
    if not clashes:
        return ""
    return _figure(
        "Which notions clash",
        to_svg(tension_figure(clashes)),
        "Accuracy lost when two notions must hold together, each within 0.05, without seeing the group. The "
        "coloured part is what the pair costs beyond the dearer of the two: it is their tension. IF is "
        "individual fairness: cells that are alike get scores that are alike.",
        "Bars of accuracy lost for pairs of fairness notions, tensest pair first.",
    )


def _data(summary: Summary) -> str:
    rows = [
        (
            escape(group.name),
            "" if group.rows is None else f"{group.rows:,}",
            _percent(group.share),
            _percent(group.base_rate),
        )
        for group in summary.groups
    ]
    table = _table(("Group", "rows", "share", "with the label"), rows)
    return (
        f"<section><h2>The data</h2><p>{summary.rows:,} rows. The label is {escape(summary.label)} = "
        f"{escape(summary.positive)}; the groups are by {escape(' and '.join(summary.sensitive))}.</p>"
        f"{table}</section>"
    )


def _limits(summary: Summary) -> str:
    own = (
        ""
        if summary.share_error is None
        else f" The median cell's own count guarantees its shares within {summary.share_error:.2f}."
    )
    return (
        "<section><h2>What to keep in mind</h2><ul>"
        "<li>A limit here is the best rule on the cells: two people in one cell are decided alike. Finer or better "
        "chosen cells can do better, so a real model can lie above it.</li>"
        f"<li>{escape(summary.sampling)}{own}</li>"
        "<li>Gaps are differences between groups' rates; a tolerance of 0.05 lets the rates differ by five points. "
        "No figure says that a rule is fair, only how far apart its rates are.</li>"
        "</ul></section>"
    )


def _again(summary: Summary, command: str, version: str) -> str:
    facts = ", ".join(f"{key} {value}" for key, value in summary.info.items() if value is not None)
    return (
        f"<section><h2>Make it again</h2><pre>{escape(command)}</pre>"
        f"<p class=note>fairlimits {escape(version)}; {escape(facts)}.</p></section>"
    )


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]], groups: Sequence[tuple[str, int]] = ()) -> str:
    """Write a table; heads are escaped, cells are HTML already."""
    over = "".join(f'<th colspan="{width}">{escape(head)}</th>' for head, width in groups)
    top = f"<tr>{over}</tr>" if over else ""
    head = "".join(f"<th>{escape(head)}</th>" for head in heads)
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<div class=wide><table><thead>{top}<tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
