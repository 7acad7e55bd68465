"""The reproduction as one HTML page that needs nothing else: no network, no script, every name escaped."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import Any

from fairlimits.apps.paper import printed
from fairlimits.apps.paper.section import Section
from fairlimits.apps.rendering import page_templates


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
    claims = [claim.holds for section in sections for claim in section.claims]
    page = page_templates("fairlimits.apps.paper").get_template("reproduction.html")
    return page.render(
        sections=sections,
        captions=printed.CAPTIONS,
        pictures={name: base64.b64encode(picture).decode("ascii") for name, picture in pictures.items()},
        held=sum(claims),
        claimed=len(claims),
        missing=missing,
        settings=settings,
        command=command,
    )
