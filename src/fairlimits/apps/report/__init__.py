"""From people to a page that answers: `evaluation` finds, this room says it in words, pictures and HTML."""

from __future__ import annotations

from fairlimits.apps.report.making import report
from fairlimits.apps.report.results import SUFFIXES, Report

__all__ = ["SUFFIXES", "Report", "report"]
