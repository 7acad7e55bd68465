"""From people to a page that answers: plain data first (`summarise`), then HTML (`render`)."""

from __future__ import annotations

from fairlimits.report.html import render
from fairlimits.report.summary import Summary, summarise

__all__ = ["Summary", "render", "summarise"]
