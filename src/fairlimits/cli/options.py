"""Options that several commands share: the data and how it is cut into cells."""

from __future__ import annotations

from typing import Annotated

import typer

from fairlimits.cli.show import progress_bar
from fairlimits.data import Dataset, open_dataset
from fairlimits.discretize import discretize
from fairlimits.distribution import CellDistribution
from fairlimits.errors import InputError

Data = Annotated[str, typer.Argument(help="A benchmark (adult, law, dutch) or the path of a CSV or Parquet file.")]
Label = Annotated[str | None, typer.Option(help="Column to decide on.", rich_help_panel="Data")]
Positive = Annotated[str | None, typer.Option(help="Value of the label that counts as 1.", rich_help_panel="Data")]
Sensitive = Annotated[
    list[str] | None,
    typer.Option(help="Sensitive column; repeat it for intersectional groups.", rich_help_panel="Data"),
]
Weight = Annotated[str | None, typer.Option(help="Column of row weights.", rich_help_panel="Data")]
Numeric = Annotated[
    list[str] | None, typer.Option(help="Read this feature as a number (repeatable).", rich_help_panel="Data")
]
Categorical = Annotated[
    list[str] | None,
    typer.Option(help="Read this feature as a category (repeatable).", rich_help_panel="Data"),
]
Drop = Annotated[list[str] | None, typer.Option(help="Leave this column out (repeatable).", rich_help_panel="Data")]
MissingSensitive = Annotated[
    str,
    typer.Option(
        help="Rows without a sensitive value: refuse them, make them a group, or drop them.",
        rich_help_panel="Data",
    ),
]
Cells = Annotated[int, typer.Option(help="Number of cells.", rich_help_panel="Cells")]
Seed = Annotated[int, typer.Option(help="Seed: the same seed gives the same result.", rich_help_panel="Cells")]


def open_data(
    data: str,
    label: str | None,
    positive: str | None,
    sensitive: list[str] | None,
    weight: str | None,
    numeric: list[str] | None,
    categorical: list[str] | None,
    drop: list[str] | None,
    missing_sensitive: str,
) -> Dataset:
    """Open what the data options describe."""
    if missing_sensitive not in ("refuse", "group", "drop"):
        raise InputError(f"--missing-sensitive is {missing_sensitive!r}; it must be 'refuse', 'group' or 'drop'.")
    return open_dataset(
        data,
        label=label,
        positive=positive,
        sensitive=sensitive or None,
        weight=weight,
        numeric=numeric,
        categorical=categorical,
        drop=drop,
        missing_sensitive=missing_sensitive,  # type: ignore[arg-type]
    )


def make_cells(dataset: Dataset, cells: int, seed: int) -> CellDistribution:
    """Cut the data into cells, with a progress bar."""
    with progress_bar("Cutting the features into cells") as tell:
        return discretize(dataset, cells, random_state=seed, progress=tell)
