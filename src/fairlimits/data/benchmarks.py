"""The benchmark data sets: where their files are, and how they are read."""

from __future__ import annotations

import hashlib
import importlib.resources
import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pooch
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet

from fairlimits.data.bins import Bins
from fairlimits.data.column_roles import Names, names_of
from fairlimits.data.dataset import Dataset
from fairlimits.data.registry import BENCHMARKS, Benchmark, get_benchmark
from fairlimits.data.roles import MissingSensitive
from fairlimits.data.schema import Scalar
from fairlimits.data.small_groups import SET_ASIDE, SmallGroups
from fairlimits.data.tables import read_table
from fairlimits.errors import DatasetUnavailableError, FileError

DATA_VARIABLE = "FAIRLIMITS_DATA"
"""The environment variable that names a directory of benchmark files."""

_BUNDLED = "bundled with fairlimits"


@dataclass(frozen=True)
class BenchmarkStatus:
    """Whether a benchmark is on this machine, and where.

    Parameters
    ----------
    name, label, sensitive, source, licence : str
        As in `Benchmark`.
    rows : int
        Number of rows.
    places : tuple of str
        Where the file is looked for, in this order.
    found : str or None
        The file that would be read, or None if it would have to be downloaded.
    """

    name: str
    rows: int
    label: str
    sensitive: str
    source: str
    licence: str
    places: tuple[str, ...]
    found: str | None


def load_dataset(
    name: str,
    *,
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
) -> Dataset:
    """Load a benchmark data set, with its usual label, sensitive column and features unless told otherwise.

    Parameters
    ----------
    name : {"adult", "law", "dutch"}
        The data set. "adult" comes with the package; the others are looked for in the directory that the
        environment variable FAIRLIMITS_DATA names, then in the user's cache, then downloaded.
    label, sensitive, positive
        As in `Dataset.from_frame`, in place of the usual ones. With another label, `positive` has no usual
        value.
    weight, features, bins, tidy, missing_sensitive, small_groups
        As in `Dataset.from_frame`.
    numeric, categorical, drop
        As in `Dataset.from_frame`, on top of the usual ones.

    Returns
    -------
    Dataset
        The data.

    Raises
    ------
    InputError
        If there is no benchmark of that name.
    DatasetUnavailableError
        If its file cannot be found or downloaded; the message says what to do.

    Examples
    --------
    >>> import fairlimits as fl
    >>> data = fl.load_dataset("adult")
    >>> data.n_rows, data.groups
    (48842, ('Female', 'Male'))
    >>> fl.load_dataset("adult", sensitive="race", small_groups="join").groups
    ('Amer-Indian-Eskimo', 'Asian-Pac-Islander', 'Black', 'Other', 'White')
    """
    benchmark = get_benchmark(name)
    if positive is None and label in (None, benchmark.label):
        positive = benchmark.positive
    label = benchmark.label if label is None else label
    sensitive = benchmark.sensitive if sensitive is None else sensitive
    # Columns that the caller gives a role keep it; only the others get their usual roles.
    given = {label, *names_of(sensitive), *names_of(weight)}
    given.update(names_of(numeric), names_of(categorical), names_of(drop), bins or {}, names_of(tidy))
    chosen = names_of(features)
    codes = [name for name in benchmark.categorical if name not in given and (not chosen or name in chosen)]
    return Dataset.from_frame(
        load_table(name),
        label=label,
        sensitive=sensitive,
        positive=positive,
        weight=weight,
        numeric=numeric,
        categorical=[*names_of(categorical), *codes],
        drop=[*names_of(drop), *(c for c in benchmark.drop if c not in given and c not in chosen)],
        features=features,
        bins=bins,
        tidy=tidy,
        missing_sensitive=missing_sensitive,
        small_groups=small_groups,
    )


def load_table(name: str) -> pa.Table:
    """Load a benchmark's table as published, all columns: see `load_dataset` for where it comes from."""
    benchmark = get_benchmark(name)
    if benchmark.url is None:
        content = importlib.resources.files("fairlimits.data").joinpath(f"files/{name}.parquet").read_bytes()
        return pa.parquet.read_table(pa.BufferReader(content))
    file = _find(benchmark)
    if file is None:
        return _download(benchmark, benchmark.url)
    return _read(benchmark, file)


