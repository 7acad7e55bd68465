"""`--json`: what a command found as plain data on standard output, for other programs; words go to standard error."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Mapping
from contextlib import redirect_stdout
from typing import Annotated, Any

import typer

from fairlimits.apps.cli.terminal import json_text

ALARM = 3
"""The exit code where a command found an alarm, so that a pipeline can stop."""

Command = Callable[..., Mapping[str, Any]]

_OPTION = inspect.Parameter(
    "as_json",
    inspect.Parameter.KEYWORD_ONLY,
    default=False,
    annotation=Annotated[
        bool, typer.Option("--json", help="Print what was found as JSON; words go to standard error.")
    ],
)


def with_json(command: Command) -> Callable[..., None]:
    """Give a command, which returns what it found, the option to print that."""
    signature = inspect.signature(command, eval_str=True)
    parameters = [own.replace(kind=inspect.Parameter.KEYWORD_ONLY) for own in signature.parameters.values()]

    @functools.wraps(command)
    def run(*, as_json: bool, **given: Any) -> None:
        if as_json:
            with redirect_stdout(sys.stderr):
                found = command(**given)
            sys.stdout.write(json_text(found))
        else:
            found = command(**given)
        if found.get("alarm") is True:
            raise typer.Exit(ALARM)

    run.__signature__ = inspect.Signature([*parameters, _OPTION], return_annotation=None)  # type: ignore[attr-defined]
    run.__annotations__ = {own.name: own.annotation for own in (*parameters, _OPTION)}
    return run
