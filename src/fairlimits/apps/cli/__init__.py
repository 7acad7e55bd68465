"""The command line: parse, call, print."""

from __future__ import annotations

from fairlimits.apps.cli.app import main, run

__all__ = ["main", "run"]
