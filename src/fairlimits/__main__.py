"""The command line, as ``fairlimits`` and ``python -m fairlimits``; ctrl-c ends it quietly from the first import on."""

from __future__ import annotations

import atexit
import os
import signal
import sys
from types import FrameType


class _Interrupt(KeyboardInterrupt):
    """Ctrl-c. Python ends by the signal, not with an exit code, once exec or eval has seen a bare KeyboardInterrupt."""


def main() -> None:
    """Enter from the shell."""
    interrupts: list[int] = []
    ended: list[bool] = []

    def interrupt(number: int, frame: FrameType | None) -> None:
        if ended:  # once more, or late: there is nothing left to tidy up
            os._exit(130)
        interrupts.append(number)
        raise _Interrupt

    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        # What is registered first is called last. After it Python takes its handlers away, and a signal would kill.
        atexit.register(signal.signal, signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGINT, interrupt)
    try:
        from fairlimits.apps.cli import main as enter  # noqa: PLC0415

        enter()
    except (KeyboardInterrupt, Exception) as error:
        # A library that is interrupted while it is imported may answer with an error of its own.
        if not (interrupts or isinstance(error, KeyboardInterrupt)):
            raise
        sys.exit(130)
    finally:
        ended.append(True)


if __name__ == "__main__":
    main()
