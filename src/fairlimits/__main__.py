"""``python -m fairlimits`` is the command line."""

from __future__ import annotations

from fairlimits.apps.cli import main

main()
