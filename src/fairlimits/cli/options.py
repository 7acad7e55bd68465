"""Options that several commands share: the data and how it is cut into cells."""

from __future__ import annotations

import warnings
from typing import Annotated

import typer

from fairlimits.cli.show import progress_bar, say
from fairlimits.data import Dataset, open_dataset
from fairlimits.discretize import SamplingWarning, discretize
from fairlimits.distribution import CellDistribution
from fairlimits.errors import InputError


def _check_seed(seed: int) -> int:
    if seed < 0:
        raise InputError(f"The seed is {seed}; give a whole number of at least 0.")
    return seed


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
Seed = Annotated[
    int, typer.Option(callback=_check_seed, help="Seed: the same seed gives the same result.", rich_help_panel="Cells")
]

Generator = Annotated[
    str,
    typer.Option(
        help="What to count: the rows as they are (none), or rows of a generator: cart, bootstrap, or ctgan and tvae "
        "(extra fairlimits\\[ctgan]; its package ctgan is licensed under BUSL-1.1).",
        rich_help_panel="Cells",
    ),
]
Samples = Annotated[int, typer.Option(help="Rows to generate, with a generator.", rich_help_panel="Cells")]


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


def make_cells(dataset: Dataset, cells: int, seed: int, generator: str, samples: int) -> CellDistribution:
    """Cut the data into cells, with a progress bar, and say so if too few rows are generated."""
    made_by = None if generator == "none" else generator
    with progress_bar("Cutting the features into cells") as tell, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", SamplingWarning)
        dist = discretize(dataset, cells, generator=made_by, n_samples=samples, random_state=seed, progress=tell)
    for warning in caught:
        if issubclass(warning.category, SamplingWarning):
            say(f"Note: {warning.message}")
    return dist


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
