"""The command line, as ``fairlimits`` and ``python -m fairlimits``; ctrl-c ends it quietly from the first import on."""

from __future__ import annotations

import signal
import sys


def main() -> None:
    """Enter from the shell."""
    try:
        from fairlimits.apps.cli import main as enter  # noqa: PLC0415

        enter()
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        sys.exit(130)


if __name__ == "__main__":
    main()
