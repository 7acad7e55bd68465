"""Single options that several commands share; those of data and cells are groups of their own."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fairlimits.errors import InputError


def _check_seed(seed: int) -> int:
    from fairlimits.data import check_seed

    return check_seed(seed, "--seed")


def _check_suppress(least: int | None) -> int | None:
    from fairlimits._util.suppression import check_suppress

    return check_suppress(least)


Threshold = Annotated[
    float | None,
    typer.Option(
        help="Scores at or above it decide 1, whatever their scale; 0 and 1 stay as they are. "
        "By default 0.5 for scores from 0 to 1."
    ),
]
ByGroup = Annotated[Path | None, typer.Option(help="Write the rates of each group, with intervals, to a .csv file.")]
Require = Annotated[
    list[str] | None,
    typer.Option(
        "--require",
        "--requirement",
        help="What rules must keep besides, such as 'selection rate <= 0.3', 'accuracy of Female >= 0.8' or "
        "'selection rate ratio >= 0.8' (repeatable).",
    ),
]
Objective = Annotated[
    str,
    typer.Option(help="What to be best at: accuracy, 'balanced accuracy', or costs of errors as in 'costs 1:5'."),
]
Ceiling = Annotated[
    bool,
    typer.Option("--ceiling", help="Find what no rule passes, too: it takes about as long again."),
]
Suppress = Annotated[
    int | None,
    typer.Option(
        callback=_check_suppress,
        help="Leave out counts and rates that rest on fewer people than this, such as 10, and others from which they "
        "could be worked out: on the screen and in all files.",
        show_default="nothing is left out",
    ),
]
Seed = Annotated[
    int, typer.Option(callback=_check_seed, help="Seed: the same seed gives the same result.", rich_help_panel="Cells")
]


def read_tolerances(given: list[str]) -> dict[str, float]:
    """Read notions and numbers written as DP=0.05."""
    tolerances: dict[str, float] = {}
    for text in given:
        name, _, value = text.partition("=")
        try:
            number = float(value)
        except ValueError:
            raise InputError(
                f"The tolerance {text!r} is not understood; write a notion and a number, as in DP=0.05."
            ) from None
        if name in tolerances:
            raise InputError(f"{name} is given twice; give each notion one tolerance.")
        tolerances[name] = number
    return tolerances
