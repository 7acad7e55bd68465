"""One door for every source of data: a benchmark's name or the path of a file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from fairlimits.data.benchmarks import load_dataset
from fairlimits.data.dataset import Dataset
from fairlimits.data.reading import Names
from fairlimits.data.registry import benchmark_names, get_benchmark
from fairlimits.data.roles import MissingSensitive
from fairlimits.data.schema import Scalar
from fairlimits.data.tables import read_table
from fairlimits.errors import InputError

__all__ = ["open_dataset", "read_table"]


def open_dataset(
    source: str,
    *,
    label: str | None = None,
    sensitive: str | Sequence[str] | None = None,
    positive: Scalar = None,
    weight: str | None = None,
    numeric: Names = None,
    categorical: Names = None,
    drop: Names = None,
    missing_sensitive: MissingSensitive = "refuse",
) -> Dataset:
    """Open a benchmark data set or a file.

    Parameters
    ----------
    source : str
        A benchmark's name (see `load_dataset`) or the path of a CSV or Parquet file (see `read_table`).
    label, sensitive
        As in `Dataset.from_frame`. A file needs both; a benchmark has its own.
    positive, weight, numeric, categorical, drop, missing_sensitive
        As in `Dataset.from_frame`; for a benchmark, as in `load_dataset`.

    Returns
    -------
    Dataset
        The data.

    Raises
    ------
    InputError
        If `source` is neither, or if a file comes without label or sensitive column.
    """
    if source in benchmark_names():
        return load_dataset(
            source,
            label=label,
            sensitive=sensitive,
            positive=positive,
            weight=weight,
            numeric=numeric,
            categorical=categorical,
            drop=drop,
            missing_sensitive=missing_sensitive,
        )
    if not Path(source).suffix and not Path(source).exists():
        # A bare word is a mistyped name rather than a file: answer with the names there are.
        get_benchmark(source)
    if label is None or not sensitive:
        raise InputError(f"The file {source} needs to be explained: say which columns are the label and sensitive.")
    return Dataset.from_frame(
        read_table(source),
        label=label,
        sensitive=sensitive,
        positive=positive,
        weight=weight,
        numeric=numeric,
        categorical=categorical,
        drop=drop,
        missing_sensitive=missing_sensitive,
    )
