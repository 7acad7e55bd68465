"""A report as one HTML page that needs nothing else: no network, no script, every name escaped."""

from __future__ import annotations

import re
from html import escape
from importlib.resources import files

from fairlimits.apps.report import background, sections
from fairlimits.apps.report.page import table
from fairlimits.apps.report.sentences import HTML, answer
from fairlimits.evaluation import Findings

_INTERVAL = re.compile(r" (\(-?[\d.]+ to -?[\d.]+\))$")


def render(findings: Findings, command: str, version: str) -> str:
    """Write the page.

    Parameters
    ----------
    findings : Findings
        What to say.
    command : str
        The command that makes the page again.
    version : str
        The version of fairlimits that made it.
    """
    style = files("fairlimits.apps.report").joinpath("style.css").read_text(encoding="utf-8")
    parts = (
        _first_screen(findings),
        sections.asked_for(findings),
        sections.situations(findings),
        sections.fares(findings),
        sections.frontiers(findings),
        sections.costs(findings),
        sections.clashes(findings),
        sections.pairs(findings),
        sections.affected(findings),
        sections.individual(findings),
        background.decorrelation(findings),
        background.exact_limits(findings),
        background.people(findings),
        background.to_keep_in_mind(findings),
        background.again(findings, command, version),
    )
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>fairlimits: {escape(findings.name)}</title>\n<style>\n{style}</style>\n</head>\n<body>\n<main>\n"
        + "\n".join(part for part in parts if part)
        + "\n</main>\n</body>\n</html>\n"
    )


def _first_screen(findings: Findings) -> str:
    """Answer in words."""
    found = answer(findings, HTML)
    first = "".join(f"<p class=note>{note}</p>\n" for note in found.first)
    items = "".join(f"<li>{line}</li>\n" for line in found.lines)
    heads = ("", "gap of the best rule", "lost within 0.05", "gap then", "lost within 0")
    rows = [
        (
            f"{escape(own.title.capitalize())}<br><small>{own.between}</small>",
            *map(_two_lines, (own.gap, own.cost)),
            _two_lines(own.gap_then) + (f"<br><small>{own.at_most}</small>" if own.at_most else ""),
            _two_lines(own.cost_at_zero),
        )
        for own in found.notions
    ]
    return (
        f"<header><p class=brand>fairlimits</p><h1>{found.question}</h1></header>\n<section class=answer>\n"
        f"{first}<p class=note>{found.about}</p>\n<p class=lead>{found.lead}</p>\n"
        "<p>What each notion of fairness would cost, with the group hidden, in points: how far apart the groups are "
        "under the most accurate rule; accuracy lost if the gap may be 0.05, what the gap then came to on new people, "
        "and what it is certified to be at most; accuracy lost if there may be none.</p>\n"
        f"{table(heads, rows, stacked=True)}\n<ul>\n{items}</ul>\n"
        f"<p class=note>{found.note}</p>\n</section>"
    )


def _two_lines(cell: str) -> str:
    """Put an interval below its figure."""
    return _INTERVAL.sub(r"<br><small>\1</small>", cell)
