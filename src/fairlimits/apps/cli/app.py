"""All commands together, and the one place where an error becomes a sentence and an exit code."""

from __future__ import annotations

import gc
import inspect
import sys
import warnings
from collections.abc import Callable, Sequence
from typing import Annotated, Any

import typer

import fairlimits
from fairlimits.apps.cli.as_json import with_json
from fairlimits.apps.cli.audit import audit
from fairlimits.apps.cli.ceiling import ceiling
from fairlimits.apps.cli.cells import cells
from fairlimits.apps.cli.datasets import datasets
from fairlimits.apps.cli.decorrelate import decorrelate
from fairlimits.apps.cli.explore import explore
from fairlimits.apps.cli.fidelity import fidelity
from fairlimits.apps.cli.frontier import frontier
from fairlimits.apps.cli.merge import merge
from fairlimits.apps.cli.monitor import monitor
from fairlimits.apps.cli.process import STDOUT_CLOSED, enter, told
from fairlimits.apps.cli.report import report
from fairlimits.apps.cli.reproduce import reproduce
from fairlimits.apps.cli.scenarios import scenarios
from fairlimits.apps.cli.terminal import complain
from fairlimits.errors import ConstantRuleWarning, FairlimitsError, InputError

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    help="How fair and how accurate can any classifier be on your data, given what it may see?",
    epilog="Start with: fairlimits report adult -o report.html",
)
# The groups of --help, in the order of a user's questions.
_QUESTIONS: dict[str, tuple[Callable[..., Any], ...]] = {
    "What does fairness cost on my data?": (report, frontier, ceiling, scenarios, explore),
    "Where does my model stand?": (audit,),
    "Is my rule still as fair as it was?": (monitor,),
    "How do I hand data over?": (decorrelate,),
    "My table is large, or lies at several places": (cells, merge),
    "Can I trust it? Generated rows, the paper, benchmark data": (fidelity, reproduce, datasets),
}


def _help(command: Callable[..., Any]) -> str:
    """The help of a command from its docstring: paragraphs that a terminal of any width can break, and examples."""
    text = (inspect.getdoc(command) or "").replace("Examples\n--------\n", "Examples:\n\n")
    # Examples are indented, a line each; the lines of all else are one paragraph.
    return "\n\n".join(
        part if part.startswith(" ") else " ".join(part.split("\n")) for part in text.split("\n\n") if part
    )


for question, commands in _QUESTIONS.items():
    for command in commands:
        # The explorer finds nothing by itself: it serves a page until it is stopped.
        app.command(help=_help(command), rich_help_panel=question)(
            command if command is explore else with_json(command)
        )


def _version(asked: bool) -> None:
    if asked:
        typer.echo(fairlimits.__version__)
        raise typer.Exit


@app.callback()
def _top(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """How fair and how accurate can any classifier be on your data, given what it may see?"""  # noqa: D400


def run(arguments: Sequence[str]) -> int:
    """Run a command and return its exit code: 0, 2 after a sentence on what was wrong, 3 on an alarm, 130 on ctrl-c."""
    try:
        with warnings.catch_warnings():
            # Tables, pictures and pages mark constant rules.
            warnings.simplefilter("ignore", ConstantRuleWarning)
            app(args=list(arguments), prog_name="fairlimits")
    except FairlimitsError as error:
        complain(error.shell if isinstance(error, InputError) else str(error))
        return 2
    except OSError as error:
        complain(told(error))
        return 2
    except SystemExit as end:
        if end.code == 1:
            # The libraries' own way to end where standard output is a pipe that nobody reads any more.
            complain(STDOUT_CLOSED)
            return 2
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    return 0


def main() -> None:
    """Enter from the shell."""
    code = enter(lambda: run(sys.argv[1:]))
    # Python looks for garbage once more before it ends, which takes a while with so much loaded.
    gc.freeze()
    sys.exit(code)
