"""The one renderer of the page: sections' plain data into Jinja2 templates, every name escaped; no network, no script.

A section is a function that returns plain data (or None, where there is nothing to say) and a template of the same
name: `SECTIONS` lists them in the order of the page.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeAlias

from jinja2 import Environment
from markupsafe import Markup

from fairlimits._util.percentages import hundredfold
from fairlimits.apps.rendering import page_templates
from fairlimits.apps.report import background, sections
from fairlimits.apps.report.drawings import csv_data
from fairlimits.apps.report.formats import counted, percent, with_heads
from fairlimits.apps.report.sentences import HTML, answer
from fairlimits.evaluation import Findings, HeldOutFigure
from fairlimits.notions import CHANCE_WORDS, NOT_ESTIMABLE_TEXT, title

Content: TypeAlias = Mapping[str, Any] | None
"""What a section's template says, as plain data; None leaves the section out."""


@dataclass(frozen=True)
class Section:
    """A part of the page below its first screen.

    Parameters
    ----------
    identity : str
        Of the HTML element, and the name of the template in ``templates/sections``.
    heading : str
    content : callable
        From what was found to what the template says.
    """

    identity: str
    heading: str
    content: Callable[[Findings], Content]


SECTIONS = (
    Section("asked-for", "The rule you asked for", sections.asked_for),
    Section("situations", "What each situation allows", sections.situations),
    Section("in-words", "The rules in words", sections.in_words),
    Section("groups", "How each group fares", sections.fares),
    Section("accuracy-against-fairness", "Accuracy against fairness", sections.frontiers),
    Section("from-above", "What no rule can pass", sections.from_above),
    Section("costs", "What each notion costs on new people", sections.costs),
    Section("tension-between-notions", "Which notions clash", sections.clashes),
    Section("two-notions", "Two notions at once", sections.pairs),
    Section("who-is-affected", "Who is affected", sections.affected),
    Section("individual-fairness", "People who are alike, treated alike", sections.individual),
    Section("decorrelation", "Features without the group in them", background.decorrelation),
    Section("exact-limits", "Exact limits of the law, and shadow prices", background.exact_limits),
    Section("data", "The data", background.people),
    Section("limits", "What to keep in mind", background.to_keep_in_mind),
    Section("again", "Make it again", background.again),
)


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
    templates = _templates()
    known = {"findings": findings, "command": command, "version": version}
    parts = []
    for own in SECTIONS:
        content = own.content(findings)
        if content is not None:
            # Made by a template, which escapes.
            body = Markup(templates.get_template(f"sections/{own.identity}.html").render(known | dict(content)))
            parts.append({"identity": own.identity, "heading": own.heading, "body": body})
    return templates.get_template("page.html").render(known, answer=answer(findings, HTML), sections=parts)


@cache
def _templates() -> Environment:
    made = page_templates("fairlimits.apps.report")
    made.filters |= {
        "counted": counted,
        "csv_data": csv_data,
        "hundredfold": hundredfold,
        "percent": percent,
        "title": title,
        "with_heads": with_heads,
    }
    made.tests["estimate"] = lambda own: isinstance(own, HeldOutFigure)
    made.globals["chance_words"] = CHANCE_WORDS
    made.globals["not_estimable"] = NOT_ESTIMABLE_TEXT
    return made
