"""``fairlimits reproduce``: the paper's tables and figures beside ours, in a folder with one page."""

from __future__ import annotations

import shlex
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fairlimits.apps.cli import options
from fairlimits.apps.cli.terminal import print_table, progress_bar, say
from fairlimits.errors import FileError

if TYPE_CHECKING:
    from fairlimits.apps.paper import Reproduction, Settings

_NAMES = {"partition": "features", "generator": "cart", "cells": 256, "seed": 0}


def reproduce(
    target: Annotated[
        str,
        typer.Argument(
            help="table1 to table4, figure1 to figure6, sensitivity (what the paper only speaks of), or all."
        ),
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Folder to write to; a run that was interrupted goes on there.")
    ] = Path("reproduction"),
    data: Annotated[
        list[str] | None,
        typer.Option(help="Data set: adult, law or dutch (repeatable). By default all that can be found."),
    ] = None,
    generator: Annotated[
        str,
        typer.Option(
            help="What draws the rows: cart, bootstrap, or the paper's ctgan (extra fairlimits\\[ctgan], hours; its "
            "package ctgan is licensed under BUSL-1.1).",
            rich_help_panel="Cells",
        ),
    ] = "cart",
    partition: Annotated[
        str,
        typer.Option(
            help="What the cells of the figures and of table2 cut: features (the paper), outcome or blend.",
            rich_help_panel="Cells",
        ),
    ] = "features",
    cells: Annotated[int, typer.Option(help="Number of cells.", rich_help_panel="Cells")] = 256,
    seed: options.Seed = 0,
    multipliers: Annotated[
        list[str] | None,
        typer.Option(
            help="Solve table2 for this data set by the paper's own method too (repeatable): about ten minutes on one "
            "core."
        ),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="A trial in seconds on few rows and cells; its figures mean nothing.")
    ] = False,
    fresh: Annotated[bool, typer.Option("--fresh", help="Do again what is kept in the folder.")] = False,
) -> dict[str, Any]:
    """Reproduce a table or figure of the paper, or all of them.

    The folder holds a page (index.html), a CSV file for each table and figure, PNG and PDF files, and what was
    computed, so that a run that was interrupted goes on where it stopped.

    Examples:

      fairlimits reproduce all

      fairlimits reproduce table1 --data adult -o fidelity

      fairlimits reproduce table2 --multipliers adult
    """
    from fairlimits.apps.paper import Settings
    from fairlimits.apps.paper import reproduce as run_paper

    if output.exists() and not output.is_dir():
        raise FileError(f"The output {output} is a file; give the name of a folder.")
    if not output.absolute().parent.is_dir():
        raise FileError(
            f"The folder {output} cannot be made: {output.absolute().parent} does not exist; create it first."
        )
    _keep_data(output)
    settings = Settings(generator=generator, partition=partition, cells=cells, seed=seed, quick=quick)
    start, start_cpu = time.perf_counter(), time.process_time()
    with progress_bar("Reproducing") as tell:
        found = run_paper(
            target,
            output,
            settings,
            names=tuple(data or ()),
            by_multipliers=tuple(multipliers or ()),
            fresh=fresh,
            command=_command(target, settings, data or [], multipliers or []),
            progress=tell,
        )
    _print(found)
    say(f"Took {time.perf_counter() - start:.0f} s ({time.process_time() - start_cpu:.0f} s of processor time).")
    sections = [
        {"title": own.title, "claims": len(own.claims), "claims that hold": sum(claim.holds for claim in own.claims)}
        for own in found.sections
    ]
    return {"sections": sections, "notes": [*found.missing, *found.notes], "page": str(found.page)}


def _keep_data(output: Path) -> None:
    """Refuse a folder whose kept results, which --fresh removes, have the data among them."""
    from fairlimits.data import benchmark_file, benchmark_names

    kept = (output / "kept").resolve()
    for file in map(benchmark_file, benchmark_names()):
        if file.resolve().is_relative_to(kept):
            raise FileError(f"The output {output} holds the data, {file}; choose another, so that nothing is lost.")


def _command(target: str, settings: Settings, data: list[str], multipliers: list[str]) -> str:
    """Write the command that makes the page again, wherever it is written to."""
    words = ["fairlimits", "reproduce", target]
    for name, usual in _NAMES.items():
        if getattr(settings, name) != usual:
            words += [f"--{name}", str(getattr(settings, name))]
    words += [word for name in data for word in ("--data", name)]
    words += [word for name in multipliers for word in ("--multipliers", name)]
    return shlex.join([*words, *(["--quick"] if settings.quick else [])])


def _print(found: Reproduction) -> None:
    rows = []
    for section in found.sections:
        held = sum(claim.holds for claim in section.claims)
        rows.append((section.title, f"{held} of {len(section.claims)}" if section.claims else "–"))
    print_table(("", "the paper's claims that hold"), rows)
    for words in (*found.missing, *found.notes):
        say(f"Note: {words}")
    say(f"Written to {found.page}.")
