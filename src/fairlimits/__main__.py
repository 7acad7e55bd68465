"""The command line, as ``fairlimits`` and ``python -m fairlimits``; ctrl-c ends it quietly from the first import on."""

from __future__ import annotations

import signal
import sys
from types import FrameType


def main() -> None:
    """Enter from the shell."""
    interrupts: list[int] = []

    def interrupt(number: int, frame: FrameType | None) -> None:
        interrupts.append(number)
        raise KeyboardInterrupt

    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, interrupt)
    try:
        from fairlimits.apps.cli import main as enter  # noqa: PLC0415

        enter()
    except (KeyboardInterrupt, Exception) as error:
        # A library that is interrupted while it is imported may answer with an error of its own.
        if not (interrupts or isinstance(error, KeyboardInterrupt)):
            raise
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        sys.exit(130)


if __name__ == "__main__":
    main()
