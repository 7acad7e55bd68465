"""The reproduction as one HTML page that needs nothing else: no network, no script, every name escaped."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from html import escape
from importlib.resources import files
from typing import Any

from fairlimits.apps.paper import printed
from fairlimits.apps.paper.section import Claim, Section, Table

_STYLE = """
main { max-width: 76rem; }
.wide table { font-size: .88rem; }
section > p, blockquote, .claims { max-width: 60rem; }
figure img { display: block; width: 100%; height: auto; max-width: 100%; }
nav a { display: inline-block; margin: 0 .9rem .3rem 0; }
h3 { margin: 1.4rem 0 .3rem; font-size: 1rem; }
.claims { display: block; margin: 0; padding: 0; list-style: none; }
.claims li { margin: .5rem 0; padding-left: 4.6rem; position: relative; }
.claims b { position: absolute; left: 0; width: 3.9rem; text-align: center; border-radius: 3px; font-size: .85rem;
  line-height: 1.5; }
.true { background: #d8efe6; color: #00523b; } .false { background: #fbe0d2; color: #8a3300; }
.claims span { display: block; color: var(--muted); font-size: .92rem; }
blockquote { margin: .4rem 0 1rem; padding-left: .9rem; border-left: 3px solid var(--line); color: var(--muted); }
.over th { text-align: center; border-bottom: 0; }
.wide td:first-child, .wide th:first-child { position: sticky; left: 0; background: #fff; }
@media (max-width: 46rem) { figure { overflow-x: auto; } figure img { width: 46rem; max-width: none; } }
"""


def render(
    sections: Sequence[Section],
    pictures: Mapping[str, bytes],
    *,
    settings: Mapping[str, Any],
    missing: Sequence[str],
    command: str,
) -> str:
    """Write the page.

    Parameters
    ----------
    sections : sequence of Section
        What to show, in order.
    pictures : mapping of str to bytes
        PNG of each section that has a picture.
    settings : mapping
        What it was made with.
    missing : sequence of str
        What is not there, and why.
    command : str
        The command that makes the page again.
    """
    style = files("fairlimits.apps.report").joinpath("style.css").read_text(encoding="utf-8") + _STYLE
    claims = [claim for section in sections for claim in section.claims]
    body = [_head(sections, claims, missing, settings)]
    body += [_section(section, pictures.get(section.target)) for section in sections]
    body.append(_again(settings, command))
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>fairlimits: the paper, reproduced</title>\n<style>\n{style}</style>\n</head>\n<body>\n<main>\n"
        + "\n".join(body)
        + "\n</main>\n</body>\n</html>\n"
    )


def _head(
    sections: Sequence[Section], claims: Sequence[Claim], missing: Sequence[str], settings: Mapping[str, Any]
) -> str:
    held = sum(claim.holds for claim in claims)
    links = "".join(f'<a href="#{section.target}">{escape(section.title)}</a>' for section in sections)
    lacking = "".join(f"<li>{escape(words)}</li>" for words in missing)
    quick = (
        "<p class=lead><b>This is a quick trial on few rows and cells: its figures mean nothing.</b></p>"
        if settings.get("quick")
        else ""
    )
    return (
        "<header><p class=brand>fairlimits</p><h1>“Balancing Fairness and Accuracy in Data-Restricted Binary "
        "Classification”, reproduced</h1></header>\n<section class=answer>"
        f"{quick}<p class=lead>Of {len(claims)} claims of the paper, <b>{held} hold</b> on our figures and "
        f"<b>{len(claims) - held} do not</b>. Each is listed with the table or figure it is about.</p>"
        "<p class=note>All accuracies are plug-in figures of the cells, as in the paper. The page docs/paper.md of the "
        "project says why ours differ where they do.</p>"
        + (f"<p>Not here:</p><ul>{lacking}</ul>" if missing else "")
        + f"</section>\n<nav>{links}</nav>"
    )


def _section(section: Section, picture: bytes | None) -> str:
    caption = printed.CAPTIONS.get(section.target)
    parts = [f'<section id="{section.target}"><h2>{escape(section.title)}</h2>']
    if caption:
        parts.append(f"<blockquote>The paper’s caption: {escape(caption)}</blockquote>")
    if picture is not None:
        data = base64.b64encode(picture).decode("ascii")
        parts.append(f'<figure><img alt="{escape(section.alternative)}" src="data:image/png;base64,{data}"></figure>')
    parts += [_table(table) for table in section.tables]
    parts += [f"<p class=note>{escape(note)}</p>" for note in section.notes]
    if section.claims:
        items = "".join(_claim(claim) for claim in section.claims)
        parts.append(f"<h3>What the paper says, checked</h3><ul class=claims>{items}</ul>")
    return "\n".join((*parts, "</section>"))


def _claim(claim: Claim) -> str:
    verdict = "true" if claim.holds else "false"
    return (
        f"<li><b class={verdict}>{verdict}</b>{escape(claim.text)} <small>{escape(claim.where)}</small>"
        f"<span>Ours: {escape(claim.ours)}.</span></li>"
    )


def _table(table: Table) -> str:
    over = "".join(f'<th colspan="{width}">{escape(head)}</th>' for head, width in table.groups)
    top = f"<tr class=over>{over}</tr>" if over else ""
    head = "".join(f"<th>{escape(head)}</th>" for head in table.heads)
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in table.rows)
    return (
        f"<h3>{escape(table.title)}</h3><div class=wide><table><thead>{top}<tr>{head}</tr></thead>"
        f"<tbody>{body}</tbody></table></div>"
    )


def _again(settings: Mapping[str, Any], command: str) -> str:
    facts = ", ".join(f"{key} {value}" for key, value in settings.items())
    return (
        f"<section><h2>Make it again</h2><pre>{escape(command)}</pre><p class=note>{escape(facts)}. Everything on this "
        "page is also in the CSV, PNG and PDF files beside it.</p></section>"
    )
