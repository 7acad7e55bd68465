"""``fairlimits cells``: the law of rows on cells, kept in a file that other commands take."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fairlimits.apps.cli.cell_options import CellOptions, Generator
from fairlimits.apps.cli.data_options import AUTO, SourceOptions, say_small_groups
from fairlimits.apps.cli.option_groups import expand_groups, option_flags
from fairlimits.apps.cli.terminal import check_outputs, progress_bar, say
from fairlimits.errors import InputError
from fairlimits.law import FEATURES

if TYPE_CHECKING:
    from fairlimits.law import CellDistribution


@dataclass(frozen=True, kw_only=True)
class RowCellOptions(CellOptions):
    """Rows are counted as they are unless a generator is asked for: a file of cells should say what was there."""

    generator: Generator = "none"


@expand_groups
def cells(
    context: typer.Context,
    sources: SourceOptions,
    *,
    output: Annotated[Path, typer.Option("--output", "-o", help="Write to this .npz file.")],
    like: Annotated[
        Path | None,
        typer.Option(
            help="Count on the cells of this .npz file, made before from other rows.", rich_help_panel="Cells"
        ),
    ] = None,
    cutting: RowCellOptions,
) -> dict[str, Any]:
    """Cut rows into cells, and keep the joint law of cell, group and label in a file.

    The file holds shares and counts, the centre of each cell, which is the mean of its rows, the names of columns,
    groups and categories, and what places new rows in the cells. With --partition features, other rows can be counted
    on the same cells with --like, and the counts added up with fairlimits merge.

    Examples
    --------
      fairlimits cells adult -o cells.npz

      fairlimits cells 'big/*.parquet' --label paid --sensitive sex --partition features -o monday.npz

      fairlimits cells 'next/*.parquet' --like monday.npz -o tuesday.npz
    """
    from fairlimits.law import CellDistribution

    # With --like, data are files: even the name of a benchmark is taken as that of a file.
    read = sources.data if like is None else map(Path, sources.data)
    check_outputs([*read, like], (output, (".npz",)))
    if like is not None:
        dist = _count_like(like, sources, cutting, option_flags(context))
    else:
        rows = sources.read()
        if isinstance(rows, CellDistribution):
            raise InputError(f"{sources.data[0]} holds cells already; give rows.")
        dist = cutting.cut(rows, cutting.check(rows))
    dist.save(output)
    say(
        f"{dist.origin.rows:,} rows in {dist.n_cells} cells ({dist.origin.partition}), groups {', '.join(dist.groups)}."
    )
    say(f"Written to {output}.")
    return {
        "rows": dist.origin.rows,
        "cells": dist.n_cells,
        "partition": dist.origin.partition,
        "groups": list(dist.groups),
        "written to": str(output),
    }


def _count_like(like: Path, sources: SourceOptions, cutting: CellOptions, flags: Mapping[str, str]) -> CellDistribution:
    """Count rows on the cells of a file, which settles all else."""
    from fairlimits.law import CellDistribution, discretize

    base = CellDistribution.load(like)
    odd = [flags[name] for name in sources.settled() if name != "missing_sensitive"]
    if odd:
        raise InputError(f"--like says what the columns mean; leave {', '.join(odd)} out.")
    if cutting.partition not in (AUTO, FEATURES):
        raise InputError(
            f"--partition is {cutting.partition}, but with --like rows are counted on cells of the features; leave "
            "--partition out."
        )
    if cutting.generates:
        raise InputError(
            f"--generator is {cutting.generator}, but with --like rows are counted as they are; leave --generator out."
        )
    with progress_bar("Counting") as tell:
        dist = discretize(sources.data, like=base, missing_sensitive=sources.missing_sensitive, progress=tell)
    say_small_groups(dist)
    return dist
