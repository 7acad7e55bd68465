"""From people to a page that answers: plain data first (`summarise`), then HTML (`render`)."""

from __future__ import annotations

from fairlimits.apps.report.html import render
from fairlimits.apps.report.summary import Summary, summarise

__all__ = ["Summary", "render", "summarise"]
