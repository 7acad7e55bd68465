"""`open_data`: one function for every source of data, a benchmark's name or the path of a file."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Literal, overload

from fairlimits.data.benchmarks import load_dataset
from fairlimits.data.bins import Bins
from fairlimits.data.column_roles import Names, roles_needed
from fairlimits.data.dataset import Dataset
from fairlimits.data.opening import open_stream
from fairlimits.data.parts import is_pattern
from fairlimits.data.registry import benchmark_names, get_benchmark
from fairlimits.data.roles import MissingSensitive
from fairlimits.data.schema import Scalar
from fairlimits.data.small_groups import SET_ASIDE, SmallGroups
from fairlimits.data.stream import Stream
from fairlimits.data.tables import read_table
from fairlimits.errors import InputError


@overload
def open_data(
    source: str | PathLike[str],
    *,
    stream: Literal[False] = ...,
    label: str | None = ...,
    sensitive: str | Sequence[str] | None = ...,
    positive: Scalar = ...,
    weight: str | None = ...,
    numeric: Names = ...,
    categorical: Names = ...,
    drop: Names = ...,
    features: Names = ...,
    bins: Bins = ...,
    tidy: Names = ...,
    missing_sensitive: MissingSensitive = ...,
    small_groups: SmallGroups = ...,
) -> Dataset: ...


@overload
def open_data(
    source: Any,
    *,
    stream: Literal[True],
    label: str | None = ...,
    sensitive: str | Sequence[str] | None = ...,
    positive: Scalar = ...,
    weight: str | None = ...,
    numeric: Names = ...,
    categorical: Names = ...,
    drop: Names = ...,
    features: Names = ...,
    bins: Bins = ...,
    tidy: Names = ...,
    missing_sensitive: MissingSensitive = ...,
    small_groups: SmallGroups = ...,
    id: Names = ...,
    client: Any = ...,
) -> Stream: ...


def open_data(
    source: Any,
    *,
    stream: bool = False,
    label: str | None = None,
    sensitive: str | Sequence[str] | None = None,
    positive: Scalar = None,
    weight: str | None = None,
    numeric: Names = None,
    categorical: Names = None,
    drop: Names = None,
    features: Names = None,
    bins: Bins = None,
    tidy: Names = None,
    missing_sensitive: MissingSensitive = "refuse",
    small_groups: SmallGroups = SET_ASIDE,
    id: Names = None,
    client: Any = None,
) -> Dataset | Stream:
    """Open a benchmark data set, a file, or a table that need not fit into memory.

    Parameters
    ----------
    source : str; with ``stream=True`` also a list of paths, a pyarrow.dataset.Dataset or a Dask DataFrame
        A benchmark's name (see `load_dataset`) or the path of a CSV or Parquet file. A table that is read in parts may
        also be a pattern such as ``big/*.parquet``, or a directory, whose files are one table.
    stream : bool, default=False
        Read the rows in parts, as often as needed, instead of all into memory.
    label, sensitive
        As in `Dataset.from_frame`. A file needs both; a benchmark has its own.
    positive, weight, numeric, categorical, drop, features, bins, tidy, missing_sensitive, small_groups
        As in `Dataset.from_frame`; for a benchmark, as in `load_dataset`. Of a stream, small groups are found when its
        rows are first read, and cannot be dropped.
    id : str or sequence of str, optional
        Of a stream, columns that say who a row is about: rows of one person are held out together (see `open_stream`).
    client : distributed.Client, optional
        The Dask cluster to read the parts on.

    Returns
    -------
    Dataset or Stream
        The data; of a stream nothing is read yet.

    Raises
    ------
    InputError
        If `source` is neither, or if a file comes without label or sensitive column.

    Examples
    --------
    >>> import fairlimits as fl
    >>> import tempfile
    >>> from pathlib import Path
    >>> import pyarrow as pa
    >>> from pyarrow import csv
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = Path(folder.name) / "people.csv"
    >>> columns = {"age": [20, 40, 60] * 30, "sex": ["f", "m", "m"] * 30, "paid": ["yes", "no", "yes"] * 30}
    >>> csv.write_csv(pa.table(columns), path)
    >>> data = fl.open_data(path, label="paid", positive="yes", sensitive="sex")
    >>> data.n_rows, data.groups
    (90, ('f', 'm'))
    >>> folder.cleanup()
    """
    columns: dict[str, Any] = {
        "label": label,
        "sensitive": sensitive,
        "positive": positive,
        "weight": weight,
        "numeric": numeric,
        "categorical": categorical,
        "drop": drop,
        "features": features,
        "bins": bins,
        "tidy": tidy,
        "missing_sensitive": missing_sensitive,
        "small_groups": small_groups,
    }
    if stream:
        return open_stream(source, id=id, client=client, **columns)
    if client is not None or id is not None or not isinstance(source, str | PathLike):
        raise InputError("Rows on a cluster, and tables in several files, are read in parts; give stream=True.")
    source = str(source)
    if source in benchmark_names():
        return load_dataset(source, **columns)
    if not Path(source).suffix and not Path(source).exists():
        # A bare word is a mistyped name rather than a file: answer with the names there are.
        get_benchmark(source)
    if not Path(source).exists() and is_pattern(source):
        raise InputError(f"{source} is a pattern of files, which are read in parts; give stream=True.")
    if label is None or not sensitive:
        raise roles_needed(f"The file {source} needs")
    return Dataset.from_frame(read_table(source), **columns)
