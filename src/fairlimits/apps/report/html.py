"""A report as one HTML page that needs nothing else: no network, no script, every name escaped."""

from __future__ import annotations

from html import escape
from importlib.resources import files

from fairlimits.apps.report import sections
from fairlimits.apps.report.sentences import HTML, answer
from fairlimits.evaluation import Findings


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
        sections.situations(findings),
        sections.fares(findings),
        sections.frontiers(findings),
        sections.costs(findings),
        sections.clashes(findings),
        sections.pairs(findings),
        sections.affected(findings),
        sections.individual(findings),
        sections.decorrelation(findings),
        sections.exact_limits(findings),
        sections.people(findings),
        sections.to_keep_in_mind(findings),
        sections.again(findings, command, version),
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
    left_out = "".join(f"<p class=note>{note}</p>\n" for note in found.left_out)
    items = "".join(f"<li>{line}</li>\n" for line in found.lines)
    return (
        f"<header><p class=brand>fairlimits</p><h1>{found.question}</h1></header>\n<section class=answer>\n"
        f"{left_out}<p class=lead>{found.lead}</p>\n<ul>\n{items}</ul>\n<p class=note>{found.note}</p>\n</section>"
    )