def benchmark_file(name: str) -> Path:
    """Return the file that a benchmark is read from, or will be kept in if it has to be downloaded first."""
    benchmark = get_benchmark(name)
    if benchmark.url is None:
        return Path(str(importlib.resources.files("fairlimits.data").joinpath(f"files/{name}.parquet")))
    return _find(benchmark) or _folders()[-1] / benchmark.file_names[0]


def benchmark_status() -> list[BenchmarkStatus]:
    """Return for every benchmark whether it is on this machine, and where, without downloading anything."""
    records = []
    for benchmark in BENCHMARKS.values():
        places: tuple[str, ...] = (_BUNDLED,)
        found: str | None = _BUNDLED
        if benchmark.url is not None:
            file = _find(benchmark)
            places = (*map(str, _folders()), benchmark.url)
            found = None if file is None else str(file)
        records.append(
            BenchmarkStatus(
                name=benchmark.name,
                rows=benchmark.rows,
                label=benchmark.label,
                sensitive=benchmark.sensitive,
                source=benchmark.source,
                licence=benchmark.licence,
                places=places,
                found=found,
            )
        )
    return records


def content_digest(table: pa.Table) -> str:
    """Return a SHA-256 of the values of a table, whatever the format and number types of its file.

    Columns are hashed by name, and numbers as millionths, so that a float that another reader parsed from text is the
    same.
    """
    digest = hashlib.sha256()
    for name in sorted(table.column_names):
        column = table[name]
        digest.update(f"\n{name}\n".encode())
        if pa.types.is_integer(column.type) or pa.types.is_floating(column.type):
            numbers = column.cast(pa.float64()).fill_null(np.nan).to_numpy()
            # Missing numbers become a value that no real one reaches.
            millionths = np.where(np.isnan(numbers), -(2.0**62), np.rint(numbers * 1e6))
            digest.update(millionths.astype("<i8").tobytes())
        else:
            texts = pc.fill_null(column.cast(pa.large_string()), "\0").to_pylist()
            digest.update("\n".join(texts).encode())
    return digest.hexdigest()


def _folders() -> list[Path]:
    """Return the directories in which files are looked for, the cache last."""
    named = os.environ.get(DATA_VARIABLE)
    return [*([Path(named).expanduser()] if named else []), Path(pooch.os_cache("fairlimits"))]


def _find(benchmark: Benchmark) -> Path | None:
    candidates = (folder / name for folder in _folders() for name in benchmark.file_names)
    return next((file for file in candidates if file.is_file()), None)


def _read(benchmark: Benchmark, file: Path) -> pa.Table:
    table = read_table(file)
    lacking = [column for column in benchmark.columns if column not in table.column_names]
    if lacking:
        raise FileError(
            f"{file} is not the data set {benchmark.name!r}, because it has no column {', '.join(lacking)}: replace it."
        )
    return table.select(list(benchmark.columns))


def _download(benchmark: Benchmark, url: str) -> pa.Table:
    """Download a benchmark, check its values, and keep it in the user's cache."""
    try:
        with tempfile.TemporaryDirectory() as folder:
            # No known hash: the digest below checks the values of the table, whatever its bytes are.
            file = pooch.retrieve(url, known_hash=None, fname=benchmark.file_names[1], path=folder)
            table = _read(benchmark, Path(file))
        if content_digest(table) != benchmark.digest:
            raise FileError(f"{url} does not hold the {benchmark.rows} rows it is known for.")
        _keep(table, _folders()[-1] / benchmark.file_names[0])
    except (OSError, ValueError) as error:
        # OSError covers the network (requests) and the disk, ValueError a file that is not what it should be.
        raise DatasetUnavailableError(
            f"The data set {benchmark.name!r} is not on this machine and cannot be downloaded. Get {url} in "
            f"another way, put it into a directory as {benchmark.file_names[1]} (or "
            f"{benchmark.file_names[0]}), and set the environment variable {DATA_VARIABLE} to that directory."
            f" The download failed because: {error}"
        ) from error
    return table


def _keep(table: pa.Table, file: Path) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    # Written beside it and moved, so that no other process finds half a file.
    handle, draft = tempfile.mkstemp(dir=file.parent, suffix=".parquet")
    os.close(handle)
    try:
        pa.parquet.write_table(table, draft, compression="zstd")
        os.replace(draft, file)
    finally:
        Path(draft).unlink(missing_ok=True)
