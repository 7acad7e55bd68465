"""Files to Arrow tables: CSV and Parquet."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from fairlimits._util.memory import free_memory, rows_that_fit, size_text
from fairlimits.data.csv_dialects import UNREADABLE, dialect_of, unreadable
from fairlimits.errors import FileError

# Arrow infers column types from the first block. If a later value contradicts them, one block takes all rows.
_LARGEST_BLOCK = 2**30

# Bytes that are unpacked at a time, and how many one compressed byte can stand for.
_PART, _MOST_EXPANSION = 16 * 2**20, 1032


def read_table(path: str | os.PathLike[str]) -> pa.Table:
    """Read a table from a file.

    Parameters
    ----------
    path : str or path-like
        A file that ends in ``.csv``, ``.csv.gz``, ``.parquet`` or ``.pq``. In CSV, an empty value, ``NA``, ``N/A``,
        ``NaN``, ``null`` and ``?`` are missing values; the delimiter may be a semicolon, tab or bar, the decimal mark
        a comma, and the encoding UTF-8, UTF-16 or Windows-1252.

    Returns
    -------
    pyarrow.Table
        The table.

    Raises
    ------
    FileError
        If the file is not there, cannot be read, has no rows, ends in something else, or does not fit into memory.
    """
    file = Path(path)
    name = file.name.lower()
    if file.is_dir():
        raise FileError(f"{file} is a directory: name a CSV or Parquet file.")
    if not name.endswith((".csv", ".csv.gz", ".parquet", ".pq")):
        raise FileError(f"Cannot tell what {file} holds: its name must end in .csv, .csv.gz, .parquet or .pq.")
    if not file.is_file():
        raise FileError(f"There is no file {file}: check the path.")
    if file.stat().st_size == 0:
        raise FileError(f"{file} is empty: give a table with a header and rows.")
    _check_memory(file)
    try:
        table = pa.parquet.read_table(file) if name.endswith((".parquet", ".pq")) else _read_csv(file)
    except (MemoryError, FileError):
        raise
    except UNREADABLE as error:
        raise unreadable(file, error) from error
    if table.num_rows == 0:
        raise FileError(f"{file} has no rows: it needs a header and at least one row.")
    return table


def _check_memory(file: Path) -> None:
    """Refuse a file that does not fit into memory before it is read."""
    taken = file.stat().st_size
    rows = None
    try:
        if file.name.lower().endswith(".gz"):
            taken = _unpacked(file)
        elif file.name.lower().endswith((".parquet", ".pq")):
            known = pa.parquet.ParquetFile(file)
            rows = known.metadata.num_rows
            groups = [known.metadata.row_group(at).total_byte_size for at in range(known.metadata.num_row_groups)]
            # A repeated value takes next to nothing in a file, but as much as any other in memory.
            taken = max(taken, sum(groups), rows * sum(_width(kind) for kind in known.schema_arrow.types))
    except UNREADABLE:
        return  # Reading says what is wrong.
    room = rows_that_fit(rows or 1000, taken / (rows or 1000))
    if room is None:
        return
    share = f"about {room:,} of its {rows:,} rows" if rows else f"about {room / 10:.0f}% of its rows"
    what = f"{file} takes {size_text(taken)} of memory or more, and {share} would fit: read it in parts with"
    raise FileError(
        f"{what} open_data(..., stream=True), or give a sample of its rows.",
        shell=f"{what} --stream --partition features, or give a sample of its rows.",
    )


def _unpacked(file: Path) -> int:
    """Return the bytes that a compressed file unpacks to, counted until they exceed free memory."""
    size, total = file.stat().st_size, 0
    if size * _MOST_EXPANSION < _PART:
        return size
    free = free_memory()
    with gzip.open(file, "rb") as stream:
        while part := stream.read(_PART):
            total += len(part)
            if free is not None and total > free:
                break
    return total


def _width(kind: pa.DataType) -> int:
    """Return the fewest bytes that a value of a type takes in memory."""
    try:
        return max(int(kind.bit_width) // 8, 1)
    except ValueError:
        # For text and other types of no fixed size, an offset is kept for each value.
        return 4


def _read_csv(file: Path) -> pa.Table:
    dialect = dialect_of(file)
    options = {"parse_options": dialect.parsing, "convert_options": dialect.converting}
    try:
        return pa.csv.read_csv(file, read_options=dialect.reading(), **options)
    except pa.ArrowInvalid:
        return pa.csv.read_csv(file, read_options=dialect.reading(_LARGEST_BLOCK), **options)
