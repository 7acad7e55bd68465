"""CSV files block by block: Arrow's own scan reads all of a file ahead of those who take its batches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.csv

if TYPE_CHECKING:
    import pyarrow.dataset as pads

# Attributes of Arrow's options that are copied from given ones.
_READING = ("block_size", "skip_rows", "skip_rows_after_names", "column_names", "autogenerate_column_names", "encoding")
_CONVERTING = (
    "check_utf8",
    "null_values",
    "true_values",
    "false_values",
    "decimal_point",
    "strings_can_be_null",
    "quoted_strings_can_be_null",
    "timestamp_parsers",
)


def is_csv(piece: pads.Fragment) -> bool:
    """Whether a piece of an Arrow dataset is a CSV file."""
    return getattr(getattr(piece, "format", None), "default_extname", None) == "csv"


def csv_batches(
    piece: pads.Fragment, schema: pa.Schema, columns: Sequence[str] | None, rows: int
) -> Iterator[pa.RecordBatch]:
    """Read a CSV file of an Arrow dataset, holding a block at a time.

    Parameters
    ----------
    piece : Fragment
        The file.
    schema : Schema
        Columns of the dataset, with the types that they are read as.
    columns : sequence of str or None
        The columns that are needed, in this order; None for all.
    rows : int
        Most rows of a batch.
    """
    import pyarrow.dataset as pads

    known: dict[str, Any] = pads.get_partition_keys(piece.partition_expression)
    wanted = [schema.field(name) for name in (schema.names if columns is None else columns)]
    inside = [field.name for field in wanted if field.name not in known]
    types = {field.name: field.type for field in schema if field.name not in known}
    scan = piece.format.default_fragment_scan_options
    reading = {name: getattr(scan.read_options, name) for name in _READING}
    converting = {name: getattr(scan.convert_options, name) for name in _CONVERTING}
    with (
        piece.filesystem.open_input_stream(piece.path) as stream,
        pa.csv.open_csv(
            stream,
            # The calling thread reads the next block while others work on the last ones.
            read_options=pa.csv.ReadOptions(use_threads=False, **reading),
            parse_options=piece.format.parse_options,
            convert_options=pa.csv.ConvertOptions(
                column_types=types, include_columns=inside, include_missing_columns=True, **converting
            ),
        ) as blocks,
    ):
        for block in blocks:
            there = [
                pa.repeat(pa.scalar(known[field.name], field.type), block.num_rows)
                if field.name in known
                else block.column(field.name)
                for field in wanted
            ]
            batch = pa.RecordBatch.from_arrays(there, schema=pa.schema(wanted))
            for first in range(0, batch.num_rows, rows):
                yield batch.slice(first, rows)
