"""``fairlimits cells``: the law of rows on cells, kept in a file that other commands take."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fairlimits.apps.cli import options
from fairlimits.apps.cli.terminal import check_outputs, progress_bar, say
from fairlimits.errors import InputError
from fairlimits.law import DEFAULT_GENERATOR, DEFAULT_SAMPLES, FEATURES


def cells(
    data: options.Sources,
    output: Annotated[Path, typer.Option("--output", "-o", help="Write to this .npz file.")],
    label: options.Label = None,
    positive: options.Positive = None,
    sensitive: options.Sensitive = None,
    weight: options.Weight = None,
    numeric: options.Numeric = None,
    categorical: options.Categorical = None,
    drop: options.Drop = None,
    features: options.Features = None,
    bins: options.Bin = None,
    missing_sensitive: options.MissingSensitive = "refuse",
    small_groups: options.SmallGroups = "set-aside",
    stream: options.Streamed = None,
    like: Annotated[
        Path | None,
        typer.Option(
            help="Count on the cells of this .npz file, made before from other rows.", rich_help_panel="Cells"
        ),
    ] = None,
    number: Annotated[
        int | None,
        typer.Option(
            "--cells", help="Number of cells: 256, or more for many groups, unless you say.", rich_help_panel="Cells"
        ),
    ] = None,
    partition: options.PartitionOption = options.AUTO,
    generator: options.Generator = "none",
    samples: options.Samples = DEFAULT_SAMPLES,
    seed: options.Seed = 0,
) -> None:
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
    from fairlimits.data import SET_ASIDE, check_small_groups
    from fairlimits.law import CellDistribution, discretize

    # With --like, a name of a benchmark is that of a file too.
    check_outputs([*(data if like is None else map(Path, data)), like], (output, (".npz",)))
    if like is not None:
        base = CellDistribution.load(like)
        given = {
            "--label": label,
            "--positive": positive,
            "--sensitive": sensitive,
            "--weight": weight,
            "--numeric": numeric,
            "--categorical": categorical,
            "--drop": drop,
            "--features": features,
            "--bin": bins,
            "--small-groups": check_small_groups(small_groups) != SET_ASIDE,
        }
        odd = [name for name, value in given.items() if value]
        if odd:
            raise InputError(f"--like says what the columns mean; leave {', '.join(odd)} out.")
        if partition not in (options.AUTO, FEATURES):
            raise InputError(
                f"--partition is {partition}, but with --like rows are counted on cells of the features; leave "
                "--partition out."
            )
        if generator not in (DEFAULT_GENERATOR, "none"):
            raise InputError(
                f"--generator is {generator}, but with --like rows are counted as they are; leave --generator out."
            )
        with progress_bar("Counting") as tell:
            dist = discretize(data, like=base, missing_sensitive=missing_sensitive, progress=tell)
        options.say_small_groups(dist)
    else:
        rows = options.open_rows(
            data,
            stream,
            label,
            positive,
            sensitive,
            weight,
            numeric,
            categorical,
            drop,
            features,
            bins,
            missing_sensitive,
            small_groups,
        )
        if isinstance(rows, CellDistribution):
            raise InputError(f"{data[0]} holds cells already; give rows.")
        chosen = options.check_partition(rows, partition, generator, samples)
        dist = options.make_cells(rows, number, seed, generator, samples, chosen)
    dist.save(output)
    say(
        f"{dist.origin.rows:,} rows in {dist.n_cells} cells ({dist.origin.partition}), groups {', '.join(dist.groups)}."
    )
    say(f"Written to {output}.")
