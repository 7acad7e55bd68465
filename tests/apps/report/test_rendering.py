"""The renderer: a section is a function and a template of its name, and whatever a template is given is escaped."""

from __future__ import annotations

from importlib.resources import files

import pytest
from jinja2 import UndefinedError

from fairlimits.apps.rendering import page_templates
from fairlimits.apps.report.rendering import SECTIONS
from fairlimits.apps.report.sentences import HTML, PLAIN


def test_every_section_has_its_template_and_no_template_lies_around() -> None:
    folder = files("fairlimits.apps.report").joinpath("templates", "sections")
    assert sorted(own.identity + ".html" for own in SECTIONS) == sorted(file.name for file in folder.iterdir())


@pytest.mark.parametrize("package", ["fairlimits.apps.report", "fairlimits.apps.paper"])
def test_names_are_escaped_and_misspelt_ones_are_errors(package: str) -> None:
    templates = page_templates(package)
    assert templates.from_string("{{ name }}").render(name="<b>&") == "&lt;b&gt;&amp;"
    with pytest.raises(UndefinedError):
        templates.from_string("{{ nam }}").render(name="a")


def test_sentences_are_written_once_for_the_page_and_for_plain_text() -> None:
    words, hostile = "Hiding {who} costs {points}.", "<i>{sex}"
    assert PLAIN(words, who=hostile, points=PLAIN.strong("1 <")) == "Hiding <i>{sex} costs 1 <."
    assert HTML(words, who=hostile, points=HTML.strong("1 <")) == "Hiding &lt;i&gt;{sex} costs <b>1 &lt;</b>."
