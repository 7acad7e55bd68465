"""``fairlimits merge``: counts on the same cells, of several places or days, added up."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from fairlimits.apps.cli.data_options import say_small_groups
from fairlimits.apps.cli.terminal import check_outputs, print_table, say


def merge(
    files: Annotated[list[Path], typer.Argument(help="Files that fairlimits cells wrote, or .save() in Python.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Write to this .npz file.")],
) -> dict[str, Any]:
    """Add up counts that were made on the same cells.

    Make the first file with fairlimits cells, and the others with fairlimits cells --like FIRST. The result is what
    counting all rows at once would have given.

    Examples
    --------
      fairlimits merge monday.npz tuesday.npz -o both.npz

      fairlimits frontier both.npz
    """
    from fairlimits.law import CellDistribution
    from fairlimits.law import merge as add_up

    check_outputs([*files], (output, (".npz",)))
    given = [CellDistribution.load(file) for file in files]
    dist = add_up(given)
    dist.save(output)
    say_small_groups(dist)
    rows = [(str(file), f"{own.origin.rows:,}") for file, own in zip(files, given, strict=True)]
    print_table(("file", "rows"), [*rows, ("together", f"{dist.origin.rows:,}")])
    say(f"Written to {output}.")
    counted = {str(file): own.origin.rows for file, own in zip(files, given, strict=True)}
    return {"files": counted, "rows": dist.origin.rows, "cells": dist.n_cells, "written to": str(output)}
