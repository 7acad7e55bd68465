"""``python -m fairlimits`` is the command line."""

from __future__ import annotations

from fairlimits.cli import main

main()
